#!/usr/bin/env bash
# The example database: made the same every time, CSV and SQLite hold the
# same rows, the promises of its policies are true, and the paper's examples
# count something.
set -euo pipefail
made=$DPC_BUILD/examples
example=$DPC_SOURCE/examples/hospital
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    printf '%s\n' "$*"
    exit 1
}
ask() { sqlite3 -batch "$1" "$2"; }

"$made/hospital_generate" "$example/schema.sql" "$scratch"
for name in hospital hospital-one; do
    diff -r "$scratch/$name" "$made/$name" || fail "$name differs from run to run"
    for table in hos pat doc patdoc visit; do
        diff <(tail -n +2 "$made/$name/$table.csv" | sort) \
            <(sqlite3 -csv "$made/$name.db" "SELECT * FROM $table" | tr -d '"\r' | sort) ||
            fail "$name: $table differs between CSV and SQLite"
    done
    [ -z "$(ask "$made/$name.db" "PRAGMA foreign_key_check")" ] ||
        fail "$name: a reference leads nowhere"
done

most="SELECT max(n) FROM (SELECT count(*) AS n FROM patdoc GROUP BY pat)"
[ "$(ask "$made/hospital.db" "$most")" = 3 ] || fail "hospital: not 3 doctors at most"
[ "$(ask "$made/hospital-one.db" "$most")" = 1 ] || fail "hospital-one: not 1 doctor"

for query in "$example"/queries/example*.sql; do
    n=$(sqlite3 -batch "$made/hospital.db" <"$query")
    [ "$n" -gt 20 ] || fail "$(basename "$query") counts only $n"
done
if "$made/hospital_generate" "$example/schema.sql" "$scratch/nowhere" 2>/dev/null; then
    fail "the generator does not notice that it cannot write"
fi
