#!/usr/bin/env bash
# Options stand in src/release/options.def and nowhere else: the manual page
# and dpcount.h are made from it, no name is there twice, and no other source
# file repeats a line of help.
set -euo pipefail
cd "$DPC_SOURCE"
tools/options-doc --check

table=src/release/options.def
names=$(grep -oE '^(TEXT|LIST|FLAG|SELF)\([a-z_]+, "[a-z-]+"' "$table" | cut -d'"' -f2)
[ "$(wc -l <<<"$names")" -ge 30 ]
twice=$(sort <<<"$names" | uniq -d)
[ -z "$twice" ] || {
    echo "options given twice: $twice"
    exit 1
}
said=$(sed -nE 's/^ +"([^"]{20,})",?$/\1/p' "$table" | head -n 400)
bad=0
while IFS= read -r line; do
    if grep -rqF --include='*.c' --include='*.h' -- "$line" src cli; then
        echo "said twice: $line"
        bad=1
    fi
done <<<"$said"

# The check can fail: a changed line of help makes a page out of date.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/src/release" "$scratch/tools" "$scratch/docs/man" "$scratch/include"
cp tools/options-doc tools/options_doc.c "$scratch/tools"
cp docs/man/dpcount.1 "$scratch/docs/man"
cp include/dpcount.h "$scratch/include"
sed 's/who asks/who is asking/' "$table" >"$scratch/$table"
if "$scratch/tools/options-doc" --check >/dev/null; then
    echo "the check does not notice a changed option"
    bad=1
fi
exit "$bad"
