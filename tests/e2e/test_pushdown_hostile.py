#!/usr/bin/env python3
"""What the database computes must not fail on some rows only, and must mean
the same whatever a role's settings are and whoever may create functions."""
import json
import os
import subprocess
import sys

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")

DDL = """
CREATE TABLE person(id int PRIMARY KEY, no oid, n numeric, big bigint, s text, d date);
INSERT INTO person VALUES (1, 5, '9e131071', 9223372036854775807, repeat('a', 60000), '2020-01-01'),
    (2, 4294967295, '-1e131071', -9223372036854775808, 'b', 'infinity'), (3, 7, '1e-16383', 0, '', NULL),
    (4, 8, 5, 1, 'aa', '2020-05-05'), (5, NULL, NULL, NULL, NULL, NULL), (6, 6, 'NaN', 2, 'c', '2021-01-01'),
    (7, 9, (repeat('9', 131072) || '.5')::numeric, 3, 'c', '2021-01-01');
CREATE TABLE seen(who bigint, n numeric);
INSERT INTO seen VALUES (-1, 1), (5, 2), (99999999999, 3), (7, 1), (7, 1), (NULL, 2);
CREATE DOMAIN must AS int NOT NULL;
CREATE TABLE loose(k must UNIQUE, v int);
INSERT INTO loose VALUES (1, 7), (2, 8);
INSERT INTO loose SELECT (SELECT k FROM loose WHERE false), 7;
INSERT INTO loose SELECT (SELECT k FROM loose WHERE false), 7;
CREATE TYPE pair AS (x int, y int);
CREATE FUNCTION flat(pair) RETURNS text LANGUAGE sql AS $$SELECT 'one'::text$$;
CREATE CAST (pair AS text) WITH FUNCTION flat(pair);
CREATE TABLE pairs(p pair PRIMARY KEY, v int);
INSERT INTO pairs VALUES ((1, 1), 7), ((1, 2), 7), ((2, 2), 8);
CREATE SCHEMA evil;
CREATE FUNCTION evil.always(int, numeric) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = numeric, FUNCTION = evil.always);
CREATE FUNCTION evil.never(numeric, numeric) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR evil.> (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = evil.never);
CREATE FUNCTION evil.length(text) RETURNS int LANGUAGE sql AS 'SELECT 1 / 0';
CREATE ROLE mean SUPERUSER LOGIN;
ALTER ROLE mean SET search_path = evil, pg_catalog, public;
ALTER ROLE mean SET transform_null_equals = on;
ALTER ROLE mean SET standard_conforming_strings = off;
ALTER ROLE mean SET DateStyle = 'SQL, DMY';
"""
# the answer, and whether the database may refuse
CASES = [
    ("SELECT COUNT(*) FROM person, seen WHERE no = who", 3, False),
    ("SELECT COUNT(*) FROM person, seen WHERE no < who", 10, False),
    ("SELECT COUNT(*) FROM person WHERE no = -1", 0, False),
    ("SELECT COUNT(*) FROM person WHERE no + 1 > 8", 3, False),
    ("SELECT COUNT(*) FROM person WHERE n * n > 5", 1, False),
    ("SELECT COUNT(*) FROM person WHERE n + n > 5", 1, False),
    ("SELECT COUNT(*) FROM person WHERE n + 1 IS NULL", 6, False),
    ("SELECT COUNT(*) FROM person WHERE ceil(n) > 1 OR round(n) > 1 OR round(n, -2) > 1", 1, False),
    ("SELECT COUNT(*) FROM person WHERE abs(n) > 3", 1, False),
    ("SELECT COUNT(*) FROM person WHERE n > 3", 4, False),
    ("SELECT COUNT(*) FROM person WHERE s LIKE '" + "%a" * 40000 + "'", 1, True),
    ("SELECT COUNT(*) FROM person WHERE " + "n * " * 100 + "n > 5", 1, True),
    ("SELECT COUNT(*) FROM person, seen WHERE id = seen.n", 6, False),
    ("SELECT COUNT(*) FROM person WHERE length(s) = 1", 3, False),
    ("SELECT COUNT(*) FROM person WHERE COALESCE(d = NULL, true)", 7, False),
    ("SELECT COUNT(*) FROM person WHERE d = DATE '2020-05-05'", 1, False),
    ("SELECT COUNT(*) FROM loose x, loose y WHERE x.v = y.v", 10, False),
    ("SELECT COUNT(*) FROM loose x, pairs y WHERE x.v = y.v", 7, False),
]


def run(url, engine, command, query):
    got = subprocess.run([PROGRAM, command, "--format", "json", "--db", url, "--engine", engine, query],
                         capture_output=True, text=True, check=False)
    return got.returncode, json.loads(got.stdout)


def check(url, cases):
    for query, want, may_refuse in cases:
        for engine in ("embedded", "sql"):
            status, got = run(url, engine, "count", query)
            refused = may_refuse and engine == "sql" and status == 3 and got["error"]["code"] == "unsupported"
            if got.get("count") != want and not refused:
                sys.exit(f"{engine}, {query[:90]}: {json.dumps(got)[:300]}, not {want}")
    # two rows without a key are two rows
    for engine in ("embedded", "sql"):
        status, got = run(url, engine, "sensitivity", "SELECT COUNT(*) FROM loose x, loose y WHERE x.v = y.v")
        if status or got["count"] != 10 or max(r["t"] for r in got["residuals"]) != 3:
            sys.exit(f"{engine}, rows without a key: {json.dumps(got)[:300]}")


with pg.server() as server:
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", server, "-U", "postgres"], input=DDL, text=True,
                   check=True)
    check(pg.url(server), CASES)
    # what the settings of this role would change
    check(pg.url(server).replace("user=postgres", "user=mean"), CASES[3:5] + CASES[-7:])
print(f"{len(CASES)} queries, two engines, two roles")
