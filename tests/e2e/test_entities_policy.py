#!/usr/bin/env python3
"""Entities in the policy: what is accepted, what is refused and where, what
`policy init --entities` proposes. A policy that would weaken the guarantee in
silence must end with an error; no row is needed for any of it."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
FOLDER = tempfile.mkdtemp(prefix="dpc-entities-")
os.chdir(FOLDER)
failed = 0


def run(*args):
    return subprocess.run([DPCOUNT, *args], capture_output=True, text=True)


def check(ok, what, detail=""):
    global failed
    if not ok:
        failed += 1
        print(f"FAILED {what}: {detail}")


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


SHOP = """CREATE TABLE customer (c INTEGER PRIMARY KEY, nat INTEGER);
CREATE TABLE orders (o INTEGER PRIMARY KEY, c INTEGER, clerk TEXT);
CREATE TABLE lineitem (l INTEGER PRIMARY KEY, o INTEGER, s INTEGER);
CREATE TABLE supplier (s INTEGER PRIMARY KEY);
"""
FINE = """entities: [customer, supplier]
tables:
  customer: {key: [c]}
  supplier: {key: [s]}
  orders: {owned_by: [{via: [c], table: customer}]}
  lineitem: {owned_by: [{via: [o], table: orders}, {via: [s], table: supplier}]}
"""
STAFF = "CREATE TABLE employee (id INTEGER PRIMARY KEY, boss INTEGER);"
PLAN = "CREATE TABLE %s (id INTEGER PRIMARY KEY, up INTEGER);"
WITH_KEYS = """CREATE TABLE person (id INTEGER PRIMARY KEY);
CREATE TABLE visit (v INTEGER PRIMARY KEY, p INTEGER REFERENCES person(id), doc INTEGER REFERENCES person(id));
"""

# schema, policy, exit status, words of the message, line
CASES = [
    (SHOP, FINE, 0, "", 0),
    (SHOP, "neighbours: change-entity\n" + FINE, 0, "", 0),
    (SHOP, "neighbours: add-drop-one\n" + FINE, 2, "neighbours speaks of rows", 1),
    (SHOP, "neighbours: add-drop-entity\ntables: {}\n", 2, "names none", 1),
    (SHOP, "tables:\n  orders: {owned_by: [{via: [c], table: customer}]}\n", 2, "no entities", 2),
    (SHOP, FINE.replace("  orders: {owned_by: [{via: [c], table: customer}]}", "  orders: {privacy: private}"), 2,
     "table orders is private and belongs to nobody: give owned_by, list it in entities, or say public", 5),
    (SHOP, FINE.replace("  orders: {owned_by: [{via: [c], table: customer}]}\n", ""), 2, "table orders is private and belongs", 0),
    (SHOP, FINE.replace("[{via: [c], table: customer}]", "[]"), 2, "belongs to nobody", 5),
    (SHOP, FINE.replace("customer: {key: [c]}", "customer: {key: [c], privacy: public}"), 2, "is public and cannot be an entity", 1),
    (SHOP, FINE.replace("orders: {owned_by", "orders: {privacy: public, owned_by"), 2, "is public and cannot be owned", 5),
    (SHOP, FINE.replace("entities: [customer, supplier]", "entities: [customer]").replace("{key: [s]}", "{privacy: public}"),
     2, 'cannot belong to table "supplier", which is public', 6),
    (SHOP, FINE.replace("via: [c]", "via: [c, clerk]"), 2, "no declared NOT NULL key of 2 columns", 5),
    (SHOP, FINE.replace("table: customer", "table: nobody"), 2, 'unknown table "nobody"', 5),
    (SHOP, FINE.replace("entities: [customer", "entities: [nobody"), 2, 'unknown table "nobody"', 1),
    (SHOP, FINE.replace("via: [c]", "via: [x]"), 2, 'no column "x"', 5),
    (SHOP, FINE.replace("via: [c]", "by: [c]"), 2, 'unknown key "by"', 5),
    (SHOP, FINE.replace("entities: [customer, supplier]", "entities: [customer, customer]"), 2, "given twice", 1),
    (SHOP, FINE.replace("entities: [customer, supplier]", "entities: []"), 2, "needs a table", 1),
    (SHOP, FINE.replace("via: [c]", "via: [clerk]"), 2, "cannot refer to", 5),
    (STAFF, "entities: [employee]\ntables:\n  employee: {owned_by: [{via: [boss], table: employee}]}\n", 2,
     "table employee owns itself through boss; leave boss out of owned_by, or name the levels", 3),
    (STAFF, "entities: [employee]\ntables:\n  employee: {not_owned: [boss]}\n", 0, "", 0),
    (PLAN % "a" + PLAN % "b" + PLAN % "e", "entities: [e]\ntables:\n  e: {key: [id]}\n  a: {owned_by: [{via: [up], table: b}]}\n"
     "  b: {owned_by: [{via: [up], table: a}]}\n", 2, "owns itself through up", 5),
    (WITH_KEYS, "entities: [person]\ntables:\n  visit: {owned_by: [{via: [p], table: person}]}\n", 2,
     'refers to "person" through doc', 3),
    (WITH_KEYS, "entities: [person]\ntables:\n  visit: {owned_by: [{via: [p], table: person}], not_owned: [doc]}\n", 0, "", 0),
    (WITH_KEYS, "entities: [person]\ntables:\n  visit: {privacy: public}\n", 2, 'refers to "person" through p', 3),
    (WITH_KEYS, "entities: [person]\ntables:\n  visit: {privacy: public, owned_by: []}\n", 0, "", 0),
    ("CREATE TABLE p (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE); CREATE TABLE v (x TEXT);",
     "entities: [p]\ntables:\n  v: {owned_by: [{via: [x], table: p}]}\n", 2, "not clear", 3),
    ("CREATE TABLE p (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE); CREATE TABLE v (x TEXT);",
     "entities: [p]\ntables:\n  v: {owned_by: [{via: [x], table: p, key: [mail]}]}\n", 0, "", 0),
    ("CREATE TABLE p (a INTEGER, b INTEGER, PRIMARY KEY (b, a)); CREATE TABLE v (x INTEGER, y INTEGER);",
     "entities: [p]\ntables:\n  p: {key: [a, b]}\n  v: {owned_by: [{via: [x, y], table: p}]}\n", 2, "not clear", 4),
]

for schema, policy, status, words, line in CASES:
    write("s.sql", schema)
    write("p.yaml", policy)
    table = schema.split()[2]
    r = run("analyze", "--schema", "s.sql", "--policy", "p.yaml", "--format", "json", f"SELECT COUNT(*) FROM {table}")
    check(r.returncode == status, policy, f"exit {r.returncode} for {status}: {r.stdout[:300]}{r.stderr[:300]}")
    if not status or r.returncode != status:
        continue
    e = json.loads(r.stdout)["error"]
    check(words in e["message"], policy, e["message"])
    check(not line or e.get("line") == line, policy, f"line {e.get('line')} for {line}: {e['message']}")

# two ways to one entity are told apart by the columns where they part
write("s.sql", "CREATE TABLE person (id INTEGER PRIMARY KEY); CREATE TABLE ward (w INTEGER PRIMARY KEY);"
      "CREATE TABLE visit (v INTEGER PRIMARY KEY, p INTEGER REFERENCES person(id), doc INTEGER REFERENCES person(id), w INTEGER REFERENCES ward(w), x INTEGER);"
      "CREATE TABLE finding (f INTEGER PRIMARY KEY, v INTEGER REFERENCES visit(v));")
write("p.yaml", "entities: [person]\ntables:\n  ward: {privacy: public}\n  visit: {owned_by: [{via: [p], table: person}, {via: [doc], table: person}], not_owned: [w, x]}\n"
      "  finding: {owned_by: [{via: [v], table: visit}]}\n")
r = run("analyze", "--schema", "s.sql", "--policy", "p.yaml", "SELECT COUNT(*) FROM visit")
for words in ("visit: of one person through p and of one person through doc\n", "visit mentions a x; how often",
              "finding: of one person by visit through p and of one person by visit through doc\n",
              "at most k rows of visit for one person through p and k rows of visit for one person through doc would bound it by 2*k"):
    check(words in r.stdout, "ways", r.stdout + r.stderr)
check("ward is mentioned" not in r.stdout and "mentions a w;" not in r.stdout, "public rows need no protection", r.stdout)

# more than 16 paths: five levels of two edges each
levels = "".join(f"CREATE TABLE t{i} (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER);" for i in range(6))
write("s.sql", levels)
write("p.yaml", "entities: [t0]\ntables:\n  t0: {key: [id]}\n" + "".join(
    f"  t{i}: {{owned_by: [{{via: [x], table: t{i-1}}}, {{via: [y], table: t{i-1}}}]}}\n" for i in range(1, 6)))
r = run("analyze", "--schema", "s.sql", "--policy", "p.yaml", "SELECT COUNT(*) FROM t1")
check(r.returncode == 2 and "more than 16 ownership paths" in r.stderr, "limit of paths", r.stderr)

# a rule that makes up a table
write("s.sql", SHOP)
write("p.yaml", FINE)
r = run("analyze", "--schema", "s.sql", "--policy", "p.yaml", "Q(x) :- payments(x).")
check(r.returncode == 2 and "payments is private and belongs to nobody" in r.stderr, "made-up table", r.stderr)

# what policy init proposes is accepted once the owner has decided the rest
db = sqlite3.connect("d.db")
db.executescript("""
CREATE TABLE person (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES person(id));
CREATE TABLE account (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person(id));
CREATE TABLE payment (id INTEGER PRIMARY KEY, a INTEGER REFERENCES account(id), shop INTEGER REFERENCES shop(id));
CREATE TABLE shop (id INTEGER PRIMARY KEY);
""")
db.close()
r = run("policy", "init", "--db", "d.db", "--entities", "person")
text = r.stdout
for words in ("entities: [person]", "neighbours: add-drop-entity", "{via: [owner], table: person, key: [id]}", "{via: [a], table: account, key: [id]}",
              "not_owned: [boss]", "not_owned: [shop]", "# Belongs to nobody"):
    check(words in text, "policy init", words + "\n" + text + r.stderr)
write("q.yaml", text)
r = run("analyze", "--db", "d.db", "--policy", "q.yaml", "SELECT COUNT(*) FROM payment")
check(r.returncode == 2 and "shop is private and belongs to nobody" in r.stderr, "undecided", r.stderr)
write("q.yaml", text.replace("  shop:\n    privacy: private", "  shop:\n    privacy: public"))
r = run("analyze", "--db", "d.db", "--policy", "q.yaml", "SELECT COUNT(*) FROM payment")
check(r.returncode == 0, "decided", r.stderr)
r = run("policy", "init", "--db", "d.db", "--entities", "nobody")
check(r.returncode == 2, "unknown entity", r.stderr)
r = run("policy", "init", "--db", "d.db")
check("entities" not in r.stdout and "owned" not in r.stdout, "without entities", r.stdout)
sys.exit(1 if failed else 0)
