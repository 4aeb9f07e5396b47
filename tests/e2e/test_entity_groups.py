#!/usr/bin/env python3
"""GROUP BY with entities, from outside: which groups share what, cuts against the definition, keys from private rows, prices."""
import os
import random
import tempfile

import outside
from outside import check, end

POLICY = """
entities: [customer%s]
neighbours: %s
tables:
  customer: {columns: {c: integer, city: text}, key: [c], not_null: [city]}
  account: {columns: {a: integer, c: integer}, key: [a], not_null: [c],
            owned_by: [{via: [c], table: customer}]}
  orders: {columns: {o: integer, a: integer, m: integer}, key: [o], not_null: [a],
           owned_by: [{via: [a], table: account}]%s}
"""
DATA = ["--db", "data", "--policy", "p.yaml"]
MONTH = "SELECT m, COUNT(*) FROM orders GROUP BY m"
CITY = "SELECT city, COUNT(*) FROM orders JOIN account USING (a) JOIN customer USING (c) GROUP BY city"
PAIRS = "SELECT x.m, COUNT(*) FROM orders x JOIN orders y ON x.m = y.m AND x.o < y.o GROUP BY x.m"
DISTINCT = "SELECT city, COUNT(DISTINCT m) FROM orders JOIN account USING (a) JOIN customer USING (c) GROUP BY city"


def ask(command, *args):
    return outside.ask(*command.split(), "--format", "json", *args)


def release(*args):
    return ask("release", "--ledger", "l", *DATA, *args)


def policy(neighbours="add-drop-entity", nested=False, promise=""):
    with open("p.yaml", "w") as f:
        f.write(POLICY % (", account" if nested else "", neighbours, promise))


def groups(a):
    return {g["key"][0]: g["answer"] for g in a["groups"]}


folder = tempfile.TemporaryDirectory(prefix="dpc-entity-groups-")
os.chdir(folder.name)
os.mkdir("data")
rng = random.Random(5)
customers = [(i, "ABC"[i % 3]) for i in range(1, 31)]
accounts = [(10 * i + k, i) for i, _ in customers for k in range(2)]
orders = []
for i, _ in customers:
    for k in range(i):
        m = rng.choice([None, 1, 2, 3, 10, 11])
        orders.append((1000 * i + k, 10 * i + k % 2, m))
for name, head, rows in (("customer", "c,city", customers), ("account", "a,c", accounts), ("orders", "o,a,m", orders)):
    with open(f"data/{name}.csv", "w") as f:
        f.write(head + "\n" + "".join(",".join("" if v is None else str(v) for v in r) + "\n" for r in rows))
policy()
ask("budget init", "--ledger", "l", "--epsilon", "1000", "--delta", "0.5")
KEYS = ["--groups", "m=1,2,3,10,11,12"]
ORDER = [1, 2, 3, 10, 11, 12]


def cut(t):
    """Every customer's orders in months that are asked for, filled up to t in the order of the months."""
    out = {m: 0 for m in ORDER}
    for i, _ in customers:
        left = t
        for m in ORDER:
            n = min(left, sum(1 for o, a, x in orders if a // 10 == i and x == m))
            out[m] += n
            left -= n
    return out


def near(a, want):
    """Within 25 scales of the noise, which the elected threshold decides: farther off is rarer than 1e-10."""
    found = groups(a)
    t = {g["key"][0]: g.get("threshold", a["threshold"]) for g in a["groups"]}
    return set(found) == set(want) and all(abs(found[k] - want[k]) <= 1 + 25 * t[k] / (.67 * a["epsilon"]) for k in want)


# One owner that does not determine the key: one election, a vector that is cut.
status, q = ask("quote", *DATA, "--epsilon", "1", *KEYS, MONTH)
check("vector: quote", status == 0 and q["error"]["elections"] == "one" and q["groups"] == 6, str(q))
status, a = release("--epsilon", "200", *KEYS, MONTH)
check("vector", status == 0 and near(a, cut(a["threshold"])), str(a))
check("vector: one threshold", a["threshold"] >= 16 and "threshold" not in a["groups"][0] and a["cut"] is True, str(a))
status, b = release("--epsilon", "200", *KEYS, MONTH)
check("vector: repeated", b["repeated"] and b["groups"] == a["groups"] and b["threshold"] == a["threshold"], str(b))
# A promise that the data break shortens the grid: everybody above 12 is cut, whatever is drawn. No noise relies on it.
policy(promise=", at_most: [{per: [a], of: [o], k: 9}]")
status, a = release("--epsilon", "200", "--mechanism", "election", *KEYS, MONTH)
check("a broken promise is no database", status != 0 and a["error"]["code"] == "data", str(a))
policy()
status, a = release("--epsilon", "3", *KEYS, MONTH)  # a T that cuts somebody
check("vector: cut", status == 0 and near(a, cut(a["threshold"])), str(a))

# The owner determines the key: an election for each group at the whole price.
status, q = ask("quote", *DATA, "--epsilon", "1", "--groups", "city=A,B,C,D", CITY)
check("each: quote", status == 0 and q["error"]["elections"] == "one for each group" and q["price"] == 1
      and 4.3 < q["error"]["p95_in_units_of_threshold"] < 4.6, str(q))
status, a = release("--epsilon", "100", "--groups", "city=A,B,C,D", CITY)
city = dict(customers)
want = {k: sum(1 for o, x, m in orders if city[x // 10] == k) for k in "ABCD"}
check("each", status == 0 and near(a, want), str(a) + str(want))
check("each: thresholds", a["threshold"] is None and all(g["threshold"] >= 1 and "p95" in g for g in a["groups"]), str(a))
status, b = release("--epsilon", "100", "--groups", "city=A,B,C,D", CITY)
check("each: repeated", b["repeated"] and b["groups"] == a["groups"], str(b))
status, a = release("--epsilon", "100", "--groups", "city=A,B,C,D", DISTINCT)
want = {k: len({m for o, x, m in orders if city[x // 10] == k and m is not None}) for k in "ABCD"}
check("each: distinct", status == 0 and near(a, want), str(a) + str(want))

# Several owners: the groups share the price.
status, q = ask("quote", *DATA, "--epsilon", "6", *KEYS, PAIRS)
status, one = ask("quote", *DATA, "--epsilon", "1", PAIRS.replace("x.m, ", "").replace(" GROUP BY x.m", ""))
check("split: quote", q["entity"]["owners"] == 2 and abs(
    q["error"]["p95_in_units_of_threshold"] - one["error"]["p95_in_units_of_threshold"]) < .01, str(q) + str(one))
check("split: no estimate by default", q["error"]["estimates_cut"] is False, str(q))
status, a = release("--epsilon", "240", *KEYS, PAIRS)
want = {m: (lambda n: n * (n - 1) // 2)(sum(1 for r in orders if r[2] == m)) for m in ORDER}
T = {g["key"][0]: g["threshold"] for g in a["groups"]}  # 40 for a group, 24 for its noise; a little is cut
check("split", status == 0 and all(abs(groups(a)[m] - want[m]) <= 1 + T[m] * 26 / 24 + want[m] / 5 for m in ORDER), str(a) + str(want))
check("split: thresholds", len({g["threshold"] for g in a["groups"]}) >= 1 and a["threshold"] is None, str(a))

# Keys from private rows: shown only if the noisy count reaches the threshold for the elected T.
status, a = release("--epsilon", "40", "--delta", "0.01", MONTH)
check("found: vector", status == 0 and a["key_threshold"] > a["threshold"] and a["price_delta"] == 0.01
      and all(g["answer"] >= a["key_threshold"] for g in a["groups"]), str(a))
status, a = release("--epsilon", "40", "--delta", "0.01", CITY)
check("found: each", status == 0 and a["groups"] and all(g["answer"] >= g["key_threshold"] > g["threshold"] for g in a["groups"]), str(a))
status, b = release("--epsilon", "40", "--delta", "0.01", CITY)
check("found: repeated", b["repeated"] and b["groups"] == a["groups"], str(b))
shown = {g["key"][0] for g in release("--epsilon", "2", "--delta", "0.000001", MONTH)[1]["groups"]}
check("found: rare keys stay hidden", 12 not in shown, str(shown))


def spent():
    return ask("budget show", "--ledger", "l")[1]["spent"]


before = spent()
status, a = release("--epsilon", "1", "--delta", "0.01", PAIRS)
check("found: several owners", status != 0 and a["error"]["code"] == "unsupported", str(a))
status, a = release("--rho", "1", "--delta", "0.01", MONTH)
check("found: rho", status != 0 and a["error"]["code"] == "unsupported", str(a))
status, a = release("--epsilon", "1", "--groups", "m=" + ",".join(map(str, range(1001))), PAIRS)
check("too many share", status != 0 and a["error"]["code"] == "too-large", str(a))
check("nothing paid", spent() == before, str(spent()))


def units(sql=MONTH, *args):
    return ask("quote", *DATA, "--epsilon", "1", "--error-budget", "none", *args, sql)[1]["error"]["p95_in_units_of_threshold"]


# Prices: noise for 2T where an entity is changed or has a part of another's results, 4T for both; halves of the price for
# an election each. In units of T, 95 % of discrete Laplace noise of scale s lie within s ln 20.
LN20 = 2.9957
plain = units(MONTH, *KEYS)
check("vector: T/e2", abs(plain - LN20 / .75) < .01, str(plain))
policy(nested=True)
check("nested: 2T/e2", abs(units(MONTH, *KEYS) - 2 * plain) < .01)
check("nested: an election each costs nothing more", abs(units(CITY, "--groups", "city=A,B") - plain) < .01)
policy("change-entity", nested=True)
check("nested and changed: 4T/e2", abs(units(MONTH, *KEYS) - 4 * LN20 / .75) < .01, str(units(MONTH, *KEYS)))
policy("change-entity")
check("changed: 2T/e2", abs(units(MONTH, *KEYS) - 2 * LN20 / .75) < .01, str(units(MONTH, *KEYS)))
check("changed, each: half the price", abs(units(CITY, "--groups", "city=A,B") - 2 * plain) < .01)
# Twenty whose sums no threshold near the prior's reaches: each is cut, and fills the key of the lowest value first, in whichever
# order the keys are named. 20 T and nothing are 40 scales of the noise apart.
os.mkdir("giants")
with open("giants/customer.csv", "w") as f:
    f.write("c\n" + "".join(f"{c}\n" for c in range(20)))
with open("giants/pay.csv", "w") as f:
    f.write("p,c,m,x\n" + "".join(f"{2 * c + m},{c},{m},1000000000000\n" for c in range(20) for m in (1, 0)))
with open("giants.yaml", "w") as f:
    f.write("entities: [customer]\ntables:\n  customer: {columns: {c: integer}, key: [c]}\n"
            "  pay: {columns: {p: integer, c: integer, m: integer, x: integer}, key: [p], owned_by: [{via: [c], table: customer}]}\n")
for keys in ("m=0,1", "m=1,0"):
    ask("budget init", "--ledger", "g" + keys, "--epsilon", "10")
    status, a = ask("release", "--ledger", "g" + keys, "--db", "giants", "--policy", "giants.yaml", "--epsilon", "3", "--groups", keys,
                    "SELECT m, SUM(GREATEST(x, 0)) FROM pay GROUP BY m")
    found = {g["key"][0]: int(g["answer"]) for g in a["groups"]}
    T = int(a["threshold"])
    check("filled by the keys' values: " + keys, abs(found[0] - 20 * T) <= 1 + 12 * T and abs(found[1]) <= 1 + 12 * T, str(a))
end()
