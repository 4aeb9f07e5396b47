#!/bin/bash
# PostgreSQL: transfer against psql's own COPY, and counting in the server
# against the embedded engine, on a private server with generated edges.
#
#     bench/postgres.sh [BUILD-FOLDER [ROWS]]
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build}
rows=${2:-2000000}
dir=$("$here/tests/harness/pg.sh" start)
trap '"$here/tests/harness/pg.sh" stop "$dir"' EXIT
sql() { psql -qAt -v ON_ERROR_STOP=1 -h "$dir" -U postgres "$@"; }
url="postgresql:///postgres?host=$dir&user=postgres"

sql -c "CREATE TABLE edge AS SELECT (random() ^ 2 * $rows / 10)::int AS src,
  (random() * $rows / 10)::int AS dst FROM generate_series(1, $rows)" \
  -c "CREATE TABLE person AS SELECT i AS id, 'name ' || i AS name,
  (random() * 1000)::numeric(8, 2) AS pay, date '1950-01-01' + i % 20000 AS born
  FROM generate_series(1, $rows / 4) i" -c "VACUUM ANALYZE"

# seconds of the fastest of three
best() {
    local b=999999 t i
    for i in 1 2 3; do
        t=$( { TIMEFORMAT=%R; time "$@" >/dev/null 2>&1; } 2>&1 )
        b=$(echo "$t $b" | awk '{print ($1 < $2) ? $1 : $2}')
    done
    echo "$b"
}
row() { printf '| %-34s | %8s | %8s | %6s |\n' "$1" "$2" "$3" "$(echo "$2 $3" | awk '{printf "%.2f", $1 / $2}')"; }
copy() { sql -c "COPY (SELECT $1 FROM $2) TO STDOUT (FORMAT binary)" | cat; }
# what loading took, by the program's own clock
load() {
    local b=999999 t i
    for i in 1 2 3; do
        t=$("$build/dpcount" sensitivity --format json --db "$url" "$1" 2>/dev/null |
            sed 's/.*"load": *\([0-9.e-]*\).*/\1/')
        b=$(echo "$t $b" | awk '{print ($1 < $2) ? $1 : $2}')
    done
    echo "$b"
}
count() { "$build/dpcount" count --db "$url" "$@"; }

echo "| transfer of $rows edges, $((rows / 4)) people | psql COPY s | dpcount s | speed |"
echo "|---|---|---|---|"
row "edge(src, dst)" "$(best copy 'src, dst' edge)" "$(load 'Q(x, y) :- edge(x, y).')"
row "person(name)" "$(best copy name person)" "$(load 'Q(x) :- person(_, x, _, _).')"
row "person(pay, born)" "$(best copy 'pay, born' person)" "$(load 'Q(x, y) :- person(_, _, x, y).')"
echo
echo "| count | embedded s | sql s | embedded/sql |"
echo "|---|---|---|---|"
q='SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src'
row "paths of two edges" "$(best count "$q")" "$(best count --engine sql "$q")"
q='SELECT COUNT(*) FROM edge a, person p WHERE a.dst = p.id AND p.pay > 500'
row "edges to the well-paid" "$(best count "$q")" "$(best count --engine sql "$q")"
