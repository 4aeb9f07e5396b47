#!/usr/bin/env bash
# docs/errors.md is what src/base/errors.def says, and no number or code is
# used twice.
set -euo pipefail
cd "$DPC_SOURCE"
tools/errors-doc | diff docs/errors.md - || {
    echo "to fix: tools/errors-doc >docs/errors.md"
    exit 1
}
for column in 2 3; do
    twice=$(grep '^| `' docs/errors.md | cut -d'|' -f"$column" | sort | uniq -d)
    [ -z "$twice" ] || {
        echo "used twice: $twice"
        exit 1
    }
done
[ "$(grep -c '^| `' docs/errors.md)" -eq "$(grep -c '^ERR(' src/base/errors.def)" ]
