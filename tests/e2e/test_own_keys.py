#!/usr/bin/env python3
"""GROUP BY over keys that are public by themselves, from the catalogue of each source: enums, domains, CHECK lists, booleans,
parts of dates, IS NULL, CASE, references to a public table. No delta, no --groups; every key is answered, with no row too."""
import os
import sqlite3
import subprocess
import tempfile

import outside
import pg
from outside import check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-keys-")
os.chdir(folder.name)
SHARED = """CREATE TABLE ward(code text PRIMARY KEY, name text);
INSERT INTO ward VALUES ('A', 'ward a'), ('B', 'ward b'), ('C', 'ward c');
"""
PG = """CREATE TYPE sex AS ENUM ('M', 'F', 'it''s', 'x');
CREATE DOMAIN grade AS varchar(2) CHECK (VALUE IN ('I', 'II'));
""" + SHARED + """CREATE TABLE pat(id int PRIMARY KEY, sex sex NOT NULL, grade grade, kind varchar(3) CHECK (kind IN ('a', 'b')),
 pad char(3) NOT NULL CHECK (pad IN ('u', 'v')), n int CHECK (n IN (1, 2, 3) OR n IS NULL), smoker boolean, ward text REFERENCES ward, born date,
 late text);
ALTER TABLE pat ADD CONSTRAINT l CHECK (late IN ('x', 'y')) NOT VALID;
INSERT INTO pat VALUES (1, 'F', 'I', 'a', 'u', 1, true, 'A', '2000-02-03', 'x'), (2, 'F', NULL, NULL, 'u', NULL, NULL, NULL, NULL, NULL);
"""
LITE = SHARED + """CREATE TABLE pat(id INTEGER PRIMARY KEY, sex TEXT NOT NULL CHECK (sex IN ('M', 'F', 'it''s', 'x')),
 Grade TEXT, [kind] VARCHAR(3) CHECK ("kind" IN ('a', 'b')), pad TEXT NOT NULL, n INT CHECK (n IN (1, 2, 3) OR n IS NULL), smoker BOOLEAN,
 ward TEXT REFERENCES ward, born DATE, late TEXT, typed TEXT CHECK (typed IN ('1', '2')), CHECK (grade IN ('I', 'II') AND id > 0), CONSTRAINT p CHECK (pad IN ('u', 'v'))) ;
INSERT INTO pat VALUES (1, 'F', 'I', 'a', 'u', 1, true, 'A', '2000-02-03', 'x', '1'), (2, 'F', NULL, NULL, 'u', NULL, NULL, NULL, NULL, NULL, '2');
"""
KEYS = {
    "sex": ["M", "F", "it's", "x"],
    "grade": ["I", "II", None],
    "kind": ["a", "b", None],
    "pad": ["u", "v"],
    "n": [1, 2, 3, None],
    "smoker": [False, True, None],
    "ward": ["A", "B", "C", None],
    "extract(month FROM born)": [*range(1, 13), None],
    "extract(dow FROM born)": [*range(7), None],
    "born IS NULL": [False, True],
    "CASE WHEN n > 1 THEN 'many' ELSE 'one' END": ["many", "one"],
}
for name in ("sqlite", "copy", "postgres"):
    outside.run("budget", "init", "--ledger", name, "--epsilon", "100")


def plain(v):
    return str(v).lower() if isinstance(v, bool) else v


def same(got, want):
    return sorted(map(str, map(plain, got))) == sorted(map(str, map(plain, want)))


def asked(name, db, key, want):
    text = f"SELECT {key}, COUNT(*) FROM pat GROUP BY 1"
    base = ["--db", db, "--public", "ward", "--format", "json", text]
    status, a = outside.ask("release", "--ledger", name, "--epsilon", "1", *base)
    check(f"{name}: {key}", status == 0 and a["delta"] == 0 and same([r[0] for r in a["rows"]], want), f"{status} {a}")
    if name != "sqlite":
        return
    status, a = outside.ask("quote", "--epsilon", "1", *base)
    check(f"{name}: quote {key}", status == 0 and a["groups"] == len(want), f"{status} {a}")
    status, a = outside.ask("count", *base)
    counted = {str(plain(r[0])): r[1] for r in a.get("rows", [])}
    check(f"{name}: count {key}", status == 0 and same(counted, want) and sum(counted.values()) == 2, f"{status} {a}")


def refused(name, db):
    status, a = outside.ask("quote", "--epsilon", "1", "--db", db, "--format", "json", "SELECT late, COUNT(*) FROM pat GROUP BY 1")
    check(f"{name}: a CHECK that old rows may break lists nothing", status == 3, f"{status} {a}")


with sqlite3.connect("d.db") as db:
    db.executescript(LITE)
db.close()
for key, want in KEYS.items():
    asked("sqlite", "d.db", key, want)
refused("sqlite", "d.db")

# the policy makes numbers of the texts: those of the list too
write("typed.yaml", "tables:\n  pat: {columns: {typed: integer}}\n")
status, a = outside.ask("quote", "--epsilon", "1", "--db", "d.db", "--policy", "typed.yaml", "--format", "json", "SELECT typed, COUNT(*) FROM pat GROUP BY 1")
check("sqlite: the policy's type", status == 0 and a.get("groups") == 3, f"{status} {a}")
status, a = outside.ask("count", "--db", "d.db", "--policy", "typed.yaml", "--format", "json", "SELECT typed, COUNT(*) FROM pat GROUP BY 1")
check("sqlite: values of the policy's type", a["rows"] == [[1, 1], [2, 1], [None, 0]], str(a))

# a sealed copy keeps lists and references
status, a = outside.ask("seal", "--db", "d.db", "--ledger", "copy", "--version", "1", "--out", "c.db", "--public", "ward", "--format", "json")
check("sealed", status == 0, str(a))
for key, want in KEYS.items():
    asked("copy", "c.db", key, want)

with pg.server() as at:
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-h", at, "-U", "postgres", "postgres"], input=PG, text=True, check=True)
    for key, want in KEYS.items():
        asked("postgres", pg.url(at), key, want)
    refused("postgres", pg.url(at))
    status, a = outside.ask("quote", "--epsilon", "1", "--db", pg.url(at), "--format", "json", "SELECT COUNT(*) FROM pat WHERE sex = 'female'")
    check("postgres: a value that the enum does not have", status == 2 and "'M', 'F'" in a["error"]["hint"], f"{status} {a}")
    # policy init writes them, with NULL where there can be one: quote needs no database
    write("p.yaml", outside.ask("policy", "init", "--db", pg.url(at), "--format", "json")[1]["policy"])
    for key in ("sex", "grade", "kind", "pad", "n", "smoker"):
        for db in ([], ["--db", pg.url(at)]):
            status, a = outside.ask("quote", "--epsilon", "1", "--policy", "p.yaml", *db, "--format", "json", f"SELECT {key}, COUNT(*) FROM pat GROUP BY 1")
            check(f"by the policy, {key}", status == 0 and a["groups"] == len(KEYS[key]), f"{status} {a}")
    status, a = outside.ask("quote", "--epsilon", "1", "--db", pg.url(at), "--policy", "p.yaml", "--format", "json", "SELECT COUNT(*) FROM pat WHERE sex = 'female'")
    check("postgres: a value that neither enum nor policy has", status == 2, f"{status} {a}")
    write("few.yaml", "tables: {pat: {values: {sex: [M, F]}}}")
    status, a = outside.ask("quote", "--epsilon", "1", "--db", pg.url(at), "--policy", "few.yaml", "--format", "json", "SELECT sex, COUNT(*) FROM pat GROUP BY 1")
    check("the owner lists fewer", status == 0 and a["groups"] == 2, f"{status} {a}")
end()
