"""Random schemas, rows and counting queries, and their answers by SQLite,
PostgreSQL and the program. Used by the tests of the SQL front end.

A query is kept in parts (items of FROM, conditions), so that one that fails can
be shrunk: conditions and rows are taken away while the difference stays.
"""
import json
import os
import random
import sqlite3
import subprocess
import tempfile

import pg

BUILD = os.environ["DPC_BUILD"]
SOURCE = os.environ["DPC_SOURCE"]

POOLS = {
    "int": ["-3", "-1", "0", "1", "2", "3", "7"],
    "numeric": ["-1.5", "0", "0.5", "1", "2", "2.25"],
    "text": ["", "a", "A", "ab", "b%", "é", "it's", "a_b"],
    "boolean": ["true", "false"],
    "date": ["1999-12-31", "2000-01-01", "2000-02-29", "2020-06-15"],
}


class Column:
    def __init__(self, name, kind, not_null):
        self.name, self.kind, self.not_null = name, kind, not_null

    @property
    def sql(self):
        plain = self.name.isascii() and self.name.islower() and self.name.isidentifier()
        return self.name if plain else '"%s"' % self.name


class Table:
    def __init__(self, name, cols, key, unique):
        self.name, self.cols, self.key, self.unique = name, cols, key, unique
        self.rows = []

    def ddl(self):
        parts = ["%s %s%s" % (c.sql, c.kind, " NOT NULL" if c.not_null else "")
                 for c in self.cols]
        if self.key:
            parts.append("PRIMARY KEY (%s)" % ", ".join(c.sql for c in self.key))
        if self.unique:
            parts.append("UNIQUE (%s)" % ", ".join(c.sql for c in self.unique))
        return "CREATE TABLE %s (%s);" % (self.name, ", ".join(parts))


def make_table(rng, number, joined, odd):
    names = rng.sample(["x", "y", "z", "k", "w", odd, "größe"], rng.randint(2, 4))
    cols = [Column(n, rng.choice(joined), rng.random() < 0.4) for n in names]
    key = rng.sample(cols, rng.choice([1, 1, 2])) if rng.random() < 0.5 else []
    unique = [rng.choice(cols)] if rng.random() < 0.2 else []
    for c in key:
        c.not_null = True
    return Table("t%d" % number, cols, key, unique)


def fill(rng, table):
    seen = [set(), set()]
    for _ in range(rng.choice([0, 4, 6, 8, 9])):
        row = [None if not c.not_null and rng.random() < 0.25
               else rng.choice(POOLS[c.kind]) for c in table.cols]
        if table.rows and not table.key and rng.random() < 0.3:
            row = list(rng.choice(table.rows))
        keys = [tuple(row[table.cols.index(c)] for c in cs)
                for cs in (table.key, table.unique)]
        if table.key and keys[0] in seen[0]:
            continue
        if table.unique and None not in keys[1] and keys[1] in seen[1]:
            continue
        seen[0].add(keys[0])
        seen[1].add(keys[1])
        table.rows.append(row)


def make_schema(rng, odd="Odd One"):
    kinds = ["int", "int", "int", "text", "numeric", "boolean", "date"]
    tables = [make_table(rng, i, kinds, odd) for i in range(rng.randint(2, 3))]
    for t in tables:
        fill(rng, t)
    return tables


# --- expressions; a scope is a list of (sql name, kind), one list per table ---

def literal(rng, kind):
    v = rng.choice(POOLS[kind])
    if kind in ("int", "numeric", "boolean"):
        return v
    return "'%s'" % v.replace("'", "''")


def columns(scope, kind):
    return [n for n, k in scope if k == kind]


# Forms that PostgreSQL has and SQLite has not, or has otherwise.
EXTRA = {
    "int": ["greatest(%s, 1)", "least(%s, 0)", "mod(%s, 3)", "round(%s)",
            "CASE %s WHEN 1 THEN 2 WHEN 2 THEN NULL ELSE 0 END", "(%s * 1.5)::int"],
    "numeric": ["round(%s)", "round(%s, 1)", "floor(%s)", "ceil(%s)", "greatest(%s, 1.5)",
                "coalesce(%s, 0)", "(%s - 0.25)", "(%s * %s)", "round(%s * 7, -1)"],
    "text": ["left(%s, 1)", "right(%s, 1)", "ltrim(%s, 'a')", "rtrim(%s, 'b%%')",
             "btrim(%s, 'ab')", "CASE WHEN %s = 'a' THEN 'x' END", "substring(%s from 2)",
             "substring(%s from -1 for 3)"],
    "date": ["(%s + 1)", "(%s - 3)", "date_trunc('month', %s)::date",
             "date_trunc('week', %s)::date", "greatest(%s, DATE '2000-01-15')"],
    "boolean": ["coalesce(%s, true)", "(NOT %s)", "(%s IS NOT TRUE)"],
}


def extra_predicate(rng, scope, kind, x):
    lit = lambda: literal(rng, kind)  # noqa: E731
    forms = ["%s IS DISTINCT FROM %s" % (x, lit()),
             "%s IS NOT DISTINCT FROM %s" % (x, rng.choice([lit(), "NULL"])),
             "%s = ANY (ARRAY[%s, %s])" % (x, literal_cast(kind, lit()), literal_cast(kind, lit())),
             "NOT %s = ANY (ARRAY[%s, %s])" % (x, literal_cast(kind, lit()), literal_cast(kind, lit())),
             "(%s, 1) %sIN ((%s, 1), (%s, 2))" % (x, rng.choice(["", "NOT "]), lit(), lit())]
    if kind == "date":
        field, most = rng.choice([("year", 2020), ("month", 12), ("day", 31), ("dow", 6),
                                  ("isodow", 7), ("doy", 366), ("week", 53), ("quarter", 4),
                                  ("isoyear", 2019)])
        forms += ["extract(%s from %s) = %d" % (field, x, rng.randint(most - 5, most)),
                  "extract(%s from %s) > %d" % (field, x, rng.randint(0, most)),
                  "date_trunc('year', %s) < '2020-01-01'" % x,
                  "%s - DATE '2000-01-01' > %d" % (x, rng.randint(-5, 50))]
    if kind == "text":
        forms += ["%s ILIKE '%s'" % (x, rng.choice(["A%", "%B", "_"])),
                  "position('b' in %s) = %d" % (x, rng.randint(0, 2))]
    if kind == "int":
        forms += ["%s BETWEEN SYMMETRIC 3 AND -1" % x, "%s::text = '1'" % x,
                  "%s::float8 > 0.1" % x]
    if kind == "numeric":
        forms += ["%s::float8 = 0.5" % x, "%s::int = 2" % x]
    return rng.choice(forms)


def literal_cast(kind, text):
    return "%s::%s" % (text, kind)


def value(rng, scope, kind, depth=0):
    """An expression of one table of this kind, or None."""
    cols = columns(scope, kind)
    if not cols:
        return None
    base = rng.choice(cols)
    if depth > 1 or rng.random() < 0.5:
        return base
    if Maker.extra and rng.random() < 0.5:
        form = rng.choice(EXTRA[kind])
        return form % ((base,) * form.replace("%%", "").count("%s"))
    other = value(rng, scope, kind, depth + 1)
    if kind == "int":
        return rng.choice(["(%s + %s)", "(%s - %s)", "(%s * %s)", "coalesce(%s, %s)",
                           "nullif(%s, %s)"]) % (base, rng.choice([other, literal(rng, kind)])) \
            if rng.random() < 0.6 else rng.choice(
                ["abs(%s)", "(-%s)", "(%s / 2)", "(%s %% 3)", "(%s / nullif(" + base + ", 0))",
                 "CASE WHEN %s > 0 THEN 1 ELSE -2 END"]) % base
    if kind == "numeric":
        return rng.choice(["(%s + 1)", "(%s * 2)", "abs(%s)", "(-%s)"]) % base
    if kind == "text":
        return rng.choice(["lower(%s)", "upper(%s)", "(%s || 'a')", "substr(%s, 1, 1)",
                           "replace(%s, 'a', 'b')", "coalesce(%s, 'a')", "trim(%s)"]) % base
    return base


def predicate(rng, scope, depth=0):
    """A condition on one table."""
    kinds = sorted({k for _, k in scope})
    kind = rng.choice(kinds)
    x = value(rng, scope, kind)
    if depth < 2 and rng.random() < 0.35:
        form = rng.choice(["(%s OR %s)", "(%s AND %s)", "NOT (%s)"])
        parts = tuple(predicate(rng, scope, depth + 1) for _ in range(form.count("%s")))
        return form % parts
    if Maker.extra and rng.random() < 0.3:
        return extra_predicate(rng, scope, kind, x)
    choice = rng.random()
    if choice < 0.15:
        return "%s IS %sNULL" % (x, rng.choice(["", "NOT "]))
    if kind == "boolean" and choice < 0.6:
        return rng.choice(["%s", "NOT %s", "%s IS TRUE", "%s IS NOT FALSE"]) % x
    if kind == "text" and choice < 0.4:
        return "%s %sLIKE '%s'" % (x, rng.choice(["", "NOT "]),
                                   rng.choice(["a%", "%b", "_", "%", "a\\_b", "é"])) \
            + " ESCAPE '\\'"
    if kind == "text" and choice < 0.5:
        return "length(%s) > %d" % (x, rng.randint(0, 2))
    if choice < 0.55:
        items = ", ".join(literal(rng, kind) for _ in range(rng.randint(1, 3)))
        if rng.random() < 0.2:
            items += ", NULL"
        return "%s %sIN (%s)" % (x, rng.choice(["", "NOT "]), items)
    if choice < 0.65 and kind != "boolean":
        return "%s %sBETWEEN %s AND %s" % (x, rng.choice(["", "NOT "]), literal(rng, kind),
                                           literal(rng, kind))
    op = rng.choice(["=", "=", "<>", "<", "<=", ">", ">="])
    y = value(rng, scope, kind) if rng.random() < 0.3 else literal(rng, kind)
    return "%s %s %s" % (x, op, y)


def link(rng, a, b):
    """A comparison between two tables, or None."""
    kinds = sorted({k for _, k in a} & {k for _, k in b})
    if not kinds:
        return None
    kind = rng.choice(kinds)
    op = rng.choice(["=", "=", "=", "=", "<", "<>", ">="])
    text = "%s %s %s" % (value(rng, a, kind, rng.choice([0, 2])), op,
                         value(rng, b, kind, rng.choice([0, 2])))
    return "NOT (%s)" % text if rng.random() < 0.1 else text


# --- queries ---

class Query:
    def __init__(self):
        self.select, self.froms, self.wheres, self.group = "COUNT(*)", [], [], ""
        self.group_kind = None

    def text(self):
        where = " WHERE " + " AND ".join(self.wheres) if self.wheres else ""
        return "SELECT %s FROM %s%s%s" % (self.select, ", ".join(self.froms), where, self.group)


class Maker:
    extra = False  # PostgreSQL's own forms too

    def __init__(self, rng, tables, full):
        Maker.extra = full
        self.rng, self.tables, self.full, self.n = rng, tables, full, 0

    def alias(self):
        self.n += 1
        return "a%d" % self.n

    def base(self):
        t, a = self.rng.choice(self.tables), self.alias()
        return "%s%s %s" % (t.name, self.rng.choice(["", " AS"]), a), \
            [("%s.%s" % (a, c.sql), c.kind) for c in t.cols]

    def derived(self):
        """(SELECT ... FROM t WHERE ...) alias, with DISTINCT or not."""
        rng = self.rng
        item, scope = self.base()
        a = self.alias()
        picked = rng.sample(scope, rng.randint(1, len(scope)))
        names = ["c%d" % i for i in range(len(picked))]
        cols = ", ".join("%s AS %s" % (n, m) for (n, _), m in zip(picked, names))
        where = " WHERE " + predicate(rng, scope) if rng.random() < 0.5 else ""
        lateral = "(SELECT %s%s FROM %s%s) %s" % (
            rng.choice(["", "DISTINCT "]), cols, item, where, a)
        return lateral, [("%s.%s" % (a, m), k) for (_, k), m in zip(picked, names)]

    def item(self):
        return self.derived() if self.rng.random() < 0.25 else self.base()

    def join(self):
        """One item of FROM, perhaps a join, and the scopes of its tables."""
        rng = self.rng
        item, scope = self.item()
        scopes = [scope]
        while rng.random() < 0.4 and len(scopes) < 3:
            right, other = self.item()
            on = link(rng, rng.choice(scopes), other)
            if on is None or rng.random() < 0.15:
                item += " CROSS JOIN " + right
            else:
                item += "%s JOIN %s ON %s" % (rng.choice(["", " INNER"]), right, on)
            scopes.append(other)
        return item, scopes

    def using(self):
        """Two tables joined by NATURAL or USING."""
        rng = self.rng
        t, u = rng.choice(self.tables), rng.choice(self.tables)
        kinds = {c.name: c.kind for c in u.cols}
        both = [c for c in t.cols if c.name in kinds]
        if not both or any(kinds[c.name] != c.kind for c in both):
            return None
        a, b = self.alias(), self.alias()
        picked = rng.sample(both, rng.randint(1, len(both)))
        how = "%s %s NATURAL JOIN %s %s" % (t.name, a, u.name, b)
        if rng.random() < 0.5:
            how = "%s %s JOIN %s %s USING (%s)" % (
                t.name, a, u.name, b, ", ".join(c.sql for c in picked))
        return how, [[("%s.%s" % (a, c.sql), c.kind) for c in t.cols],
                     [("%s.%s" % (b, c.sql), c.kind) for c in u.cols]]

    def semijoin(self, scopes):
        rng = self.rng
        item, inner = self.item()
        wheres = [predicate(rng, inner)] if rng.random() < 0.4 else []
        outer = rng.choice(scopes)
        if rng.random() < 0.5:
            on = link(rng, inner, outer)
            wheres += [on] if on else []
            where = " WHERE " + " AND ".join(wheres) if wheres else ""
            return "EXISTS (SELECT %s FROM %s%s)" % (rng.choice(["1", "*"]), item, where)
        kinds = sorted({k for _, k in inner} & {k for _, k in outer})
        if not kinds:
            return None
        kind = rng.choice(kinds)
        where = " WHERE " + " AND ".join(wheres) if wheres else ""
        return "%s IN (SELECT %s FROM %s%s)" % (
            value(rng, outer, kind, 2), value(rng, inner, kind, 2), item, where)

    def counts(self, q, scopes):
        rng = self.rng
        names = [n for s in scopes for n, _ in s]
        forms = ["COUNT(*)", "COUNT(*)", "COUNT(%s)" % rng.choice(names),
                 "COUNT(DISTINCT %s)" % rng.choice(names)]
        if self.full:
            forms.append("COUNT(DISTINCT (%s))" % ", ".join(
                rng.sample(names, min(len(names), 2)) + ["1"]))
            forms.append("COUNT(*) FILTER (WHERE %s)" % predicate(rng, rng.choice(scopes)))
        parts = [rng.choice(forms) for _ in range(rng.choice([1, 1, 1, 2]))]
        parts = list(dict.fromkeys(parts))  # the same count is one count
        groups = [(n, k) for s in scopes for n, k in s if k in ("int", "text", "boolean")]
        if groups and rng.random() < 0.2:
            n, q.group_kind = rng.choice(groups)
            q.group = " GROUP BY " + n
            parts = [n] + parts
        q.select = ", ".join(parts)

    def query(self):
        rng, q = self.rng, Query()
        scopes = []
        for _ in range(rng.choice([1, 1, 1, 2])):
            # first only: after a comma SQLite joins with all that stands before
            made = self.using() if not q.froms and rng.random() < 0.15 else None
            item, some = made or self.join()
            q.froms.append(item)
            scopes += some
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            q.wheres.append(predicate(rng, rng.choice(scopes)))
        if len(scopes) > 1 and rng.random() < 0.6:
            on = link(rng, *rng.sample(scopes, 2))
            q.wheres += [on] if on else []
        if rng.random() < 0.25:
            semi = self.semijoin(scopes)
            q.wheres += [semi] if semi else []
        self.counts(q, scopes)
        return q


# --- answers: a list of {key: count} for each query, or None for an error ---

def insert_text(t, row):
    vals = ["NULL" if v is None else literal_of(c.kind, v) for c, v in zip(t.cols, row)]
    return "INSERT INTO %s VALUES (%s);" % (t.name, ", ".join(vals))


def literal_of(kind, v):
    return v if kind in ("int", "numeric", "boolean") else "'%s'" % v.replace("'", "''")


def collect(rows, n_counts, kind):
    """Rows of (key, counts...) or one of counts as the program prints them."""
    out = [{} for _ in range(n_counts)]
    for row in rows:
        key = ""
        if kind:
            v, row = row[0], row[1:]
            if v is not None and kind == "boolean":
                v = "true" if v in (1, True, "t", "true") else "false"
            key = ("\\N" if v is None else str(v)) + "\t"
        for i, c in enumerate(row):
            if int(c):
                out[i][key] = int(c)
    return out


def n_counts(q):
    return q.select.count("COUNT(")


def by_sqlite(tables, queries):
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA case_sensitive_like = ON")
    for t in tables:
        db.execute(t.ddl())
        for row in t.rows:
            db.execute(insert_text(t, row))
    out = []
    for q in queries:
        try:
            out.append(collect(db.execute(q.text()).fetchall(), n_counts(q), q.group_kind))
        except sqlite3.Error as e:
            out.append(str(e))
    return out


class Postgres:
    """A server of its own; None where there is none."""

    def __init__(self):
        self.folder = pg.start(needed=False)

    def stop(self):
        if self.folder:
            pg.stop(self.folder)

    def url(self, tables):
        return pg.url(self.folder)

    def answers(self, tables, queries):
        lines = ["SET client_min_messages = error;", "DROP SCHEMA public CASCADE;",
                 "CREATE SCHEMA public;", "\\pset null '\\\\N'"]
        lines += [t.ddl() for t in tables]
        lines += [insert_text(t, r) for t in tables for r in t.rows]
        for q in queries:
            lines += ["\\echo ====", q.text() + ";"]
        run = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", self.folder, "-U", "postgres",
             "postgres"], input="\n".join(lines), capture_output=True, text=True)
        out = []
        for q, part in zip(queries, run.stdout.split("====\n")[1:]):
            rows = [[None if v == "\\N" else v for v in line.split("\t")]
                    for line in part.splitlines()]
            out.append(collect(rows, n_counts(q), q.group_kind) if rows or q.group
                       else "error: " + run.stderr[:300])
        return out


def by_program(tables, queries):
    """Through the front end and nested loops (tests/prop/test_sql_count.c)."""
    with tempfile.TemporaryDirectory() as tmp:
        paths = [tmp + "/" + n for n in ("schema.sql", "data.json", "queries.json")]
        texts = ["\n".join(t.ddl() for t in tables),
                 json.dumps({t.name: t.rows for t in tables}),
                 json.dumps([q.text() for q in queries])]
        for path, text in zip(paths, texts):
            with open(path, "w") as f:
                f.write(text)
        run = subprocess.run([BUILD + "/tests/test_sql_count"] + paths,
                             capture_output=True, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(queries):
        raise SystemExit("test_sql_count ended with %d: %s\n%s" % (
            run.returncode, run.stderr, "\n".join(q.text() for q in queries)))
    return answers


def simple(rng, tables, full, n):
    """Queries with one count and no groups: what the command line answers."""
    out = []
    while len(out) < n:
        q = Maker(rng, tables, full).query()
        if not q.group and n_counts(q) == 1:
            out.append(q)
    return out


def by_command(queries, source):
    """Through the command line: dpcount count --db SOURCE."""
    out = []
    for q in queries:
        run = subprocess.run([BUILD + "/dpcount", "count", "--db", source, "--format", "json",
                              q.text()], capture_output=True, text=True)
        try:
            got = json.loads(run.stdout)
        except ValueError:
            raise SystemExit("dpcount ended with %d on: %s\n%s%s" % (
                run.returncode, q.text(), run.stdout, run.stderr))
        if "count" in got:
            out.append([{"": got["count"]} if got["count"] else {}])
        else:
            out.append(got)
    return out


def command_differs(seeds, n_queries, full, answers, open_source):
    """Names are in lower case: a SQLite catalogue does not tell case apart. Compares the command line with answers(tables, queries); open_source(tables)
    gives what --db takes. The number of equal answers and the first failure."""
    equal = 0
    for seed in seeds:
        rng = random.Random(seed)
        tables = make_schema(rng, "odd one")
        queries = simple(rng, tables, full, n_queries)
        want = answers(tables, queries)
        got = by_command(queries, open_source(tables))
        for q, a, b in zip(queries, got, want):
            if a != b:
                lines = ["seed %d: the command line and the database differ" % seed]
                lines += [t.ddl() for t in tables]
                lines += [insert_text(t, r) for t in tables for r in t.rows]
                return equal, "\n".join(lines + [q.text(), "program: %s" % a, "database: %s" % b])
            equal += 1
    return equal, None


def sqlite_file(path):
    def make(tables):
        if os.path.exists(path):
            os.remove(path)
        db = sqlite3.connect(path)
        for t in tables:
            db.execute(t.ddl())
            for row in t.rows:
                db.execute(insert_text(t, row))
        db.commit()
        db.close()
        return path
    return make


# --- the comparison ---

def differs(tables, q, oracle):
    got = by_program(tables, [q])[0]
    return "counts" in got and got["counts"] != oracle(tables, [q])[0]


def shrink(tables, q, oracle):
    """Takes rows and conditions away while the answers still differ."""
    for t in tables:
        for row in list(t.rows):
            t.rows.remove(row)
            if not differs(tables, q, oracle):
                t.rows.append(row)
    for w in list(q.wheres):
        q.wheres.remove(w)
        if not differs(tables, q, oracle):
            q.wheres.append(w)


def report(seed, tables, q, oracle, name):
    shrink(tables, q, oracle)
    lines = ["seed %d: %s and the program differ" % (seed, name)]
    lines += [t.ddl() for t in tables]
    lines += [insert_text(t, r) for t in tables for r in t.rows]
    lines += [q.text() + ";", "program: %s" % by_program(tables, [q])[0],
              "%s: %s" % (name, oracle(tables, [q])[0])]
    return "\n".join(lines)


def compare(seeds, n_queries, oracle, name, full):
    """Runs the seeds; returns (compared, refused, first failure or None)."""
    compared = refused = 0
    for seed in seeds:
        rng = random.Random(seed)
        tables = make_schema(rng)
        queries = [Maker(rng, tables, full).query() for _ in range(n_queries)]
        got, want = by_program(tables, queries), oracle(tables, queries)
        for q, a, b in zip(queries, got, want):
            if "counts" not in a:
                refused += 1
                if a["error"] not in ("unsupported",):
                    return compared, refused, "seed %d: %s\n%s" % (seed, q.text(), a)
            elif a["counts"] != b:
                return compared, refused, report(seed, tables, q, oracle, name)
            else:
                compared += 1
    return compared, refused, None
