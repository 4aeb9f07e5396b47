"""What the tests of names share: tables in mixed case, queries, and how the
program is run."""
import os
import subprocess

PROGRAM = os.path.join(os.environ["DPC_BUILD"], "dpcount")

DDL = """
CREATE TABLE "Patient"("patientId" integer PRIMARY KEY, "birthDate" date, name text);
CREATE TABLE "Visit"("visitId" integer PRIMARY KEY, "PatientID" integer, ward text);
INSERT INTO "Patient" VALUES (1,'2000-01-01','A'),(2,'2001-01-01','b'),(3,NULL,'c');
INSERT INTO "Visit" VALUES (1,1,'x'),(2,1,'y'),(3,2,'x'),(4,NULL,'x');
"""
# Accepted in SQLite and from files; the answer is SQLite's own.
SAME = [
    "SELECT COUNT(*) FROM Patient",
    "SELECT COUNT(*) FROM PATIENT p WHERE P.patientid = 1",
    'SELECT COUNT(*) FROM "Patient"',
    'SELECT COUNT(*) FROM Patient WHERE "birthDate" IS NOT NULL',
    "SELECT COUNT(birthdate) FROM patient",
    'SELECT COUNT(*) FROM Patient WHERE Patient.birthDate IS NOT NULL AND "Patient"."patientId" = 1',
    'SELECT COUNT(*) FROM "Patient" WHERE patient.birthDate IS NOT NULL',
    "SELECT COUNT(*) FROM Patient NATURAL JOIN Visit",
    "SELECT COUNT(*) FROM Patient JOIN Visit USING (patientId)",
    "SELECT COUNT(*) FROM Visit JOIN Patient USING (PATIENTID) WHERE patientid < 2",
    "SELECT COUNT(*) FROM (SELECT * FROM Patient) x WHERE birthDate IS NOT NULL",
    'SELECT COUNT(*) FROM (SELECT birthDate FROM Patient) x WHERE x."birthDate" > DATE \'2000-06-01\'',
    "SELECT COUNT(*) FROM Patient p WHERE EXISTS (SELECT 1 FROM Visit WHERE PATIENTID = p.PatientId)",
    "SELECT COUNT(*) FROM Patient WHERE PatientId IN (SELECT PATIENTID FROM visit)",
    "WITH Patient AS (SELECT * FROM Visit) SELECT COUNT(*) FROM PATIENT",
    "SELECT COUNT(DISTINCT PatientID) FROM VISIT",
]
# Refused, with a word of the message.
REFUSED = [
    ('SELECT COUNT(*) FROM "patient"', 'relation "patient" does not exist'),
    ('SELECT COUNT(*) FROM "PATIENT"', 'There is a relation "Patient"'),
    ('SELECT COUNT("birthdate") FROM Patient', 'There is a column "birthDate"'),
    ('SELECT COUNT(p."BIRTHDATE") FROM Patient p', 'There is a column "birthDate"'),
    ("SELECT COUNT(*) FROM Patient, Visit WHERE patientId = 1", "ambiguous"),
    ("SELECT COUNT(*) FROM Patient, patient", "more than once"),
]
failures = []


def run(*args):
    r = subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=False)
    return r.returncode, r.stdout.strip(), r.stderr


def expect(ok, *what):
    if not ok:
        failures.append(what)


def counts_as(number, *args):
    r = run("count", *args)
    expect(r[0] == 0 and r[1] == str(number), args, number, r)


def fails_with(text, *args):
    r = run(*args)
    expect(r[0] != 0 and text in r[2], args, text, r)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path
