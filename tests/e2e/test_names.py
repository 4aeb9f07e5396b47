#!/usr/bin/env python3
"""Which table and column a name stands for. SQLite and files do not tell names
apart by case: a name that is not quoted is found in any spelling, a quoted one
as the catalogue spells it. PostgreSQL's are its own. A policy never slips to
another table, or to none, because of its spelling."""
import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
from names import DDL, REFUSED, SAME, counts_as, expect, failures, fails_with, run, write  # noqa: E402


def check_loose(tmp):
    db = sqlite3.connect(tmp + "/a.db")
    db.executescript(DDL)
    os.mkdir(tmp + "/csv")
    for table in ("Patient", "Visit"):
        rows = db.execute(f'SELECT * FROM "{table}"')
        head = ",".join(c[0] for c in rows.description)
        body = "".join(",".join("" if v is None else str(v) for v in r) + "\n" for r in rows)
        write(f"{tmp}/csv/{table}.csv", head + "\n" + body)
    schema = write(tmp + "/s.sql", "CREATE TABLE Patient(patientId integer PRIMARY KEY, birthDate "
                   'date, name text);CREATE TABLE "VISIT"(visitid integer, "patientid" integer, ward text);')
    for query in SAME:
        number = db.execute(query.replace("DATE '", "'")).fetchone()[0]
        counts_as(number, "--db", tmp + "/a.db", query)
        if "DATE" not in query and "<" not in query: # files have no types
            counts_as(number, "--db", tmp + "/csv", query)
        if '"' not in query:
            counts_as(number, "--db", tmp + "/a.db", "--schema", schema, query)
    for query, text in REFUSED:
        for source in ("/a.db", "/csv"):
            fails_with(text, "count", "--db", tmp + source, query)
    db.close()
    write(tmp + "/twice.csv", "id,ID\n1,2\n")
    fails_with('two columns of table "t"', "count", "--table", f"t={tmp}/twice.csv", "SELECT COUNT(*) FROM t")


def check_policy(tmp):
    """analyze says which tables are private: count the bound of a join."""
    db, query = tmp + "/a.db", "SELECT COUNT(*) FROM Patient"
    for name in ("Patient", "patient", "PATIENT"):
        policy = write(tmp + "/p.yaml", f"tables:\n  {name}: {{privacy: public, key: PatientID}}\n")
        r = run("analyze", "--db", db, "--policy", policy, query)
        expect("No private table" in r[1], name, r)
        r = run("analyze", "--db", db, "--public", name, query)
        expect("No private table" in r[1], name, r)
    both = write(tmp + "/p.yaml", "tables:\n  Patient: {privacy: private}\n  patient: {privacy: public}\n")
    fails_with('table "Patient" is given twice', "analyze", "--db", db, "--policy", both, query)
    no = write(tmp + "/p.yaml", "tables:\n  Patient: {key: nobody}\n")
    fails_with("has no column", "analyze", "--db", db, "--policy", no, query)
    ddl = write(tmp + "/t.sql", 'CREATE TABLE "Patient"(id integer);')
    wrong = write(tmp + "/p.yaml", "tables:\n  patient: {privacy: public, columns: [id]}\n")
    fails_with('There is a table "Patient"', "analyze", "--schema", ddl, "--policy", wrong,
               'SELECT COUNT(*) FROM "Patient"')


with tempfile.TemporaryDirectory() as tmp:
    check_loose(tmp)
    check_policy(tmp)
for failure in failures:
    print(*failure, sep="\n    ")
sys.exit(bool(failures))
