#!/usr/bin/env python3
"""A hostile analyst. Every question is put to two neighbouring databases that
differ in one private row, an extreme one: all that the analyst sees except the
paid answer must be the same, byte for byte: the exit status, the texts on both
outputs, which keys there are, what was charged, what is repeated.

Sources: CSV with a schema, CSV without one (types come from the cells, so one
row could change them), SQLite, and PostgreSQL that counts by itself where a
server can be had."""
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
DPCOUNT = os.path.join(BUILD, "dpcount")
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
ALL = "--all" in sys.argv
problems = []
counts = {"answered": 0, "refused": 0, "locked": 0, "compared": 0}

BIG, LONG = 2**63 - 1, "a" * 3000
SCHEMA = ('CREATE TABLE pat(id bigint, age bigint, name text, born date);\n'
          'CREATE TABLE visit(pat bigint, day bigint);\n')
BASE = {"pat": [(i, 20 + i % 50, f"n{i % 7}", "1980-01-0%d" % (1 + i % 9)) for i in range(1, 41)],
        "visit": [(i % 40, i) for i in range(1, 81)]}
# one more row of a private table
ROWS = {
    "zero": ("pat", (0, 0, "", "2000-01-01")),
    "largest": ("pat", (BIG, BIG, LONG, "9999-12-31")),
    "smallest": ("pat", (-BIG - 1, -BIG - 1, LONG + "b", "0001-01-01")),
    "null": ("pat", (None, None, None, None)),
    "quotes": ("pat", (7, -1, "it's; \"DROP\" TABLE pat; -- \\ % _ $1", "1999-02-28")),
    "number": ("pat", (7, 1, "1e308", "1970-01-01")),
    "unicode": ("pat", (7, 1, "NaN \u00e4\u202e\U0001f600\u0007", "1970-01-01")),
    "twin": ("pat", BASE["pat"][0]),
    "visit": ("visit", (None, -BIG - 1)),
}
LIKES = "'" + "%a" * 40 + "%b'"
QUERIES = [
    # errors that a database would raise on some row
    "SELECT COUNT(*) FROM pat WHERE 100 / age > 1",
    "SELECT COUNT(*) FROM pat WHERE 100 % NULLIF(age, 0) = 0",
    "SELECT COUNT(*) FROM pat WHERE 100.0 / age > 1.5",
    "SELECT COUNT(*) FROM pat WHERE age + 9223372036854775807 > 0",
    "SELECT COUNT(*) FROM pat WHERE age * age * age * age > 10",
    "SELECT COUNT(*) FROM pat WHERE -age < 0 AND abs(age) > 3",
    "SELECT COUNT(*) FROM pat WHERE CASE WHEN age <> 0 THEN 100 / age ELSE 1 / 0 END > 1",
    "SELECT COUNT(*) FROM pat WHERE 1 / 0 = 1",
    "SELECT COUNT(*) FROM pat WHERE CAST(name AS integer) > 3",
    "SELECT COUNT(*) FROM pat WHERE name::date < DATE '2020-01-01'",
    "SELECT COUNT(*) FROM pat WHERE CAST(age AS smallint) > 3",
    "SELECT COUNT(*) FROM pat WHERE CAST(age AS text) = '21'",
    "SELECT COUNT(*) FROM pat WHERE substring(name, 1, 2) = 'n1'",
    "SELECT COUNT(*) FROM pat WHERE length(name) / length(name) = 1",
    "SELECT COUNT(*) FROM pat WHERE EXTRACT(year FROM born) = 1980",
    "SELECT COUNT(*) FROM pat WHERE sqrt(age) > 2",
    "SELECT COUNT(*) FROM pat WHERE age > 1e400",
    "SELECT COUNT(*) FROM pat WHERE name LIKE " + LIKES,
    "SELECT COUNT(*) FROM pat WHERE name LIKE 'n%' ESCAPE 'xx'",
    "SELECT COUNT(*) FROM pat WHERE name LIKE '%\\'",
    "SELECT COUNT(*) FROM pat WHERE name ~ '(a*)*b'",
    "SELECT COUNT(*) FROM pat WHERE name SIMILAR TO '(a|aa)+b'",
    # NULLs, sets, joins
    "SELECT COUNT(*) FROM pat WHERE age IS NULL OR name IS NOT NULL",
    "SELECT COUNT(DISTINCT name) FROM pat",
    "SELECT COUNT(*) FROM pat WHERE id NOT IN (SELECT pat FROM visit)",
    "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id WHERE 10 / NULLIF(v.day, 0) < p.age",
    "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id AND v.day + p.age > 30",
    "SELECT COUNT(*) FROM pat a, pat b WHERE a.age = b.age AND a.id < b.id",
    "SELECT COUNT(*) FROM pat a JOIN pat b ON a.name = b.name",
    # constants and names that break out of a text, functions that do things
    "SELECT COUNT(*) FROM pat WHERE name = 'x''; DROP TABLE pat; --'",
    "SELECT COUNT(*) FROM pat WHERE name = E'\\'; DROP TABLE pat; --'",
    "SELECT COUNT(*) FROM pat WHERE name = $q$'; DELETE FROM pat; --$q$",
    "SELECT COUNT(*) FROM pat AS \"p'; DROP TABLE pat; --\" WHERE \"p'; DROP TABLE pat; --\".age > 30",
    "SELECT COUNT(*) FROM pat; DROP TABLE pat",
    "SELECT COUNT(*) FROM pat WHERE pg_sleep(10) IS NULL",
    "SELECT COUNT(*) FROM pat WHERE pg_read_file('/etc/passwd') <> ''",
    "SELECT COUNT(*) FROM pat WHERE load_extension('x') IS NULL",
    "SELECT COUNT(*) FROM \"/etc/passwd\"",
    "SELECT COUNT(*) FROM pg_authid",
    "SELECT COUNT(*) FROM sqlite_master",
    # refusals, keys that only private rows have
    "SELECT name, COUNT(*) FROM pat GROUP BY name",
    "SELECT COUNT(*) FROM pat GROUP BY age HAVING COUNT(*) > 1",
    "SELECT SUM(age) FROM pat",
    "SELECT MAX(age), COUNT(*) FROM pat",
    "SELECT COUNT(*) FROM pat LIMIT 0",
    "SELECT COUNT(*) FROM pat WHERE age = (SELECT MAX(age) FROM pat)",
]

COUNT = "SELECT COUNT(*) FROM pat WHERE 100 / NULLIF(age, 0) > 1"
JOIN = "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id"


def problem(*words):
    problems.append(" ".join(str(w) for w in words))


def cell(value):
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def with_row(row):
    data = {t: list(rows) for t, rows in BASE.items()}
    if row:
        data[ROWS[row][0]].append(ROWS[row][1])
    return data


def make_csv(folder, data):
    os.makedirs(folder)
    names = {"pat": "id,age,name,born", "visit": "pat,day"}
    for table, rows in data.items():
        with open(f"{folder}/{table}.csv", "w", encoding="utf-8") as f:
            f.write(names[table] + "\n" + "".join(",".join(map(cell, r)) + "\n" for r in rows))


def make_sqlite(name, data):
    db = sqlite3.connect(name)
    db.executescript(SCHEMA)
    for table, rows in data.items():
        db.executemany(f"INSERT INTO {table} VALUES({','.join('?' * len(rows[0]))})", rows)
    db.commit()
    db.close()


def make_side(side, row):
    data = with_row(row)
    make_csv(f"{side}/csv", data)
    make_sqlite(f"{side}/d.db", data)
    with open(f"{side}/schema.sql", "w", encoding="utf-8") as f:
        f.write(SCHEMA)
    run(side, "budget", "init", "--ledger", "l", "--epsilon", "1000", "--least-price", "0.01")


def run(side, *args):
    return subprocess.run([DPCOUNT, *args], cwd=side, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def at_once(jobs):
    jobs = [subprocess.Popen([DPCOUNT, *args], cwd=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             stdin=subprocess.DEVNULL) for side, args in jobs]
    outs = [j.communicate(timeout=60) for j in jobs]
    return [subprocess.CompletedProcess(j.args, j.returncode, *o) for j, o in zip(jobs, outs)]


def public(r):
    """What was seen, without what was paid for: the noisy numbers and the
    receipt, which is random."""
    try:
        seen = json.loads(r.stdout)
    except ValueError:
        return r.returncode, r.stdout, r.stderr
    code = seen.get("error", {}).get("code") if isinstance(seen.get("error"), dict) else None
    counts["answered" if "receipt" in seen else
           "locked" if code == "locked" else "refused"] += 1
    seen["rows"] = [[type(c).__name__ for c in row] for row in seen.get("rows", [])]
    if seen.get("as_of"): # of the hold, before rows are read
        seen["as_of"] = "time"
    if seen.get("head"): # salted
        seen["head"]["hash"] = type(seen["head"]["hash"]).__name__
    for secret in ("answer", "receipt"):
        if secret in seen:
            seen[secret] = type(seen[secret]).__name__
    for g in seen.get("groups") or []:
        g["answer"] = type(g["answer"]).__name__
    for key in ("error", "expected_error"):
        error = seen.get(key) or {}
        if error.get("basis") == "released":
            seen[key] = sorted(error)
    failure = seen.get("error")
    if isinstance(failure, dict) and "detail" in failure:
        failure["detail"] = failure["detail"].split("Receipt")[0]
    return r.returncode, json.dumps(seen, sort_keys=True), r.stderr


def same(what, results):
    counts["compared"] += 1
    if results[0] != results[1]:
        problem(what, "\n   without the row:", results[0], "\n   with it:        ", results[1])
    return results[0]


def both(what, *args):
    return same(what, [public(r) for r in at_once([("a", args), ("b", args)])])


def release(what, source, query, *more):
    return both(f"{what}: {query}", "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5",
                *source, *more, query)


CSV, UNTYPED, SQLITE = (["--db", "csv", "--schema", "schema.sql"], ["--db", "csv"], ["--db", "d.db"])


def pair(row):
    for side in ("a", "b"):
        shutil.rmtree(side, ignore_errors=True)
        os.mkdir(side)
    make_side("a", None)
    make_side("b", row)


def balance(what):
    return both(what, "budget", "show", "--format", "json", "--ledger", "l")


def ask_everything():
    """With --all every query for every row, else each query for some row."""
    for row in ROWS:
        pair(row)
        for i, query in enumerate(QUERIES):
            if ALL or i % len(ROWS) == list(ROWS).index(row):
                start = time.monotonic()
                release(row, CSV, query)
                if time.monotonic() - start > 8:
                    problem("slow:", row, query)
        for query in QUERIES if ALL else QUERIES[3:4] + QUERIES[8:9] + QUERIES[28:29]:
            release(row + ", types from cells", UNTYPED, query)
        for query in QUERIES if ALL else QUERIES[4:5] + QUERIES[29:30]:
            release(row + ", SQLite", SQLITE, query)
        balance(row)


def ask_before_paying():
    """The commands that read no rows; text output; a row that no cell fits."""
    pair("largest")
    for command in ("analyze", "quote", "explain"):
        price = ["--epsilon", "1"] if command == "quote" else []
        for query in QUERIES[:2] + QUERIES[25:28] + QUERIES[40:42]:
            both(command, command, "--format", "json", *price, *UNTYPED, query)
    both("policy", "policy", "init", *UNTYPED)
    for query in (COUNT, QUERIES[0], QUERIES[40]):
        results = [run(s, "release", "--ledger", "l", "--epsilon", "0.5", *CSV, query) for s in ("a", "b")]
        same("text: " + query, [(r.returncode, r.stderr, [x.split()[0] for x in r.stdout.splitlines()])
                                for r in results])


def groups_and_budgets():
    pair("quotes")
    sex = "SELECT name, COUNT(*) FROM pat GROUP BY name"
    status, seen, _ = release("declared keys", CSV, sex, "--groups", "n0,n1,nobody")
    if status != 0 or [g["key"] for g in json.loads(seen)["groups"]] != [["n0"], ["n1"], ["nobody"]]:
        problem("declared keys:", status, seen)
    # repeated: free and the same; fresh: paid; both in either database
    first = [json.loads(run(s, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", *CSV,
                            COUNT).stdout) for s in ("a", "b")]
    again = [json.loads(run(s, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", *CSV,
                            COUNT).stdout) for s in ("a", "b")]
    if [x["answer"] for x in first] != [x["answer"] for x in again] or not all(x["repeated"] for x in again):
        problem("a repeated question has another answer")
    balance("after repeats")
    release("fresh", CSV, COUNT, "--fresh")
    # a constraint that does not hold: one text for every question, and nothing is paid
    for reason in (["--constraint", "pat: name -> id <= 1"], ["--constraint", "|visit| <= 3"]):
        before = json.loads(balance("before a failure")[1])["spent"]
        texts = set()
        for query in (JOIN, COUNT):
            status, seen, _ = release("wrong", CSV, query, "--fresh", "--owner-log", "log", *reason)
            texts.add((status, seen))
            if status != 5 or json.loads(seen)["error"]["code"] != "data":
                problem("not refused:", reason, status, seen)
        if len(texts) != 1:
            problem("not one text:", texts)
        if json.loads(balance("after a failure")[1])["spent"] != before:
            problem("a failure was charged:", reason)
    # a constraint that only the one row breaks: no legal database, documented; one bit for each content
    for side in ("a", "b"):
        r = run(side, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", "--fresh", *CSV,
                "--constraint", "pat: id -> *", COUNT)
        seen = json.loads(r.stdout)
        if r.returncode != (5 if side == "b" else 0) or (side == "b" and seen["error"]["code"] != "data"):
            problem("a broken key:", side, r.stdout)
    run("b", "release", "--ledger", "l", "--epsilon", "0.5", "--fresh", *CSV, COUNT)
    # the budget ends at the same question, with the same words
    for _ in range(2):
        both("too dear", "release", "--format", "json", "--ledger", "l", "--epsilon", "2000", *CSV, COUNT)
    # a deadline makes fast and slow alike
    for side in ("a", "b"):
        start = time.monotonic()
        run(side, "release", "--ledger", "l", "--epsilon", "0.5", "--fresh", "--deadline", "0.5", *CSV, COUNT)
        if time.monotonic() - start < 0.5:
            problem("an answer before the deadline")


def memory_runs_out():
    """At every limit: before rows are read both fail alike and are not charged;
    from then on each side pays, whether it is answered or locked."""
    pair("largest")
    kinds = set()
    for size in range(200, 6000, 200 if ALL else 700):
        args = ["release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", "--fresh", "--memory",
                f"{size}K", *CSV, JOIN]
        results = at_once([("a", args), ("b", args)])
        seen = [public(r) for r in results]
        kinds |= {r.returncode for r in results}
        if seen[0] != seen[1] and sorted(r.returncode for r in results) != [0, 5]:
            problem("memory", size, *seen)
        balance(f"memory {size}K")
        if 5 in kinds:
            pair("largest")  # the lock would answer for every larger limit
    if not {0} < kinds:
        problem("no limit was hit:", kinds)


def count_beyond_128_bits():
    """17 * 48 ** 22 is below 2^127 and 18 * 48 ** 22 above, 35 times below 2^128
    and 36 times above: no bit of that shows, all are answered and charged."""
    spent, seen = [], set()
    for side, rows in (("a", 17), ("b", 18), ("a", 35), ("b", 36)):
        shutil.rmtree(side, ignore_errors=True)
        os.makedirs(side + "/csv")
        for table, n in (("e", rows), ("p", 48)):
            with open(f"{side}/csv/{table}.csv", "w") as f:
                f.write("x\n" + "".join(f"{i}\n" for i in range(n)))
        run(side, "budget", "init", "--ledger", "l", "--epsilon", "10")
        query = "SELECT COUNT(*) FROM e, " + ", ".join(f"p p{i}" for i in range(22))
        r = run(side, "release", "--format", "json", "--ledger", "l", "--epsilon", "1", "--table", "e(x)=csv/e.csv",
                "--table", "p(x)=csv/p.csv", "--public", "p", query)
        if r.returncode:
            problem("128 bits:", side, r.returncode, r.stdout)
        seen.add(tuple(sorted(json.loads(r.stdout))))
        spent.append(json.loads(run(side, "budget", "show", "--format", "json", "--ledger", "l").stdout)["spent"])
    same("price beyond 128 bits", spent[:2])
    same("price beyond 128 bits", spent[2:])
    if len(seen) != 1:
        problem("128 bits: answers do not look alike", seen)


def odd_names():
    """Names of tables, columns and files that would end a quotation."""
    table, column = 'we"ird\'; drop table pat; --', 'co"l\'); --'
    quoted = ['"' + x.replace('"', '""') + '"' for x in (table, column)]
    pair("zero")
    for side in ("a", "b"):
        db = sqlite3.connect(side + "/odd.db")
        db.execute(f"CREATE TABLE {quoted[0]}({quoted[1]} integer)")
        db.executemany(f"INSERT INTO {quoted[0]} VALUES(?)", [(i,) for i in range(5 + (side == "b"))])
        db.execute("CREATE TABLE pat(id integer)")
        db.commit()
        db.close()
    query = f"SELECT COUNT(*) FROM {quoted[0]} WHERE {quoted[1]} >= 0"
    if release("odd names", ["--db", "odd.db"], query)[0] != 0:
        problem("odd names are refused", run("a", "count", "--db", "odd.db", query).stderr)
    for side, n in (("a", "5"), ("b", "6")):
        got = run(side, "count", "--db", "odd.db", query).stdout
        tables = sqlite3.connect(side + "/odd.db").execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if n not in got.split() or tables != (2,):
            problem("odd names:", side, got, tables)
    for side in ("a", "b"):
        if len(open(side + "/csv/pat.csv", encoding="utf-8").readlines()) != 41 + (side == "b"):
            problem("a file changed")


def ledgers():
    """Links, modes and things that are no ledger: refused, nothing changed."""
    pair("zero")
    for side in ("a", "b"):
        os.symlink("l", side + "/link")
        os.symlink("nowhere", side + "/dangling")
        os.mkfifo(side + "/fifo")
        shutil.copy(side + "/l", side + "/open")
        os.chmod(side + "/open", 0o666)
        shutil.copy(side + "/d.db", side + "/other")
        with open(side + "/l", "rb") as f:
            whole = f.read()
        with open(side + "/cut", "wb") as f:
            f.write(whole[:5000])
        if stat.S_IMODE(os.stat(side + "/l").st_mode) != 0o600:
            problem("others may read the ledger")
    for name in ("link", "dangling", "fifo", "open", "other", "csv", "cut", "nowhere", "csv/pat.csv", "/dev/null"):
        status, _, _ = both("ledger " + name, "release", "--format", "json", "--ledger", name, "--epsilon", "0.5",
                            *CSV, COUNT)
        if status not in (2, 5):
            problem("ledger", name, "gives", status)
        both("init " + name, "budget", "init", "--ledger", name, "--epsilon", "9")
    if json.loads(balance("after bad ledgers")[1])["spent"] != 0 or os.path.lexists("a/nowhere-wal"):
        problem("a refused ledger was charged")
    # words that would end a quotation in the ledger's own SQL
    for name in ("'", "'; DROP TABLE charge; --", "\"x\"", "%"):
        release("analyst " + name, CSV, COUNT, "--analyst", name)
        both("dataset " + name, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", *CSV,
             "--dataset", name, COUNT)
    db = sqlite3.connect("a/l")
    for sql in ("DELETE FROM charged", "UPDATE charged SET epsilon = '0'", "DELETE FROM account"):
        try:
            db.execute(sql)
            problem("the ledger lets through:", sql)
        except sqlite3.IntegrityError:
            pass
    db.close()


def on_postgres():
    folder = pg.start(needed=False)
    if not folder:
        return
    try:
        for side, row in (("a", None), ("b", "largest"), ("c", "quotes")):
            psql = ["psql", "-qX", "-h", folder, "-U", "postgres"]
            subprocess.run([*psql, "-c", f"CREATE DATABASE {side}"], check=True)
            text = SCHEMA + 'CREATE TABLE "od""d\'"("c""\'; --" bigint); INSERT INTO "od""d\'" VALUES(1),(2);\n'
            for table, rows in with_row(row).items():
                text += f"COPY {table} FROM STDIN (FORMAT csv);\n"
                text += "".join(",".join(map(cell, x)) + "\n" for x in rows) + "\\.\n"
            subprocess.run([*psql, "-d", side], input=text, check=True, text=True)
        for other in ("b", "c"):
            pair(None)
            for query in QUERIES[:12:2] + QUERIES[17:18] + QUERIES[25:36] + [
                    'SELECT COUNT(*) FROM "od""d\'" WHERE "c""\'; --" > 0']:
                args = ["release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", "--engine", "sql"]
                same("PostgreSQL: " + query,
                     [public(run(side, *args, "--db", f"postgresql:///{db}?host={folder}&user=postgres", query))
                      for side, db in (("a", "a"), ("b", other))])
        left = subprocess.run(["psql", "-qXAt", "-h", folder, "-U", "postgres", "-d", "c", "-c",
                               "SELECT COUNT(*) FROM pat"], capture_output=True, text=True).stdout.strip()
        if left != "41":
            problem("PostgreSQL has", left, "rows")
    finally:
        pg.stop(folder)


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="dpc-hostile-", dir=memory) as folder:
        os.chdir(folder)
        parts = [ask_everything, ask_before_paying, groups_and_budgets, memory_runs_out, odd_names, ledgers]
        for part in parts + [count_beyond_128_bits, on_postgres] * ALL:
            start = time.monotonic()
            part()
            print(f"{part.__name__}: {time.monotonic() - start:.1f} s")
        os.chdir("/")
    for p in problems:
        print(p)
    if counts["answered"] < (400 if ALL else 80):
        print("too few answers for a test")
        problems.append("")
    print(", ".join(f"{n} {what}" for what, n in counts.items()), f"and {len(problems)} problems")
    return bool(problems)


sys.exit(main())
