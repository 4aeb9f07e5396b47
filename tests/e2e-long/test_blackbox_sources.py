#!/usr/bin/env python3
"""Everything but the numbers is the same on neighbours, for sources and units that test_blackbox.py and test_blackbox_forms.py leave
out: SQLite and PostgreSQL (its rows loaded, its own counts, and what auto takes), a database that is not in UTF-8, one row, one person,
and results of two persons; with expressions of every kind nested at random, joins of every kind, set operations, groups, sums,
found keys, order K and substitution, and tables that are empty but for what one side has more.

Exit status, both outputs with the released numbers masked, the folder's files, the ledger, and what quote says must be the same.

    test_blackbox_sources.py [SEED [PAIRS [SOURCE,...]]]"""
import contextlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

import pg
from outside import DPCOUNT, check, end, slower, write

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
EACH = 3  # questions for each pair of neighbours
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
SOURCES = sys.argv[3].split(",") if len(sys.argv) > 3 else ["sqlite", "embedded", "sql", "auto", "bytes"]
LARGE = 2**63 - 1
INT = 2**31 - 1
LONG = "x" * 70000
COLUMNS = {"person": "id integer PRIMARY KEY, city text, born date, income numeric, age integer, ok boolean", "doc": "id integer PRIMARY KEY, name text",
           "visit": "id integer PRIMARY KEY, p integer, doc integer, kind text, at timestamp, n bigint, paid numeric", "knows": "a integer, b integer",
           "code": "code text PRIMARY KEY, class text", "pub": "y integer"}
PUBLIC = "  code: {privacy: public}\n  pub: {privacy: public}\n"
POLICIES = {"row": "tables:\n" + PUBLIC,
            "person": "entities: [person]\ntables:\n" + PUBLIC + "  doc: {privacy: public}\n  visit: {owned_by: [{via: [p], table: person}]}\n"
                      "  knows: {owned_by: [{via: [a], table: person}]}\n",
            "both": "entities: [person, doc]\ntables:\n" + PUBLIC + "  visit: {owned_by: [{via: [p], table: person}, {via: [doc], table: doc}]}\n"
                    "  knows: {owned_by: [{via: [a], table: person}, {via: [b], table: person}]}\n"}


def base(empty):
    r = random.Random("base")
    few = range(0) if empty else range(1, 21)
    return {"code": [(f"c{i}", "lh"[i % 2]) for i in range(4)], "pub": [(i,) for i in range(64)],
            "person": [(i, "ABC"[i % 3], f"19{50 + i}-{1 + i % 12:02}-{1 + i:02}", f"{i}.5", 20 + i, i % 2 > 0) for i in few],
            "doc": [(i, f"d{i}") for i in few if i < 6], "knows": [(i, 1 + i * k % 20) for i in few for k in (2, 3, 7)],
            "visit": [(100 * i + k, i, 1 + (i + k) % 5, f"c{k % 4}", f"2001-{1 + k:02}-03 04:05:06", r.randint(-3, 12), f"{r.randint(0, 99)}.25")
                      for i in few for k in range(i % 6)]}


def extras(source, unit):
    """What one side has more."""
    people = [(999, "A", "2001-02-03", "7.5", 44, True), (999, LONG, "9999-12-31", "9" * 400, INT, False), (999, "", None, None, None, None),
              (999, "Z'\"\\; --", "0001-01-01", "NaN", -INT - 1, True)]
    visits = [(3, 1, "c1", "2001-01-01 00:00:00", 5, "5.25"), (3, 2, LONG, "9999-12-31 23:59:59", LARGE, "9" * 900), (3, 2, None, None, None, None)]
    if source == "sqlite":
        people += [(999, "\u00e4\U0001f600", "31.02.2001", "1e999", "R", "maybe"), (-LARGE - 1, "x\ny", "", "1e-900", "9" * 30, ""), ("R", "A", "x", "x", "x", "x")]
        visits += [(777, 888, "c1", "x", "y", "z"), ("R", "S", "c0", "2001-02-30 00:00:00", "1.5", "1,5")]
    else:
        people += [(999, "B", "infinity", "Infinity", 0, True), (999, "B", "-infinity", "-Infinity", 0, None), (999, "C", "5874897-12-31", "0." + "0" * 900 + "1", 1, True)]
        visits += [(3, None, "c1", "infinity", 3, "NaN"), (3, 1, "c0", "294276-12-31 23:59:59.999999", 0, "0." + "7" * 1200)]
    if source == "bytes":
        people += [(999, b"\xff\x81", "2001-02-03", "7.5", 44, True)]
    if unit == "row":
        return [{"person": [p]} for p in people] + [{"visit": [(9000, *v)]} for v in visits] + [{"knows": [(5, 5)]}, {"doc": [(77, "new")]}]
    owned = [{"person": [p], "visit": [(9000 + k, p[0], *visits[(i + k) % len(visits)][1:]) for k in range((0, 1, 5, 300)[i % 4])],
              "knows": [(p[0], 3)] * (i % 3) if isinstance(p[0], int) and abs(p[0]) <= INT else []} for i, p in enumerate(people)]
    doctor = {"doc": [(77, "new")], "visit": [(9000 + k, 1 + k % 20, 77, *visits[k % len(visits)][2:]) for k in range(300)]}
    return owned + [doctor] if unit == "both" else owned


# --- the two sides ---------------------------------------------------------------

def run(side, *args):
    return subprocess.run([DPCOUNT, *args], cwd=side, capture_output=True, text=True, check=False, timeout=slower(300), stdin=subprocess.DEVNULL)


def literal(v):
    if isinstance(v, bytes):
        return f"convert_from('\\x{v.hex()}', 'SQL_ASCII')"
    return "NULL" if v is None else "'" + str(v).replace("'", "''") + "'"


def make(side, source, unit, rows, server):
    """Its tables and its ledger; returns how it is named."""
    os.makedirs(side)
    ddl = "".join(f"CREATE TABLE {t}({c});\n" for t, c in COLUMNS.items())
    if source == "sqlite":
        with contextlib.closing(sqlite3.connect(f"{side}/d.db")) as db:
            db.executescript(ddl)
            for t, rs in rows.items():
                for r in rs:
                    with contextlib.suppress(sqlite3.IntegrityError):  # an INTEGER PRIMARY KEY takes no text
                        db.execute(f"INSERT INTO {t} VALUES({','.join('?' * len(r))})", r)
            db.commit()
        named = ["--db", "d.db"]
    else:
        name = "side_" + side[-1]
        sql = ddl + "".join(f"INSERT INTO {t} VALUES({', '.join(map(literal, r))});\n" for t, rs in rows.items() for r in rs)
        more = " ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" if source == "bytes" else ""
        for database, text in (("postgres", f"DROP DATABASE IF EXISTS {name};\nCREATE DATABASE {name}{more}"), (name, sql)):
            subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-h", server, "-U", "postgres", database], input=text, text=True,
                           check=True, capture_output=True)
        named = ["--db", f"postgresql:///{name}?host={server}&user=postgres", "--engine", "embedded" if source == "bytes" else source]
    write(f"{side}/p.yaml", POLICIES[unit])
    r = run(side, "budget", "init", "--ledger", "l", "--epsilon", "1000", "--delta", "0.1", "--least-price", "0.001")
    check("init", r.returncode == 0, r.stderr)
    return named + ["--policy", "p.yaml"]


# --- questions --------------------------------------------------------------------

class Text:
    """Random SQL over the aliases a (person), v (visit), k (knows)."""
    numbers = {"a": ("id", "age", "income"), "v": ("id", "n", "paid", "p"), "k": ("a", "b")}
    texts = {"a": "a.city", "v": "v.kind"}
    dates = {"a": "a.born", "v": "v.at"}

    def __init__(self, r):
        self.r = r

    def one(self, *of):
        return self.r.choice(of)

    def number(self, t, deep=2):
        r, column = self.r, f"{t}.{self.one(*self.numbers[t])}"
        if deep == 0 or r.random() < 0.25:
            return column
        x, y = self.number(t, deep - 1), self.number(t, deep - 1)
        kinds = [f"({x} + {y})", f"({x} * {y})", f"({x} - {r.randint(-5, 10**9)})", f"abs({x})", f"coalesce({x}, {r.randint(-2, 5)})", f"nullif({x}, {r.randint(0, 5)})",
                 f"round({x}, {r.randint(0, 3)})", f"greatest({x}, {y})", f"least({x}, 7)", f"width_bucket({x}, 0, 100, {r.randint(1, 20)})",
                 f"CASE WHEN {self.condition(t, 0)} THEN {x} ELSE {y} END", f"{x} % {r.randint(2, 9)}"]
        if t in self.texts:
            kinds += [f"length({self.text(t, deep - 1)})", f"extract({self.one('year', 'month', 'dow', 'week')} FROM {self.date(t)})"]
        return r.choice(kinds)

    def text(self, t, deep=2):
        r, column = self.r, self.texts[t]
        if deep == 0 or r.random() < 0.25:
            return column
        x = self.text(t, deep - 1)
        return self.one(f"upper({x})", f"substring({x}, {r.randint(1, 3)}, {r.randint(0, 4)})", f"trim({x})", f"replace({x}, 'x', '{'yy' * r.randint(0, 20)}')",
                        f"({x} || {column})", f"left({x}, 2)", f"right({x}, 3)", f"coalesce({x}, 'none')", f"nullif({x}, 'A')",
                        f"to_char({self.date(t)}, '{self.one('YYYY-MM', 'IYYY-IW', 'DDD', 'Q YY')}')", f"CASE WHEN {self.condition(t, 0)} THEN {x} END")

    def date(self, t):
        x = self.dates[t]
        return self.one(x, x, f"({x} + INTERVAL '{self.one('1 year', '3 months', '-400000 years')}')", f"date_trunc('{self.one('year', 'month', 'quarter')}', {x})",
                        f"(date({x}) + {self.r.randint(-40000, 40000)})", "date_bin(INTERVAL '7 days', v.at, TIMESTAMP '2001-01-01')" if t == "v" else x)

    def condition(self, t, deep=1):
        r = self.r
        if deep and r.random() < 0.3:
            return f"({self.condition(t, deep - 1)} {self.one('AND', 'OR', 'AND NOT')} {self.condition(t, deep - 1)})"
        x = self.number(t, deep)
        kinds = [f"{x} {self.one('<', '>', '=', '<>')} {self.one(r.randint(-9, 99), 10**30, '0.5', -2**63)}", f"{x} BETWEEN {r.randint(-3, 9)} AND 2000",
                 f"{x} IN (1, 2, 3, {r.randint(4, 999)})", f"{x} IS {self.one('', 'NOT ')}NULL"]
        if t in self.texts:
            s, d = self.text(t, deep), self.date(t)
            kinds += [f"{s} LIKE '{self.one('c_', '%x%x%', 'A')}'", f"{s} ~ '{self.one('^c[0-3]$', '(a|b)*', 'x{2,}')}'", f"{s} SIMILAR TO '(A|B)%'", f"{s} > 'A'",
                      f"{s} IS NOT DISTINCT FROM 'c1'", f"{s} NOT IN ('A', 'c2', '')", f"position('x' in {s}) > 0", f"{d} >= DATE '2001-06-01'",
                      f"extract(year FROM age(TIMESTAMP '2020-01-01', {d})) < 50"]
        return r.choice(kinds)

    def question(self):
        r, a, v, k = self.r, self.condition("a"), self.condition("v"), self.condition("k")
        many = ", ".join(f"pub y{i}" for i in range(r.choice((1, 9, 19, 20, 21, 22, 30))))
        what = self.one("COUNT(*)", "COUNT(DISTINCT v.p)", f"COUNT({self.number('v')})", f"COUNT(DISTINCT ({self.text('v')}, v.p))", "SUM(LEAST(GREATEST(v.n, 0), 5))",
                        f"SUM(CASE WHEN {v} THEN 1 ELSE 0 END)", "AVG(LEAST(GREATEST(v.n, 0), 5))", f"COUNT(*) FILTER (WHERE {v})")
        key = self.one("a.city", f"CASE WHEN {a} THEN 'y' ELSE 'n' END", "a.ok", "width_bucket(a.age, 0, 100, 4)", f"({a})")
        values = self.one("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
        return r.choice([
            f"SELECT COUNT(*), COUNT(DISTINCT a.city) FROM person a WHERE {a}", f"SELECT {what} FROM visit v WHERE {v}", f"SELECT COUNT(*) FROM knows k JOIN knows l ON k.b = l.a WHERE {k}",
            "SELECT COUNT(*) FROM knows k, knows l, knows m WHERE k.b = l.a AND l.b = m.a AND m.b = k.a AND k.a < l.a", f"SELECT {what} FROM person a JOIN visit v ON v.p = a.id WHERE {a} AND {v}",
            f"SELECT COUNT(*) FROM visit v JOIN visit w ON v.doc = w.doc AND v.id <> w.id WHERE {v}", f"SELECT COUNT(*) FROM person a {self.one('LEFT', 'FULL')} JOIN visit v ON v.p = a.id AND {v}",
            "SELECT COUNT(*) FROM visit v RIGHT JOIN doc d ON v.doc = d.id", "SELECT COUNT(*) FROM person a LEFT JOIN visit v ON v.p = a.id WHERE v.id IS NULL",
            f"SELECT COUNT(*) FROM (SELECT {self.text('a')} t FROM person a WHERE {a} {values} SELECT {self.text('v')} FROM visit v WHERE {v}) u",
            f"SELECT COUNT(*) FROM (SELECT DISTINCT {self.number('v')} x, v.p FROM visit v) u", f"SELECT COUNT(*) FROM person a WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.p = a.id AND {v})",
            f"SELECT COUNT(*) FROM person a WHERE a.id {self.one('IN', 'NOT IN')} (SELECT v.p FROM visit v WHERE {v})",
            f"SELECT COUNT(*) FROM person a WHERE a.age {self.one('> ALL', '<= ANY')} (SELECT v.n FROM visit v WHERE {v})",
            f"SELECT COUNT(*) FROM person a WHERE (SELECT COUNT(*) FROM visit v WHERE v.p = a.id AND {v}) {self.one('>= 2', '= 0', '< 4')}",
            f"SELECT COUNT(*) FROM (SELECT v.p, COUNT(*) n FROM visit v WHERE {v} GROUP BY v.p) t WHERE n >= 2", f"SELECT {key}, COUNT(*) FROM person a GROUP BY 1",
            f"SELECT {key}, COUNT(*) FROM person a WHERE {a} GROUP BY 1 HAVING COUNT(*) > 2 ORDER BY 2 DESC LIMIT 3", f"SELECT c.class, {what} FROM visit v JOIN code c ON c.code = v.kind GROUP BY c.class",
            f"SELECT v.kind, {what} FROM visit v GROUP BY v.kind", f"SELECT COUNT(*) FROM person a, visit v WHERE a.id = v.p AND {self.number('a')} < {self.number('v')}",
            f"SELECT COUNT(*) FROM person a, {many} WHERE {a} AND y0.y < {r.randint(1, 63)}", f"SELECT COUNT(*) FROM person a JOIN person q ON a.city = q.city AND a.id < q.id WHERE {a}",
            f"SELECT COUNT(*) FROM person a WHERE a.id = 999 AND {a}", "SELECT COUNT(*) FROM visit v, visit w, knows k WHERE v.p = k.a AND w.p = k.b AND v.kind = w.kind"])

    def options(self, query):
        keys = [["--delta", "0.0001"], ["--groups", self.one("A,B,C,Z", "1,2,3", "true,false", "y,n", "c0,c1")], []]
        more = self.r.choice(keys) if "GROUP BY" in query else []
        for chance, option in ((0.1, ["--error-budget", self.one("0.1", "none")]), (0.07, ["--beta", "0.05"]), (0.07, ["--filters", "exact"]), (0.1, ["--fresh"]), (0.1, ["--explain"])):
            more = more + option if self.r.random() < chance else more
        return more


# --- what is seen -----------------------------------------------------------------

NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?$")
PRICES = {"price", "budget", "remaining", "spent", "epsilon", "delta", "clamped_at", "work", "owners"}


def mask(x, chosen):
    """Released numbers become a word; so do lists of keys that noise chose. What a quotient is
    off by is computed from released numbers, which also decide whether it can be told."""
    if isinstance(x, dict):
        if not chosen and "errors" in x:
            x = {**x, "errors": [len(row) for row in x["errors"]]}
        words = {"receipt": "id", "as_of": "moment", "hash": "hash", "error_p95": "number"}
        return {k: words.get(k) or ("list" if chosen and k in ("groups", "rows", "thresholds", "errors") else v if k in PRICES else mask(v, chosen)) for k, v in x.items()}
    if isinstance(x, list):
        return [mask(v, chosen) for v in x]
    if isinstance(x, str):
        return "number" if NUMBER.match(x) else x
    return "number" if isinstance(x, (int, float)) and not isinstance(x, bool) else x


def without_side(text):
    return text.replace("side_a", "side").replace("side_b", "side")


def seen(side, source, query, more):
    r = run(side, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.5", *source, *more, query)
    chosen = "--delta" in more or "HAVING" in query
    try:
        out = json.dumps(mask(json.loads(r.stdout), chosen), sort_keys=True)
    except ValueError:
        out = r.stdout
    book = json.loads(run(side, "budget", "show", "--owner", "--format", "json", "--ledger", "l").stdout)
    book["head"]["hash"] = ""
    with contextlib.closing(sqlite3.connect(f"file:{side}/l?mode=ro", uri=True)) as db:
        last = db.execute("SELECT mechanism, settings, epsilon, delta, state, version, query FROM charged ORDER BY id DESC LIMIT 3").fetchall()
        events = db.execute("SELECT n, kind FROM event ORDER BY n").fetchall()
    quote = run(side, "quote", "--epsilon", "0.5", *source, query)
    return (r.returncode, without_side(out), without_side(r.stderr), book, last, events, sorted(os.listdir(side)),
            (quote.returncode, without_side(quote.stdout), without_side(quote.stderr)))


def neighbours(source, unit, n, more, empty, server):
    r = random.Random(f"{SEED} {source} {unit} {n} {empty}")
    tables, named, sides = base(empty), [], [f"{source}-{unit}-{n}-{empty}/{s}" for s in "ab"]
    for side, added in zip(sides, ({}, more)):
        named.append(make(side, source, unit, {t: rows + added.get(t, []) for t, rows in tables.items()}, server))
    form = r.choice([[], [], ["--order", "3"], ["--neighbours", "change-one" if unit == "row" else "change-entity"]])
    answered = 0
    for _ in range(EACH):
        text = Text(r)
        query = text.question()
        options = form + text.options(query)
        a, b = (seen(side, name, query, options) for side, name in zip(sides, named))
        check(f"{sides[0]} {options} {query}", a == b, "".join(f"\n   without: {x}\n   with:    {y}" for x, y in zip(a, b) if x != y))
        check(f"{sides[0]} {options} {query}: failed", a[0] in (0, 2, 3), str(a[:3]))
        answered += a[0] == 0
    return answered


def main():
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(pg.server()) if SOURCES != ["sqlite"] else None
        os.chdir(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpc-sources-")))
        pairs = [(source, unit, n, more, empty) for source in SOURCES for unit in POLICIES for n, more in enumerate(extras(source, unit))
                 for empty in (False, True) if n < 2 or not empty]
        random.Random(SEED).shuffle(pairs)
        answered = sum(neighbours(*pair, server) for pair in pairs[:PAIRS])
        asked = EACH * len(pairs[:PAIRS])
        print(f"{asked} asked, {answered} answered")
        check("enough was answered", answered > 0.4 * asked, f"{answered} of {asked}")
        os.chdir("/")
    end()


main()
