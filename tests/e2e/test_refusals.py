#!/usr/bin/env python3
"""Bad input: one clear message, the right exit status, ledger and data as they
were. Every case runs twice, with text and with JSON output."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
FOLDER = tempfile.mkdtemp(prefix="dpc-bad-")
os.chdir(FOLDER)


def write(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as f:
        f.write(text)


write("csv/pat.csv", "id,sex,hos\n1,F,1\n2,M,1\n3,F,2\n")
write("csv/patdoc.csv", "pat,doc\n1,1\n1,2\n2,1\n")
write("broken/pat.csv", "id,sex,hos\n1,F,1\n2,M\n3,F,2\n")
write("twice/pat.csv", "id,sex,hos\n1,F,1\n1,M,1\n")
write("schema.sql", "CREATE TABLE pat(id integer PRIMARY KEY, sex text, hos integer);\n"
                    "CREATE TABLE patdoc(pat integer, doc integer);\n")
write("schema-bad.sql", "CREATE TABLE pat(id integer PRIMARY KEY, sex text\n")
write("policy-key.yaml", "neighbours: add-drop-one\ntables:\n  pat:\n    privcy: private\n")
write("policy-table.yaml", "tables:\n  nobody: {privacy: private}\n")
write("policy-type.yaml", "tables:\n  pat: {privacy: private, rows_at_most: many}\n")
write("policy-yaml.yaml", "tables: {pat: [\n")
write("text.ledger", "this is not a ledger at all\n")
subprocess.run([DPCOUNT, "budget", "init", "--ledger", "l", "--epsilon", "1"], check=True,
               capture_output=True)
os.symlink("l", "link.ledger")

COUNT = "SELECT COUNT(*) FROM pat"
write("columns.yaml", "tables: {pat: {columns: [id, sex, hos]}, patdoc: {columns: [pat, doc]}}\n")
RELEASE = ["release", "--db", "csv", "--policy", "columns.yaml", "--ledger", "l", "--epsilon", "0.1"]


def release(*changes, query=COUNT):
    """The release command with options replaced (or added)."""
    args = dict(zip(RELEASE[1::2], RELEASE[2::2]))
    for name, value in changes:
        if value is None:
            args.pop(name)
        else:
            args[name] = value
    return ["release"] + [x for pair in args.items() for x in pair] + [query]


# arguments, exit status, code, words that the message, detail or hint must have
CASES = [
    ([], 2, "usage", "no command"),
    (["frobnicate"], 2, "usage", "frobnicate"),
    (["budget"], 2, "usage", "second word"),
    (["release", "--frobnicate", "1"], 2, "usage", "--frobnicate"),
    (["analyze", "--ledger", "l", COUNT], 2, "usage", "ledger"),
    (["analyze", "--epsilon"], 2, "usage", "epsilon"),
    (["analyze", "--format", "xml", COUNT], 2, "usage", "xml"),
    (["analyze"], 2, "usage", "no query"),
    (["analyze", "Q(x) :- R(x).", "Q(x) :- R(x)."], 2, "usage", "more than one"),
    (["analyze", "--order", "0", "Q(x) :- R(x)."], 2, "bad-value", "order"),
    (["analyze", "--neighbours", "all", "Q(x) :- R(x)."], 2, "bad-value", "neighbours"),
    (["analyze", "--constraint", "R: 1 -> 2 <= 0", "Q(x,y) :- R(x,y)."], 2, None, ""),
    (["analyze", "--constraint", "nonsense", "Q(x,y) :- R(x,y)."], 2, None, ""),
    (["analyze", "Q(x) :- R(y)."], 2, None, "x"),
    (["analyze", "Q(x) :- R(x"], 2, "syntax", ""),
    (["analyze", "--schema", "schema.sql", "SELECT COUNT(* FROM pat"], 2, "syntax", ""),
    (["analyze", "--schema", "schema-bad.sql", COUNT], 2, None, ""),
    (["analyze", "--schema", "nowhere.sql", COUNT], 5, "source", "nowhere.sql"),
    (["analyze", "--query-file", "nowhere.txt"], 2, "usage", "nowhere.txt"),
    (["analyze", "--schema", "schema.sql", "SELECT SUM(id) FROM pat"], 3, "unsupported", ""),
    (["analyze", "--schema", "schema.sql", "--policy", "policy-key.yaml", COUNT], 2, "policy", "privcy"),
    (["analyze", "--schema", "schema.sql", "--policy", "policy-table.yaml", COUNT], 2, None, "nobody"),
    (["analyze", "--schema", "schema.sql", "--policy", "policy-type.yaml", COUNT], 2, None, ""),
    (["analyze", "--schema", "schema.sql", "--policy", "policy-yaml.yaml", COUNT], 2, None, ""),
    (["quote", "--schema", "schema.sql", COUNT], 2, "usage", "epsilon"),
    (["quote", "--schema", "schema.sql", "--epsilon", "1", "--mechanism", "magic", COUNT], 2, "bad-value", "magic"),
    (["quote", "--schema", "schema.sql", "--epsilon", "1", "--mechanism", "discrete-laplace",
      "SELECT COUNT(*) FROM pat, patdoc"], 3, "unbounded", "limit"),
    (["quote", "--schema", "schema.sql", "--epsilon", "1", "--error-budget", "2", "--mechanism", "smooth-laplace",
      "SELECT COUNT(*) FROM pat, patdoc"], 2, "bad-value", "error budget"),
    (["quote", "--schema", "schema.sql", "--epsilon", "1", "SELECT sex, COUNT(*) FROM pat GROUP BY sex"],
     3, "unsupported", "--groups"),
    (release(query="SELECT COUNT(*) FROM nobody"), 2, "unknown-name", "nobody"),
    (release(query="SELECT COUNT(*) FROM pat WHERE agee = 1"), 2, "unknown-name", "agee"),
    (release(query="SELECT COUNT(*) FROM pat a, pat b WHERE id = 1"), 2, "unknown-name", "ambiguous"),
    (release(query="DELETE FROM pat"), 3, "unsupported", ""),
    (release(query=" "), 2, "usage", "no query"),
    (release(("--epsilon", "0")), 2, "bad-value", "greater than zero"),
    (release(("--epsilon", "-1")), 2, "bad-value", ""),
    (release(("--epsilon", "nan")), 2, "bad-value", ""),
    (release(("--epsilon", "inf")), 2, "bad-value", ""),
    (release(("--epsilon", "")), 2, "bad-value", ""),
    (release(("--epsilon", "1e999999")), 2, "bad-value", ""),
    (release(("--epsilon", "0.1000000000000000000000000000000001")), 2, "bad-value", "digits"),
    (release(("--epsilon", "1e9")), 2, "bad-value", "at most"),
    (release(("--epsilon", None)), 2, "usage", "epsilon"),
    (release(("--delta", "2")), 2, "bad-value", "delta"),
    (release(("--rho", "1")), 2, "usage", "not both"),
    (release(("--ledger", None)), 2, "usage", "ledger"),
    (release(("--ledger", "nowhere")), 2, "ledger", "nowhere"),
    (release(("--ledger", "text.ledger")), 2, "ledger", "not a ledger"),
    (release(("--ledger", "link.ledger")), 2, "ledger", "symbolic link"),
    (release(("--dataset", "other")), 2, "unknown-name", "other"),
    (release(("--epsilon", "1.5")), 4, "budget", "remaining epsilon 1"),
    (release(("--db", None)), 2, "usage", "source"),
    (release(("--db", "nowhere.db")), 5, "source", "nowhere"),
    (release(("--db", "broken")), 5, "data", "malformed"),
    (release(("--table", "x(a,b)")), 2, None, ""),
    (release(("--threads", "none")), 2, "bad-value", "threads"),
    (release(("--memory", "lots")), 2, "bad-value", "memory"),
    (release(("--deadline", "-1")), 2, "bad-value", "deadline"),
    (release(("--groups", "x"), ("--memory", "0")), 2, "bad-value", "memory"),
    (["count", "--db", "broken", COUNT], 5, "data", ":3"),
    (["count", "--db", "csv", "SELECT COUNT(*) FROM pat WHERE"], 2, "syntax", ""),
    (["budget", "init", "--ledger", "l", "--epsilon", "1"], 2, "ledger", "exists"),
    (["budget", "init", "--ledger", "new", "--epsilon", "0"], 2, "bad-value", ""),
    (["budget", "init", "--ledger", "new"], 2, "usage", "epsilon"),
    (["budget", "init", "--ledger", "no/where/l", "--epsilon", "1"], 2, "ledger", "folder"),
    (["budget", "init", "--ledger", "new", "--epsilon", "1", "--composition", "zcdp"], 2, "usage", "--delta"),
    (["budget", "show", "--ledger", "text.ledger"], 2, "ledger", "not a ledger"),
    (["budget", "show", "--ledger", "l", "--dataset", "x"], 2, "unknown-name", "x"),
    (["check", "--db", "twice", "--constraint", "pat: id -> *"], 5, None, "does not hold"),
]


def fingerprint():
    out = []
    for folder, _, names in sorted(os.walk(".")):
        for name in sorted(names):
            if name.endswith(("-shm", "-wal", ".key")):
                continue
            path = os.path.join(folder, name)
            out.append((path, hashlib.sha256(open(path, "rb").read()).hexdigest()))
    return out


def run(args):
    return subprocess.run([DPCOUNT] + args, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def spent():
    r = run(["budget", "show", "--ledger", "l", "--format", "json"])
    return json.loads(r.stdout)["spent"]


problems = []
before = fingerprint()
for args, status, code, words in CASES:
    show = " ".join(args)
    text = run(args)
    said = text.stderr + (text.stdout if args[:1] == ["check"] else "")
    if text.returncode != status:
        problems.append(f"{show}\n  exit {text.returncode}, not {status}: {text.stderr.strip()[:200]}")
    if words not in said:
        problems.append(f"{show}\n  does not say {words!r}: {said.strip()[:300]}")
    if args[:1] != ["check"] and text.stdout:
        problems.append(f"{show}\n  an error prints on standard output: {text.stdout[:100]}")
    if args and "--format" not in args:
        j = run(args[:1] + (args[1:2] if args[0] in ("budget", "policy") else []) + ["--format", "json"]
                + args[(2 if args[0] in ("budget", "policy") else 1):])
        try:
            found = json.loads(j.stdout)
        except ValueError:
            problems.append(f"{show}\n  no JSON: {j.stdout[:100]!r} {j.stderr[:200]!r}")
            continue
        if j.returncode != status:
            problems.append(f"{show}\n  JSON: exit {j.returncode}, not {status}")
        if args[:1] != ["check"]:
            e = found.get("error", {})
            if set(e) < {"code", "message", "detail", "hint", "position"}:
                problems.append(f"{show}\n  JSON: {sorted(e)}")
            if code and e.get("code") != code:
                problems.append(f"{show}\n  code {e.get('code')}, not {code}")
            if e.get("message", "X")[:1].isupper() or e.get("message", "").endswith("."):
                problems.append(f"{show}\n  style: {e.get('message')}")
if fingerprint() != before:
    changed = {a for a in fingerprint()} ^ {b for b in before}
    problems.append(f"files changed: {sorted({c[0] for c in changed})}")
if spent() != 0:
    problems.append(f"the ledger was charged: {spent()}")

# A release that is right works, and says all that the contract wants.
r = run(["release", "--format", "json"] + release()[1:])
a = json.loads(r.stdout) if r.returncode == 0 else {}
for key in ("answer", "epsilon", "delta", "mechanism", "calibration", "neighbours", "error", "budget", "receipt"):
    if key not in a:
        problems.append(f"release lacks {key}: {r.stdout} {r.stderr}")
if spent() != 0.1:
    problems.append(f"spent {spent()}, not 0.1")

for p in problems:
    print(p)
print(f"{len(CASES)} cases, {len(problems)} problems")
subprocess.run(["rm", "-rf", FOLDER], check=False)
sys.exit(bool(problems))
