#!/usr/bin/env bash
# ./demo from a fresh copy of the sources: builds, releases a count, says what
# it guarantees; a second run is as good and builds nothing.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*"
    exit 1
}
cd "$DPC_SOURCE"
cp -r CMakeLists.txt CMakePresets.json VERSION demo cli cmake console docs examples server \
    include src tools "$scratch/"
cd "$scratch"
for run in first second; do
    DPC_NO_INSTALL=1 ./demo >"$run" 2>&1 || fail "$run run: $(cat "$run")"
    grep -qE '^answer +-?[0-9,]+$' "$run" || fail "$run run: no answer"
    grep -q 'spent epsilon 1 of 10, 9 remains' "$run" || fail "$run run: not charged"
    grep -q 'JOIN doc ON patdoc.doc = doc.id' "$run" || fail "$run run: no query"
    grep -q 'one doc or one pat, with all rows of patdoc and visit' "$run" || fail "$run run: not about persons"
    grep -q 'What is guaranteed' "$run" || fail "$run run: no guarantee"
    grep -q 'Try next' "$run" || fail "$run run: nothing to try next"
done
grep -q '^demo: building' first || fail "the first run does not say that it builds"
! grep -q '^demo: building' second || fail "the second run builds again"
