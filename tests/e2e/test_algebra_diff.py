#!/usr/bin/env python3
"""NOT EXISTS, NOT IN, ALL, OR, UNION, INTERSECT and EXCEPT against SQLite:
random rows with NULLs and duplicates, random queries, counted exactly."""
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

BUILD = os.environ["DPC_BUILD"]
TABLES = {"a": ["x", "y", "s"], "b": ["x", "z", "s"], "c": ["k", "x", "y"]}
DDL = """CREATE TABLE a (x INTEGER, y INTEGER, s TEXT);
CREATE TABLE b (x INTEGER, z INTEGER NOT NULL, s TEXT);
CREATE TABLE c (k INTEGER PRIMARY KEY NOT NULL, x INTEGER, y INTEGER NOT NULL);"""


def fill(rng, db):
    db.executescript(DDL)
    cell = lambda: rng.choice([None, 0, 1, 2])
    text = lambda: rng.choice([None, "p", "q"])
    for _ in range(rng.randrange(7)):
        db.execute("INSERT INTO a VALUES (?,?,?)", (cell(), cell(), text()))
    for _ in range(rng.randrange(6)):
        db.execute("INSERT INTO b VALUES (?,?,?)", (cell(), rng.randrange(3), text()))
    for k in range(rng.randrange(6)):
        db.execute("INSERT INTO c VALUES (?,?,?)", (k, cell(), rng.randrange(3)))
    db.commit()


def rng_depth(rng):
    return rng.choice([0, 0, 1])


class Gen:
    def __init__(self, rng):
        self.rng, self.n = rng, 0

    def alias(self):
        self.n += 1
        return "t%d" % self.n

    def table(self):
        name, alias = self.rng.choice(list(TABLES)), self.alias()
        return "%s AS %s" % (name, alias), [(alias, c) for c in TABLES[name]]

    def column(self, scope, kind="int"):
        cols = [c for c in scope if (c[1] == "s") == (kind == "text")]
        return "%s.%s" % self.rng.choice(cols) if cols else None

    def atom(self, scope):
        rng = self.rng
        kind = rng.choice(["cmp", "cmp", "const", "null", "text"])
        x, y = self.column(scope), self.column(scope)
        t = self.column(scope, "text")
        if kind == "text" and t:
            return "%s = '%s'" % (t, rng.choice("pq"))
        if kind == "null":
            return "%s IS %sNULL" % (x, rng.choice(["", "NOT "]))
        op = rng.choice(["=", "=", "<>", "<", ">=", ">"])
        return "%s %s %s" % (x, op, y if kind == "cmp" else rng.randrange(3))

    def select(self, scope, depth, columns):
        """A subquery of so many integer columns; scope: of the outer query."""
        rng = self.rng
        items = [self.table() for _ in range(rng.choice([1, 1, 2]))]
        inner = [c for _, cols in items for c in cols]
        where = []
        if scope and rng.random() < 0.8:
            where.append("%s = %s" % (self.column(inner), self.column(scope)))
        if len(items) == 2:
            where.append("%s = %s" % (self.column(items[0][1]), self.column(items[1][1])))
        if rng.random() < 0.4:
            where.append(self.condition(inner + (scope or []), depth))
        cols = ", ".join(self.column(inner) for _ in range(columns)) or "1"
        return "SELECT %s FROM %s%s" % (
            cols, ", ".join(i for i, _ in items),
            " WHERE " + " AND ".join(where) if where else "")

    def sub(self, scope, depth, columns):
        if self.rng.random() < 0.2 and columns:
            op = self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
            return "%s %s %s" % (self.select(scope, 0, columns), op,
                                 self.select(scope, 0, columns))
        return self.select(scope, depth, columns)

    def condition(self, scope, depth):
        rng = self.rng
        kind = rng.choice(["atom", "or", "exists", "exists", "in", "not", "all", "count"] if depth
                          else ["atom", "or0"])
        if kind == "atom":
            return self.atom(scope)
        if kind == "or0":
            return "(%s OR %s)" % (self.atom(scope), self.atom(scope))
        if kind == "or":
            return "(%s OR %s)" % (self.condition(scope, depth - 1),
                                   self.condition(scope, depth - 1))
        if kind == "not":
            return "NOT (%s AND %s)" % (self.condition(scope, depth - 1), self.atom(scope))
        no = rng.choice(["", "NOT ", "NOT "])
        if kind == "count":
            return no + self.threshold(scope, depth - 1)
        if kind == "exists":
            return "%sEXISTS (%s)" % (no, self.sub(scope, depth - 1, rng.choice([0, 1])))
        if kind == "in":
            return "%s %sIN (%s)" % (self.column(scope), no, self.sub(scope, depth - 1, 1))
        return self.all_rows(scope, no)

    def threshold(self, scope, depth):
        """A count in a subquery, compared with a number."""
        rng, text = self.rng, self.select(scope, depth, 1)
        column, rest = text[len("SELECT "):].split(" FROM ", 1)
        count = rng.choice(["COUNT(*)", "COUNT(*)", "COUNT(%s)" % column, "COUNT(DISTINCT %s)" % column])
        sub = "(SELECT %s FROM %s)" % (count, rest)
        if rng.random() < 0.2:
            return "%s BETWEEN %d AND %d" % (sub, rng.randrange(3), rng.randrange(4))
        op = rng.choice(["<", "<=", ">", ">=", ">=", "=", "<>"])
        n = rng.randrange(-1, 4)
        return "%d %s %s" % (n, op, sub) if rng.random() < 0.2 else "%s %s %d" % (sub, op, n)

    def all_rows(self, scope, no):
        """x op ALL (...); between the bars what SQLite, which has no ALL, is
        told instead: its definition."""
        rng = self.rng
        item, inner = self.table()
        y, x = self.column(inner), self.column(scope)
        where = "%s = %s" % (self.column(inner), self.column(scope))
        test = "%s %s %s" % (x, rng.choice(["<", "<=", ">", ">=", "=", "<>"]), y)
        some = "EXISTS (SELECT 1 FROM %s WHERE %s AND %%s)" % (item, where)
        return "%s[[%s ALL (SELECT %s FROM %s WHERE %s)||(CASE WHEN %s THEN 0 WHEN %s THEN NULL ELSE 1 END)]]" % (
            no, test[:-len(y) - 1], y, item, where, some % ("NOT (%s)" % test),
            some % ("(%s) IS NULL" % test))

    def from_setop(self):
        op = self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
        n = self.rng.choice([1, 2])
        sides = [self.select(None, 1, n) for _ in range(2)]
        if self.rng.random() < 0.2:
            sides.append(self.select(None, 0, n))
            op2 = self.rng.choice(["UNION", "UNION ALL"])
            return "(SELECT * FROM (%s %s %s) AS w %s %s) AS u" % (
                sides[0], op, sides[1], op2, sides[2]), n
        return "(%s %s %s) AS u" % (sides[0], op, sides[1]), n

    def outer(self):
        rng = self.rng
        text, scope = self.table()
        for _ in range(rng.choice([1, 1, 2])):
            item, cols = self.table()
            on = "%s = %s" % (self.column(scope), self.column(cols))
            if rng.random() < 0.4:
                on += " AND " + self.atom(scope + cols)
            text += " %s JOIN %s ON %s" % (
                rng.choice(["LEFT", "LEFT", "RIGHT", "FULL", "INNER"]), item, on)
            scope = scope + cols
        count = rng.choice(["COUNT(*)", "COUNT(*)", "COUNT(%s)" % self.column(scope),
                            "COUNT(DISTINCT %s)" % self.column(scope)])
        return count, text, [self.condition(scope, 1)] if rng.random() < 0.6 else []

    def grouped(self, scope, columns=1):
        """A subquery with GROUP BY and mostly HAVING: its text and its keys."""
        rng, text = self.rng, self.select(None, rng_depth(self.rng), columns)
        keys, rest = text[len("SELECT "):].split(" FROM ", 1)
        first = keys.split(", ")[0]
        count = rng.choice(["COUNT(*)", "COUNT(*)", "COUNT(*)", "COUNT(DISTINCT %s.x)" % first.split(".")[0]])
        op = rng.choice([">=", ">=", ">", "<", "=", "<>", "<="])
        having = " HAVING %s %s %d" % (count, op, rng.randrange(1, 4)) if rng.random() < 0.8 else ""
        if having and rng.random() < 0.2:
            having += " AND %s %s %d" % (count, rng.choice(["<=", ">="]), rng.randrange(1, 5))
        return "SELECT %s FROM %s GROUP BY %s%s" % (keys, rest, keys, having)

    def over_groups(self):
        rng = self.rng
        n = rng.choice([1, 1, 2])
        kind = rng.randrange(4)
        if kind == 0: # the condition is one of the outer query
            text = self.grouped(None, n).split(" HAVING ")[0].replace(" FROM ", ", COUNT(*) AS n FROM ", 1)
            names = ["c1", "c2"][:n] + ["n"]
            where = ["n %s %d" % (rng.choice([">=", "<", "=", "<>"]), rng.randrange(1, 4))]
            if rng.random() < 0.4:
                where.append("c1 %s %d" % (rng.choice(["<", ">="]), rng.randrange(3)))
            return "COUNT(*)", "(%s) AS u(%s)" % (text, ", ".join(names)), where
        if kind == 1: # in a condition
            item, scope = self.table()
            sub = self.grouped(None, 1)
            return "COUNT(*)", item, ["%s %sIN (%s)" % (self.column(scope), rng.choice(["", "NOT "]), sub)]
        count = "COUNT(*)" if rng.random() < 0.7 else "COUNT(DISTINCT c1)"
        return count, "(%s) AS u(%s)" % (self.grouped(None, n), ", ".join(["c1", "c2"][:n])), []

    def query(self):
        rng = self.rng
        if rng.random() < 0.2:
            return self.over_groups()
        if rng.random() < 0.3:
            item, n = self.from_setop()
            count = rng.choice(["COUNT(*)", "COUNT(*)", "COUNT(DISTINCT c1)"])
            names = ["c1", "c2"][:n]
            return count, "%s(%s)" % (item, ", ".join(names)), None
        if rng.random() < 0.3:
            return self.outer()
        items = [self.table() for _ in range(rng.choice([1, 1, 1, 2]))]
        scope = [c for _, cols in items for c in cols]
        where = [self.condition(scope, 2)]
        if len(items) == 2:
            where.append("%s = %s" % (self.column(items[0][1]), self.column(items[1][1])))
        if rng.random() < 0.3:
            where.append(self.condition(scope, 1))
        count = rng.choice(["COUNT(*)", "COUNT(*)", "COUNT(DISTINCT %s)" % self.column(scope),
                            "COUNT(%s)" % self.column(scope)])
        return count, ", ".join(i for i, _ in items), where


def text(q, oracle):
    count, items, where = q
    sql = "SELECT %s FROM %s" % (count, items)
    if where:
        sql += " WHERE " + " AND ".join(where)
    return re.sub(r"\[\[(.*?)\|\|(.*?)\]\]", r"\2" if oracle else r"\1", sql)


def by_sqlite(db, sql):
    # column names of a derived table: SQLite wants them in a WITH
    if ") AS u(" in sql:
        head, rest = sql.split(" FROM ", 1)
        body, names = rest.rsplit(" AS u(", 1)
        names, where = names.split(")", 1)
        sql = "WITH u(%s) AS %s %s FROM u%s" % (names, body, head, where)
    return db.execute(sql).fetchone()[0]


def by_program(path, sql):
    run = subprocess.run([BUILD + "/dpcount", "count", "--format", "json", "--db", path, sql],
                         capture_output=True, text=True)
    try:
        out = json.loads(run.stdout)
    except ValueError:
        sys.exit("no JSON for %s\n%s" % (sql, run.stderr))
    return out.get("count"), out.get("error")


def main(seeds, n_queries, least):
    compared, refused, reasons = 0, 0, {}
    for seed in seeds:
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as tmp:
            path = tmp + "/t.db"
            db = sqlite3.connect(path)
            fill(rng, db)
            for _ in range(n_queries):
                q = Gen(rng).query()
                sql = text(q, False)
                want = by_sqlite(db, text(q, True))
                got, error = by_program(path, sql)
                if error:
                    refused += 1
                    reasons[error["message"]] = reasons.get(error["message"], 0) + 1
                    if error["code"] not in ("unsupported", "too-large", "type"):
                        sys.exit("seed %d: %s\n%s" % (seed, error, sql))
                elif got != want:
                    for line in db.iterdump():
                        print(line)
                    sys.exit("seed %d: SQLite %s, dpcount %s\n%s" % (seed, want, got, sql))
                else:
                    compared += 1
    print("%d answers equal, %d refused" % (compared, refused))
    for message in sorted(reasons, key=reasons.get):
        print("  %4d %s" % (reasons[message], message))
    if compared < least:
        sys.exit("too few answers were compared")


if __name__ == "__main__":
    first = int(os.environ.get("DPC_SEED", "1"))
    rounds = int(os.environ.get("DPC_ROUNDS", "12"))
    main(range(first, first + rounds), 20, 8 * rounds)
