#!/usr/bin/env python3
"""Names in mixed case as a PostgreSQL server resolves them: the same answer, or
both refuse."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg  # noqa: E402
from names import DDL, REFUSED, SAME, expect, failures, fails_with, run, write  # noqa: E402



def check_postgres(tmp):
    with pg.server() as folder:
        def psql(sql):
            r = subprocess.run(["psql", "-qAtX", "-h", folder, "-U", "postgres", "-d", "postgres",
                                "-c", sql], capture_output=True, text=True, check=False)
            return r.stdout.strip() if r.returncode == 0 else "error"
        psql(DDL + 'CREATE TABLE patient("patientId" integer, birthdate date);'
             'INSERT INTO patient VALUES (1, NULL);CREATE TABLE lower(id integer)')
        db = f"host={folder} user=postgres dbname=postgres"
        for query in SAME + [q for q, _ in REFUSED] + ["SELECT COUNT(*) FROM Lower"]:
            r = run("count", "--db", db, query)
            expect((r[1] if r[0] == 0 else "error") == psql(query), query, psql(query), r)
        public = write(tmp + "/p.yaml", "tables:\n  Lower: {privacy: public}\n")
        fails_with('There is a table "lower"', "analyze", "--db", db, "--policy", public,
                   "SELECT COUNT(*) FROM lower")
        fails_with("ambiguous", "analyze", "--db", db, "--public", "Patient", "SELECT COUNT(*) FROM patient")
        r = run("analyze", "--db", db, "--public", '"Patient"', "SELECT COUNT(*) FROM patient")
        expect(r[0] == 0 and "No private table" not in r[1], r)


with tempfile.TemporaryDirectory() as tmp:
    check_postgres(tmp)
for failure in failures:
    print(*failure, sep="\n    ")
sys.exit(bool(failures))
