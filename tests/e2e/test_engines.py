#!/usr/bin/env python3
"""The same numbers wherever the data are: a CSV folder, a SQLite file,
PostgreSQL with the embedded engine and PostgreSQL that counts itself."""
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")

DDL = """
CREATE TABLE person(id integer PRIMARY KEY, name text, born date, town integer);
CREATE TABLE town(id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE knows(a integer NOT NULL, b integer NOT NULL);
"""
COUNTS = [
    "SELECT COUNT(*) FROM knows",
    "SELECT COUNT(name) FROM person",
    "SELECT COUNT(DISTINCT name) FROM person",
    "SELECT COUNT(*) FROM person p JOIN town t ON p.town = t.id",
    "SELECT COUNT(*) FROM person p, knows k WHERE p.id = k.a AND p.born < DATE '1990-06-01'",
    "SELECT COUNT(DISTINCT k.b) FROM person p, knows k WHERE p.id = k.a AND p.name LIKE 'n1%'",
    "SELECT COUNT(*) FROM knows x, knows y WHERE x.b = y.a AND x.a <> y.b",
    "Q(x, y, z) :- knows(x, y), knows(y, z), knows(z, x).",
]
RESIDUALS = [
    "Q(x, y, z) :- knows(x, y), knows(y, z), knows(z, x).",
    "SELECT COUNT(*) FROM person p, knows k WHERE p.id = k.a",
]


def rows():
    r = random.Random(3)
    towns = [(i, f"t{i % 3}") for i in range(6)]
    people = [(i, None if i % 9 == 0 else f"n{i % 13}\"'\\",
               f"19{r.randrange(70, 99)}-0{r.randrange(1, 10)}-1{r.randrange(10)}",
               None if i % 5 == 0 else r.randrange(8)) for i in range(80)]
    knows = [(r.randrange(40), r.randrange(40)) for _ in range(400)]
    return {"town": towns, "person": people, "knows": knows}


def cell(value):
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def make_csv(folder, data):
    os.mkdir(folder)
    names = {"town": "id,name", "person": "id,name,born,town", "knows": "a,b"}
    for table, lines in data.items():
        with open(os.path.join(folder, table + ".csv"), "w", encoding="utf-8") as f:
            f.write(names[table] + "\n")
            f.writelines(",".join(map(cell, line)) + "\n" for line in lines)


def make_sqlite(path, data):
    db = sqlite3.connect(path)
    db.executescript(DDL)
    for table, lines in data.items():
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(lines[0]))})", lines)
    db.commit()
    db.close()


def make_postgres(folder, data):
    def literal(v):
        if v is None:
            return "NULL"
        return "'" + v.replace("'", "''") + "'" if isinstance(v, str) else str(v)
    sql = DDL
    for table, lines in data.items():
        values = ",".join("(" + ",".join(map(literal, line)) + ")" for line in lines)
        sql += f"INSERT INTO {table} VALUES {values};\n"
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres"],
                   input=sql, text=True, check=True)


def ask(command, source, query):
    run = subprocess.run([PROGRAM, command, "--format", "json", *source, query],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{command} {source} {query}: {run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def compare(sources):
    checked = 0
    for query in COUNTS:
        got = {name: ask("count", source, query)["count"] for name, source in sources.items()}
        if len(set(got.values())) != 1:
            sys.exit(f"{query}: {got}")
        if got["csv"] < 2:
            sys.exit(f"{query}: {got['csv']} would prove little")
        checked += len(got)
    for query in RESIDUALS:
        got = {}
        for name, source in sources.items():
            full = ask("sensitivity", [*source, "--beta", "0.1"], query)
            got[name] = json.dumps([full["count"], full["residual"], full["residuals"]])
        if len(set(got.values())) != 1:
            sys.exit(f"{query}: {got}")
        checked += len(got)
    return checked


def unknown_engine(folder):
    """Refused before anything is charged."""
    ledger = os.path.join(folder, "ledger.db")
    subprocess.run([PROGRAM, "budget", "init", "--ledger", ledger, "--epsilon", "1"],
                   check=True, capture_output=True)
    run = subprocess.run([PROGRAM, "release", "--format", "json", "--ledger", ledger,
                          "--epsilon", "1", "--db", os.path.join(folder, "csv"),
                          "--engine", "magic", "SELECT COUNT(*) FROM knows"],
                         capture_output=True, text=True, check=False)
    shown = subprocess.run([PROGRAM, "budget", "show", "--ledger", ledger, "--format", "json"],
                           capture_output=True, text=True, check=True)
    if run.returncode != 2 or '"bad-value"' not in run.stdout:
        sys.exit(f"an unknown engine: {run.returncode} {run.stdout}")
    if '"spent": 0' not in shown.stdout:
        sys.exit(f"charged for nothing: {shown.stdout}")


def auto_engine(server, url, folder):
    """What auto prefers depends on the sizes of private tables, so it must not
    refuse what the embedded engine can do."""
    psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", server, "-U", "postgres"]
    subprocess.run(psql, input="UPDATE pg_class SET reltuples = 1e12 WHERE relname = 'knows';", text=True, check=True)
    query = "SELECT a, COUNT(*) FROM knows GROUP BY a"
    got = [ask("count", ["--db", url, "--engine", engine, "--groups", "1,2"], query) for engine in ("embedded", "auto")]
    if [g["engine"] for g in got] != ["embedded", "sql"] or got[0]["groups"] != got[1]["groups"]:
        sys.exit(f"auto: {got}")
    # arithmetic that only the embedded engine has
    got = ask("count", ["--db", url, "--engine", "auto"], "SELECT COUNT(*) FROM knows k, person p WHERE p.id::float8 * 2 = 1")
    if got["engine"] != "embedded":
        sys.exit(f"auto: {got}")
    decided_once(psql, url, folder)
    auto_alike(psql, url, folder)
    late_commit(psql, url, folder)
    # the statistics of text and of partitions count, and --memory decides
    subprocess.run(psql, input="CREATE TABLE wide(p int, t text) PARTITION BY LIST (p);"
                   "CREATE TABLE w1 PARTITION OF wide FOR VALUES IN (1) PARTITION BY LIST (p);"
                   "CREATE TABLE w11 PARTITION OF w1 FOR VALUES IN (1);"
                   "INSERT INTO wide SELECT 1, repeat('x', 500) || i FROM generate_series(1, 2000) i; ANALYZE;",
                   text=True, check=True)
    for memory, engine in (("2M", "sql"), ("30M", "embedded")):
        got = ask("count", ["--db", url, "--engine", "auto", "--memory", memory], "SELECT COUNT(DISTINCT t) FROM wide")
        if (got["engine"], got["count"]) != (engine, 2000):
            sys.exit(f"auto with {memory}: {got}")


def decided_once(psql, url, folder):
    """A release's engine is decided for a version of the data and an amount of memory, by declared bounds, else by the
    catalogue's sizes, and then stays. The analyst does not see which it is, the owner's log does; a decision by the
    catalogue's sizes is one bit that was not noised."""
    def release(ledger, *more):
        return ask("release", ["--ledger", os.path.join(folder, ledger), "--epsilon", "1", "--db", url, "--engine", "auto", "--owner-log",
                               os.path.join(folder, ledger + "-log"), "--fresh", *more], "SELECT COUNT(*) FROM knows")

    def bits(ledger):
        run = subprocess.run([PROGRAM, "budget", "show", "--format", "json", "--ledger", os.path.join(folder, ledger)],
                             capture_output=True, text=True, check=True)
        return float(json.loads(run.stdout)["unnoised_bits"])

    tables = subprocess.run([*psql, "-Atc", "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"],
                            capture_output=True, text=True, check=True).stdout.split()
    small, huge = ([part for t in tables for part in ("--constraint", f"|{t}| <= {most if t == 'knows' else 1000}")] for most in (1000, 10**12))
    shown, before = [], {}
    for ledger in ("first-large", "first-small", "bounds-large", "bounds-small"):
        subprocess.run([PROGRAM, "budget", "init", "--ledger", os.path.join(folder, ledger), "--epsilon", "10"], check=True,
                       capture_output=True)
        before[ledger] = bits(ledger)
    for tuples in ("1e12", "400", "1e12"):
        subprocess.run(psql, input=f"UPDATE pg_class SET reltuples = {tuples} WHERE relname = 'knows';", text=True, check=True)
        full = ask("sensitivity", ["--db", url, "--engine", "auto", "--memory", "100M"], "SELECT COUNT(*) FROM knows")
        if full["engine"] != ("sql" if tuples == "1e12" else "embedded"):
            sys.exit(f"auto with {tuples} rows: {full['engine']}")
        for ledger, more in (("first-large", []), ("first-small", []), ("bounds-large", huge), ("bounds-small", small)):
            if ledger != "first-small" or tuples == "400" or len(shown) > 4:
                shown.append(release(ledger, *more))
    shown.append(release("first-small", "--memory", "500M"))
    if len({str(sorted(s)) for s in shown}) != 1 or "engine" in json.dumps(shown):
        sys.exit(f"a release tells the engine: {shown}")
    said = {}
    for ledger in before:
        with open(os.path.join(folder, ledger + "-log"), encoding="utf-8") as f:
            said[ledger] = [line.split("engine ")[1].split(".")[0] for line in f]
    want = {"first-large": ["sql"] * 3, "first-small": ["embedded"] * 2 + ["sql"], "bounds-large": ["sql"] * 3,
            "bounds-small": ["embedded"] * 3}
    if said != want:
        sys.exit(f"the owner's log: {said}")
    booked = {ledger: round(bits(ledger) - was, 2) for ledger, was in before.items()}
    if booked != {"first-large": 1, "first-small": 2, "bounds-large": 0, "bounds-small": 0}:
        sys.exit(f"bits: {booked}")


def auto_alike(psql, url, folder):
    """Whether a release succeeds must not tell which engine auto took."""
    many = "SELECT COUNT(*) FROM real WHERE id <> 0" + "".join(f" AND id <> {i}" for i in range(1000, 1300))
    asked = [("SELECT town, COUNT(*) FROM real GROUP BY town", []),
             ("SELECT x, COUNT(*) FROM real GROUP BY x", ["--groups", "inf,-inf,NaN,2"]), (many, [])]
    subprocess.run(psql, input="CREATE TABLE real(id integer PRIMARY KEY, x float8, town text);"
                   "INSERT INTO real SELECT i, CASE WHEN i < 200 THEN 'inf' WHEN i < 600 THEN 'NaN' ELSE 2::float8 END, 'oslo' "
                   "FROM generate_series(1, 999) i; ANALYZE;", text=True, check=True)
    ledger = os.path.join(folder, "alike-ledger")
    subprocess.run([PROGRAM, "budget", "init", "--ledger", ledger, "--epsilon", "100", "--delta", "0.01"], check=True,
                   capture_output=True)
    release = ["--ledger", ledger, "--epsilon", "5", "--delta", "1e-6", "--db", url, "--fresh"]
    for tuples in ("1e12", "999"):
        subprocess.run(psql, input=f"UPDATE pg_class SET reltuples = {tuples} WHERE relname = 'real';", text=True, check=True)
        for (query, more), want in zip(asked, ([999], [199, 0, 400, 400], [999])):
            got = ask("release", [*release, "--engine", "auto", *more], query)
            numbers = [g["answer"] for g in got["groups"]] if "groups" in got else [got["answer"]]
            if len(numbers) != len(want) or any(abs(n - w) > 20 for n, w in zip(numbers, want)):
                sys.exit(f"auto with {tuples} rows, {query[:50]}: {got}")
    # what the database alone is asked for and cannot do is said before the charge
    for query, more in (asked[0], asked[2]):
        run = subprocess.run([PROGRAM, "release", "--format", "json", *release, "--engine", "sql", *more, query],
                             capture_output=True, text=True, check=False)
        if run.returncode != 3 or '"unsupported"' not in run.stdout:
            sys.exit(f"sql, {query[:50]}: {run.returncode} {run.stdout}")


def late_commit(psql, url, folder):
    """What is written to a live database does not show: the answer from before
    is given again, and --fresh pays for one of now."""
    subprocess.run(psql, input="CREATE TABLE late(id integer PRIMARY KEY);", text=True, check=True)
    early = subprocess.Popen([*psql, "-At"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(sql):
        early.stdin.write(sql + " SELECT 'done';\n")
        early.stdin.flush()
        early.stdout.readline()
    tell("BEGIN; INSERT INTO late SELECT generate_series(1, 999);")
    subprocess.run(psql, input="CREATE TABLE other(a integer);", text=True, check=True)
    ledger = os.path.join(folder, "late-ledger")
    subprocess.run([PROGRAM, "budget", "init", "--ledger", ledger, "--epsilon", "10"], check=True, capture_output=True)
    release = ["--ledger", ledger, "--epsilon", "1", "--db", url]
    ask("release", release, "SELECT COUNT(*) FROM late")
    tell("COMMIT;")
    got = ask("release", release, "SELECT COUNT(*) FROM late")
    early.stdin.close()
    early.wait()
    if not got["repeated"] or got["answer"] > 100:
        sys.exit(f"not the stored answer: {got}")
    got = ask("release", [*release, "--fresh"], "SELECT COUNT(*) FROM late")
    if got["repeated"] or got["answer"] < 900:
        sys.exit(f"not a fresh answer: {got}")
    if not ask("release", release, "SELECT COUNT(*) FROM late")["repeated"]:
        sys.exit("nothing happened, and the answer is not given again")


def main():
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"{PROGRAM} is not there")
    with pg.server() as server, tempfile.TemporaryDirectory() as folder:
        data = rows()
        make_csv(os.path.join(folder, "csv"), data)
        unknown_engine(folder)
        make_sqlite(os.path.join(folder, "x.db"), data)
        make_postgres(server, data)
        schema = os.path.join(folder, "schema.sql")
        with open(schema, "w", encoding="utf-8") as f:
            f.write(DDL)
        url = pg.url(server)
        checked = compare({
            "csv": ["--schema", schema, "--db", os.path.join(folder, "csv")],
            "sqlite": ["--db", os.path.join(folder, "x.db")],
            "postgres": ["--db", url],
            "pushdown": ["--db", url, "--engine", "sql"],
        })
        auto_engine(server, url, folder)
    print(f"{checked} answers agree")


if __name__ == "__main__":
    main()
