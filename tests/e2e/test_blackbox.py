#!/usr/bin/env python3
"""Everything but the numbers is the same on neighbours. Random questions are put
to two databases that differ in one private row of extreme cells: exit status,
both outputs with the paid numbers masked, and the ledger must be the same.

What makes it a test: in many questions that row meets a limit (a text or number
that is too long and so NULL, a cell of the wrong type, a number beyond 64 bits,
a date beyond the calendar, a count clamped at 2^127 - 1) and no other row does.
The owner's exact counts prove that, question by question."""
import concurrent.futures
import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

from outside import DPCOUNT, check, end, slower, write

MOST = 2**127 - 1
LARGEST = 2**63 - 1
NEW = 99  # id of the row that only one side has
EACH = 10  # questions for each row and source
COLUMNS = {"p": "id bigint, g text, x numeric, s text, d date, n bigint", "v": "pid bigint, k bigint, w text", "pub": "y bigint"}
SCHEMA = "".join(f"CREATE TABLE {t}({c});\n" for t, c in COLUMNS.items())
BASE = {"p": [(i, "abc"[i % 3], i, f"ab{i}", f"2000-01-0{i}", i) for i in range(1, 9)],
        "v": [(1 + i % 8, i, f"wa{i % 3}") for i in range(12)],
        "pub": [(i,) for i in range(64)]}
ROWS = [("p", (NEW, "a", 5, "a" * 5000, "2000-01-05", 5)),
        ("p", (NEW, "b", "9" * 600, "a" * 40000, "9999-12-31", LARGEST)),
        ("p", (NEW, "c", "x!", "\u00e4\U0001f600\"'", "no date", "R")),
        ("p", (NEW, "a", "-" + "9" * 900 + "." + "7" * 600, "a" * 65536, "0001-01-01", -LARGEST - 1)),
        ("p", (NEW, "nobody", "1e999", "a" * 70000, "294276-12-31", "9" * 20)),
        ("p", (NEW, None, "NaN", "", "5874897-12-31", "1.5")),
        ("p", (NEW, "b", "1e-900", "aa" * 9000, "-4712-01-01", 2**62)),
        ("v", (3, LARGEST, "a" * 9000)),
        ("v", (3, "R", "a" * 70000)),
        ("v", (3, -LARGEST - 1, "a" * 30000))]
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1


def cell(value):
    return "" if value is None else '"' + str(value).replace('"', '""') + '"'


def make(side, source, table, row):
    """One side: its tables and its ledger."""
    data = {t: list(rows) for t, rows in BASE.items()}
    if row:
        data[table].append(row)
    write(f"{side}/schema.sql", SCHEMA)
    for t, rows in data.items():
        names = ",".join(c.split()[0] for c in COLUMNS[t].split(", "))
        if source == "csv":
            write(f"{side}/csv/{t}.csv", names + "\n" + "".join(",".join(map(cell, r)) + "\n" for r in rows))
            continue
        with contextlib.closing(sqlite3.connect(f"{side}/d.db")) as db:
            db.execute(f"CREATE TABLE {t}({COLUMNS[t]})")
            db.executemany(f"INSERT INTO {t} VALUES({','.join('?' * len(rows[0]))})", rows)
            db.commit()
    run(side, "budget", "init", "--ledger", "l", "--epsilon", "1000", "--least-price", "0.001")


def run(side, *args):
    return subprocess.run([DPCOUNT, *args], cwd=side, capture_output=True, text=True, check=False, timeout=slower(60),
                          stdin=subprocess.DEVNULL)


def kind(value):
    """In place of a number that was paid for, or of chance."""
    return [kind(v) for v in value] if isinstance(value, list) else type(value).__name__


def mask(a, chosen):
    for key in ("answer", "receipt", "as_of"):
        if key in a:
            a[key] = kind(a[key])
    for g in a.get("groups") or []:
        g["answer"] = kind(g["answer"])
    for count in a.get("counts") or []:
        mask(count, chosen)
    if "rows" in a:
        texts = [c["type"] != "numeric" for c in a["columns"]]  # sums are texts of numbers
        a["rows"] = "chosen" if chosen else [[c if isinstance(c, str) and t else kind(c) for c, t in zip(row, texts)] for row in a["rows"]]
    if a.get("head"):  # none in a repeated answer
        a["head"]["hash"] = kind(a["head"]["hash"])
    for key in ("error", "expected_error"):
        if (a.get(key) or {}).get("basis") == "released":  # measured on rows, and paid
            a[key] = sorted(a[key])


def masked(out, chosen):
    """The answer without its noisy numbers, receipt, moment and hash. Where HAVING
    or ORDER BY chose the rows by noisy numbers, these are a number, too."""
    try:
        a = json.loads(out)
    except ValueError:
        return out
    mask(a, chosen)
    return json.dumps(a, sort_keys=True)


def tower(r, text):
    for _ in range(r.choice((1, 2, 3, 5))):
        text = f"replace({text}, 'a', '{r.choice(('aa', 'aaaaaaaa', 'a' * 40, 'ba'))}')"
    return text


def condition(r, a, table):
    """A condition on one row, and one that only a row at a limit fulfils."""
    text, whole = (f"{a}.s", f"{a}.n") if table == "p" else (f"{a}.w", f"{a}.k")
    long = r.choice((tower(r, text), " || ".join([text] * r.randint(2, 9)), f"upper({tower(r, text)})"))
    high = f"{r.choice((whole, whole + ' + 1'))} * {whole}" + f" * {whole}" * r.randint(0, 2)
    digits = f"{a}.x" + f" * {a}.x" * r.randint(1, 6)
    day = f"({a}.d {r.choice('+-')} INTERVAL '{r.choice(('1 day', '8000 years', '200000 years 3 months', '1 month'))}')"
    cut = f"{long} IS NULL AND {text} IS NOT NULL"
    kinds = [(f"length({long}) {r.choice(('>', '<='))} {r.choice((3, 100, 65536))}", cut),
             (f"{long} ~ '{r.choice(('^(a|b)*[0-9]$', '(a*)*b', 'a{{3,9}}$', 'b+1|2'))}'", cut),
             (f"{long} LIKE '%a%b%'", cut),
             (f"{high} > {r.choice((0, 9, 2**70))}", f"abs({high}) > {LARGEST}"),
             (f"{whole} % 3 = 1 OR {whole} > 7", f"{whole} IS NULL"),
             (f"CASE WHEN {high} > 50 THEN {long} ELSE {text} END <> 'ab1'", f"abs({high}) > {LARGEST}")]
    if table == "p":
        kinds += [(f"{digits} {r.choice('<>')} {r.choice((20, 10**30))}", f"{digits} IS NULL AND {a}.x IS NOT NULL"),
                  (f"CASE WHEN {digits} < 90 THEN {whole} ELSE {high} END > 2", f"{digits} IS NULL AND {a}.x IS NOT NULL"),
                  (f"to_char({a}.d, '{r.choice(('YYYY-MM', 'DDD', 'IYYY IW', 'MON DY'))}') <> '2000-02'", f"{a}.d IS NULL"),
                  (f"{day} > TIMESTAMP '1999-01-03'", f"{day} IS NULL AND {a}.d IS NOT NULL"),
                  (f"extract(year FROM {day}) > 1990", f"{day} IS NULL"),
                  (f"date_trunc('month', {day}) < DATE '2000-02-01'", f"{day} IS NULL")]
    return tuple(k.replace("{{", "{").replace("}}", "}") for k in r.choice(kinds))


def powers(r, table):
    """Counts times public rows. A few rows of the table and the new one: without
    it below 2^127, with it not below, or both far below, or both above."""
    few = r.randint(2, 8)
    cuts = r.choice([(f, h) for f in range(1, 65) for h in range(1, 65) if few * f * h < 8192 <= (few + 1) * f * h])
    n = r.choice((15, 19, 19, 19, 19, 22))
    all_cuts = cuts + (64,) * n
    mine = f"(a.id <= {few} OR a.id = {NEW})" if table == "p" else f"(a.k < {few} OR a.k > 11 OR a.k IS NULL)"
    where = " AND ".join([mine] + [f"y{i}.y < {c}" for i, c in enumerate(all_cuts)])
    tables = ", ".join(f"pub y{i}" for i in range(len(all_cuts)))
    group = table == "p" and r.random() < 0.2
    head, tail = ("a.g, COUNT(*)", " GROUP BY a.g") if group else ("COUNT(*)", "")
    query = f"SELECT {head} FROM {table} a, {tables} WHERE {where}{tail}"
    return query, ["--groups", "a,b,c"] if group else [], None if group else query


def question(r, table):
    """A query, its options, and the query that counts rows at a limit."""
    if r.random() < 0.2:
        return powers(r, table)
    (p, at_p), (v, at_v) = condition(r, "a", "p"), condition(r, "b", "v")
    limit = f"SELECT COUNT(*) FROM p a WHERE {at_p}" if table == "p" else f"SELECT COUNT(*) FROM v b WHERE {at_v}"
    c = condition(r, "c", "p")[0]
    keys = ["--groups", "a,b,c"]
    one = [(f"SELECT COUNT(*) FROM p a WHERE {p}", []), (f"SELECT COUNT(CASE WHEN {p} THEN a.id END), COUNT(*) FROM p a", []),
           (f"SELECT COUNT(*) FILTER (WHERE {p}) FROM p a", []),
           (f"SELECT COUNT(DISTINCT {tower(r, 'a.s')}) FROM p a WHERE {p}", []),
           (f"SELECT CASE WHEN {p} THEN 'y' ELSE 'n' END, COUNT(*) FROM p a GROUP BY 1", []),
           (f"SELECT a.g, COUNT(*) FROM p a WHERE {p} GROUP BY a.g", keys),
           (f"SELECT a.g, COUNT(*) FROM p a WHERE {p} GROUP BY a.g HAVING COUNT(*) > 3 ORDER BY 2 DESC LIMIT 2", keys),
           (f"SELECT COUNT(*) FROM p a, p c WHERE a.g = c.g AND ({p}) AND ({c})", []),
           (f"SELECT COUNT(*) FROM p a JOIN p c ON {tower(r, 'a.s')} = c.s AND ({p})", []),
           (f"SELECT COUNT(*) FROM p a JOIN p c ON a.x * a.x = c.x + 2 WHERE ({p})", []),
           (f"SELECT SUM(LEAST(GREATEST(a.n, {r.choice((0, -4))}), {r.choice((9, 10**12))})) FROM p a WHERE {p}", []),
           (f"SELECT COUNT(*) FROM (SELECT a.g FROM p a WHERE {p} GROUP BY a.g HAVING COUNT(*) > 2) t", [])]
    two = [(f"SELECT COUNT(*) FROM p a JOIN v b ON b.pid = a.id WHERE ({p}) AND ({v})", []),
           (f"SELECT COUNT(*) FROM p a WHERE ({p}) AND NOT EXISTS (SELECT 1 FROM v b WHERE b.pid = a.id AND ({v}))", []),
           (f"SELECT COUNT(*) FROM p a WHERE ({p}) OR EXISTS (SELECT 1 FROM v b WHERE b.pid = a.id AND ({v}))", []),
           (f"SELECT COUNT(*) FROM p a LEFT JOIN v b ON b.pid = a.id AND ({v}) WHERE ({p})", []),
           (f"SELECT SUM(LEAST(GREATEST(b.k, 0), 9)) FROM p a JOIN v b ON b.pid = a.id WHERE ({p}) AND ({v})", []),
           (f"SELECT COUNT(*) FROM p a WHERE ({p}) AND (SELECT COUNT(*) FROM v b WHERE b.pid = a.id AND ({v})) > 1", []),
           (f"SELECT a.g, COUNT(*) FROM p a JOIN v b ON b.pid = a.id AND ({v}) WHERE ({p}) GROUP BY a.g ORDER BY 2", keys)]
    query, more = r.choice(one + two if table == "p" else two)
    return query, more, limit


def exact(side, source, query):
    out = json.loads(run(side, "count", "--format", "json", *source, query).stdout)
    return out.get("count")


def at_limit(sides, source, limit):
    """Whether only the new row meets the limit, by the owner's counts."""
    if limit is None:
        return False
    a, b = (exact(side, source, limit) for side in sides)
    if "pub y" in limit:
        return None not in (a, b) and a < b == MOST
    return a is not None and b == a + 1


def ask(sides, source, query, more):
    seen = []
    chosen = "HAVING" in query or "ORDER" in query
    for side in sides:
        r = run(side, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", *source, *more, query)
        book = json.loads(run(side, "budget", "show", "--format", "json", "--ledger", "l").stdout)
        book["head"]["hash"] = kind(book["head"]["hash"])
        seen.append((r.returncode, masked(r.stdout, chosen), r.stderr, book))
    check(query, seen[0] == seen[1], f"\n   without the row: {seen[0]}\n   with it:         {seen[1]}")
    return seen[0][0]


def neighbours(n, form, table, row):
    """All questions about one pair; what was seen is counted by the caller."""
    r = random.Random(f"{SEED} {n} {form}")
    sides = [f"{form}{n}/{s}" for s in "ab"]
    for side, more in zip(sides, (None, row)):
        make(side, form, table, more)
    source = ["--public", "pub"] + (["--db", "csv", "--schema", "schema.sql"] if form == "csv" else ["--db", "d.db"])
    found = []
    for _ in range(EACH):
        query, more, limit = question(r, table)
        answered = ask(sides, source, query, more) == 0
        limited = answered and at_limit(sides, source, limit)
        found.append({"asked": 1, "answered": answered, "at a limit": limited, "clamped": limited and "pub y" in limit})
    return found


folder = tempfile.TemporaryDirectory(prefix="dpc-blackbox-")
os.chdir(folder.name)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(neighbours, n, form, *row) for n, row in enumerate(ROWS) for form in ("sqlite", "csv")]
    found = [f for job in jobs for f in job.result()]
counts = {what: sum(f[what] for f in found) for what in found[0]}
print(", ".join(f"{n} {what}" for what, n in counts.items()))
check("enough questions", counts["asked"] == 200 and counts["answered"] >= 180 and counts["at a limit"] >= 50
      and counts["clamped"] >= 5, str(counts))
end()
