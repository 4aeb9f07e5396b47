#!/usr/bin/env python3
"""Public tables of a PostgreSQL server say how large they are, as files do: the same bound from both. They are measured in
one transaction and counted in another, so what grows in between is never counted under the old bound."""
import os
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import outside  # noqa: E402
import pg  # noqa: E402
from outside import ask, check, end, run, write  # noqa: E402

GROUPS = "SELECT k.id, COUNT(DISTINCT p.id) FROM pat p JOIN visit v ON v.pat = p.id JOIN kind k ON k.id = v.kind GROUP BY k.id"
PARTS = "SELECT COUNT(*) FROM visit v JOIN kind k ON k.part = v.kind"
DDL = """
CREATE TABLE pat(id integer PRIMARY KEY, sex text);
CREATE TABLE visit(id integer PRIMARY KEY, pat integer, kind integer);
CREATE TABLE kind(id integer PRIMARY KEY, name text, part integer);
CREATE TABLE calendar(day date);
CREATE TABLE halves(id integer, part integer) PARTITION BY RANGE (id);
CREATE TABLE halves_1 PARTITION OF halves FOR VALUES FROM (0) TO (5);
CREATE TABLE halves_2 PARTITION OF halves FOR VALUES FROM (5) TO (1000);
CREATE TABLE seen(id integer, part integer);
INSERT INTO pat SELECT i, 'F' FROM generate_series(0, 8) i;
INSERT INTO visit SELECT i, i % 9, i % 5 FROM generate_series(0, 19) i;
INSERT INTO kind SELECT i, CASE WHEN i > 2 THEN 'k' || i END, i % 4 FROM generate_series(0, 12) i;
INSERT INTO halves SELECT i, i % 3 FROM generate_series(0, 8) i;
INSERT INTO seen SELECT i, i % 2 FROM generate_series(0, 8) i;
CREATE VIEW looked AS SELECT * FROM kind;
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY who ON seen USING (EXISTS (SELECT 1 FROM visit v WHERE v.id = seen.id));
CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
"""
PRIVATE = "tables:\n  pat: {key: [id]}\n  visit: {key: [id]}\n"
PUBLIC = PRIVATE + "".join(f"  {t}: {{privacy: public}}\n" for t in ("kind", "calendar", "halves", "seen", "looked"))
P = ["--policy", "public.yaml"]
folder = tempfile.TemporaryDirectory(prefix="dpc-sizespg-")
os.chdir(folder.name)


def psql(server, sql):
    return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", pg.url(server)], input=sql, text=True, check=True,
                          capture_output=True).stdout.strip()


def quote(query, *args):
    status, a = ask("quote", "--format", "json", "--epsilon", "1", *args, query)
    return a if status == 0 else a["error"]


def upper(query, *args):
    return quote(query, *args).get("global_sensitivity")


def as_files(server):
    """The same rows as CSV."""
    os.mkdir("files")
    for t in ("pat", "visit", "kind"):
        write(f"files/{t}.csv", psql(server, f"COPY {t} TO STDOUT (FORMAT csv, HEADER);") + "\n")
    types = {"pat": "id: integer, sex: text", "visit": "id: integer, pat: integer, kind: integer", "kind": "id: integer, name: text, part: integer"}
    write("files.yaml", "tables:\n" + "".join(
        f"  {t}: {{columns: {{{c}}}{', privacy: public' if t == 'kind' else ', key: [id]'}}}\n" for t, c in types.items()))
    return ["--db", "files", "--policy", "files.yaml"]


def same_bounds(server):
    db, files = ["--db", pg.url(server)], as_files(server)
    names = "SELECT COUNT(*) FROM visit v JOIN kind k ON k.name = v.pat::text"
    for query, bound in ((GROUPS, 13), (PARTS, 4), (names, 1)):
        a, b = quote(query, *P, *db), quote(query, *files)
        check("as from files", a.get("global_sensitivity") == b.get("global_sensitivity") == bound and a["error"] == b["error"], f"{query} {a} {b}")
    a = quote(GROUPS, *P, *db)
    check("plain noise", a["mechanism"] == "discrete-laplace" and a["error"]["p95"] == 39, str(a))
    check("partitions are one table", upper("SELECT COUNT(*) FROM visit v JOIN halves h ON h.part = v.kind", *P, *db) == 3)
    check("a private table is not measured", upper(PARTS, *db, "--policy", "private.yaml") == "inf")
    by_rows = "SELECT COUNT(*) FROM visit v JOIN seen s ON s.part = v.kind"
    check("under row security it is refused", "row security" in
          quote(by_rows, *P, "--db", pg.url(server).replace("user=postgres", "user=reader")).get("message", ""))
    check("and measured for whom it does not bind", upper(by_rows, *P, *db) == 5)
    psql(server, "INSERT INTO kind SELECT i, 'k', i FROM generate_series(100, 25000) i;")
    check("a large one", upper(PARTS, *P, *db) == "inf")
    psql(server, "DELETE FROM kind WHERE id >= 100;")
    # neighbours have the same bounds
    before = quote(GROUPS, *P, *db)
    psql(server, "INSERT INTO visit VALUES (99, 1, 1);")
    check("private rows do not matter", quote(GROUPS, *P, *db) == before)


def release(query, server, *more):
    return ask("release", "--format", "json", "--epsilon", "1", "--ledger", "l", *P, "--db", pg.url(server), *more, query)


def versions(server):
    """What a public table has become is another question; what no question has does not matter."""
    status, a = release(PARTS, server)
    check("released", status == 0 and a["mechanism"] == "discrete-laplace", f"{status} {a}")
    psql(server, "INSERT INTO calendar VALUES ('2020-01-01');")
    status, b = release(PARTS, server)
    check("the stored answer", status == 0 and b["repeated"], f"{status} {b}")
    psql(server, "INSERT INTO kind VALUES (13, 'k13', 0), (14, 'k14', 0);")
    status, b = release(PARTS, server)
    check("another bound", status == 0 and not b["repeated"] and b["error"]["p95"] > a["error"]["p95"], f"{status} {b}")
    for engine in ("sql", "embedded"):
        status, c = release(PARTS, server, "--engine", engine, "--fresh")
        check("counted by " + engine, status == 0 and c["error"] == b["error"] and abs(c["answer"] - b["answer"]) < 400, f"{status} {c}")


def waiting(server):
    """Until the program's own statement waits for a lock."""
    stop = time.time() + 6
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dpcount' AND wait_event_type = 'Lock';"
    while psql(server, sql) == "0" and time.time() < stop:
        time.sleep(0.05)


def meanwhile(server, engine, change):
    """A change between the measuring and the count."""
    lock = subprocess.Popen(["psql", "-qAtX", pg.url(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lock.stdin.write("BEGIN; LOCK TABLE visit IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
    lock.stdin.flush()
    lock.stdout.readline()
    asked = subprocess.Popen([outside.DPCOUNT, "release", "--format", "json", "--epsilon", "1", "--ledger", "l", "--fresh", *P,
                              "--engine", engine, "--db", pg.url(server), "--owner-log", "log", PARTS], stdout=subprocess.PIPE, text=True)
    waiting(server)
    psql(server, change)
    lock.communicate("COMMIT;\n")
    out = asked.communicate(timeout=60)[0]
    return asked.returncode, out


def grown(server):
    for engine in ("embedded", "sql"):
        status, out = meanwhile(server, engine, "DELETE FROM kind WHERE id = 14;")
        check(f"fewer rows are within the bound, {engine}", status == 0, out)
        status, out = meanwhile(server, engine, "INSERT INTO kind VALUES (14, 'k14', 0), (15, 'k15', 0);")
        check(f"more are not counted, {engine}", status == 5 and '"locked"' in out, out)
        log = subprocess.run(["cat", "log"], capture_output=True, text=True, check=False).stdout
        check("the owner is told", 'public table "kind" grew meanwhile' in log, log)
        run("budget", "unlock", "--ledger", "l")
        psql(server, "DELETE FROM kind WHERE id = 15;")


def left_open(server):
    """A data set that stays open measures again for each question."""
    lib = os.path.join(BUILD, "src", "libdpcount.so")
    if not os.path.exists(lib) or os.environ.get("DPC_SLOW") or "SANITIZE:STRING=a" in open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8").read():
        return
    os.environ["DPCOUNT_LIBRARY"] = lib
    sys.path.insert(0, os.path.join(SOURCE, "python"))
    import dpcount
    with dpcount.Dataset(db=pg.url(server), policy="public.yaml", ledger="l") as ds:
        first = ds.release(PARTS, epsilon=1)
        psql(server, "INSERT INTO kind SELECT i, 'k', 0 FROM generate_series(50, 80) i;")
        second = ds.release(PARTS, epsilon=1)
        check("measured again", not second.repeated and second.error95 > first.error95, f"{first.json} {second.json}")


with pg.server() as SERVER:
    psql(SERVER, DDL)
    write("public.yaml", PUBLIC)
    write("private.yaml", PRIVATE)
    run("budget", "init", "--ledger", "l", "--epsilon", "50")
    same_bounds(SERVER)
    versions(SERVER)
    grown(SERVER)
    left_open(SERVER)
end()
