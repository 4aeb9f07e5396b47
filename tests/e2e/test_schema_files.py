#!/usr/bin/env python3
"""Schema files as pg_dump and sqlite3 write them are read as they are, and
what they say of keys, types and lists of values is used: the analysis is that
of the live catalogue, and keys of GROUP BY that are public by themselves (enum,
domain, CHECK, boolean, CASE, extract, a reference to a public table) need
neither delta nor --groups."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")
failures = 0

SERVER = """
CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy');
CREATE DOMAIN grade AS text CHECK (VALUE IN ('A', 'B')) NOT NULL;
CREATE TABLE ward (id integer PRIMARY KEY, name text NOT NULL);
COMMENT ON TABLE ward IS 'wards; "quoted" -- and [odd]';
CREATE TABLE pat (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sex char(1) NOT NULL, m mood, g grade,
  code integer NOT NULL CHECK (code IN (1, 2, 3)), ok boolean NOT NULL, born date, ward integer REFERENCES ward,
  UNIQUE (code, born));
CREATE TABLE visit (pat integer NOT NULL REFERENCES pat, day date NOT NULL) PARTITION BY RANGE (day);
CREATE TABLE visit_old PARTITION OF visit FOR VALUES FROM ('1900-01-01') TO ('2020-01-01');
CREATE FUNCTION odd() RETURNS text LANGUAGE sql AS $f$ SELECT 'it''s; CREATE TABLE x (' $f$;
CREATE VIEW v AS SELECT * FROM pat;
CREATE TABLE base (a integer PRIMARY KEY); CREATE TABLE child (c integer, PRIMARY KEY (a)) INHERITS (base);
INSERT INTO ward VALUES (1, 'a'), (2, 'b');
INSERT INTO pat (sex, m, g, code, ok, born, ward) VALUES ('F', 'sad', 'A', 1, true, '1990-01-01', 1);
"""
LITE = """
CREATE TABLE `ward` (id INTEGER PRIMARY KEY AUTOINCREMENT, [na me] TEXT NOT NULL);
CREATE TABLE pat (id INT NOT NULL, sex TEXT NOT NULL CHECK (sex IN ('F', 'M')), ward INT REFERENCES ward(id),
  note TEXT DEFAULT 'AUTOINCREMENT STRICT', PRIMARY KEY (id)) WITHOUT ROWID;
CREATE TABLE s (a INT PRIMARY KEY, b TEXT) STRICT;
"""
ODD = """
CREATE TABLE loose (a, b, c DEFAULT "dq", UNIQUE (a, b) ON CONFLICT IGNORE);
CREATE TABLE made (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, n UNSIGNED BIG INT, x TEXT COLLATE NOCASE UNIQUE, z AS (id + 1) STORED,
  k TEXT CHECK (k IN ('x', 'y')), w INT GENERATED ALWAYS AS (id * 2) VIRTUAL, d DATETIME, CHECK (x GLOB '[A-Z]*' AND n IS NOT 3));
CREATE TABLE IF NOT EXISTS "we ird" ("a b" TEXT, [c d] INT, `e f` REAL, PRIMARY KEY ("a b" COLLATE NOCASE, [c d] DESC)) WITHOUT ROWID;
CREATE TABLE auto (a INTEGER, -- a comment; with (all), of it
  b INT REFERENCES made ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY(a AUTOINCREMENT));
CREATE UNIQUE INDEX half ON made (n) WHERE n > 0;
CREATE UNIQUE INDEX whole ON auto (b);
CREATE INDEX no_key ON made (x COLLATE NOCASE DESC);
CREATE VIEW seen AS SELECT a FROM loose WHERE a = 'x;y';
INSERT INTO made (id, k) VALUES (1, 'x');
CREATE TRIGGER t AFTER INSERT ON made BEGIN UPDATE auto SET b = 1; SELECT CASE WHEN 1 THEN RAISE(ABORT, 'x') END; END;
"""
KEYS = {  # GROUP BY this over pat: the keys
    "m": ["sad", "it's ok", "happy", None],
    "g": ["A", "B", None],
    "code": [1, 2, 3],
    "ok": [False, True],
    "born IS NULL": [False, True],
    "code > 1": [False, True, None],
    "CASE WHEN code = 1 THEN 'one' WHEN code = 2 THEN 'two' END": ["one", "two", None],
    "COALESCE(m, 'sad')": ["sad", "it's ok", "happy"],
    "born": None,
    "extract(quarter FROM born)": ["1", "2", "3", "4", None],
    "ward": [1, 2, None],
}


def check(what, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(what, detail)


def run(*args):
    r = subprocess.run([PROGRAM, *args, "--format", "json"], capture_output=True, text=True, check=False)
    try:
        return r.returncode, json.loads(r.stdout)
    except ValueError:
        return r.returncode, r.stdout + r.stderr


def tool(*args, text=None):
    r = subprocess.run(args, input=text, capture_output=True, text=True, check=False)
    assert r.returncode == 0, r.stderr
    return r.stdout


def server(folder, tmp):
    psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", "postgres"]
    tool(*psql, text=SERVER)
    dump = os.path.join(tmp, "dump.sql")
    with open(dump, "w", encoding="utf-8") as f:
        f.write("\\restrict abc'def\n")  # as newer versions write
        f.write(tool("pg_dump", "-h", folder, "-U", "postgres", "--schema-only", "postgres"))
        f.write("\\unrestrict abc'def\n")
    whole = os.path.join(tmp, "whole.sql")
    with open(whole, "w", encoding="utf-8") as f:
        f.write(tool("pg_dump", "-h", folder, "-U", "postgres", "postgres"))  # with rows
    clean = os.path.join(tmp, "clean.sql")
    with open(clean, "w", encoding="utf-8") as f:
        f.write(tool("pg_dump", "-h", folder, "-U", "postgres", "--clean", "--if-exists", "--inserts", "postgres"))
    for query in ("SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id",
                  "SELECT COUNT(*) FROM visit v JOIN pat p ON v.pat = p.id JOIN ward w ON w.id = p.ward",
                  "SELECT COUNT(*) FROM pat a JOIN pat b ON a.code = b.code AND a.born = b.born"):
        seen = [run("analyze", "--schema", s, query) for s in (dump, whole, clean)]
        check("analyze", all(s == 0 for s, _ in seen), f"{query} {seen}")
        check("the same with rows in the file", seen[0] == seen[1] == seen[2], query)
    for table in ("base", "child", "visit_old"):
        status, a = run("analyze", "--schema", dump, f"SELECT COUNT(*) FROM {table}")
        check("rows of other tables too", status == 3, f"{table} {a}")
    check("keys are used", run("analyze", "--schema", dump, "SELECT COUNT(*) FROM visit v JOIN pat p ON v.pat = p.id "
                               "AND v.day = p.born")[1]["per_relation"]["visit"]["upper"] == 1)
    return dump


def keys(folder, dump, tmp):
    ledger = os.path.join(tmp, "l")
    run("budget", "init", "--ledger", ledger, "--epsilon", "100")
    for key, want in KEYS.items():
        query = f"SELECT {key}, COUNT(*) FROM pat GROUP BY {key}"
        status, a = run("quote", "--schema", dump, "--public", "ward", "--epsilon", "1", query)
        check("quote", (status == 0) == (want is not None or key == "ward"), f"{key} {a}")
        status, a = run("release", "--db", pg.url(folder), "--schema", dump, "--public", "ward", "--ledger", ledger,
                        "--epsilon", "1", query)
        if want is None:
            check("a text is no short list", status == 3, f"{key} {a}")
            continue
        check("keys", status == 0 and [r[0] for r in a["rows"]] == want, f"{key} {a}")


def odd(tmp):
    """What only SQLite's grammar knows: the file says what the database says."""
    path = os.path.join(tmp, "odd.db")
    db = sqlite3.connect(path)
    db.executescript(ODD)
    db.close()
    def says(*where):  # without remarks: which tables are views only the database says
        status, a = run("policy", "init", *where)
        return status, [line for line in a["policy"].splitlines() if "#" not in line] if status == 0 else a

    live = says("--db", path)
    for command in (".schema", ".dump"):
        schema = os.path.join(tmp, "odd.sql")
        with open(schema, "w", encoding="utf-8") as f:
            f.write(tool("sqlite3", path, command))
        written = says("--schema", schema)
        check(f"the same policy from {command}", live[0] == 0 and written == live, f"{live}\n{written}")
        for query in ("SELECT COUNT(*) FROM made x JOIN made y USING (id)", "SELECT COUNT(*) FROM auto a JOIN made m ON a.b = m.id",
                      "SELECT k, COUNT(*) FROM made GROUP BY k"):
            a, b = (run("analyze", *where, query) for where in (["--schema", schema], ["--db", path]))
            check(f"the same analysis from {command}", a[0] == 0 and a == b, f"{query}\n{a}\n{b}")
    for text, line, column in (("CREATE TABLE a(b, c);\nCREATE TABEL z(d);", 2, 8), ("CREATE TABLE a(b, c);\nCREATE TABLE q(x,\n  y TEXT,,);", 3, 10),
                               ("CREATE TABLE a(b, c);\nATTACH 'made.db' AS e;", 2, 1),
                               ("CREATE TABLE a(b, c);\n CREATE TABLE x AS SELECT 1;", 2, 2)):
        with open(schema, "w", encoding="utf-8") as f:
            f.write(text)
        status, a = run("analyze", "--schema", schema, "SELECT COUNT(*) FROM a")
        check("its place", status == 2 and (a["error"]["line"], a["error"]["column"]) == (line, column), f"{text} {a}")


MISTAKES = [  # text, where the mistake is
    ("CREATE TABLE a(id integer PRMARY KEY);", 1, 27),  # a type of three words, to SQLite
    ("CREATE TABLE a(id integer NOT NULL,\n  b int UNIQE);", 2, 9),
    ("CREATE TABLE a(`id` integer UNIQE, b);", 1, 29),
    ("CREATE TABLE a(id int, PRIMERY KEY (id));", 1, 24),
    ("CREATE TABLE a(id int PRIMARY KEY);\nALTER TABLE a DROP CONSTRAINT a_pkey;", 2, 13),
    ("CREATE TABLE a(id int NOT NULL UNIQUE);\nALTER TABLE ONLY a\n  ALTER COLUMN id DROP NOT NULL;", 2, 18),
    ("CREATE TABLE a(b int);\nALTER TABLE a ADD COLUMN id int PRIMARY KEY;", 2, 13),
    ("CREATE TABLE a(id int);\nALTER TABLE a RENAME COLUMN id TO b;", 2, 13),
    ("CREATE TABLE a(id int PRIMARY KEY);\n-- no more\n  DROP TABLE a;", 3, 3),
    ("CREATE TABLE a(id int NOT NULL);\nCREATE UNIQUE INDEX i ON a(id);\nDROP INDEX i;", 3, 1),
    ("CREATE TABLE a(id int NOT NULL);\nALTER TABLE a ADD CONSTRANT k PRIMARY KEY (id);", 2, 43),
    ("CREATE TABLE a(LIKE b INCLUDING ALL);", 1, 14),
]
NO_KEYS = [  # what does not hold of all rows
    "CREATE TABLE a(id int NOT NULL); CREATE UNIQUE INDEX ON a USING btree (id) WHERE id > 0;",
    "CREATE FOREIGN TABLE public.a(id int NOT NULL) SERVER s OPTIONS (x 'y'); ALTER FOREIGN TABLE public.a OWNER TO me;",
    "CREATE TABLE a(id int NOT NULL, EXCLUDE USING gist (id WITH =));",
]
KEYED = [
    "CREATE TABLE a(id int UNIQUE);",
    "DROP TABLE IF EXISTS a; ALTER TABLE IF EXISTS ONLY public.a DROP CONSTRAINT IF EXISTS k; DROP INDEX IF EXISTS i;\n"
    "CREATE UNLOGGED TABLE public.a(id bigserial PRIMARY KEY) WITH (fillfactor = 70);",
    "CREATE TABLE a(id int, x int4range, p public.geometry(Point, 4326), v vector(3), c circle, PRIMARY KEY (id) INCLUDE (v));",
    "CREATE TABLE a(id int GENERATED BY DEFAULT AS IDENTITY (START WITH 5), b text GENERATED ALWAYS AS (upper(c)) STORED, c text);\n"
    "ALTER TABLE ONLY public.a ADD CONSTRAINT k PRIMARY KEY (id) DEFERRABLE; ALTER TABLE a ALTER COLUMN id SET STATISTICS 5;\n"
    "ALTER TABLE a OWNER TO me; ALTER TABLE a ENABLE ROW LEVEL SECURITY; GRANT SELECT ON a TO x; CREATE POLICY p ON a USING (true);",
    "CREATE TABLE a(id int NOT NULL);\nCREATE UNIQUE INDEX CONCURRENTLY i ON ONLY a USING btree (id) INCLUDE (id);\n"
    "COPY public.a (id) FROM stdin;\n1\n\\.\n\nSELECT pg_catalog.setval('s', 2, true);",
    "CREATE TABLE a(id INTEGER PRIMARY KEY, b UNSIGNED BIG INT, c DOUBLE PRECISION, d VARYING CHARACTER(255), `odd name` TEXT, f STRING);",
]


def mistakes(tmp):
    """A key is not lost by a word that is misspelt, nor kept that a later statement takes back."""
    schema, query = os.path.join(tmp, "wrong.sql"), "SELECT COUNT(*) FROM a x JOIN a y ON x.id = y.id"
    for text, line, column in MISTAKES:
        with open(schema, "w", encoding="utf-8") as f:
            f.write(text)
        status, a = run("analyze", "--schema", schema, query)
        check("its place", status == 2 and (a["error"]["line"], a["error"]["column"]) == (line, column), f"{text} {a}")
    for text in NO_KEYS + KEYED:
        with open(schema, "w", encoding="utf-8") as f:
            f.write(text)
        status, a = run("analyze", "--schema", schema, query)
        check("a key or none", status == 0 and (a["global_sensitivity"]["upper"] == 1) == (text in KEYED), f"{text} {a}")


def lite(tmp):
    db = sqlite3.connect(os.path.join(tmp, "x.db"))
    db.executescript(LITE)
    db.close()
    schema = os.path.join(tmp, "lite.sql")
    with open(schema, "w", encoding="utf-8") as f:
        f.write(tool("sqlite3", os.path.join(tmp, "x.db"), ".schema"))
    odd(tmp)
    mistakes(tmp)
    status, a = run("analyze", "--schema", schema, 'SELECT COUNT(*) FROM pat p JOIN ward w ON p.ward = w.id '
                    'WHERE w."na me" = \'x\'')
    check("sqlite", status == 0 and a["per_relation"]["pat"]["upper"] == 1, a)
    status, a = run("analyze", "--schema", schema, "SELECT COUNT(*) FROM s x JOIN s y USING (a)")
    check("strict", status == 0 and a["global_sensitivity"]["upper"] == 1, a)
    status, a = run("quote", "--schema", schema, "--epsilon", "1", "SELECT sex, COUNT(*) FROM pat GROUP BY sex")
    check("CHECK", status == 0 and a["groups"] == 2, a)
    with open(schema, "a", encoding="utf-8") as f:
        f.write("\nCREATE TABEL z (a int);\n")
    status, a = run("analyze", "--schema", schema, "SELECT COUNT(*) FROM s")
    check("a mistake is shown with its place", status == 2 and a["error"]["line"] >= 4, a)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        lite(tmp)
        with pg.server() as folder:
            keys(folder, server(folder, tmp), tmp)
    print(f"{len(KEYS)} keys, {failures} failures")
    sys.exit(failures != 0)


main()
