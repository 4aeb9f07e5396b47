#!/usr/bin/env python3
"""A witness is a database that the declared schema admits: foreign keys, CHECKs, lists and lengths included. Random schemas and
queries; SQLite, which is asked to enforce all of it, takes both databases of each witness and counts them. What is said to grow without
limit is asked for once more, larger. Known cases say what is exact and what is not."""
import os
import random
import re
import sqlite3
import tempfile

from outside import ask, check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-admitted-")
os.chdir(folder.name)
FIRST, ROUNDS = int(os.environ.get("DPC_SEED", "1")), int(os.environ.get("DPC_ROUNDS", "25"))


def with_lengths(ddl):
    """SQLite keeps any text in char(n); here it shall not."""
    return re.sub(r"(\w+) ((?:var)?char)\((\d+)\)", r"\1 text CHECK (length(\1) <= \3)", ddl)


def load(ddl, w, changed):
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA foreign_keys = ON")
    db.executescript(with_lengths(ddl))
    db.execute("BEGIN")
    db.execute("PRAGMA defer_foreign_keys = ON")
    rows = [(t, r) for t, many in w["database"].items() for r in many]
    change = w["change"]
    if "replaced" in change or changed:
        rows.append((change["relation"], change["insert"] if changed else change["replaced"]))
    for table, row in rows:
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
    db.execute("COMMIT")
    return db


def admitted(what, ddl, query, w):
    """Loads and counts both."""
    counts = []
    for changed in (0, 1):
        try:
            counts.append(load(ddl, w, changed).execute(query).fetchone()[0])
        except sqlite3.Error as e:
            check("the schema admits the witness", False, f"{what} {ddl} {query} {e} {w}")
            return
    check("SQLite counts the same", counts == [w["count_before"], w["count_after"]], f"{what} {query} {counts} {w}")


def analyze(ddl, query, *more):
    write("s.sql", ddl)
    status, a = ask("analyze", "--format", "json", "--schema", "s.sql", *more, query)
    check("analysed", status == 0, f"{ddl} {query} {a}")
    return a if status == 0 else None


def one(what, ddl, query):
    a = analyze(ddl, query)
    if not a:
        return None
    g, w = a["global_sensitivity"], a["witness"]
    check("nothing is claimed without a witness", w or g["lower"] == 0, f"{what} {ddl} {query} {g}")
    if w:
        admitted(what, ddl, query, w)
    if w and w.get("family"):
        n = 30
        a = analyze(ddl, query, "--witness-size", str(n))
        w = a and a["witness"]
        check("it grows", (not w and "NOT EXISTS" in query) or w and w["count_after"] - w["count_before"] >= n, f"{what} {ddl} {query} {w}")
        if w:
            admitted(what, ddl, query, w)
    return g


class Gen:
    """Tables t0 to t3, each referring to earlier ones or itself."""
    CHECKS = ("{c} IN ('a', 'b', 'c')", "length({c}) = 2", "{c} LIKE 'x%'", "{c} <> 'q'")
    NUMBERS = ("{c} > 0", "{c} BETWEEN 10 AND 14", "{c} IN (1, 2)", "{c} >= 5 OR {c} IS NULL", "{c} <> 3")

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.tables = []

    def column(self, name):
        kind, null = self.r.choice(("integer", "text", "char(1)", "varchar(3)", "varchar(9)")), self.r.choice((" NOT NULL", ""))
        check_ = ""
        if self.r.random() < 0.5:
            check_ = f" CHECK ({self.r.choice(self.NUMBERS if kind == 'integer' else self.CHECKS[:2] if kind == 'char(1)' else self.CHECKS).format(c=name)})"
            check_ = check_.replace("= 2", "= 1") if kind == "char(1)" else check_
        return f"{name} {kind}{null}{check_}"

    def table(self, i):
        key = self.r.choice(("integer", "varchar(2)"))
        cols = [f"id {key} PRIMARY KEY NOT NULL"] + [self.column(f"c{k}") for k in range(self.r.randint(0, 2))]
        if self.r.random() < 0.3:
            cols += ["lo integer NOT NULL", "hi integer NOT NULL", "CHECK (lo <= hi)"]
        refs = []
        for k in range(self.r.randint(0, 2)):
            to = self.r.randint(0, i)
            own = key if to == i else self.tables[to][0]
            null = "" if to == i else self.r.choice((" NOT NULL", ""))
            cols.insert(1, f"r{k} {own}{null} REFERENCES t{to}(id)" + self.r.choice(("", "", " UNIQUE")))
            refs.append((f"r{k}", to))
        self.tables.append((key, refs))
        cols.sort(key=lambda c: c.startswith("CHECK"))
        return f"CREATE TABLE t{i}({', '.join(cols)});"

    def ddl(self):
        return "\n".join(self.table(i) for i in range(self.r.randint(1, 4)))

    def query(self):
        """Joins along foreign keys, and a self-join or a product now and then."""
        i = self.r.randrange(len(self.tables))
        atoms, where = [(i, "a0")], []
        for k in range(self.r.randint(0, 2)):
            t, name = self.r.choice(atoms)
            refs = self.tables[t][1]
            if refs and self.r.random() < 0.7:
                col, to = self.r.choice(refs)
                atoms.append((to, f"a{k + 1}"))
                where.append(f"{name}.{col} = a{k + 1}.id")
            else:
                col = self.r.choice([c for c, _ in refs] + ["id"])
                atoms.append((t, f"a{k + 1}"))
                where.append(f"{name}.{col} {self.r.choice(('=', '<>'))} a{k + 1}.{col}")
        t, name = self.r.choice(atoms)
        col = self.r.choice([c for c, _ in self.tables[t][1]] + ["id"])
        head = self.r.choice(("COUNT(*)", f"COUNT(DISTINCT {name}.{col})", f"COUNT({name}.{col})"))
        if self.r.random() < 0.25:
            where.append(f"NOT EXISTS (SELECT 1 FROM t{i} n WHERE n.id > {name}.{col})" if self.r.random() < 0.5 and
                         self.tables[i][0] == "integer" and self.tables[t][0] == "integer" and col == "id" else f"{name}.{col} IS NOT NULL")
        text = f"SELECT {head} FROM " + ", ".join(f"t{t} {n}" for t, n in atoms)
        return text + (" WHERE " + " AND ".join(where) if where else "")


found = n = 0
for seed in range(FIRST, FIRST + ROUNDS):
    gen = Gen(seed)
    schema = gen.ddl()
    for _ in range(3):
        bound = one(seed, schema, gen.query())
        n += 1
        found += bool(bound and bound["lower"])
print(f"{n} questions, {found} with a witness")
check("most have one", found * 10 > n * 7, f"{found} of {n}")

PAT = "CREATE TABLE pat(id integer PRIMARY KEY, sex char(1) NOT NULL CHECK (sex IN ('F', 'M')), plz varchar(3) NOT NULL, m integer);\n"
VISIT = "CREATE TABLE visit(id integer PRIMARY KEY, pat integer NOT NULL REFERENCES pat, ward char(2), rank integer NOT NULL CHECK (rank BETWEEN 1 AND 3));\n"
WARD = "CREATE TABLE ward(id char(2) NOT NULL);\n"
SMALL = """CREATE TABLE k(id integer PRIMARY KEY CHECK (id IN (1, 2, 3, 4)));
CREATE TABLE a(x integer, k integer NOT NULL REFERENCES k); CREATE TABLE s(x integer);"""
SIZED = """CREATE DOMAIN pair AS varchar(2); CREATE DOMAIN few AS numeric(2);
CREATE TABLE a(n numeric(1) NOT NULL, x numeric(3, 2) NOT NULL, f numeric(2, 2) NOT NULL, s smallint NOT NULL, m few NOT NULL, d pair NOT NULL,
 w numeric(30, 10) NOT NULL, k integer); CREATE TABLE b(k integer);"""
BOTH = PAT + VISIT
# schema, query, lower, exact
KNOWN = [
    # what refers to a patient cannot be there before the patient; a visit can come
    (BOTH, "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id", 1, False),
    (BOTH, "SELECT COUNT(*) FROM visit v JOIN visit w ON v.pat = w.pat", "inf", True),
    # but a patient can take the place of another
    (BOTH, "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id WHERE p.sex = 'F'", "inf", True),
    (BOTH, "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id WHERE p.plz LIKE '8%' AND v.rank = 1", 16, False),
    # three ranks are all that there are
    (BOTH + WARD, "SELECT COUNT(DISTINCT v.rank) FROM visit v JOIN ward w ON v.ward = w.id", 3, False),
    (BOTH.replace(" CHECK (rank BETWEEN 1 AND 3)", "") + WARD, "SELECT COUNT(DISTINCT v.rank) FROM visit v JOIN ward w ON v.ward = w.id", "inf", True),
    # a list, and a table that refers to one with few rows
    (BOTH, "SELECT COUNT(DISTINCT p.sex) FROM visit v, pat p WHERE p.m = v.rank", 2, False),
    (SMALL, "SELECT COUNT(DISTINCT a.k) FROM a JOIN s ON a.x = s.x", 4, False),
    (SMALL.replace(" CHECK (id IN (1, 2, 3, 4))", ""), "SELECT COUNT(DISTINCT a.k) FROM a JOIN s ON a.x = s.x", "inf", True),
    # the table that is referred to comes later in the file
    ("CREATE TABLE a(x integer, k integer NOT NULL REFERENCES k(id));\nCREATE TABLE k(n integer NOT NULL CHECK (n > 5), id integer PRIMARY KEY);",
     "SELECT COUNT(*) FROM a", 1, True),
    # no text fits: nothing is claimed of a question that asks for one
    (BOTH, "SELECT COUNT(*) FROM pat WHERE plz = 'abcd'", 0, False),
    (BOTH, "SELECT COUNT(*) FROM pat WHERE sex = 'F'", 1, True),
    (BOTH, "SELECT COUNT(*) FROM visit WHERE rank = 9", 0, False),
    # conditions as they can be written
    ("CREATE TABLE a(x integer NOT NULL, CONSTRAINT \"x (y\" CHECK /* ) */ (x > 5 -- )\n AND (x < 90)));", "SELECT COUNT(*) FROM a WHERE x = 5", 0, False),
    ("CREATE TABLE a(x integer NOT NULL, CONSTRAINT \"x (y\" CHECK /* ) */ (x > 5 -- )\n AND (x < 90)));", "SELECT COUNT(*) FROM a WHERE x = 6", 1, True),
    ("CREATE TABLE a(x text NOT NULL CONSTRAINT n CHECK (x <> ')' AND x <> 'it''s)'));", "SELECT COUNT(*) FROM a WHERE x = ')'", 0, False),
    ("CREATE TABLE a(x text NOT NULL CONSTRAINT n CHECK (x <> ')' AND x <> 'it''s)'));", "SELECT COUNT(*) FROM a WHERE x = '('", 1, True),
    ("CREATE TABLE a(x date NOT NULL CHECK (x > date'2020-01-01'));", "SELECT COUNT(*) FROM a WHERE x = date '2020-02-01'", 1, True),
    ("CREATE TABLE a(x date NOT NULL CHECK (x > date'2020-01-01'));", "SELECT COUNT(*) FROM a WHERE x = date '2020-01-01'", 0, False),
    ("CREATE TABLE a(x text NOT NULL CHECK ((x ~~ 'ab%'::text) AND x !~~ '%c'));", "SELECT COUNT(*) FROM a WHERE x = 'abd'", 1, True),
    ("CREATE TABLE a(x text NOT NULL CHECK ((x ~~ 'ab%'::text) AND x !~~ '%c'));", "SELECT COUNT(*) FROM a WHERE x = 'abc'", 0, False),
    # numbers have so many digits, and what a domain says of its texts holds
    (SIZED, "SELECT COUNT(*) FROM a WHERE n > 9", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE n = 9", 1, True),
    (SIZED, "SELECT COUNT(*) FROM a WHERE x = 1.005", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE x = -9.990", 1, True),
    (SIZED, "SELECT COUNT(*) FROM a WHERE x = 10", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE f > 0 AND f < 1", 1, True),
    (SIZED, "SELECT COUNT(*) FROM a WHERE f = 1", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE s = 40000", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE m = 100", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE d = 'abc'", 0, False),
    (SIZED, "SELECT COUNT(*) FROM a WHERE d = 'ab'", 1, True),
    (SIZED, "SELECT COUNT(DISTINCT a.w) FROM a, b WHERE a.k = b.k", "inf", True),
    # a CHECK that is not read
    ("CREATE TABLE a(x text CHECK (x <> E'\\n'));", "SELECT COUNT(*) FROM a", 0, False),
    ("CREATE TABLE a(x integer CHECK (x * 3.5 ^ 2 < 7));", "SELECT COUNT(*) FROM a", 0, False),
    ("CREATE DOMAIN pos AS integer CHECK (VALUE > 100);\nCREATE TABLE a(x pos NOT NULL);", "SELECT COUNT(*) FROM a WHERE x < 100", 0, False),
    ("CREATE DOMAIN pos AS integer CHECK (VALUE > 100);\nCREATE TABLE a(x pos NOT NULL);", "SELECT COUNT(*) FROM a WHERE x < 200", 1, True),
]
for ddl, query, lower, exact in KNOWN:
    a = analyze(ddl, query)
    if a:
        g = a["global_sensitivity"]
        check("known", (g["lower"], g["exact"]) == (lower, exact), f"{ddl} {query} {g}")

# numbers of few digits do not grow
for column in "nxfsmd":
    a = analyze(SIZED, f"SELECT COUNT(DISTINCT a.{column}) FROM a, b WHERE a.k = b.k")
    if a:
        rows = a["witness"]["database"]["a"]
        check("few numbers", a["global_sensitivity"]["lower"] != "inf" and all(abs(float(row[0])) < 10 for row in rows), f"{column} {a}")

# the same of a file of SQLite, and of a schema in its own words
db = sqlite3.connect("d.db")
OWN = "CREATE TABLE a(k INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT NOT NULL CHECK (x IN ('l', 'm')) , y INTEGER NOT NULL CHECK (y > 7), b INTEGER NOT NULL REFERENCES b);"
OWN = "CREATE TABLE b(n TEXT COLLATE NOCASE, k INTEGER PRIMARY KEY, CHECK (k % 2 = 1));" + OWN
db.executescript(OWN)
db.close()
write("own.sql", OWN)
for source in (["--db", "d.db"], ["--schema", "own.sql"]):
    for query in ("SELECT COUNT(*) FROM a", "SELECT COUNT(*) FROM a, b WHERE a.b = b.k"):
        status, a = ask("analyze", "--format", "json", *source, query)
        check("of SQLite", status == 0 and a["witness"], f"{source} {a}")
        if status == 0 and a["witness"]:
            admitted(source, OWN, query, a["witness"])
end()
