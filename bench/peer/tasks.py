"""What is asked: rules for dpcount, SQL for the databases, words for GraphBLAS.

The peers see the graph without loops and repeats, its vertices numbered by
rising degree, so that SQL may use the order that suits it (`src < dst`); for
them each undirected pattern is counted once and multiplied. For maxima the SQL
aggregates as early as it can, with the corrections that distinctness needs.
"""


def rule(body):
    names = sorted({c for c in body if c in "abcde"})
    differ = [f"{x} != {y}" for i, x in enumerate(names) for y in names[i + 1:]]
    return f"Q({','.join(names)}) :- {body}, {', '.join(differ)}."


RULES = [rule("E(a,b), E(b,c), E(a,c)"),
         rule("E(a,b), E(b,c), E(c,d), E(d,a)"),
         rule("E(a,b), E(a,c), E(b,c), E(a,d), E(b,d)"),
         rule("E(a,b), E(b,c), E(c,d), E(d,e)")]

# Triangles once each, a < b < c.
T = """T AS MATERIALIZED (SELECT x.src AS a, x.dst AS b, y.dst AS c
  FROM E x, E y, E z WHERE x.dst = y.src AND z.src = x.src AND z.dst = y.dst
  AND x.src < x.dst AND y.src < y.dst AND z.src < z.dst)"""
# Triangles at each edge, both directions.
TE = T + """, TE AS MATERIALIZED (SELECT src, dst, count(*) AS t FROM (
  SELECT a AS src, b AS dst FROM T UNION ALL SELECT b, a FROM T
  UNION ALL SELECT b, c FROM T UNION ALL SELECT c, b FROM T
  UNION ALL SELECT a, c FROM T UNION ALL SELECT c, a FROM T) u GROUP BY src, dst)"""
# Common neighbours of each pair.
W = """W AS MATERIALIZED (SELECT x.src AS a, y.dst AS c, count(*) AS w
  FROM E x, E y WHERE x.dst = y.src AND x.src <> y.dst GROUP BY x.src, y.dst)"""
D = "D AS MATERIALIZED (SELECT src AS v, count(*) AS d FROM E GROUP BY src)"

TRIANGLE = """SELECT 6 * count(*) FROM E x, E y, E z
  WHERE x.dst = y.src AND z.src = x.src AND z.dst = y.dst
  AND x.src < x.dst AND y.src < y.dst AND z.src < z.dst"""
RECTANGLE = """SELECT CAST(4 * sum(w * (w - 1)) AS bigint) FROM (SELECT count(*) AS w
  FROM E x, E y WHERE x.dst = y.src AND x.dst < x.src AND y.dst < x.src
  GROUP BY x.src, y.dst) g"""
TWO_TRIANGLES = f"WITH {TE} SELECT CAST(sum(t * (t - 1)) AS bigint) FROM TE"
COMMON = """SELECT count(*) FROM E x, E y WHERE x.dst = y.src AND x.src < y.dst
  GROUP BY x.src, y.dst ORDER BY 1 DESC LIMIT 1"""
PATHS = f"""WITH {W}, {D}, P AS (SELECT W.a AS a, y.dst AS d, sum(W.w) AS p
  FROM W, E y WHERE W.c = y.src AND W.a < y.dst GROUP BY W.a, y.dst)
  SELECT CAST(max(p - CASE WHEN e.src IS NULL THEN 0 ELSE D.d - 1 END) AS bigint)
  FROM P JOIN D ON D.v = P.d LEFT JOIN E e ON e.src = P.a AND e.dst = P.d"""
EDGE = f"WITH {TE} SELECT max(t) FROM TE"
TRIPLE = """SELECT count(*) FROM E x, E y, E z WHERE x.src = y.src AND y.src = z.src
  AND x.dst < y.dst AND y.dst < z.dst GROUP BY x.dst, y.dst, z.dst
  ORDER BY 1 DESC LIMIT 1"""
# Common neighbours of a and b other than some neighbour d of a.
SPARE = f"""WITH {W}, {D} SELECT max(CASE
  WHEN D.d - (CASE WHEN e.src IS NULL THEN 0 ELSE 1 END) > w THEN w ELSE w - 1 END)
  FROM W JOIN D ON D.v = W.a LEFT JOIN E e ON e.src = W.a AND e.dst = W.c"""
SQUARE = f"WITH {W} SELECT max(w * (w - 1)) FROM W"
# For (a, c): triangles a-b-d at each common neighbour b, d other than c.
FAN = f"""WITH {TE}, {W}, S AS (SELECT x.src AS a, y.dst AS c, sum(x.t) AS s
  FROM TE x, E y WHERE x.dst = y.src AND x.src <> y.dst GROUP BY x.src, y.dst)
  SELECT CAST(max(s - CASE WHEN e.src IS NULL THEN 0 ELSE w END) AS bigint)
  FROM S JOIN W ON W.a = S.a AND W.c = S.c
  LEFT JOIN E e ON e.src = S.a AND e.dst = S.c"""
OPPOSITE = """SELECT count(*) FROM E x, E y WHERE x.src <> y.src AND x.src <> y.dst
  AND x.dst <> y.src AND x.dst <> y.dst GROUP BY x.src, x.dst, y.src, y.dst
  ORDER BY 1 DESC LIMIT 1"""
APART = """SELECT count(*) FROM E x, E y, E z WHERE y.dst = z.src AND y.src <> z.dst
  AND x.src <> y.src AND x.src <> y.dst AND x.src <> z.dst AND x.dst <> y.src
  AND x.dst <> y.dst AND x.dst <> z.dst GROUP BY x.dst, y.src ORDER BY 1 DESC LIMIT 1"""


def task(name, kind, ours, sql=None, blas=None):
    ask = {"dpcount": ours}
    if sql:
        ask["sql"] = sql
    if blas:
        ask["GraphBLAS"] = blas
    return {"name": name, "kind": kind, "ask": ask}


def more(name, kind, ours, sql):
    """Asked of two databases only, to keep the run short."""
    ask = {"dpcount": ours, "PostgreSQL": sql, "DuckDB": sql}
    return {"name": name, "kind": kind, "ask": ask}


COUNTS = [task("count: triangle", "count", "count 0", TRIANGLE, "triangle"),
          task("count: rectangle", "count", "count 1", RECTANGLE, "rectangle"),
          task("count: two triangles", "count", "count 2", TWO_TRIANGLES, "two_triangles")]
MAXIMA = [task("max: common neighbours", "max", "max 0 3", COMMON, "max_common"),
          task("max: simple 3-paths", "max", "max 1 7", PATHS, "max_paths")]
GRAPH = COUNTS + MAXIMA + [
    more("max: triangles at an edge", "max", "max 2 7", EDGE),
    more("max: common neighbours of three", "max", "max 2 11", TRIPLE),
    more("max: wedge and a spare edge", "many", "max 2 14", SPARE),
    more("max: pairs of common neighbours", "many", "max 2 30", SQUARE),
    more("max: triangle on a wedge", "max", "max 2 29", FAN),
    more("max: two edges apart", "apart", "max 1 5", OPPOSITE),
    more("max: edge and wedge apart", "apart", "max 3 13", APART),
    task("all of triangle", "all", "all 0"),
    task("all of rectangle", "all", "all 1"),
    task("all of two triangles", "all", "all 2")]
LARGE_GRAPH = COUNTS + MAXIMA
# What a database has to ask for the whole residual sensitivity: the count and
# each residual that is not a constant, equal ones once.
WHOLE = {"triangle": ["count: triangle", "max: common neighbours"],
         "rectangle": ["count: rectangle", "max: common neighbours", "max: simple 3-paths"],
         "two triangles": ["count: two triangles", "max: common neighbours",
                           "max: triangles at an edge", "max: common neighbours of three",
                           "max: wedge and a spare edge", "max: pairs of common neighbours",
                           "max: triangle on a wedge"]}

CHAIN = ("Q(n,c,o,l,s) :- nation(n,_), customer(c,n), orders(o,c), lineitem(o,l,s,_), "
         "supplier(s,_).")


def grouped(keys, tables, where):
    return (f"SELECT count(*) FROM {tables} WHERE {where} GROUP BY {keys} "
            "ORDER BY 1 DESC LIMIT 1")


CO, OL, LS = "c_custkey = o_custkey", "o_orderkey = l_orderkey", "l_suppkey = s_suppkey"
NC = "n_nationkey = c_nationkey"
# Kept atoms as a mask: nation 1, customer 2, orders 4, lineitem 8, supplier 16.
TPCH = [
    task("one column: results a nation", "one", "max 0 30", grouped(
        "c_nationkey", "customer, orders, lineitem, supplier", f"{CO} AND {OL} AND {LS}")),
    task("one column: results a customer", "one", "max 0 29", grouped(
        "o_custkey", "orders, lineitem, supplier", f"{OL} AND {LS}")),
    task("one column: results a supplier", "one", "max 0 15", grouped(
        "l_suppkey", "nation, customer, orders, lineitem", f"{NC} AND {CO} AND {OL}")),
    task("two columns: nation, supplier", "two", "max 0 14", grouped(
        "c_nationkey, l_suppkey", "customer, orders, lineitem", f"{CO} AND {OL}")),
    task("two columns: customer, supplier", "two", "max 0 12", grouped(
        "o_custkey, l_suppkey", "orders, lineitem", OL)),
]
