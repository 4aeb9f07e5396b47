#!/usr/bin/env python3
"""GROUP BY over keys that are found in private rows: what is asked for, what
is refused, what is charged, what is kept in the ledger, and that a key which
would name somebody stays hidden."""
import json
import math
import os
import random
import sqlite3
import tempfile

from outside import ask as run, check, end, write

SOURCE = os.environ["DPC_SOURCE"]

# a private file has columns that are declared
DATA = ["--db", "data", "--policy", "columns.yaml"]



def release(*args, epsilon="1", delta="1e-6", ledger="l", db="data"):
    more = ["--delta", delta] if delta else []
    return run("release", "--format", "json", "--ledger", ledger, "--epsilon", epsilon, *more, *(DATA if db == "data" else ["--db", db]), *args)


def quote(*args, epsilon="1", delta="1e-6"):
    return run("quote", "--format", "json", "--epsilon", epsilon, "--delta", delta, *DATA, *args)


def balance(ledger="l"):
    b = run("budget", "show", "--format", "json", "--ledger", ledger)[1]
    return b["spent"], b["delta_spent"]


def keys(answer):
    return [tuple(g["key"]) for g in answer.get("groups", [])]


def threshold(mass, scale, most):
    """One key with the whole mass, or as many as there may be, for epsilon 1 and delta 1e-6."""
    q = math.exp(-1 / scale)
    hidden = lambda m, t: ((m - 1) * math.log1p(-q ** (t - 1) / (1 + q)) +
                           math.log1p(-q ** (t - mass + m - 1) / (1 + q)))
    return next(t for t in range(mass + 1, 9999) if min(hidden(1, t), hidden(most, t)) >= math.log1p(-1e-6))


folder = tempfile.TemporaryDirectory(prefix="dpc-keys-")
os.chdir(folder.name)
TOWNS = {"Oslo": 300, "Bergen": 200, 'a "]",[ b': 100, "error": 150, "it's": 120}
rows = [(t, "FM"[i % 2]) for t, n in TOWNS.items() for i in range(n)]
rows += [("", "F")] * 250 + [(f"only-{i}", "F") for i in range(60)] + [("Åsgård", "M")] * 180
random.Random(1).shuffle(rows)
quoted = lambda s: '"' + s.replace('"', '""') + '"' if s else ""
write("columns.yaml", "tables: {pat: {columns: [id, town, sex]}, visit: {columns: [pat, day]}, town: {columns: [name]}}\n")
write("data/pat.csv", "id,town,sex\n" + "".join(f"{i},{quoted(t)},{s}\n" for i, (t, s) in enumerate(rows)))
write("data/visit.csv", "pat,day\n" + "".join(f"{i % len(rows)},{i}\n" for i in range(2 * len(rows))))
write("data/town.csv", "name\nOslo\nBergen\n")
run("budget", "init", "--ledger", "l", "--epsilon", "100", "--delta", "1e-4")
TOWN = "SELECT town, COUNT(*) FROM pat GROUP BY town"
SHOWN = [(None,), ('a "]",[ b',), ("Bergen",), ("error",), ("it's",), ("Oslo",), ("Åsgård",)]
SHOWN = [SHOWN[0]] + sorted(SHOWN[1:], key=lambda k: k[0].encode())

# without a delta: refused with the fix, nothing charged
status, a = release(TOWN, delta=None)
check("no delta", status == 3 and "--delta" in a["error"]["hint"] and "--groups" in a["error"]["hint"], str(a))
check("delta 0", release(TOWN, delta="0")[0] == 3)
check("nothing spent", balance() == (0, 0), str(balance()))

# with one: large groups with their keys, NULL among them, sorted; rare ones never
status, a = release(TOWN)
check("answered", status == 0, str(a))
check("keys", keys(a) == SHOWN, str(keys(a)))
check("near", all(abs(g["answer"] - {None: 250, "Åsgård": 180, **TOWNS}[g["key"][0]]) < 30 for g in a["groups"]))
check("fields", a["threshold"] == 15 and a["epsilon"] == 1 and a["delta"] == 1e-6 and
      a["mechanism"] == "discrete-laplace" and a["calibration"] == "global" and a["error"]["basis"] == "public", str(a))
check("guarantee", "except with probability 0.000001" in a["guarantee"], a["guarantee"])
check("nothing of the hidden", "only-" not in json.dumps(a) and "60" not in json.dumps(a["reason"]))
check("charged once", balance() == (1, 1e-6), str(balance()))

# repeated: same keys and numbers for free, in the history too
again = release(TOWN)[1]
check("repeat", again["repeated"] and again["groups"] == a["groups"] and balance() == (1, 1e-6), str(again))
history = run("budget", "history", "--format", "json", "--ledger", "l")[1]["history"]
check("history", [tuple(k) for k in history[0]["answer"]["keys"]] == SHOWN and
      history[0]["answer"]["answers"] == [g["answer"] for g in a["groups"]] and history[0]["delta"] == "0.000001")
check("fresh pays", not release("--fresh", TOWN)[1]["repeated"] and balance() == (2, 2e-6))
check("other delta pays", not release(TOWN, delta="2e-6")[1]["repeated"] and balance() == (3, 4e-6))
text = run("release", "--format", "text", "--ledger", "l", "--epsilon", "1", "--delta", "1e-6", *DATA, TOWN)[1]
check("text", "\nOslo  " in text and "; delta 0.000004 of 0.0001, 0.000096 remains" in text and "at least 15" in text and "asked before" in text, text)
gone = release("SELECT id, COUNT(*) FROM pat GROUP BY id")[1]
check("no key passes", gone["groups"] == [], str(gone))
check("no key, repeated", release("SELECT id, COUNT(*) FROM pat GROUP BY id")[1]["groups"] == [])

# options in SQL; columns that were declared restrict, those of public tables join
sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) town, COUNT(*) FROM pat GROUP BY town"
status, a = run("release", "--format", "json", "--ledger", "l", *DATA, sql)
check("options in SQL", status == 0 and a["delta"] == 1e-6 and keys(a) == SHOWN, str(a))
a = release("--groups", "sex=F", "SELECT town, sex, COUNT(*) FROM pat GROUP BY town, sex")[1]
check("declared part", ("Oslo", "F") in keys(a) and all(k[1] == "F" for k in keys(a)), str(a))
both = release("--groups", "sex=F,M", "SELECT town, sex, COUNT(*) FROM pat GROUP BY town, sex")[1]
check("two values", not both["repeated"] and {k[1] for k in keys(both)} == {"F", "M"}, str(both))
b = release("--groups", "town=F", "SELECT town, sex, COUNT(*) FROM pat GROUP BY town, sex")[1]
check("the same list of another column is another question", not b["repeated"] and keys(b) == [], str(b))
run("budget", "init", "--ledger", "public", "--epsilon", "100", "--delta", "1e-4")
a = release("--public", "town", "--constraint", "town: name -> *", ledger="public", *[
            "SELECT t.name, p.sex, COUNT(*) FROM pat p JOIN town t ON t.name = p.town GROUP BY 1, 2"])[1]
check("public part", set(keys(a)) == {(t, s) for t in ("Oslo", "Bergen") for s in "FM"}, str(a))
a = release("SELECT upper(town), COUNT(*) FROM pat WHERE sex = 'M' GROUP BY upper(town)")[1]
check("computed", ("OSLO",) in keys(a) and a["threshold"] == 15, str(a))
a = release("Q(t; i) :- pat(i, t, _).")[1]
check("rule", ("Oslo",) in keys(a), str(a))
a = release("--groups", "Oslo,Rome", TOWN)[1]
check("declared keys: no threshold, no delta", "threshold" not in a and a["delta"] == 0 and len(a["groups"]) == 2, str(a))

# the threshold grows with what a row can do
K = ["--constraint", "pat: id -> *", "--constraint", "visit: (pat, day) -> *", "--constraint", "visit: pat -> day <= 3"]
JOIN = "SELECT p.town, COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id GROUP BY p.town"
q = quote(*K, JOIN)[1]
check("quote", q["threshold"] == threshold(3, 3, 1) and q["delta"] == 1e-6 and q["groups"] is None and q["error"]["p95"] > 0, str(q))
a = release(*K, JOIN)[1]
check("join", ("Oslo",) in keys(a) and a["threshold"] == q["threshold"], str(a))
twice = quote("--neighbours", "change-one", TOWN)[1]
check("change-one", twice["threshold"] == threshold(1, 2, 1), str(twice))
order = quote("--order", "4", TOWN)[1]
check("order", order["threshold"] == threshold(4, 4, 4), str(order))

# refusals, uncharged
before = balance()
for name, args, status, word in (
        ("unbounded", [JOIN], 3, "limit"),
        ("smooth", ["--mechanism", "smooth-laplace", TOWN], 3, "--mechanism"),
        ("gaussian", ["--mechanism", "discrete-gaussian", TOWN], 3, "--mechanism"),
        ("no such", ["--mechanism", "magic", TOWN], 3, "--mechanism")):
    s, a = release(*args)
    check(name, s == status and word in json.dumps(a["error"]), f"{s} {a}")
    s, b = quote(*args)
    check(name + ", quote", s == status and a == b, f"{s} {b}")
s, a = run("release", "--format", "json", "--ledger", "l", "--rho", "0.1", "--delta", "1e-6", *DATA, TOWN)
check("zcdp", s == 3 and "--epsilon" in a["error"]["hint"], str(a))
check("laplace by name", release("--mechanism", "discrete-laplace", TOWN)[1].get("repeated") is True)
check("too much", release(TOWN, delta="0.6")[0] == 2)
check("uncharged", balance() == before, f"{before} {balance()}")

# the ledger decides: a budget without delta, one that runs out, a zCDP one
run("budget", "init", "--ledger", "pure", "--epsilon", "10")
s, a = release(TOWN, ledger="pure")
check("no delta in the budget", s == 4 and "delta" in a["error"]["detail"] and balance("pure") == (0, 0), str(a))
run("budget", "init", "--ledger", "small", "--epsilon", "10", "--delta", "1.5e-6")
check("delta suffices once", release(TOWN, ledger="small")[0] == 0)
check("and not twice", release("--fresh", TOWN, ledger="small")[0] == 4 and balance("small") == (1, 1e-6))
run("budget", "init", "--ledger", "z", "--epsilon", "20", "--delta", "1e-5", "--composition", "zcdp")
s, a = release(TOWN, ledger="z")
check("zcdp ledger", s == 0 and abs(a["budget"]["delta_spent"] - 6e-6) < 1e-12, str(a))
run("budget", "grant", "--ledger", "l", "--analyst", "bob", "--epsilon", "5")
check("cap without delta", release("--analyst", "bob", TOWN)[0] == 4)

# what the ledger counts; several counts at once
shown = run("budget", "show", "--format", "json", "--ledger", "small")[1]
check("committed", shown["committed"] == 1 and shown["held"] == 0, str(shown))
for words in ("", "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) "):
    s, a = run("count", "--format", "json", *DATA, f"SELECT {words}town, COUNT(*) FROM pat GROUP BY town")
    check("the owner counts all keys", s == 0 and len(a["groups"]) == 7 + 60 and
          sum(g["count"] for g in a["groups"]) == len(rows), str(a)[:300])
two = "SELECT COUNT(*), COUNT(DISTINCT town) FROM pat"
for command in ("sensitivity", "explain"):
    s, a = run(command, "--format", "json", *DATA, two)
    check(command + ", two counts", s == 0 and len(a["counts"]) == 2, str(a))
s, a = run("explain", "--dot", "--format", "json", *DATA, two)
check("no picture of two", s == 3 and "2 counts" in a["error"]["message"], str(a))

# a hostile analyst: whether one person is in the data, by a key that only they have; everything but the paid
# numbers must be the same, and no key of one row must appear (probability 1e-9 each time, of 600 in some questions)
base = "".join(f"{i},{'AB'[i % 2]},{i % 3}\n" for i in range(600))
SECRETS = ["x1,VICTIM,0\n", "x1,,0\n", 'x1,"it\'s, ""]"" \\u0000",0\n', "x1,7.50,0\n", "x1,A,1e999\n", "x1,A,-0\n"]
ASK = ["SELECT town, COUNT(*) FROM pat GROUP BY town", "SELECT sex, COUNT(*) FROM pat GROUP BY sex",
       "SELECT id, town, sex, COUNT(*) FROM pat GROUP BY id, town, sex",
       "SELECT town || id, COUNT(*) FROM pat GROUP BY town || id",
       "SELECT a.town, COUNT(DISTINCT a.sex) FROM pat a GROUP BY a.town"]
write("h.yaml", "tables: {pat: {columns: [id, town, sex]}, t: {columns: [k]}}\n")
for n, row in enumerate([""] + SECRETS):
    write(f"h{n}/pat.csv", "id,town,sex\n" + base + row)
for question in ASK:
    seen = set()
    for n in range(len(SECRETS) + 1):
        run("budget", "init", "--ledger", f"h{n}/l", "--epsilon", "50", "--delta", "0.01")
        s, a = release("--policy", "h.yaml", question, delta="1e-9", ledger=f"h{n}/l", db=f"h{n}")
        check("hostile", "VICTIM" not in json.dumps(a), str(a))
        for g in a.get("groups", []):
            g["answer"] = 0
        for row in a.get("rows", []):
            row[-1] = 0
        a["receipt"] = a["as_of"] = a["head"] = "" # random, the time of the hold, salted
        seen.add((s, json.dumps(a)))
    check("hostile: same for all", len(seen) == 1, f"{question} {seen}")

# equal values have one form, whatever the other rows hold
for i, cells in enumerate((["7"] * 99, ["7.0"] * 99, ["7"] * 50 + ["7.00"] * 49 + ["x"], ["07"] * 99 + ["1.5"])):
    write(f"n{i}/t.csv", "k\n" + "".join(c + "\n" for c in cells))
    run("budget", "init", "--ledger", f"n{i}/l", "--epsilon", "9", "--delta", "1e-3")
    a = release("--policy", "h.yaml", "SELECT k, COUNT(*) FROM t GROUP BY k", ledger=f"n{i}/l", db=f"n{i}")[1]
    check("one form", keys(a) == [(7,)] and isinstance(a["groups"][0]["key"][0], int), f"{cells[0]} {a}")
db = sqlite3.connect("forms.db")
db.executescript("CREATE TABLE a(x REAL, d DATE); CREATE TABLE b(x NUMERIC, d TIMESTAMP); CREATE TABLE c(x INTEGER)")
db.executemany("INSERT INTO a VALUES (?, ?)", [(-0.0, "2020-01-01")] * 90)
db.executemany("INSERT INTO b VALUES (?, ?)", [("0", "2020-01-01 00:00:00")])
db.execute("INSERT INTO c VALUES (0)")
db.commit()
db.close()
for other in ("b", "c"):
    run("budget", "init", "--ledger", "forms" + other, "--epsilon", "100", "--delta", "1e-4")
    s, a = release("--public", other, "--constraint", f"|{other}| <= 1", f"SELECT a.x, COUNT(*) FROM a JOIN {other} ON {other}.x = a.x GROUP BY a.x",
                   "--delta", "1e-6", db="forms.db", delta=None, ledger="forms" + other)
    check("forms of zero", s == 0 and len(a["groups"]) == 1, str(a))

# at most 100000 keys in the order of the keys, texts up to 1024 bytes, and both are said
K = ["--policy", "k.yaml"]
write("k.yaml", "tables: {t: {columns: [k]}}\n")
write("many/t.csv", "k\n" + "".join(f"{i:06d}\n" * 2 for i in range(100050)))
run("budget", "init", "--ledger", "lm", "--epsilon", "100", "--delta", "0.5")
status, a = release(*K, "SELECT k, COUNT(*) FROM t GROUP BY k", epsilon="40", delta="0.1", ledger="lm", db="many")
check("many keys", status == 0 and a["keys_cut"] is True and keys(a) == [(i,) for i in range(100000)], str(a)[:300])
status, b = release(*K, "SELECT k, COUNT(*) FROM t GROUP BY k", epsilon="40", delta="0.1", ledger="lm", db="many")
check("and repeated", status == 0 and b["repeated"] and b["keys_cut"] is True and b["groups"] == a["groups"], str(b)[:300])
write("long/t.csv", "k\n" + ("x" * 1023 + "å" * 400 + "\n") * 100 + "short\n" * 100 + ("y" * 1024 + "\n") * 100)
status, a = release(*K, "SELECT k, COUNT(*) FROM t GROUP BY k", db="long", ledger="lm")
check("long keys", status == 0 and a["keys_cut"] is True and keys(a) == [("short",), ("x" * 1023,), ("y" * 1024,)], str(a)[:300])
write("k2.yaml", "tables: {t: {columns: {k: text}}}\n")
status, a = release("--policy", "k2.yaml", "SELECT k, COUNT(*) FROM t WHERE k < 'x' GROUP BY k", db="long", ledger="lm")
check("nothing cut", status == 0 and a["keys_cut"] is False and keys(a) == [("short",)], str(a)[:300])
end()
