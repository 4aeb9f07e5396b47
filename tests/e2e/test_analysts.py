#!/usr/bin/env python3
"""Questions as analysts ask them, in the manner of PostgreSQL, SQLite and
BigQuery, over orders and suppliers (a small TPC-H) and over the hospital. The
count must be SQLite's; what SQLite cannot read stands beside what it can. What
is refused must say so with a hint."""
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ["DPC_BUILD"], "dpcount")
HOSPITAL = os.path.join(os.environ["DPC_BUILD"], "examples", "hospital.db")
DDL = """
CREATE TABLE region (r_regionkey INTEGER PRIMARY KEY, r_name TEXT NOT NULL);
CREATE TABLE nation (n_nationkey INTEGER PRIMARY KEY, n_name TEXT NOT NULL,
    n_regionkey INTEGER NOT NULL REFERENCES region(r_regionkey));
CREATE TABLE supplier (s_suppkey INTEGER PRIMARY KEY, s_name TEXT NOT NULL, s_nationkey INTEGER NOT NULL
    REFERENCES nation(n_nationkey), s_acctbal INTEGER NOT NULL, s_comment TEXT);
CREATE TABLE customer (c_custkey INTEGER PRIMARY KEY, c_name TEXT NOT NULL, c_nationkey INTEGER NOT NULL
    REFERENCES nation(n_nationkey), c_mktsegment TEXT, c_acctbal INTEGER);
CREATE TABLE part (p_partkey INTEGER PRIMARY KEY, p_name TEXT NOT NULL, p_brand TEXT NOT NULL,
    p_size INTEGER NOT NULL, p_type TEXT NOT NULL);
CREATE TABLE orders (o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER NOT NULL REFERENCES customer(c_custkey),
    o_orderstatus TEXT NOT NULL, o_orderdate TEXT NOT NULL, o_priority TEXT);
CREATE TABLE lineitem (l_orderkey INTEGER NOT NULL REFERENCES orders(o_orderkey), l_linenumber INTEGER NOT NULL,
    l_partkey INTEGER NOT NULL, l_suppkey INTEGER NOT NULL, l_quantity INTEGER NOT NULL,
    l_returnflag TEXT, l_shipdate TEXT NOT NULL, l_commitdate TEXT NOT NULL, l_receiptdate TEXT,
    PRIMARY KEY (l_orderkey, l_linenumber));
"""
TPCH = """
SELECT COUNT(*) FROM lineitem
SELECT COUNT(*) AS n FROM lineitem WHERE l_shipdate <= '1998-09-02'
SELECT count(1) FROM orders
SELECT COUNT(DISTINCT o_custkey) FROM orders WHERE o_orderdate >= '1995-01-01' AND o_orderdate < '1996-01-01'
SELECT COUNT(*) FROM customer c JOIN orders o ON c.c_custkey = o.o_custkey WHERE c.c_mktsegment = 'BUILDING'
SELECT COUNT(*) FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15'
SELECT COUNT(*) FROM orders WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01' AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
SELECT COUNT(*) FROM customer, orders, lineitem, supplier, nation, region WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
SELECT COUNT(*) FROM lineitem WHERE l_shipdate BETWEEN '1994-01-01' AND '1994-12-31' AND l_quantity < 24
SELECT COUNT(*) FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey AND n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY'
SELECT COUNT(*) FROM part, lineitem WHERE p_partkey = l_partkey AND p_name LIKE '%green%'
SELECT COUNT(DISTINCT c_custkey) FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey WHERE l_returnflag = 'R'
SELECT COUNT(DISTINCT l_suppkey) FROM lineitem JOIN part ON p_partkey = l_partkey WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
SELECT COUNT(*) FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#12' AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5
SELECT COUNT(*) FROM supplier WHERE s_suppkey IN (SELECT l_suppkey FROM lineitem WHERE l_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%'))
SELECT COUNT(*) FROM supplier s JOIN lineitem l1 ON s.s_suppkey = l1.l_suppkey WHERE l1.l_receiptdate > l1.l_commitdate AND EXISTS (SELECT 1 FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
SELECT COUNT(*) FROM customer WHERE substr(c_name, 1, 2) IN ('An', 'Be', 'Ca') AND c_acctbal > 0
SELECT COUNT(*) FROM (SELECT DISTINCT o_custkey, o_orderstatus FROM orders) AS x
SELECT COUNT(*) FROM (SELECT o.o_orderkey, c.c_name FROM orders o INNER JOIN customer c ON c.c_custkey = o.o_custkey) t WHERE t.c_name > 'M'
WITH big AS (SELECT * FROM lineitem WHERE l_quantity > 40) SELECT COUNT(*) FROM big JOIN orders ON big.l_orderkey = orders.o_orderkey
WITH late AS (SELECT l_orderkey AS k FROM lineitem WHERE l_receiptdate > l_commitdate), open AS (SELECT o_orderkey AS k FROM orders WHERE o_orderstatus = 'O') SELECT COUNT(*) FROM late JOIN open USING (k)
SELECT COUNT(*) FROM nation NATURAL JOIN region
SELECT COUNT(c_acctbal) FROM customer
SELECT COUNT(*) FROM customer WHERE c_acctbal IS NULL OR c_acctbal < 0
SELECT COUNT(*) FROM customer WHERE COALESCE(c_mktsegment, 'none') <> 'BUILDING'
SELECT COUNT(*) FROM customer WHERE c_mktsegment IS NOT NULL AND NOT c_mktsegment IN ('BUILDING', 'MACHINERY')
SELECT COUNT(*) FROM orders o1 JOIN orders o2 ON o1.o_custkey = o2.o_custkey AND o1.o_orderkey < o2.o_orderkey
SELECT COUNT(DISTINCT o1.o_custkey) FROM orders o1, orders o2 WHERE o1.o_custkey = o2.o_custkey AND o1.o_orderdate < o2.o_orderdate
SELECT COUNT(*) FROM orders WHERE CASE WHEN o_priority = '1-URGENT' THEN 1 WHEN o_priority = '2-HIGH' THEN 1 ELSE 0 END = 1
SELECT COUNT(*) FILTER (WHERE o_orderstatus = 'F') FROM orders
SELECT COUNT(CASE WHEN o_orderstatus = 'F' THEN 1 END) FROM orders
SELECT COUNT(DISTINCT CASE WHEN o_orderstatus = 'F' THEN o_custkey END) FROM orders
SELECT COUNT(*) FROM lineitem WHERE l_quantity % 2 = 0 AND l_quantity / 10 = 3
SELECT COUNT(*) FROM lineitem WHERE l_quantity * 2 + 1 > 60
SELECT COUNT(*) FROM lineitem WHERE ABS(l_quantity - 25) <= 5
SELECT COUNT(*) FROM part WHERE LOWER(p_name) LIKE '%blue%' AND LENGTH(p_brand) = 8
SELECT COUNT(*) FROM part WHERE UPPER(p_type) = 'SMALL BRASS' OR p_size > 45
SELECT COUNT(*) FROM part WHERE p_brand || p_type = 'Brand#12SMALL BRASS'
SELECT COUNT(*) FROM orders AS o WHERE o.o_custkey IN (SELECT c.c_custkey FROM customer AS c WHERE c.c_nationkey = 3)
SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM customer c JOIN nation n ON c.c_nationkey = n.n_nationkey WHERE c.c_custkey = o.o_custkey AND n.n_name = 'FRANCE')
SELECT COUNT(*) FROM customer c CROSS JOIN region r WHERE c.c_acctbal > 900 AND r.r_name = 'ASIA'
SELECT COUNT(*) FROM supplier s, customer c WHERE s.s_nationkey = c.c_nationkey AND s.s_acctbal > c.c_acctbal
SELECT COUNT(*) FROM lineitem l JOIN orders o ON (l.l_orderkey = o.o_orderkey) WHERE (o.o_orderdate < l.l_shipdate) AND (l.l_returnflag = 'R' OR l.l_returnflag IS NULL)
SELECT COUNT(*) FROM "orders" WHERE "o_orderstatus" = 'O'
SELECT COUNT(*) FROM ORDERS WHERE O_ORDERSTATUS = 'O'
SELECT COUNT(*) FROM orders WHERE substr(o_orderdate, 1, 4) = '1995'
SELECT COUNT(*) FROM orders WHERE o_orderdate LIKE '1995-0_-%'
SELECT COUNT(*) FROM orders WHERE o_priority = '1-URGENT' AND 1 = 1
SELECT COUNT(*) FROM lineitem WHERE (l_orderkey, l_linenumber) = (1, 1)
SELECT COUNT(*) FROM lineitem WHERE NULLIF(l_returnflag, 'N') IS NULL
SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_partkey = b.l_partkey AND a.l_suppkey = b.l_suppkey AND a.l_orderkey <> b.l_orderkey
SELECT COUNT(*) FROM (SELECT * FROM orders WHERE o_orderstatus = 'F') f JOIN (SELECT * FROM customer WHERE c_acctbal > 500) c ON f.o_custkey = c.c_custkey
SELECT COUNT(DISTINCT p_brand) FROM part
SELECT COUNT(DISTINCT n_name) FROM nation JOIN supplier ON s_nationkey = n_nationkey
SELECT COUNT(*) FROM lineitem WHERE l_shipdate > l_commitdate AND l_commitdate > l_receiptdate
""".strip().split("\n")
HOSPITAL_QUERIES = """
SELECT COUNT(*) FROM pat WHERE sex = 'F'
SELECT COUNT(*) FROM pat p JOIN hos h ON h.id = p.hos WHERE h.loc IN ('Ohio', 'Iowa')
SELECT COUNT(DISTINCT p.id) FROM pat p JOIN patdoc pd ON pd.pat = p.id JOIN doc d ON d.id = pd.doc WHERE d.specialty = 'O'
SELECT COUNT(*) FROM pat p WHERE EXISTS (SELECT 1 FROM patdoc pd JOIN doc d ON d.id = pd.doc WHERE pd.pat = p.id AND d.hos <> p.hos)
SELECT COUNT(*) FROM pat WHERE id IN (SELECT pat FROM patdoc WHERE doc IN (SELECT id FROM doc WHERE specialty = 'O'))
SELECT COUNT(DISTINCT d.hos) FROM doc d WHERE d.specialty <> 'O'
SELECT COUNT(*) FROM patdoc a JOIN patdoc b ON a.doc = b.doc AND a.pat < b.pat
WITH onc AS (SELECT id FROM doc WHERE specialty = 'O') SELECT COUNT(*) FROM patdoc JOIN onc ON onc.id = patdoc.doc
SELECT COUNT(*) FROM (SELECT DISTINCT hos FROM pat WHERE sex = 'M') AS h
SELECT COUNT(*) FROM hos h WHERE EXISTS (SELECT 1 FROM pat WHERE pat.hos = h.id) AND EXISTS (SELECT 1 FROM doc WHERE doc.hos = h.id)
""".strip().split("\n")
# What the program reads, and the same for SQLite.
OTHERS = [
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 0) COUNT(*) FROM orders",
     "SELECT COUNT(*) FROM orders"),
    ("SELECT COUNT(*) FROM orders WHERE o_custkey = ANY (ARRAY[1, 2, 3])",
     "SELECT COUNT(*) FROM orders WHERE o_custkey IN (1, 2, 3)"),
    ("SELECT COUNT(*) FROM customer c, LATERAL (SELECT * FROM orders o WHERE o.o_custkey = c.c_custkey) x",
     "SELECT COUNT(*) FROM customer JOIN orders ON o_custkey = c_custkey"),
    ("SELECT COUNT(*) FROM part WHERE p_size BETWEEN SYMMETRIC 20 AND 10",
     "SELECT COUNT(*) FROM part WHERE p_size BETWEEN 10 AND 20"),
    ("SELECT COUNT(*) FROM part WHERE p_name ILIKE '%BLUE%'",
     "SELECT COUNT(*) FROM part WHERE p_name LIKE '%blue%'"),
    ("SELECT COUNT(*) FROM part WHERE left(p_brand, 5) = 'Brand' AND position('green' in p_name) > 0",
     "SELECT COUNT(*) FROM part WHERE substr(p_brand, 1, 5) = 'Brand' AND instr(p_name, 'green') > 0"),
    ("SELECT COUNT(DISTINCT (o_custkey, o_orderstatus)) FROM orders",
     "SELECT COUNT(*) FROM (SELECT DISTINCT o_custkey, o_orderstatus FROM orders)"),
    ("SELECT COUNT(*) FROM public.orders WHERE o_custkey::text = '5'",
     "SELECT COUNT(*) FROM orders WHERE o_custkey = 5"),
    ("SELECT COUNT(*) FROM orders o, customer c WHERE o.o_custkey IS NOT DISTINCT FROM c.c_custkey",
     "SELECT COUNT(*) FROM orders o, customer c WHERE o.o_custkey IS c.c_custkey"),
]
REFUSED = """
SELECT COUNT(*) FROM customer WHERE c_acctbal > (SELECT AVG(c_acctbal) FROM customer)
SELECT SUM(l_quantity) FROM lineitem
SELECT COUNT(*) FROM orders WHERE o_orderdate > CURRENT_DATE
SELECT * FROM orders
SELECT COUNT(*) FROM order
SELECT COUNT(*) FROM orders WHERE orderstatus = 'F'
SELECT COUNT(*) FROM customers
SELECT COUNT(*) FROM orders o WHERE orders.o_custkey = 1
SELECT COUNT(*) FROM lineitem WHERE l_quantity / l_linenumber > 2
SELECT COUNT(*) FROM orders WHERE CAST(o_priority AS INTEGER) = 1
SELECT COUNT(*) FROM orders WHERE o_custkey = 'abc'
SELECT COUNT(*) FROM orders WHERE o_priority = 1
SELECT APPROX_COUNT_DISTINCT(o_custkey) FROM orders
SELECT COUNTIF(o_orderstatus = 'F') FROM orders
SELECT COUNT(*) FROM orders WHERE STARTS_WITH(o_priority, '1')
SELECT COUNT(*) FROM `orders`
SELECT COUNT(*) FROM orders WHERE o_orderstatus == 'F'
SELECT COUNT(*) FROM orders WHERE strftime('%Y', o_orderdate) = '1995'
SELECT COUNT(*) FROM orders WHERE o_orderdate REGEXP '^1995'
SELECT COUNT(*) FROM orders o WHERE o_orderkey = "F"
""".strip().split("\n")


def fill(db):
    r = random.Random(20240131)
    day = lambda: f"{r.randint(1992, 1998)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
    some = lambda values: r.choice(values)
    put = lambda table, rows: db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
    db.executescript(DDL)
    put("region", [(i, n) for i, n in enumerate(["AFRICA", "AMERICA", "ASIA", "EUROPE"])])
    put("nation", [(i, n, i % 4) for i, n in enumerate(["KENYA", "PERU", "JAPAN", "FRANCE", "EGYPT", "BRAZIL", "INDIA", "GERMANY"])])
    put("supplier", [(i, f"Supplier#{i}", r.randrange(8), r.randint(-99, 999), some([None, "fast", "Customer Complaints"])) for i in range(1, 31)])
    put("customer", [(i, some(["Ann", "Bert", "Carl", "Mia", "Zoé"]) + str(i), r.randrange(8), some([None, "BUILDING", "MACHINERY", "AUTO"]), some([None, r.randint(-99, 999)])) for i in range(1, 61)])
    put("part", [(i, some(["forest green", "blue lace", "pale Blue", "green tea"]), some(["Brand#12", "Brand#23", "Brand#45"]), r.randint(1, 50), some(["SMALL BRASS", "MEDIUM TIN", "LARGE TIN"])) for i in range(1, 41)])
    put("orders", [(i, r.randint(1, 60), some("OFP"), day(), some([None, "1-URGENT", "2-HIGH", "5-LOW"])) for i in range(1, 301)])
    put("lineitem", [(o, n, r.randint(1, 40), r.randint(1, 30), r.randint(1, 50), some([None, "R", "N", "A"]), day(), day(), some([None, day()])) for o in range(1, 301) for n in range(1, 1 + r.randint(0, 4))])
    db.commit()


def ask(source, query):
    return subprocess.run([PROGRAM, "count", "--db", source, query], capture_output=True, text=True, check=False)


failures = 0


def compare(db, source, query, same):
    global failures
    want = str(db.execute(same).fetchone()[0])
    r = ask(source, query)
    if r.stdout.strip() != want:
        failures += 1
        print(f"{query}\n    SQLite {want}, dpcount {r.stdout.strip()} {r.stderr.strip()}")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "tpch.db")
    db = sqlite3.connect(path)
    fill(db)
    for q in TPCH:
        compare(db, path, q, q)
    for q, same in OTHERS:
        compare(db, path, q, same)
    for q in REFUSED:
        r = ask(path, q)
        if r.returncode not in (2, 3) or ("hint:" not in r.stderr and "syntax error" not in r.stderr):
            failures += 1
            print(f"{q}\n    status {r.returncode}: {r.stdout.strip()} {r.stderr.strip()}")
        elif os.environ.get("SHOW"):
            print(q, r.stderr, sep="\n")
hospital = sqlite3.connect(HOSPITAL)
for q in HOSPITAL_QUERIES:
    compare(hospital, HOSPITAL, q, q)
print(f"{len(TPCH) + len(OTHERS) + len(HOSPITAL_QUERIES)} counts, {len(REFUSED)} refusals, {failures} failures")
sys.exit(bool(failures))
