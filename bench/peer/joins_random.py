"""Random acyclic joins with filters, and the database that they are asked of.

Eight tables of 10^5 to 10^6 rows (times a scale): an id, up to two foreign keys
whose values are skewed, a skewed category and a number. A join is a tree of two
to eight atoms, tables may repeat; most edges follow a foreign key up or down,
some join two foreign keys with one target. Everything follows from the seed.
"""
import os
import random

TABLES = 8
# By table: rows in thousands, and what its foreign keys refer to.
SHAPE = [(100, []), (150, [0]), (200, [0, 1]), (300, [1]), (400, [2, 3]), (500, [0, 3]),
         (700, [4, 2]), (1000, [5, 6])]
CATEGORIES, NUMBERS = 12, 1000


def columns(t):
    return ["id"] + [f"f{i}" for i in range(len(SHAPE[t][1]))] + ["c", "v"]


def rows_of(t, scale):
    return max(1, int(SHAPE[t][0] * 1000 * scale))


def write_data(folder, scale, seed):
    """One CSV file a table and schema.sql; the paths by table."""
    r = random.Random(seed)
    files, ddl = {}, []
    for t, (_, targets) in enumerate(SHAPE):
        path = os.path.join(folder, f"t{t}.csv")
        ends = [rows_of(k, scale) for k in targets]
        with open(path, "w") as out:
            out.write(",".join(columns(t)) + "\n")
            for i in range(rows_of(t, scale)):
                keys = [int(n * r.random() ** 2) for n in ends]
                rest = [int(CATEGORIES * r.random() ** 2), int(NUMBERS * r.random())]
                out.write(",".join(map(str, [i] + keys + rest)) + "\n")
        files[f"t{t}"] = path
        refs = [f"f{i} integer NOT NULL REFERENCES t{k}(id)" for i, k in enumerate(targets)]
        ddl.append(f"CREATE TABLE t{t} (" + ", ".join(
            ["id integer PRIMARY KEY"] + refs +
            ["c integer NOT NULL", "v integer NOT NULL"]) + ");\n")
    with open(os.path.join(folder, "schema.sql"), "w") as out:
        out.write("".join(ddl))
    return files


def children(t):
    """(table, foreign key) pairs that refer to t."""
    return [(k, i) for k in range(TABLES) for i, to in enumerate(SHAPE[k][1]) if to == t]


def steps(atoms):
    """All edges by which one more atom may join: (conditions, table)."""
    out, new = [], f"a{len(atoms)}"
    for i, t in enumerate(atoms):
        for k, f in children(t):
            out.append((f"{new}.f{f} = a{i}.id", k))
        for f, to in enumerate(SHAPE[t][1]):
            out.append((f"a{i}.f{f} = {new}.id", to))
            for k, g in children(to):
                out.append((f"a{i}.f{f} = {new}.f{g}", k))
    return out


def is_key(condition):
    return condition.endswith(".id")


def a_filter(r, i):
    kind = r.randrange(4)
    if kind == 0:
        return f"a{i}.c = {r.randrange(CATEGORIES)}"
    if kind == 1:
        return f"a{i}.c <> {r.randrange(CATEGORIES)}"
    if kind == 2:
        return f"a{i}.v < {r.randrange(50, NUMBERS)}"
    return f"a{i}.v >= {r.randrange(NUMBERS - 50)}"


def query(r):
    """One join as SQL."""
    n = 2 + r.randrange(7)
    atoms, where = [r.randrange(TABLES)], []
    while len(atoms) < n:
        found = steps(atoms)
        keys = [s for s in found if is_key(s[0])]
        condition, table = r.choice(keys if r.random() < 0.85 else found)
        where.append(condition)
        atoms.append(table)
    where += [a_filter(r, i) for i in range(n) if r.random() < 0.6]
    names = ", ".join(f"t{t} AS a{i}" for i, t in enumerate(atoms))
    return f"SELECT count(*) FROM {names} WHERE {' AND '.join(where)}"


def queries(n, seed):
    r = random.Random(seed)
    return [query(r) for _ in range(n)]
