#!/usr/bin/env python3
"""Releases that protect an entity with all its rows, from outside: what is said, stored, refused and paid."""
import os
import tempfile

import outside
from outside import check, end

POLICY = """
entities: [customer]
neighbours: %s
tables:
  customer: {columns: {c: integer, city: text}, key: [c]}
  orders: {columns: {o: integer, c: integer}, key: [o], not_null: [c], owned_by: [{via: [c], table: customer}]%s}
"""
DATA = ["--db", "data", "--policy", "p.yaml"]
UNIT = "one customer, with all rows of orders that are theirs"
ORDERS = "SELECT COUNT(*) FROM orders"
PAIRS = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.o < b.o"


def ask(command, *args):
    return outside.ask(*command.split(), "--format", "json", *args)


def release(*args):
    return ask("release", "--ledger", "l", *DATA, *args)


def policy(neighbours="add-drop-entity", promise=""):
    with open("p.yaml", "w") as f:
        f.write(POLICY % (neighbours, promise))


def spent():
    return ask("budget show", "--ledger", "l")[1]["spent"]


folder = tempfile.TemporaryDirectory(prefix="dpc-entity-")
os.chdir(folder.name)
os.mkdir("data")
# customer i has i orders, up to 40: 820 in all
with open("data/customer.csv", "w") as f:
    f.write("c,city\n" + "".join(f"{i},{'AB'[i % 2]}\n" for i in range(1, 41)))
with open("data/orders.csv", "w") as f:
    f.write("o,c\n" + "".join(f"{1000 * i + k},{i}\n" for i in range(1, 41) for k in range(i)))
policy()
ask("budget init", "--ledger", "l", "--epsilon", "1000")

GRID = [1] + [v for i in range(1, 63) for v in (2 ** i, 3 * 2 ** (i - 1))]
status, q = ask("quote", *DATA, "--epsilon", "1", ORDERS)
check("quote", status == 0 and q["mechanism"] == "election" and UNIT in q["guarantee"], str(q))
check("quote says whose rows", q["entity"]["owners"] == 1 and q["entity"]["unit"] and q["entity"]["tables"], str(q))
check("quote in units of T", 4.3 < q["error"]["p95_in_units_of_threshold"] < 4.6, str(q["error"]))
status, a = release("--epsilon", "1", ORDERS)
check("release", status == 0 and a["mechanism"] == "election" and a["threshold"] in GRID, str(a))
check("cut, always", a["cut"] is True and "entities" in a["cut_estimate"], str(a))
check("the unit", a["neighbours"] == "insert or delete " + UNIT, str(a))
check("paid", spent() == 1, str(spent()))
status, b = release("--epsilon", "1", ORDERS)
check("repeated with its threshold",
      b["repeated"] and all(b[k] == a[k] for k in ("answer", "threshold", "cut_estimate", "error", "receipt")), str(b))
status, b = release("--epsilon", "1", "--guess", "40", ORDERS)
check("a guess is another question", not b["repeated"] and spent() == 2, str(b))
status, b = release("--epsilon", "1", "--error-budget", "none", ORDERS)
check("no estimate", b["cut_estimate"] is None and b["error"]["p95"] / b["threshold"] < 4.6, str(b))

# Nothing is cut at such thresholds, and half of the noisy numbers are negative: shown as 0.
few = [release("--epsilon", "1", "--error-budget", "0.1", "--guess", "1000000", "--fresh", ORDERS)[1]["cut_estimate"]["entities"] for _ in range(12)]
check("no negative estimate", min(few) == 0 and max(few) > 0, str(few))
text = outside.run("release", *DATA, "--ledger", "l", "--epsilon", "1", "--error-budget", "0.1", "--guess", "1000000", ORDERS).stdout
check("nor in the text", "cut         about " in text and "about -" not in text, text)

# With a large price T is large enough and noise small: the count itself.
status, a = release("--epsilon", "100", ORDERS)
check("the count", status == 0 and a["threshold"] >= 40 and abs(a["answer"] - 820) <= 1 + 25 * a["threshold"] / 67, str(a))
status, a = release("--epsilon", "100", PAIRS)
check("two owners", status == 0 and abs(a["answer"] - 820 * 819 // 2) < 20000 + 25 * a["threshold"] / 60 and a["cut_estimate"] is None, str(a))
status, a = release("--epsilon", "100", "--error-budget", "10", PAIRS)
check("two owners, an estimate", status == 0 and "results_at_least" in a["cut_estimate"], str(a))
status, a = release("--epsilon", "100", "SELECT COUNT(DISTINCT city) FROM customer")
check("distinct", status == 0 and abs(a["answer"] - 2) <= 2 + 25 * (a.get("threshold") or 1) / 67 and a["mechanism"] in ("election", "discrete-laplace"), str(a))
status, a = ask("quote", *DATA, "--rho", "0.5", ORDERS)
check("rho", status == 0 and a["mechanism"] == "election" and 2 < a["error"]["p95_in_units_of_threshold"] < 2.6, str(a))

# A threshold that was told may be used again by whom it was told, for the same question with other constants.
FEW = "SELECT COUNT(*) FROM orders WHERE o > %d AND c <> %d"
status, b = release("--epsilon", "1", "--guess", "earlier", FEW % (3, 7))
check("nothing told yet", status != 0 and b["error"]["code"] == "bad-value", str(b))
status, a = release("--epsilon", "100", FEW % (3, 7))
status, b = release("--epsilon", "1", "--guess", "earlier", FEW % (4000, 8))
check("told earlier", status == 0 and not b["repeated"], str(b))
status, c = release("--epsilon", "1", "--guess", str(a["threshold"]), FEW % (4000, 8))
check("it is that guess", c["repeated"] and c["answer"] == b["answer"], str(a) + str(b) + str(c))
status, b = release("--epsilon", "1", "--guess", "earlier", FEW.replace("o >", "c >") % (3, 7))
check("another form", status != 0 and b["error"]["code"] == "bad-value", str(b))
status, b = ask("quote", *DATA, "--epsilon", "1", "--guess", "earlier", FEW % (3, 7))
check("no ledger", status != 0 and b["error"]["code"] == "bad-value", str(b))
with open("p.yaml", "a") as f:
    f.write("guess: 40\n")
status, a = release("--epsilon", "2", ORDERS)
status, b = release("--epsilon", "2", "--guess", "40", ORDERS)
check("the policy's guess", status == 0 and b["repeated"], str(a) + str(b))
with open("p.yaml", "w") as f:
    f.write("guess: 40\ntables: {orders: {columns: [o, c]}}\n")
status, b = ask("quote", *DATA, "--epsilon", "1", ORDERS)
check("a guess without entities", status != 0 and b["error"]["code"] == "policy", str(b))
policy()

# What is refused is refused before anything is paid.
before = spent()
for args, code in [(("--mechanism", "discrete-laplace", ORDERS), "unbounded"),
                   (("--mechanism", "smooth-laplace", ORDERS), "bad-value"),
                   (("--guess", "0", ORDERS), "bad-value"), (("--guess", "many", ORDERS), "bad-value"),
                   (("--error-budget", "2", ORDERS), "bad-value")]:
    status, a = release("--epsilon", "1", *args)
    check("refused: " + " ".join(args[:2]), status != 0 and a["error"]["code"] == code, str(a))
check("nothing paid", spent() == before, str(spent()))

ask("budget grant", "--ledger", "l", "--analyst", "eve", "--epsilon", "10")
status, b = release("--epsilon", "1", "--analyst", "eve", "--guess", "earlier", FEW % (3, 7))
check("told to somebody else", status != 0 and b["error"]["code"] == "bad-value", str(b))

# Promises: a small bound is used, a large one only shortens the grid.
policy(promise=", at_most: [{per: [c], of: [o], k: 9}]")
status, q = ask("quote", *DATA, "--epsilon", "1", ORDERS)
check("static", q["mechanism"] == "discrete-laplace" and q["error"]["p95"] == 27, str(q))
status, q = ask("quote", *DATA, "--epsilon", "1", "--mechanism", "election", ORDERS)
check("asked for", q["mechanism"] == "election" and q["error"]["largest_threshold"] == 12, str(q))
policy(promise=", at_most: [{per: [c], of: [o], k: 100}]")
status, q = ask("quote", *DATA, "--epsilon", "1", ORDERS)
check("grid ends", q["mechanism"] == "election" and q["error"]["largest_threshold"] == 128, str(q))

# A changed entity.
policy("change-entity")
status, q = ask("quote", *DATA, "--epsilon", "1", ORDERS)
check("change", UNIT in q["guarantee"] and "insert, delete or substitute" in q["neighbours"], str(q))
# An entity without anything: no comma before the verb; of three each is one.
os.mkdir("alone")
for name in ("a", "b", "c"):
    with open(f"alone/{name}.csv", "w") as f:
        f.write("k\n1\n")
for names, unit in (("a", "one a changes"), ("abc", "one a, one b or one c changes")):
    with open("p.yaml", "w") as f:
        f.write(f"entities: [{', '.join(names)}]\ntables:\n" + "".join(f"  {t}: {{columns: {{k: integer}}, key: [k]}}\n" for t in names) +
                "".join(f"  {t}: {{columns: {{k: integer}}, privacy: public}}\n" for t in "abc" if t not in names))
    status, q = ask("quote", "--db", "alone", "--policy", "p.yaml", "--epsilon", "1", "SELECT COUNT(*) FROM a")
    check(unit, status == 0 and "Inserting or deleting " + unit in q["guarantee"], str(q))
end()
