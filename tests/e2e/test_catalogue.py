#!/usr/bin/env python3
"""The catalogue against a PostgreSQL 15 server with the same tables: the same
columns, types and rows for what psql, pgjdbc, SQLAlchemy, DBeaver, Metabase,
RPostgreSQL and others ask. Differences that are meant stand, with their reason,
in tests/catalogue/accepted.txt; one that is not there, or no longer there, is
a failure. Queries: tests/catalogue/*.sql, and those of real clients where
DPC_CASES names the folder.

OIDs of the owner's objects are numbered by each side and compared by order of
appearance."""
import json
import os
import re
import subprocess
import sys

import pg

SOURCE = os.environ["DPC_SOURCE"]
BUILD = os.environ["DPC_BUILD"]
HERE = os.path.join(SOURCE, "tests", "catalogue")

DDL = """
CREATE TABLE hospital (id integer PRIMARY KEY, name text NOT NULL, city varchar(40));
CREATE TABLE patient (id integer PRIMARY KEY, sex char(1), born date, hospital_id integer NOT NULL
  REFERENCES hospital(id), code text UNIQUE, weight numeric(6,2), "Odd Name" double precision);
CREATE TABLE visit (patient_id integer NOT NULL REFERENCES patient(id), nr bigint NOT NULL,
  at timestamp with time zone, seen boolean, PRIMARY KEY (patient_id, nr), UNIQUE (nr, at));
CREATE TABLE note (text text, made timestamp without time zone);
COMMENT ON TABLE patient IS 'private: one row a patient';
COMMENT ON COLUMN patient.sex IS 'F or M';
"""
TABLES = [
    {"name": "hospital", "columns": [["id", "integer", -1, True, None], ["name", "text", -1, True, None],
                                     ["city", "character varying", 44, False, None]],
     "keys": [[True, [0]]], "references": []},
    {"name": "patient", "comment": "private: one row a patient",
     "columns": [["id", "integer", -1, True, None], ["sex", "character", 5, False, "F or M"],
                 ["born", "date", -1, False, None], ["hospital_id", "integer", -1, True, None],
                 ["code", "text", -1, False, None], ["weight", "numeric", 393222, False, None],
                 ["Odd Name", "double precision", -1, False, None]],
     "keys": [[True, [0]], [False, [4]]], "references": [[[3], 0, [0]]]},
    {"name": "visit",
     "columns": [["patient_id", "integer", -1, True, None], ["nr", "bigint", -1, True, None],
                 ["at", "timestamp with time zone", -1, False, None], ["seen", "boolean", -1, False, None]],
     "keys": [[True, [0, 1]], [False, [1, 2]]], "references": [[[0], 1, [0]]]},
    {"name": "note", "columns": [["text", "text", -1, False, None],
                                 ["made", "timestamp without time zone", -1, False, None]],
     "keys": [], "references": []},
]


def accepted():
    """{name of a query: reason}"""
    out = {}
    with open(os.path.join(HERE, "accepted.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition(": ")
                out[name] = reason
    return out


def queries():
    """(name, sql) of the project's own files, then of the clients' traffic."""
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".sql"):
            with open(os.path.join(HERE, name), encoding="utf-8") as f:
                parts = re.split(r"^-- (\S+)\n", f.read(), flags=re.M)
            for title, sql in zip(parts[1::2], parts[2::2]):
                yield f"{name[:-4]}/{title}", sql.strip().rstrip(";")
    cases = os.path.join(os.environ.get("DPC_CASES", "/nowhere"), "catalogue.json")
    if os.path.exists(cases):
        with open(cases, encoding="utf-8") as f:
            for i, (client, sql) in enumerate(json.load(f)):
                if re.match(r"\s*select\b", sql, re.I):
                    yield f"cases/{client}-{i}", sql.strip().rstrip(";")


def named_oids(sql, oids):
    """Traffic names tables by the OIDs of the server it was taken from, ours by :patient."""
    sql = sql.replace("'16385'", ":'patient'").replace("16385", ":patient").replace("16392", ":visit")
    sql = re.sub(r":'(\w+)'", lambda m: f"'{oids[m[1]]}'" if m[1] in oids else m[0], sql)
    return re.sub(r"(?<![:\w]):(\w+)", lambda m: str(oids[m[1]]) if m[1] in oids else m[0], sql)


def normal(answer):
    """Numbers of the owner's objects as #1, #2, .. in order of appearance."""
    seen = {}

    def one(cell):
        if cell is None or not re.fullmatch(r"1[67]\d{3}", cell):
            return cell
        return seen.setdefault(cell, f"#{len(seen) + 1}")

    rows = [[one(c) for c in row] for row in answer["rows"]]
    return {"columns": answer["columns"], "rows": rows}


class Server:
    """PostgreSQL, by one psql for all queries: types by \\gdesc, cells between marks."""

    def __init__(self, folder):
        self.base = ["psql", "-XAtq", "-h", folder, "-U", "ann", "-d", "hosp",
                     "-P", "null=\x01", "-F", "\x02", "-R", "\x03"]
        setup = ["psql", "-Xq", "-h", folder, "-U", "postgres", "-v", "ON_ERROR_STOP=1"]
        subprocess.run(setup + ["-d", "postgres", "-c", "CREATE ROLE ann LOGIN", "-c",
                                "CREATE ROLE dpcount SUPERUSER NOLOGIN", "-c", "CREATE DATABASE hosp OWNER dpcount"],
                       check=True, capture_output=True)
        subprocess.run(setup + ["-d", "hosp", "-c", "SET ROLE dpcount", "-c", DDL, "-c",
                                "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ann"], check=True, capture_output=True)
        oids, types = self.run(["SELECT relname, oid FROM pg_class WHERE relkind = 'r' AND oid >= 16384",
                                "SELECT format_type(oid, NULL), oid FROM pg_type"])
        self.oids = dict(oids["rows"])
        self.types = dict(types["rows"])

    def run(self, sqls, user="ann"):
        script = "".join(f"{q}\n\\gdesc\n\\echo \x05\n{q}\n;\n\\if :ERROR\n\\echo \x06\n\\endif\n\\echo \x04\n" for q in sqls)
        p = subprocess.run(self.base + ["-U", user, "-f", "-"], input=script, capture_output=True, text=True, check=True)
        parts = p.stdout.split("\x04\n")[:-1]
        assert len(parts) == len(sqls), p.stderr
        return [self.read(part) for part in parts]

    @staticmethod
    def read(part):
        if "\x06\n" in part:
            return {"error": "an error"}
        columns, rows = part.split("\x05\n")
        cells = [[[None if c == "\x01" else c for c in r.split("\x02")] for r in text[:-1].split("\x03")]
                 if text else [] for text in (columns, rows)]
        return {"columns": cells[0], "rows": cells[1]}


def ask(sqls):
    given = {"database": "hosp", "user": "ann", "tables": TABLES, "queries": sqls}
    p = subprocess.run([os.path.join(BUILD, "tests", "catalogue_ask")], input=json.dumps(given), capture_output=True,
                       text=True, check=False)
    if p.returncode:
        sys.exit(f"catalogue_ask: {p.returncode}: {p.stderr}")
    return [json.loads(line) for line in p.stdout.strip().split("\n")]


def own_oids():
    answer = ask(["SELECT relname, oid FROM pg_class WHERE relkind = 'r'"])[0]
    return dict(answer["rows"])


def typed(answer, types):
    """Columns as (name, OID of the type): psql tells its name, with the typmod."""
    plain = []
    for name, type_name in answer["columns"]:
        bare = re.sub(r"\(.*?\)", "", type_name)
        plain.append([name, int(types.get(bare, 0))])
    return {"columns": plain, "rows": answer["rows"]}


def differs(ours, theirs, types, ordered):
    if "error" in theirs:
        return None if "error" in ours else f"PostgreSQL refuses: {theirs['error']}"
    if "error" in ours:
        return f"refused: {ours['error']}"
    a = normal({"columns": [c[:2] for c in ours["columns"]], "rows": ours["rows"]})
    b = normal(typed(theirs, types))
    if a["columns"] != b["columns"]:
        return f"columns {a['columns']} for {b['columns']}"
    if a["rows"] != b["rows"] and (ordered or sorted(map(str, a["rows"])) != sorted(map(str, b["rows"]))):
        return f"rows\n    ours   {a['rows'][:6]}\n    theirs {b['rows'][:6]} ({len(a['rows'])}, {len(b['rows'])})"
    return None


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    known = accepted()
    bad, equal, used = 0, 0, set()
    folder = pg.start()
    try:
        server = Server(folder)
        todo = [q for q in queries() if only in q[0]]
        mine = own_oids()
        answers = ask([named_oids(sql, mine) for _, sql in todo])
        # what PostgreSQL shows to owners of tables only, everybody sees here
        truth = [a if name.startswith("tools/standard-") else b for (name, _), a, b in
                 zip(todo, *(server.run([named_oids(sql, server.oids) for _, sql in todo], user) for user in ("postgres", "ann")))]
        for (name, sql), ours, theirs in zip(todo, answers, truth):
            why = differs(ours, theirs, server.types, "order by" in sql.lower())
            if ours["kind"] != "system":
                why = f"is taken for {ours['kind']}"
            if why is None and name not in known:
                equal += 1
            elif why is None:
                print(f"{name}: is accepted as different and is not")
                bad += 1
            elif name in known:
                used.add(name)
                if only:
                    print(f"{name}: accepted: {why}")
            else:
                print(f"{name}: {why}")
                bad += 1
    finally:
        pg.stop(folder)
    print(f"{equal} queries answered as PostgreSQL does, {len(used)} with accepted differences, {bad} not")
    return 1 if bad or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
