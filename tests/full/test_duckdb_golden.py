#!/usr/bin/env python3
"""Every accepted query of the golden SQL files, and random ones, on one small
database: the same count from CSV files, SQLite, PostgreSQL, a DuckDB file and
Parquet, by the embedded engine and by DuckDB itself where it counts."""
import json
import os
import random
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "e2e-long"))
import duck  # noqa: E402
import pg  # noqa: E402
import test_engines_golden as golden  # noqa: E402

os.environ["DPCOUNT_LIBDUCKDB"] = duck.library()
DDL = """
CREATE TABLE patient(id integer PRIMARY KEY, name text NOT NULL, sex varchar, born date, weight decimal(5, 1),
  height double, hospital integer NOT NULL, insured boolean);
CREATE TABLE hospital(id integer PRIMARY KEY, city varchar, beds bigint NOT NULL);
CREATE TABLE visit(patient integer NOT NULL, hospital integer, "at" timestamp, cost decimal(12, 2));
CREATE TABLE edge(src integer, dst integer, UNIQUE (src, dst));
CREATE TABLE "Odd Name"("Key" bigint PRIMARY KEY, "a b" text, code uuid);
"""


def literal(v):
    return "NULL" if v is None else str(v) if isinstance(v, int) else "'" + v.replace("'", "''") + "'"


def make_duckdb(folder, data):
    os.mkdir(os.path.join(folder, "parquet"))
    with duck.Duck(os.path.join(folder, "d.duckdb")) as d:
        d.run(DDL)
        for table, lines in data.items():
            d.run(f'INSERT INTO "{table}" VALUES ' + ",".join("(" + ",".join(map(literal, x)) + ")" for x in lines))
            d.run(f"""COPY "{table}" TO '{folder}/parquet/{table}.parquet'""")


def numbers(sources, query, more, seen):
    """One number from all; of DuckDB's own counts those that it does not refuse."""
    got = {}
    for name, source in sources.items():
        got[name], error = golden.ask(source, query, more)
        if name.endswith("counts") and error and error["code"] == "unsupported" and "embedded" in error["hint"] + error["message"]:
            seen[name + " refuses"] = seen.get(name + " refuses", 0) + 1
            if os.environ.get("DPC_SHOW"):
                print(name, error["message"], ":", query)
            got.pop(name)
        elif error:
            return None, (name, error)
        elif name.endswith("counts"):
            seen[name] = seen.get(name, 0) + 1
    if len({json.dumps(x) for x in got.values()}) > 1:
        sys.exit(f"{query}: {got}")
    return got, None


def golden_queries(sources):
    seen, same, left_out = {}, 0, 0
    for query, names in golden.accepted():
        more = golden.groups_of(names, sources["csv"], query)
        if more is None:
            left_out += 1
            continue
        got, error = numbers(sources, query, more, seen)
        if error and error[0] == "csv":
            left_out += 1  # refused everywhere, or a parameter that is NULL
        elif error:
            sys.exit(f"{error}: {query}")
        same += bool(got)
    print(f"{same} golden queries agree, {left_out} left out; {seen}")
    if same < 100 or left_out > same // 10 or min(seen["duckdb counts"], seen["parquet counts"]) < 60:
        sys.exit("that proves too little")


def one_condition(r, alias):
    return alias + "." + r.choice([
        f"id < {r.randrange(50)}", "sex = 'F'", "sex IS NULL", f"born >= DATE '19{r.randrange(60, 99)}-05-05'", f"height > {r.randrange(1, 3)}.25",
        f"hospital IN ({r.randrange(6)}, {r.randrange(6)}, {r.randrange(6)})", "insured", "name LIKE 'n1%'", "name ILIKE 'N_X'", "name <> 'n2x'",
        f"id + {alias}.hospital > {r.randrange(40)}", f"id * {alias}.hospital <> 20", "insured IS DISTINCT FROM true",
        "born IS NOT NULL", f"hospital BETWEEN {r.randrange(3)} AND {r.randrange(3, 6)}"])


def random_query(r):
    n = r.randrange(1, 4)
    tables = [f"patient p{i}" for i in range(n)] + ["visit v", "hospital h", "edge e"][:r.randrange(4)]
    where = [one_condition(r, f"p{r.randrange(n)}") for _ in range(r.randrange(1, 4))]
    where += [f"p{i}.hospital {r.choice(['=', '=', '<>', '<'])} p{i + 1}.hospital" for i in range(n - 1)]
    if "visit v" in tables:
        where.append(f"v.patient = p0.id{r.choice(['', ' AND v.hospital <> p0.hospital', ' AND v.at IS NOT NULL'])}")
    if "hospital h" in tables:
        where.append(f"h.id = {r.choice(['v', 'p0'])}.hospital")
    if "edge e" in tables:
        where.append(f"e.src = p{n - 1}.hospital")
    head = r.choice(["COUNT(*)", "COUNT(*)", "COUNT(DISTINCT p0.name)", "COUNT(p0.sex)", "COUNT(DISTINCT p0.hospital)"])
    return f"SELECT {head} FROM {', '.join(tables)} WHERE " + " AND ".join(where)


def random_queries(sources):
    r, seen, same = random.Random(21), {}, 0
    for _ in range(150):
        query = random_query(r)
        got, error = numbers(sources, query, [], seen)
        if error:
            sys.exit(f"{error}: {query}")
        same += 1
    print(f"{same} random queries agree; {seen}")
    if seen["parquet counts"] < 100:
        sys.exit("that proves too little")


def main():
    with pg.server() as server, tempfile.TemporaryDirectory() as folder:
        data = golden.rows()
        os.mkdir(os.path.join(folder, "csv"))
        golden.make_csv(os.path.join(folder, "csv"), data)
        golden.make_sqlite(os.path.join(folder, "x.db"), data)
        golden.make_postgres(server, data)
        make_duckdb(folder, data)
        schema = ["--schema", os.path.join(golden.GOLDEN, "schema.ddl")]
        sources = {"csv": [*schema, "--db", os.path.join(folder, "csv")], "sqlite": [*schema, "--db", os.path.join(folder, "x.db")],
                   "postgres": ["--db", pg.url(server)], "duckdb": ["--db", f"duckdb:{folder}/d.duckdb"],
                   "parquet": [*schema, "--db", os.path.join(folder, "parquet")]}
        sources["duckdb counts"] = [*sources["duckdb"], "--engine", "sql"]
        sources["parquet counts"] = [*sources["parquet"], "--engine", "sql"]
        golden_queries(sources)
        few = {k: v for k, v in sources.items() if k not in ("csv", "sqlite")}
        random_queries(few)


if __name__ == "__main__":
    main()
