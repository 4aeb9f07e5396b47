#!/usr/bin/env python3
"""A Citus cluster, where there is one: DPC_CITUS names an empty database on its coordinator, for a superuser. Counts and
residuals are those of the embedded engine, also of joins that have to be repartitioned and of cyclic ones; settings reach the
workers; what the planner refuses is free and told as it says it; noise measured on the data is not counted by the cluster."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
from outside import ask, check, end, run, write  # noqa: E402

URL = os.environ.get("DPC_CITUS")
if not URL:
    print("skipped: no cluster (DPC_CITUS)")
    sys.exit(77)
folder = tempfile.TemporaryDirectory(prefix="dpc-citus-")
os.chdir(folder.name)

TABLES = """
DROP TABLE IF EXISTS edge, node, visit, ward, place;
CREATE TABLE edge(src int NOT NULL, dst int NOT NULL, PRIMARY KEY (src, dst));
CREATE TABLE node(id int PRIMARY KEY, label text);
CREATE TABLE visit(id bigint, pat int NOT NULL, ward int, day date, note text);
CREATE TABLE ward(id int PRIMARY KEY, name text);
CREATE TABLE place(id int PRIMARY KEY, name text);
SELECT create_distributed_table('edge', 'src'), create_distributed_table('node', 'id'),
  create_distributed_table('visit', 'pat'), create_reference_table('ward');
INSERT INTO edge SELECT DISTINCT (i * 7) % 31, (i * i + 3) % 29 FROM generate_series(1, 300) i;
INSERT INTO node SELECT i, 'l' || i % 5 FROM generate_series(0, 30) i;
INSERT INTO visit SELECT i, i % 31, nullif(i % 13, 12), DATE '2020-01-01' + i % 40, repeat('x', i % 3) FROM generate_series(1, 400) i;
INSERT INTO ward SELECT i, 'w' || i FROM generate_series(0, 12) i;
INSERT INTO place SELECT i, 'w' || i FROM generate_series(0, 12) i;
"""
QUERIES = [
    "SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src",
    "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src",
    "SELECT COUNT(*) FROM edge a, edge b, edge c, edge d WHERE a.dst = b.src AND b.dst = c.src AND c.dst = d.src AND d.dst = a.src",
    "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.dst AND b.dst = c.dst AND a.src <> b.src AND b.src <> c.src",
    "SELECT COUNT(DISTINCT a.src) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src",
    "SELECT COUNT(*) FROM edge a, node n, node m, visit v WHERE a.src = n.id AND a.dst = m.id AND v.pat = m.id AND n.label = m.label",
    "SELECT COUNT(*) FROM visit v JOIN ward w ON w.id = v.ward JOIN place p ON p.name = w.name",
    "SELECT COUNT(*) FROM visit v, node n WHERE v.pat < n.id AND n.label LIKE 'l1%'",
    "SELECT COUNT(*) FROM node n WHERE NOT EXISTS (SELECT 1 FROM edge e WHERE e.src = n.id AND e.dst > 20)",
    "SELECT COUNT(DISTINCT v.note) FROM visit v, visit w WHERE v.ward = w.pat",
    "SELECT COUNT(*) FROM visit WHERE day::text = '2020-01-07'",
    "SELECT COUNT(*) FROM (SELECT src FROM edge UNION SELECT id FROM node) x"]
REFUSED = "SELECT COUNT(*) FROM node n WHERE n.id NOT IN (SELECT ward FROM visit WHERE ward IS NOT NULL)"


def psql(sql):
    subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", URL], input=sql, text=True, check=True, capture_output=True)


def numbers(command, engine, query):
    status, a = ask(command, "--format", "json", "--db", URL, "--engine", engine, query)
    if status:
        return a
    more = [a["residual"]["ls_hat"], sorted(str(r["t"]) for r in a["residuals"])] if command == "sensitivity" else []
    return [a["count"], *more]


def same_numbers():
    for query in QUERIES:
        for command in ("count", "sensitivity"):
            sql, embedded = (numbers(command, e, query) for e in ("sql", "embedded"))
            check("the same from both engines", sql == embedded, f"{command} {query}\n  {sql}\n  {embedded}")


def settings():
    """What a role sets on the workers changes nothing."""
    name = f'"{subprocess.run(["psql", "-qAtX", URL, "-c", "SELECT current_database()"], text=True, capture_output=True, check=True).stdout.strip()}"'
    tell = "SELECT * FROM run_command_on_workers($$ALTER DATABASE %s %s$$);"
    psql(tell % (name, "SET DateStyle = 'German'") + tell % (name, "SET transform_null_equals = on"))
    try:
        for query in (QUERIES[-2], "SELECT COUNT(*) FROM visit WHERE ward = NULL"):
            check("settings reach the workers", numbers("count", "sql", query) == numbers("count", "embedded", query), query)
    finally:
        psql(tell % (name, "RESET DateStyle") + tell % (name, "RESET transform_null_equals"))


def releases():
    run("budget", "init", "--ledger", "l", "--epsilon", "10")
    write("large.yaml", "tables: {visit: {rows_at_most: 900000000000}}\n")
    R = ["release", "--format", "json", "--db", URL, "--ledger", "l", "--epsilon", "1", "--policy", "large.yaml", "--owner-log", "log"]
    status, a = ask(*R, "--engine", "sql", REFUSED)
    check("a planner's refusal", status == 3 and a["error"]["code"] == "unsupported" and "joins" in a["error"]["message"] and
          "--engine embedded" in a["error"]["hint"], str(a))
    status, a = ask(*R, "--engine", "sql", QUERIES[1])
    check("noise measured on a cluster", status == 3 and "cluster" in a["error"]["message"] and "seal" in a["error"]["hint"], str(a))
    check("both are free", ask("budget", "show", "--format", "json", "--ledger", "l")[1]["spent"] == 0)
    status, a = ask(*R, "--engine", "sql", "SELECT COUNT(*) FROM visit")
    check("counted by the cluster", status == 0 and abs(a["answer"] - 400) < 60, str(a))
    for query in (REFUSED, QUERIES[1]):
        status, a = ask(*R, "--engine", "auto", query)
        check("auto takes the other engine", status == 0 and not a["repeated"], str(a))
    r = run("seal", "--db", URL, "--ledger", "l", "--version", "v", "--out", "copy.db")
    check("a sealed copy", r.returncode == 0, r.stderr)
    status, a = ask("release", "--format", "json", "--db", "copy.db", "--ledger", "l", "--epsilon", "1", QUERIES[0])
    check("noise measured on the copy", status == 0 and a["mechanism"].startswith("smooth"), str(a))


psql(TABLES)
releases()
settings()
same_numbers()
psql("DROP TABLE edge, node, visit, ward, place;")
end()
