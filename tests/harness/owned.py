"""Random tables with owners, and the embedded engine beside the database's: what
each entity has, the truncated counts and the releases must be the same. Used by
test_entity_pushdown.py (PostgreSQL) and test_duckdb_entities.py."""
import json
import os
import random
import subprocess

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
FAILED = []

SCHEMA = """
CREATE TABLE customer (c integer PRIMARY KEY, nat integer);
CREATE TABLE supplier (s text PRIMARY KEY, nat integer);
CREATE TABLE orders (o bigint PRIMARY KEY, c integer, clerk integer, day integer NOT NULL);
CREATE TABLE lineitem (o bigint, s text, qty integer, flag boolean);
CREATE TABLE shop (a integer, b text, PRIMARY KEY (a, b));
CREATE TABLE sale (x integer, y text, u integer, w text, n integer NOT NULL);
CREATE TABLE club (a text, b text, PRIMARY KEY (a, b));
CREATE TABLE member (a text, b text);
CREATE TABLE node (v uuid PRIMARY KEY);
CREATE TABLE edge (src uuid, dst uuid);
CREATE TABLE day (d date PRIMARY KEY);
CREATE TABLE visit (d date);
CREATE TABLE stay (c numeric);
CREATE TABLE price (v uuid, r numeric);
CREATE TABLE kind (k integer PRIMARY KEY);
INSERT INTO kind VALUES (1), (2), (3), (4);
"""
POLICY = """entities: [customer, supplier, shop, club, node, day]
tables:
  kind: {privacy: public}
  orders: {owned_by: [{via: [c], table: customer}]}
  lineitem: {owned_by: [{via: [o], table: orders}, {via: [s], table: supplier}]}
  sale: {owned_by: [{via: [x, y], table: shop}, {via: [w, u], table: shop, key: [b, a]}]}
  member: {owned_by: [{via: [a, b], table: club}]}
  visit: {owned_by: [{via: [d], table: day}]}
  stay: {owned_by: [{via: [c], table: customer}]}
  price: {owned_by: [{via: [v], table: node}]}
  edge: {owned_by: [{via: [src], table: node}, {via: [dst], table: node}]}
"""
TEXTS = ["", "a", "A", "a|", "1|a", "it''s", "\\\\", "ä", "日本", "a|1|b", "|"]
RUNS = ["", "a", "a|", "|"]  # that read alike behind each other: a| and nothing, a and |
QUERIES = [  # (text, owners)
    ("SELECT COUNT(*) FROM customer", 1),
    ("SELECT COUNT(*) FROM orders WHERE clerk = 1", 1),
    ("SELECT COUNT(*) FROM orders o, customer c WHERE o.c = c.c AND c.nat = 1", 1),
    ("SELECT COUNT(*) FROM orders a, orders b WHERE a.c = b.c AND a.day < b.day", 1),
    ("SELECT COUNT(*) FROM orders a, orders b WHERE a.clerk = b.clerk", 2),
    ("SELECT COUNT(DISTINCT c) FROM orders", 1),
    ("SELECT COUNT(DISTINCT clerk) FROM orders", 1),
    ("SELECT COUNT(DISTINCT a.day) FROM orders a, orders b WHERE a.clerk = b.clerk", 2),
    ("SELECT COUNT(*) FROM lineitem", 2),
    ("SELECT COUNT(*) FROM lineitem WHERE qty > 1 AND flag", 2),
    ("SELECT COUNT(*) FROM lineitem l, orders o, customer c WHERE l.o = o.o AND o.c = c.c", 2),
    ("SELECT COUNT(*) FROM customer c, supplier s WHERE c.nat = s.nat", 2),
    ("SELECT COUNT(*) FROM customer c, supplier s", 2),
    ("SELECT COUNT(*) FROM customer c, kind k WHERE c.nat <> k.k", 1),
    ("SELECT COUNT(DISTINCT o) FROM lineitem", None),
    ("SELECT COUNT(*) FROM lineitem a, lineitem b WHERE a.o = b.o AND a.qty < b.qty", 3),
    ("SELECT COUNT(*) FROM sale", 2),
    ("SELECT COUNT(*) FROM sale WHERE x = u AND y = w", 1),
    ("SELECT COUNT(*) FROM member", 1),
    ("SELECT COUNT(*) FROM edge", 2),
    ("SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src", 3),
    ("SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src AND a.src <> b.dst", 3),
]
SUMS = [
    ("SELECT SUM(GREATEST(n, 0)) FROM sale", 2),
    ("SELECT SUM(LEAST(GREATEST(l.qty, 0), 50)) FROM lineitem l, orders o WHERE l.o = o.o", 2),
]
OF_MANY = [
    ("SELECT COUNT(*) FROM edge", 2),
    ("SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src", 3),
    ("SELECT COUNT(DISTINCT a.src) FROM edge a, edge b WHERE a.dst = b.src", 3),
]
GROUPED = [
    "SELECT k.k, COUNT(*) FROM orders o, kind k WHERE o.clerk = k.k GROUP BY k.k",
    "SELECT k.k, COUNT(*) FROM lineitem l, orders o, kind k WHERE o.clerk = k.k AND l.o = o.o AND l.s = 'a' GROUP BY k.k",
    "SELECT k.k, COUNT(DISTINCT e.src) FROM edge e, kind k GROUP BY k.k",
]
GROUPED_SUMS = ["SELECT k.k, SUM(GREATEST(n, 0)) FROM sale s, kind k WHERE s.x = k.k GROUP BY k.k"]
REFUSED = [
    ("SELECT clerk, COUNT(*) FROM orders GROUP BY clerk", "private rows"),
    ("SELECT COUNT(*) FROM visit", "by a column of this type"),
    ("SELECT COUNT(*) FROM stay", "by columns of different types"),
    ("SELECT COUNT(DISTINCT r) FROM price", "of this type"),
]


def some(values, nulls=0.15):
    return "NULL" if random.random() < nulls else str(random.choice(values))


def quote(v):
    return v if v == "NULL" else "E'" + v + "'"


def rows(table, n, row):
    texts = ",".join("(" + ",".join(row()) + ")" for _ in range(n))
    return f"INSERT INTO {table} VALUES {texts};\n" if n else ""


def uuid(i):
    return "NULL" if i == "NULL" else f"'00000000-0000-0000-0000-{int(i):012d}'"


def data(n):
    out = "".join(f"INSERT INTO customer VALUES ({i}, {some([1, 2, 3])});\n" for i in random.sample(range(-3, 30), min(n, 9)))
    out += "".join(f"INSERT INTO supplier VALUES ({quote(t)}, {some([1, 2, 3])});\n" for t in random.sample(TEXTS, 7))
    out += "".join(f"INSERT INTO orders VALUES ({i}, {some(range(-3, 12))}, {some([1, 2, 3, 5])}, {random.randrange(5)});\n" for i in range(n))
    out += rows("lineitem", 3 * n, lambda: (some(range(n + 3)), quote(some(TEXTS)), some(range(-2, 60)), some(["true", "false"])))
    pairs = [(i, t) for i in (1, 2, 11) for t in TEXTS]
    out += "".join(f"INSERT INTO shop VALUES ({i}, {quote(t)});\n" for i, t in random.sample(pairs, 12))
    out += rows("sale", n, lambda: (some([1, 2, 11]), quote(some(TEXTS[:5])), some([1, 2, 11]), quote(some(TEXTS[:5])), str(random.randrange(-3, 9))))
    out += rows("member", n, lambda: (quote(some(RUNS, 0.05)), quote(some(RUNS, 0.05))))
    out += "".join(f"INSERT INTO node VALUES ({uuid(i)});\n" for i in range(8))
    out += rows("edge", 2 * n, lambda: (uuid(some([0, 1, 2, 2, 3, 9], 0.05)), uuid(some([0, 0, 1, 4, 5, 9], 0.05))))
    return out


def run(source, policy, command, query, *more):
    r = subprocess.run([DPCOUNT, command, "--format", "json", *source, "--policy", policy, *more, query], capture_output=True, text=True)
    check(r.returncode in (0, 3), f"{command} {query} {more}: {r.returncode} {r.stdout} {r.stderr}")
    return json.loads(r.stdout)


def same_values(a, b):
    """Intervals of one number: points where the values are exact."""
    one, two = ({x["t"]: (int(float(x["lower"])), float(x["upper"])) for x in e["truncated"]} for e in (a, b))
    return one.keys() == two.keys() and all(one[t][0] <= two[t][1] and two[t][0] <= one[t][1] for t in one)


def both_say(e):
    """Without what only the embedded engine knows for certain, which must hold of the number."""
    for x in e["truncated"]:
        check(x.get("at_least", 0) <= int(float(x["upper"])) and int(float(x["lower"])) <= x.get("at_most", float("inf")), f"certain: {x}")
    return {**e, "truncated": [{k: x[k] for k in ("t", "lower", "upper")} for x in e["truncated"]]}


def compare(source, policy, query, owners):
    a = run(source, policy, "sensitivity", query, "--engine", "embedded")
    b = run(source, policy, "sensitivity", query, "--engine", "sql")
    if "error" in a or "error" in b:
        check(False, f"{query}: {a.get('error')} {b.get('error')}")
        return
    e, f = a["entity"], b["entity"]
    check(owners in (None, e["owners"]), f"{query}: {e['owners']} owners")
    check(a["count"] == b["count"] and all(e[k] == f[k] for k in ("owners", "entities", "largest", "static_upper")), f"{query}: {e} {f}")
    check(same_values(e, f) if e["owners"] > 2 or "DISTINCT" in query else both_say(e) == both_say(f), f"{query}: {e} {f}")


def many():
    """More owners than are told apart at once: first what each has, then the heavy."""
    pairs = [(1 + 2600 // (1 + i * 7919 % 2600), 1 + i * 104729 % 2500) for i in range(1, 6001)]
    pairs += [("NULL", i) for i in range(1, 2500) if i % 100 < 30]
    return "DELETE FROM edge; DELETE FROM node;" + ",".join(f"({uuid(i)})" for i in range(1, 2501)).join(("INSERT INTO node VALUES ", ";")) + \
        ",".join(f"({uuid(a)},{uuid(b)})" for a, b in pairs).join(("INSERT INTO edge VALUES ", ";"))


def check(ok, what):
    if not ok:
        FAILED.append(what)
        print("FAILED", what)


def release(source, policy, ledger, query, *more):
    subprocess.run([DPCOUNT, "budget", "init", "--ledger", ledger, "--epsilon", "1000", "--delta", "0.1"], check=True, capture_output=True)
    return run(source, policy, "release", query, "--ledger", ledger, *more)


def spent(ledger):
    return subprocess.run([DPCOUNT, "budget", "show", "--format", "json", "--ledger", ledger, "--owner"], capture_output=True, text=True, check=True).stdout


def numbers(o):
    told = [g["threshold"] for g in o.get("groups", []) if "threshold" in g]
    return [r[-1] for r in o["rows"]], max([o.get("threshold") or 1] + told)


def releases(source, policy, top, queries, grouped):
    """With so large an epsilon that there is hardly any noise and nothing is cut."""
    for i, query in enumerate([q for q, _ in queries[1::3]] + grouped):
        got = [release(source, policy, f"{top}/l{i}{engine}", query, "--epsilon", "1000", "--engine", engine) for engine in ("embedded", "sql")]
        told = [{k: x.get(k) for k in ("mechanism", "guarantee", "columns")} for x in got]
        (one, t), (two, u) = numbers(got[0]), numbers(got[1])
        room = 2 + 0.06 * max(t, u)
        # the size of a public table, where the source tells it, can bound what one entity has
        chosen = ("election", "discrete-laplace") if "kind" in query else ("election",)
        check(told[0] == told[1] and told[0]["mechanism"] in chosen, f"{query}: {told}")
        check(len(one) == len(two) and all(abs(int(x) - int(y)) <= room for x, y in zip(one, two)), f"{query}: {got}")


def refusals(source, policy, top):
    """Said before a charge."""
    for i, (query, why) in enumerate(REFUSED):
        ledger = f"{top}/r{i}"
        o = release(source, policy, ledger, query, "--epsilon", "1", "--delta", "1e-6", "--engine", "sql")
        check(o.get("error", {}).get("code") == "unsupported" and why in o["error"]["message"], f"{query}: {o}")
        shown = json.loads(spent(ledger))
        check("1000" in json.dumps(shown), f"{query}: {shown}")
