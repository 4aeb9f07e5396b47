#!/usr/bin/env python3
"""The ways of a cluster without one: a plain server whose catalogue says that Citus is there, with the sizes of shards that it
would tell, and a planner that refuses. What a real cluster does with it: tests/full/test_citus.py."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg  # noqa: E402
from outside import ask, check, end, run, write  # noqa: E402

TABLES = """
SET allow_system_table_mods = on;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) VALUES (99999, 'citus', 10, 11, false, '0');
CREATE TABLE pg_catalog.citus_shards(table_name regclass, shardid bigint, nodename text, shard_size bigint);
CREATE TABLE edge(src int NOT NULL, dst int NOT NULL, PRIMARY KEY (src, dst));
CREATE TABLE node(id int PRIMARY KEY, label text);
INSERT INTO edge SELECT DISTINCT (i * 7) % 31, (i * i + 3) % 29 FROM generate_series(1, 300) i;
INSERT INTO node SELECT i, 'l' || i % 5 FROM generate_series(0, 30) i;
-- a server whose planner refuses: a constraint that is looked at while planning raises what Citus raises
CREATE FUNCTION refuse(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
  IF current_setting('odd.refuse', true) = 'on' THEN
    RAISE EXCEPTION 'complex joins are only supported when all distributed tables are co-located'
      USING ERRCODE = 'feature_not_supported', DETAIL = 'The tables are stored apart.';
  END IF;
  RETURN x; END $$;
CREATE TABLE apart(id int PRIMARY KEY, kind int NOT NULL, CHECK (kind < refuse(100)));
INSERT INTO apart SELECT i, i % 7 FROM generate_series(1, 100) i;
ALTER SYSTEM SET log_statement = 'all';
SELECT pg_reload_conf();
"""
CYCLE = "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src"


def psql(url, sql):
    p = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", url], input=sql, text=True, check=False, capture_output=True)
    assert p.returncode == 0, p.stderr


def logged(server, what):
    """What the server was told meanwhile."""
    path = os.path.join(server, "data", "log")
    with open(path, encoding="utf-8") as f:
        f.seek(0, os.SEEK_END)
        what()
        return f.read()


def statements(server, url):
    """C1, C4, C6: tables stand in FROM by their own names; settings reach the workers, from the first on."""
    def work():
        for query in (CYCLE, "SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src AND a.src <> b.dst",
                      "SELECT COUNT(*) FROM edge a, node n WHERE a.src = n.id AND n.label LIKE 'l1%'"):
            for command in ("count", "sensitivity"):
                got = [ask(command, "--format", "json", "--db", url, "--engine", e, query) for e in ("sql", "embedded")]
                check("the same from both engines", got[0][0] == 0 and got[0][1]["count"] == got[1][1]["count"], f"{query} {got}")
    text = logged(server, work)
    asked = [s for s in text.split("statement: ") if "COALESCE((SELECT max(w)" in s]
    check("statements are seen", len(asked) > 10, len(asked))
    for s in asked:
        check("tables by their own names", not re.search(r'(FROM|JOIN) \(SELECT (?:(?!FROM).)*FROM "public"', s), s)
        check("rows of a table as they are", s.count('"public"."edge" a') + s.count('"public"."node" a') + s.count('FROM "public"') >= 1, s)
    first = text.index("SET LOCAL citus.propagate_set_commands = 'local'")
    others = [text.find(f"SET LOCAL {x}") for x in ("jit", "citus.enable_repartition_joins = 'on'", "citus.max_intermediate_result_size = '-1'")]
    check("settings for the workers", all(x > first for x in others), f"{first} {others}")
    check("no other setting before", "SET LOCAL" not in text[:first] and "set_config" not in text[:first], text[:first][-500:])


def sizes(url):
    """C5: what the coordinator's own catalogue says of distributed tables is 0; the shards tell. Replicas count once."""
    def engine():
        return ask("count", "--format", "json", "--db", url, "--engine", "auto", "--memory", "30M", "SELECT COUNT(*) FROM edge")[1]["engine"]
    psql(url, "UPDATE pg_class SET reltuples = 0 WHERE relname IN ('edge', 'node', 'apart')")
    check("small shards", engine() == "embedded")
    psql(url, "SET allow_system_table_mods = on; INSERT INTO citus_shards SELECT 'edge', s, 'worker' || w, 1000000 FROM generate_series(1, 9) s, generate_series(1, 3) w")
    check("each shard once", engine() == "embedded")
    psql(url, "SET allow_system_table_mods = on; INSERT INTO citus_shards SELECT 'edge', s, 'worker1', 1000000 FROM generate_series(10, 40) s")
    check("many shards", engine() == "sql")
    psql(url, "SET allow_system_table_mods = on; ALTER TABLE citus_shards RENAME COLUMN shard_size TO other")
    check("a cluster that does not tell", engine() == "embedded")
    psql(url, "SET allow_system_table_mods = on; ALTER TABLE citus_shards RENAME COLUMN other TO shard_size")


def releases(url):
    """C1, C3: what the planner refuses is free and told with its words; noise measured on the data is not counted by a cluster."""
    run("budget", "init", "--ledger", "l", "--epsilon", "10")
    r = ["release", "--format", "json", "--ledger", "l", "--epsilon", "1", "--owner-log", "log"]
    status, a = ask(*r, "--db", url, "--engine", "sql", CYCLE)
    check("noise measured on a cluster", status == 3 and "cluster" in a["error"]["message"] and "seal" in a["error"]["hint"], a)
    refusing = url + "&options=-c%20odd.refuse%3Don%20-c%20constraint_exclusion%3Don"
    status, a = ask(*r, "--db", refusing, "--engine", "sql", "SELECT COUNT(*) FROM apart WHERE kind = 3")
    check("a planner's refusal", status == 3 and a["error"]["code"] == "unsupported" and "co-located" in a["error"]["message"] and
          "stored apart" in a["error"]["detail"] and "--engine embedded" in a["error"]["hint"], a)
    check("both are free", ask("budget", "show", "--format", "json", "--ledger", "l")[1]["spent"] == 0)
    status, a = ask(*r, "--db", url, "--engine", "sql", "SELECT COUNT(*) FROM apart WHERE kind = 3")
    check("counted by the cluster", status == 0 and abs(a["answer"] - 14) < 40, a)
    write("large.yaml", "tables: {edge: {rows_at_most: 900000000000}}\n")
    status, a = ask(*r, "--db", url, "--engine", "auto", "--policy", "large.yaml", CYCLE)
    check("auto takes the other engine", status == 0, a)
    with open("log", encoding="utf-8") as f:
        check("and says so to the owner", "auto chose the engine embedded" in f.read())
    s = run("seal", "--db", url, "--ledger", "l", "--version", "v", "--out", "copy.db")
    check("a sealed copy", s.returncode == 0, s.stderr)
    status, a = ask(*r, "--db", "copy.db", CYCLE)
    check("noise measured on the copy", status == 0 and a["mechanism"].startswith("smooth"), a)


def main():
    with pg.server() as server, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        url = pg.url(server)
        psql(url, TABLES)
        statements(server, url)
        sizes(url)
        releases(url)
        end()


main()
