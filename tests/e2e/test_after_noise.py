#!/usr/bin/env python3
"""What the outermost SELECT does with its counts: columns, expressions, HAVING,
ORDER BY, LIMIT and OFFSET give PostgreSQL's rows when the counts are exact, and
act on the released numbers, once paid, in a release."""
import json
import os
import random
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")
failures = 0

DDL = "CREATE TABLE p(id integer PRIMARY KEY, sex text NOT NULL, age integer, born date, ok boolean)"
QUERIES = """
SELECT sex, COUNT(*) AS n FROM p GROUP BY sex ORDER BY n DESC, sex
SELECT sex, COUNT(*) FROM p GROUP BY 1 ORDER BY 2, 1 DESC
SELECT COUNT(*) AS n, sex FROM p GROUP BY sex HAVING COUNT(*) >= 5 ORDER BY sex
SELECT sex FROM p GROUP BY sex HAVING COUNT(*) FILTER (WHERE age > 30) > 1 ORDER BY COUNT(*) DESC, sex
SELECT sex, ROUND(100.0 * COUNT(*) FILTER (WHERE age > 40) / COUNT(*), 2) AS pct FROM p GROUP BY sex ORDER BY pct DESC, sex
SELECT COUNT(*) FILTER (WHERE ok) / COUNT(*), 1.0 * COUNT(*) FILTER (WHERE ok) / COUNT(*) FROM p
SELECT COUNT(*)::float8 / 3, (COUNT(*) - 1) * 2, -COUNT(*), COUNT(*) % 7 FROM p
SELECT upper(sex) || '!', COUNT(*) FROM p GROUP BY sex ORDER BY upper(sex) || '!'
SELECT CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END, sex FROM p GROUP BY sex ORDER BY sex
SELECT born, COUNT(*) FROM p GROUP BY born ORDER BY born DESC LIMIT 3
SELECT born, COUNT(*) FROM p GROUP BY born ORDER BY born NULLS FIRST LIMIT 2 OFFSET 1
SELECT age, COUNT(*) c FROM p GROUP BY age ORDER BY age NULLS FIRST OFFSET 4
SELECT age, COUNT(*) c FROM p GROUP BY age ORDER BY age DESC FETCH FIRST 2 ROWS ONLY
SELECT age / 10, COUNT(*) FROM p GROUP BY age / 10 ORDER BY age / 10
SELECT p.sex, COUNT(*) FROM p GROUP BY sex ORDER BY p.sex
SELECT sex, COUNT(*), COUNT(*), COUNT(*) + COUNT(age) FROM p GROUP BY sex ORDER BY sex
SELECT COUNT(*) FROM p HAVING COUNT(*) > 1000000
SELECT COUNT(*) FROM p LIMIT 0
SELECT COUNT(*) FROM p LIMIT ALL
SELECT COALESCE(age, -1), COUNT(*) FROM p GROUP BY age ORDER BY 1
SELECT ok, COUNT(*), COUNT(*) > 5 FROM p GROUP BY ok ORDER BY ok
SELECT GREATEST(COUNT(*), 3), LEAST(COUNT(age), 2), NULLIF(COUNT(*), 0), abs(5 - COUNT(*)) FROM p
SELECT sex, age, COUNT(*) FROM p GROUP BY sex, age HAVING sex = 'F' OR age IS NULL ORDER BY age, sex
SELECT extract(year FROM born) AS y, COUNT(*) FROM p GROUP BY y ORDER BY y
SELECT 'total', 7, NULL, COUNT(*) FROM p
""".strip().split("\n")
# The texts are PostgreSQL's, with its digits behind the point.
SHOWN = """
SELECT ROUND(100.0 * COUNT(*) FILTER (WHERE ok) / COUNT(*), 1) FROM p
SELECT ROUND(52.0 * COUNT(*) / COUNT(*), 1), ROUND(COUNT(*), 2), ROUND(COUNT(*) / 3.0), ROUND(COUNT(*) / 3.0, -1) FROM p
SELECT 1.50 * COUNT(*), COUNT(*) + 1.50, COUNT(*) - 0.250, 1.50 * 2.0 * COUNT(*), -1.50 * COUNT(*), abs(-2.50 * COUNT(*)) FROM p
SELECT COUNT(*) / 7.0, 1.0 / (COUNT(*) + 1000), 100.0 * COUNT(*) / COUNT(*), 0.0 * COUNT(*) / 3, 1.0 / (COUNT(*) * 1000000) FROM p
SELECT 0.0001 * COUNT(*) / COUNT(*), 0.3 * COUNT(*) / COUNT(*), 0.00099 * COUNT(*) / COUNT(*), -2.0 * COUNT(*) / (3 * COUNT(*)) FROM p
SELECT COALESCE(1.50, COUNT(*)), CASE WHEN COUNT(*) > 0 THEN 2.50 ELSE 1.0 END, GREATEST(COUNT(*), 0.0), LEAST(COUNT(*), 0.00), NULLIF(5.00, COUNT(*)) FROM p
SELECT AVG(age) FROM p WHERE age BETWEEN 0 AND 100
SELECT ok, AVG(age), ROUND(AVG(age), 2), AVG(age) * 1.50, SUM(age) * 1.0 / COUNT(*) FROM p WHERE age BETWEEN 0 AND 100 GROUP BY ok ORDER BY ok
SELECT AVG(0.000001 * age), SUM(0.01 * age), AVG(9000 + age), ROUND(AVG(0.000001 * age), 9) FROM p WHERE age BETWEEN 0 AND 100
SELECT AVG(CASE WHEN ok THEN 1 ELSE 0 END), AVG(0 * age) FROM p WHERE age BETWEEN 0 AND 100
SELECT (COUNT(*) / 4.0)::numeric(9, 3), ROUND((COUNT(*) / 4.0)::numeric(9, 3), 1), COUNT(*)::numeric FROM p
""".strip().split("\n")
REFUSED = """
SELECT age, COUNT(*) FROM p GROUP BY sex
SELECT COUNT(*) FROM p ORDER BY age
SELECT COUNT(*) FROM p HAVING age > 3
SELECT COUNT(*) FROM p LIMIT -1
SELECT COUNT(*) FROM p LIMIT COUNT(*)
SELECT COUNT(*) FROM p ORDER BY 2
SELECT COUNT(*) FROM p ORDER BY COUNT(*) USING <
SELECT COUNT(*), MAX(age) FROM p
SELECT COUNT(*) + (SELECT 1) FROM p
SELECT COUNT(*), * FROM p
SELECT sex, COUNT(*) FROM p GROUP BY sex HAVING COUNT(*)
""".strip().split("\n")


def check(what, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(what, detail)


def run(*args):
    r = subprocess.run([PROGRAM, *args, "--format", "json"], capture_output=True, text=True, check=False)
    return r.returncode, json.loads(r.stdout) if r.stdout else r.stderr


def same(a, b):
    """A cell of the program and the text that psql prints of the server's."""
    if a is None or b == "\\N":
        return a is None and b == "\\N"
    if isinstance(a, bool):
        return b == ("t" if a else "f")
    try:
        return abs(float(a) - float(b)) <= 1e-12 * max(1.0, abs(float(b)))
    except ValueError:
        return str(a) == b


def by_server(folder, query):
    r = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-P", "null=\\N", "-h", folder, "-U", "postgres",
                        "postgres", "-c", query], capture_output=True, text=True, check=False)
    return r.returncode, [line.split("\t") for line in r.stdout.splitlines()]


def compare(folder):
    for query in QUERIES:
        status, want = by_server(folder, query)
        assert status == 0, query
        status, got = run("count", "--db", pg.url(folder), query)
        rows = got.get("rows") if status == 0 else None
        fits = rows is not None and len(rows) == len(want) and all(
            len(x) == len(y) and all(map(same, x, y)) for x, y in zip(rows, want))
        check("differs:", fits, f"{query}\n  {got}\n  {want}")
        check("columns:", rows is None or all(len(got["columns"]) == len(r) for r in rows), query)
    for query in SHOWN:
        status, want = by_server(folder, query)
        assert status == 0, query
        status, got = run("count", "--db", pg.url(folder), query)
        shown = [["\\N" if x is None else "tf"[not x] if isinstance(x, bool) else str(x) for x in r] for r in got.get("rows", [])]
        check("shown otherwise:", shown == want, f"{query}\n  {got.get('rows', got)}\n  {want}")
    for query in REFUSED:
        status, got = run("count", "--db", pg.url(folder), query)
        check("not refused:", status in (2, 3) and "position" in got["error"], f"{query} {status} {got}")


def release(folder):
    """Expressions act on the noisy numbers; the same count is paid once."""
    with tempfile.TemporaryDirectory() as tmp:
        ledger = os.path.join(tmp, "l")
        run("budget", "init", "--ledger", ledger, "--epsilon", "100")
        base = ["release", "--db", pg.url(folder), "--ledger", ledger, "--epsilon", "0.5", "--groups", "F,M,X"]
        _, a = run(*base, "SELECT sex, COUNT(*) AS n, 2 * COUNT(*) + 1 AS m, COUNT(*) FILTER (WHERE ok) AS k FROM p "
                          "GROUP BY sex ORDER BY n DESC LIMIT 2")
        check("names", [c["name"] for c in a["columns"]] == ["sex", "n", "m", "k"], a)
        noisy = {g["key"][0]: g["answer"] for g in a["counts"][0]["groups"]}
        check("all keys are answered", set(noisy) == {"F", "M", "X"}, a)
        want = sorted(noisy.items(), key=lambda x: -x[1])[:2]
        check("order", [r[1] for r in a["rows"]] == [n for _, n in want], a)
        check("computed", all(r[2] == 2 * r[1] + 1 for r in a["rows"]), a)
        check("price", a["price"] == 1.0 and len(a["counts"]) == 2, a)
        check("errors", all(e[0] is None and e[1] >= 1 and abs(e[2] - 2 * e[1]) < 1e-9 for e in a["errors"]), a)
        _, b = run(*base, "SELECT COUNT(*) AS n, sex FROM p GROUP BY sex HAVING COUNT(*) > 1000000")
        check("asked before, other clauses: free", b["repeated"] and b["rows"] == [], b)
        check("spent once", b["budget"]["spent"] == 1.0, b)


def main():
    rng = random.Random(7)
    rows = [f"({i}, '{rng.choice('FFFMMX')}', {rng.choice([20, 35, 35, 41, 50, 'NULL'])}, "
            f"{rng.choice(['NULL', chr(39) + '1990-01-02' + chr(39), chr(39) + '1984-07-09' + chr(39)])}, "
            f"{rng.choice(['true', 'false', 'NULL'])})" for i in range(60)]
    with pg.server() as folder:
        by_server(folder, f"{DDL}; INSERT INTO p VALUES {', '.join(rows)}")
        compare(folder)
        release(folder)
    print(f"{len(QUERIES)} queries, {len(REFUSED)} refusals, {failures} failures")
    sys.exit(failures != 0)


main()
