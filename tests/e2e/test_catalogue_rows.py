#!/usr/bin/env python3
"""The catalogue is made of what is public: for two databases with the same tables
and other rows, sizes, indexes' contents and statistics every relation has the same
rows, and the whole catalogue the same bytes."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
ASK = os.path.join(os.environ["DPC_BUILD"], "tests", "catalogue_ask")
SCHEMA = """
CREATE TABLE hospital (id INTEGER PRIMARY KEY, city TEXT NOT NULL);
CREATE TABLE patient (id INTEGER PRIMARY KEY, sex TEXT, born DATE, hospital INTEGER NOT NULL REFERENCES hospital(id));
CREATE TABLE visit (patient INTEGER NOT NULL REFERENCES patient(id), nr INTEGER NOT NULL, cost NUMERIC,
  PRIMARY KEY (patient, nr));
CREATE INDEX by_sex ON patient(sex);
"""
POLICY = """
tables:
  hospital: {privacy: public}
  patient: {privacy: private, key: [id]}
  visit: {privacy: private, owned_by: [{via: [patient], table: patient}]}
entities: [patient]
"""


def make(folder, name, patients):
    path = os.path.join(folder, name)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO hospital VALUES (?, ?)", [(1, "Bonn"), (2, "Lyon")])
    for i in range(patients):
        db.execute("INSERT INTO patient VALUES (?, ?, ?, ?)", (i * 7 + 1, "Fsecret" if i % 3 else "M", "1980-01-02", 1 + i % 2))
        db.executemany("INSERT INTO visit VALUES (?, ?, ?)", [(i * 7 + 1, k, 4711.25 + i) for k in range(i % 5)])
    db.commit()
    if patients > 10:
        db.execute("ANALYZE")
        db.execute("VACUUM")
    db.close()
    return path


def relations():
    with open(os.path.join(SOURCE, "server", "catalogue", "relations.def"), encoding="utf-8") as f:
        return re.findall(r'^RELATION\(\d+, "(\w+)", "(\w+)"', f.read(), flags=re.M)


def look(db, policy, queries, whole):
    given = json.dumps({"user": "ann", "queries": queries, "bytes": whole})
    p = subprocess.run([ASK, db, policy], input=given.encode(), capture_output=True, check=False)
    if p.returncode:
        sys.exit(p.stderr.decode())
    return p.stdout


def main():
    names = relations()
    assert len(names) == 208, len(names)
    queries = [f"SELECT * FROM {schema}.{name}" for schema, name in names]
    with tempfile.TemporaryDirectory() as folder:
        policy = os.path.join(folder, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as f:
            f.write(POLICY)
        few, many = make(folder, "few.db", 2), make(folder, "many.db", 3000)
        a, b = look(few, policy, queries, False), look(many, policy, queries, False)
        answers = [json.loads(line) for line in a.decode().strip().split("\n")]
        bad = [(q, x["error"]) for q, x in zip(queries, answers) if "error" in x]
        assert not bad, bad
        assert a == b, "a relation differs"
        assert look(few, policy, [], True) == look(many, policy, [], True), "the bytes differ"
        assert b"secret" not in a and b"4711" not in a and b"1980" not in a
        told = look(many, policy, ["SELECT c.relname, obj_description(c.oid) FROM pg_class c WHERE relkind = 'r' ORDER BY 1",
                                   "SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY oid"],
                    False).decode()
        assert "private: rows of patient (by patient)" in told, told
        assert "private: each row is one patient, with all rows that are theirs" in told, told
        assert "FOREIGN KEY (patient) REFERENCES patient(id)" in told, told
        assert '["visit","PRIMARY KEY (patient, nr)"]' in told, told
    print(f"{len(names)} relations are the same whatever the rows are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
