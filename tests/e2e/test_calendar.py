#!/usr/bin/env python3
"""Dates, intervals, formats, buckets and regular expressions against a
PostgreSQL server: every query gives the server's count or is refused with a
place and a hint; random ones too. The database as engine counts alike or
leaves them to the embedded one."""
import datetime
import json
import os
import random
import subprocess
import sys

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")
failures = 0

DDL = """SET lc_messages = 'C'; CREATE TABLE t(id integer PRIMARY KEY, d date, e date, ts timestamp, x integer, n numeric, s text COLLATE "C")"""
QUERIES = """
SELECT COUNT(*) FROM t WHERE d + INTERVAL '1 month' > e
SELECT COUNT(*) FROM t WHERE ts - INTERVAL '90 minutes' < TIMESTAMP '2020-02-29 12:00'
SELECT COUNT(*) FROM t WHERE d >= DATE '2020-03-31' - INTERVAL '1 month'
SELECT COUNT(*) FROM t WHERE INTERVAL '1 year 2 months 3 days' + d <= e
SELECT COUNT(*) FROM t WHERE d + INTERVAL '5' DAY = e
SELECT COUNT(*) FROM t WHERE ts + 3 * INTERVAL '1 day 02:30' > d
SELECT COUNT(*) FROM t WHERE ts + INTERVAL '-1.5 hours' > d
SELECT COUNT(*) FROM t WHERE ts > d + INTERVAL '2 weeks ago'
SELECT COUNT(*) FROM t WHERE extract(year FROM age(d, e)) >= 1
SELECT COUNT(*) FROM t WHERE date_part('year', age(ts, d)) < 0
SELECT COUNT(*) FROM t WHERE extract(year FROM age(d)) > 4
SELECT COUNT(*) FROM t WHERE d < CURRENT_DATE - 100
SELECT COUNT(*) FROM t WHERE d < CURRENT_DATE - INTERVAL '5 years'
SELECT to_char(d, 'YYYY-MM'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(ts, 'HH24:MI') h, COUNT(*) FROM t GROUP BY h
SELECT to_char(d, 'IYYY/IW ID'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(d, 'Q YY DDD WW D Dy mon MON'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(ts, 'HH12 HH SS'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(d, 'YYYY "Q"Q'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(d, '|Month|MONTH|month|Day|DAY|day|'), COUNT(*) FROM t GROUP BY 1
SELECT to_char(d, 'FMMonth YYYY, FMDAY"day "FMday FMMONTH FMDay FMmonth'), COUNT(*) FROM t GROUP BY 1
SELECT date_bin('15 minutes', ts, TIMESTAMP '2000-01-01 00:07') b, COUNT(*) FROM t GROUP BY b
SELECT date_bin(INTERVAL '1 week', ts, '2001-01-01'), COUNT(*) FROM t GROUP BY 1
SELECT width_bucket(x, 0, 100, 7), COUNT(*) FROM t GROUP BY 1
SELECT width_bucket(n, 0.5, 9.75, 4), COUNT(*) FROM t GROUP BY 1
SELECT COUNT(*) FROM t WHERE s ~ '^a.*b$'
SELECT COUNT(*) FROM t WHERE s ~* 'A[bc]+'
SELECT COUNT(*) FROM t WHERE s !~ 'a|b'
SELECT COUNT(*) FROM t WHERE s !~* '(ab){2,3}'
SELECT COUNT(*) FROM t WHERE s SIMILAR TO '(a|b)%c_?'
SELECT COUNT(*) FROM t WHERE s NOT SIMILAR TO '%(aa|bb)%'
SELECT date_trunc('month', d + INTERVAL '1 day'), COUNT(*) FROM t GROUP BY 1
""".strip().split("\n")
REFUSED = """
SELECT COUNT(*) FROM t WHERE ts - d > INTERVAL '1 day'
SELECT COUNT(*) FROM t WHERE d + INTERVAL 'x years' > e
SELECT COUNT(*) FROM t WHERE age(d, e) > INTERVAL '1 day'
SELECT COUNT(*) FROM t WHERE extract(month FROM age(d, e)) > 1
SELECT COUNT(*) FROM t WHERE to_char(d, s) = 'x'
SELECT COUNT(*) FROM t WHERE to_char(d, 'FMDD') = 'x'
SELECT COUNT(*) FROM t WHERE to_char(d, 'YYYY "Q') = 'x'
SELECT COUNT(*) FROM t WHERE to_char(n, '999') = 'x'
SELECT COUNT(*) FROM t WHERE width_bucket(x, 5, 5, 3) = 1
SELECT COUNT(*) FROM t WHERE width_bucket(x, 0, n, 3) = 1
SELECT COUNT(*) FROM t WHERE s ~ '(a)\\1'
SELECT COUNT(*) FROM t WHERE s ~ '(?=a)b'
SELECT COUNT(*) FROM t WHERE s ~ s
SELECT COUNT(*) FROM t WHERE d < now()
SELECT COUNT(*) FROM t WHERE ts < CURRENT_TIMESTAMP
SELECT COUNT(*) FROM t WHERE x + INTERVAL '1 day' > d
SELECT COUNT(*) FROM t WHERE date_bin('1 month', ts, '2001-01-01') < d
""".strip().split("\n")


def check(what, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(what, detail)


def random_query(rng):
    unit = rng.choice(["years", "months", "days", "hours", "minutes", "weeks"])
    by = f"INTERVAL '{rng.randint(-40, 40)} {unit} {rng.randint(0, 40)} days'"
    left = rng.choice(["d", "e", "ts"])
    return rng.choice([
        f"SELECT COUNT(*) FROM t WHERE {left} {rng.choice('+-')} {by} {rng.choice(['<', '>=', '='])} {rng.choice(['d', 'e', 'ts'])}",
        f"SELECT COUNT(*) FROM t WHERE extract(year FROM age({left}, {rng.choice(['d', 'e', 'ts'])})) = {rng.randint(-3, 3)}",
        f"SELECT width_bucket({rng.choice('xn')}, {rng.randint(-5, 3)}, {rng.randint(4, 60)}, {rng.randint(1, 9)}), COUNT(*) FROM t GROUP BY 1",
        f"SELECT COUNT(*) FROM t WHERE s ~ '{''.join(rng.choice(['a', 'b', '.', 'c*', '(ab)+', '[^a]', '^', '$', 'b?', 'a|b', 'a{1,2}']) for _ in range(rng.randint(1, 4)))}'",
    ])


def psql(folder, query):
    r = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-P", "null=\\N", "-h", folder, "-U", "postgres", "postgres"],
                       input="SET timezone = 'UTC';" + query + ";", capture_output=True, text=True, check=False)
    return (not r.stderr), [line.split("\t") for line in r.stdout.splitlines()], r.stderr


def count(folder, query, *more):
    r = subprocess.run([PROGRAM, "count", "--db", pg.url(folder), "--format", "json", *more, query], capture_output=True,
                       text=True, check=False)
    return r.returncode, json.loads(r.stdout)


def text(v):
    return "\\N" if v is None else str(v)


def compare(folder, query):
    fine, want, err = psql(folder, query)
    for engine in ("embedded", "sql"):
        status, got = count(folder, query, "--engine", engine)
        if status:
            check("refused:", not fine or (engine == "sql" and got["error"]["code"] == "unsupported"), f"{query}\n  {got}")
            continue
        # every key that can be is listed, also without rows
        rows = sorted([text(v) for v in r] for r in got["rows"] if len(r) == 1 or r[-1])
        check("differs:", fine and rows == sorted(want), f"{query}\n  {rows}\n  {sorted(want)} {err}")


def fill(rng):
    def day():
        return (datetime.date(2019, 12, 28) + datetime.timedelta(days=rng.choice([0, 1, 3, 31, 60, 62, 366, 800, 1500]))).isoformat()
    rows = []
    for i in range(120):
        cells = [f"'{day()}'", f"'{day()}'", f"'{day()} {rng.randint(0, 23)}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}'",
                 str(rng.randint(-10, 120)), str(rng.randint(-10, 120) / 8), "'" + "".join(rng.choice("abcA") for _ in range(rng.randint(0, 6))) + "'"]
        rows.append(f"({i}, " + ", ".join(rng.choice([c] * 9 + ["NULL"]) for c in cells) + ")")
    return rows


def main():
    rng = random.Random(11)
    with pg.server() as folder:
        psql(folder, DDL)
        psql(folder, "INSERT INTO t VALUES " + ", ".join(fill(rng)))
        for query in QUERIES + [random_query(rng) for _ in range(60)]:
            compare(folder, query)
        for query in REFUSED:
            status, got = count(folder, query)
            check("not refused:", status in (2, 3) and got["error"]["position"] is not None, f"{query} {status} {got}")
    print(f"{len(QUERIES) + 60} queries, {len(REFUSED)} refusals, {failures} failures")
    sys.exit(failures != 0)


main()
