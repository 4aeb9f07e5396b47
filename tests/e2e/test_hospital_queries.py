#!/usr/bin/env python3
"""The paper's examples on the hospital database, through the program: the
sensitivity that the paper (with its errata) gives, the count that SQLite gives
from each form of the data, and a release that the ledger has paid for.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
MADE = os.path.join(os.environ["DPC_BUILD"], "examples")
EXAMPLE = os.path.join(os.environ["DPC_SOURCE"], "examples", "hospital")
COLUMNS = {"hos": "id,loc", "pat": "id,sex,hos", "doc": "id,specialty,hos", "patdoc": "pat,doc", "visit": "id,pat,day,ward"}

# example: (policy, data, global sensitivity)
EXAMPLES = {
    "02": ("policy-example02.yaml", "hospital", "inf"),
    "03": ("policy.yaml", "hospital", "inf"),
    "13": ("policy-example13.yaml", "hospital-one", 1),
    "16": ("policy.yaml", "hospital", 3),
}
# Other queries over the same tables; only their counts are compared.
COUNTS = [
    "SELECT COUNT(*) FROM pat",
    "SELECT COUNT(DISTINCT loc) FROM hos",
    "SELECT COUNT(*) FROM pat JOIN hos ON pat.hos = hos.id WHERE hos.loc = 'Ohio'",
    "SELECT COUNT(*) FROM patdoc a, patdoc b WHERE a.pat = b.pat AND a.doc <> b.doc",
    "SELECT COUNT(DISTINCT a.doc) FROM patdoc a JOIN patdoc b ON a.pat = b.pat AND a.doc < b.doc",
    "SELECT COUNT(*) FROM pat, doc WHERE pat.hos = doc.hos AND doc.specialty = 'O'",
]


def ask(*args, fails=False):
    p = subprocess.run([DPCOUNT, *args, "--format", "json"], capture_output=True, timeout=120)
    if p.returncode and not fails:
        raise AssertionError(f"{args}: exit status {p.returncode}: {p.stdout.decode()} {p.stderr.decode()}")
    return json.loads(p.stdout)


def sqlite_says(data, query):
    with sqlite3.connect(f"file:{MADE}/{data}.db?mode=ro", uri=True) as db:
        return db.execute(query).fetchone()[0]


def sources(data):
    folder = os.path.join(MADE, data)
    yield ["--db", folder + ".db"]
    yield ["--db", "sqlite:" + folder + ".db"]
    # CSV files carry no keys, so the schema file adds them.
    schema = ["--schema", os.path.join(EXAMPLE, "schema.sql")]
    yield ["--db", folder, *schema]
    tables = []
    for name, columns in COLUMNS.items():
        tables += ["--table", f"{name}({columns})={folder}/{name}.csv"]
    yield [*tables, *schema]


def check_example(name, ledger):
    policy, data, bound = EXAMPLES[name]
    query = os.path.join(EXAMPLE, "queries", f"example{name}.sql")
    policy = ["--policy", os.path.join(EXAMPLE, policy), "--query-file", query]
    schema = ["--schema", os.path.join(EXAMPLE, "schema.sql")]
    analysis = ask("analyze", *schema, *policy)
    found = analysis["global_sensitivity"]["upper"]
    assert found == bound, f"example {name}: global sensitivity {found}, not {bound}"
    with open(query, encoding="utf-8") as f:
        want = sqlite_says(data, f.read())
    for source in sources(data):
        got = ask("count", *source, *policy)["count"]
        assert got == want, f"example {name}, {source}: {got}, not {want}"
    answer = ask("release", "--db", f"{MADE}/{data}.db", *policy, "--ledger", ledger, "--epsilon", "1")
    assert isinstance(answer["answer"], int)
    assert answer["epsilon"] == 1 and answer["delta"] == 0
    kind = "smooth-laplace" if bound == "inf" else "discrete-laplace"
    assert answer["mechanism"] == kind, f"example {name}: {answer['mechanism']}, not {kind}"
    # P(|noise| > 40 * 3) < e^-40 for the Laplace ones.
    if bound != "inf":
        assert abs(answer["answer"] - want) <= 40 * bound, f"example {name}: far off"
    return answer["receipt"]


def check_people(ledger):
    """People are protected, not rows: whose results, and answers that are exact enough at a large price."""
    policy = ["--policy", os.path.join(EXAMPLE, "policy-people.yaml")]
    data = ["--db", f"{MADE}/hospital.db", *policy]
    owners = {"visits": 1, "visits-by-state": 1, "treatments": 2}
    for name, k in owners.items():
        query = ["--query-file", os.path.join(EXAMPLE, "queries", name + ".sql")]
        quote = ask("quote", *data, *query, "--epsilon", "1")
        assert quote["entity"]["owners"] == k and "one doc or one pat, with all rows" in quote["guarantee"], quote
        answer = ask("release", *data, *query, "--ledger", ledger, "--epsilon", "100")
        assert answer["mechanism"] == "election" and answer["cut"] is True, answer
        with open(query[1], encoding="utf-8") as f:
            with sqlite3.connect(f"file:{MADE}/hospital.db?mode=ro", uri=True) as db:
                want = db.execute(f.read()).fetchall()
        got = [g["answer"] for g in answer["groups"]] if k == 1 and "groups" in answer else [answer["answer"]]
        t = max(g["threshold"] for g in answer["groups"]) if "groups" in answer else answer["threshold"]
        for n, w in zip(got, sorted(want)): # 25 scales of the noise, and a little that is cut
            assert abs(n - w[-1]) < 1 + 25 * t / 60 + w[-1] / 10, f"{name}: {n}, not about {w}"


def main():
    if not os.path.exists(DPCOUNT):
        print("skipped: the program is not built")
        return 77
    for query in COUNTS:
        want = sqlite_says("hospital", query)
        for source in sources("hospital"):
            got = ask("count", *source, query)["count"]
            assert got == want, f"{query}, {source}: {got}, not {want}"
    with tempfile.TemporaryDirectory() as d:
        receipts = []
        for name in EXAMPLES: # their policies differ in what is private: a ledger for each
            ledger = os.path.join(d, "ledger" + name)
            ask("budget", "init", "--ledger", ledger, "--epsilon", "10")
            receipts.append(check_example(name, ledger))
            shown = json.dumps(ask("budget", "show", "--ledger", ledger))
            assert '"spent": 1,' in shown, f"after a release at epsilon 1: {shown}"
        ledger = os.path.join(d, "people")
        ask("budget", "init", "--ledger", ledger, "--epsilon", "1000")
        check_people(ledger)
        assert len(set(receipts)) == len(EXAMPLES), "a receipt was given twice"
    print("the examples hold")
    return 0


sys.exit(main())
