#!/usr/bin/env bash
# A sealed copy knows which column refers to which, so that what is asked of it
# is answered as of the source: GROUP BY over a column that refers to a public
# table needs no list of keys. Texts that carry a time are dates where a date
# is expected, and a parameter may have digits behind the point.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
dpcount=$DPC_BUILD/dpcount
sqlite3 s.db "CREATE TABLE hos(h INTEGER PRIMARY KEY, city TEXT NOT NULL) STRICT;
    CREATE TABLE pat(id INTEGER PRIMARY KEY, born DATE, h INTEGER REFERENCES hos);
    INSERT INTO hos VALUES (1, 'Bonn'), (2, 'Ulm');
    INSERT INTO pat VALUES (1, '1980-05-01', 1), (2, '1990-01-01', 1), (3, '2000-01-01', 2)"
printf 'tables:\n  hos: {privacy: public}\n  pat: {privacy: private}\nbudget: {epsilon: 10}\n' >p.yaml
"$dpcount" budget init --ledger l --db s.db --policy p.yaml >/dev/null
"$dpcount" seal --db s.db --policy p.yaml --ledger l --version v1 --out s.sealed >/dev/null
for db in s.db s.sealed; do
    "$dpcount" policy init --db "$db" | grep -q '# refers to hos'
    "$dpcount" quote --db "$db" --policy p.yaml --epsilon 1 'SELECT h, COUNT(*) FROM pat GROUP BY h' | grep -q '^groups      [23],'
done

is() { # EXPECTED CONDITION [PARAMETER]
    local n
    n=$("$dpcount" count --db s.db --policy p.yaml ${3:+--param "$3"} "SELECT COUNT(*) FROM pat WHERE $2" 2>/dev/null || echo refused)
    [ "$n" = "$1" ] || {
        echo "$2 ${3:-}: $n, not $1"
        exit 1
    }
}
is 1 "born < '1990-01-01 00:00:00+00'"
is 1 "born < '1990-01-01T12:00:00Z'"
is 2 "born <= '1990-01-01 23:59:59.5-03:30'"
is 1 "born + interval '1 hour' < '1990-01-01 00:30:00+02'"
is refused "born < '1990-01-01 noon'"
is 1 "born < '1990-01-01 +01'"
is refused "born < '1990-02-31 00:00:00'"
is 2 'id < $1' 2.5
is 2 'id < $1' 3
is refused 'id < $1' 2.5x
is refused "id < '2.5'"
