#!/usr/bin/env python3
"""What bad input gets: one clear message, the right exit status, and the
ledger and the data as they were.

Each case is a command line, the exit status and the code that it must give,
and a pattern for the message. Run in text and in JSON form.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
MADE = os.path.join(os.environ["DPC_BUILD"], "examples")
EXAMPLE = os.path.join(os.environ["DPC_SOURCE"], "examples", "hospital")
DB = ["--db", os.path.join(MADE, "hospital.db")]
POLICY = ["--policy", os.path.join(EXAMPLE, "policy.yaml")]
SCHEMA = ["--schema", os.path.join(EXAMPLE, "schema.sql")]
GOOD = "SELECT COUNT(*) FROM pat"


def run(args):
    return subprocess.run([DPCOUNT] + args, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def cases(d):
    """(name, arguments, exit status, code, what the message must tell)"""
    ledger = ["--ledger", os.path.join(d, "ledger")]

    def release(*more, query=GOOD, source=DB, policy=POLICY, book=ledger):
        return ["release", *source, *policy, *book, *more, query]

    broken = os.path.join(d, "broken")
    os.mkdir(broken)
    write(broken, "t.csv", "a,b\n1,2\n3,4,5\n")
    quote = write(d, "quote.csv", "a,b\n1,\"2\n")
    bad_policy = write(d, "bad.yaml", "tables:\n  pat: {privacy: private}\n  doc: {privacee: public}\n")
    bad_word = write(d, "word.yaml", "tables:\n  pat: {privacy: secret}\n")
    bad_table = write(d, "table.yaml", "tables:\n  patients: {privacy: private}\n")
    bad_yaml = write(d, "syntax.yaml", "tables: [\n")
    not_ledger = write(d, "not-a-ledger", "hello\n")
    eps = ["--epsilon", "1"]
    yield "unknown table", release(*eps, query="SELECT COUNT(*) FROM nobody"), 2, "unknown-name", "nobody"
    yield "unknown column", release(*eps, query="SELECT COUNT(*) FROM pat WHERE age > 3"), 2, "unknown-name", "age"
    yield "ambiguous column", release(*eps, query="SELECT COUNT(*) FROM pat, doc WHERE id = 3"), 2, "unknown-name", "id.*ambiguous|ambiguous.*id"
    yield "syntax error", release(*eps, query="SELECT COUNT(* FROM pat"), 2, "syntax", "syntax"
    yield "empty query", release(*eps, query=""), 2, None, "."
    yield "bad rule", release(*eps, query="Q(x) :- pat(x,"), 2, "syntax", "."
    yield "database is missing", release(*eps, source=["--db", os.path.join(d, "no.db")]), 5, "source", "no.db"
    yield "database is no database", release(*eps, source=["--db", "sqlite:" + not_ledger]), 5, "source", "."
    yield "file is missing", ["count", "--table", "t(a,b)=" + os.path.join(d, "no.csv"), "SELECT COUNT(*) FROM t"], 5, "source", "no.csv"
    yield "folder is missing", ["count", "--db", os.path.join(d, "no-folder"), GOOD], 5, "source", "no-folder"
    yield "CSV line with too many fields", ["count", "--db", broken, "SELECT COUNT(*) FROM t"], 5, "data", "line 3|:3"
    yield "CSV quote without end", ["count", "--table", "t(a,b)=" + quote, "SELECT COUNT(*) FROM t"], 5, "data", "line 2|:2"
    yield "unknown policy key", release(*eps, policy=["--policy", bad_policy]), 2, "policy", r"bad.yaml:3:\d|line 3.*column"
    yield "wrong policy word", release(*eps, policy=["--policy", bad_word]), 2, "policy", r"word.yaml:2:\d|line 2.*column"
    yield "unknown table in policy", release(*eps, policy=["--policy", bad_table]), 2, None, "patients"
    yield "policy is no YAML", release(*eps, policy=["--policy", bad_yaml]), 2, "syntax", "syntax.yaml"
    yield "policy is missing", release(*eps, policy=["--policy", os.path.join(d, "no.yaml")]), None, None, "no.yaml"
    for value in ("0", "-1", "nan", "inf", "abc", "", "1e", "0x1", "1,5", "1 ", "--1",
                  "0.0", "-0.5", "1e999999999", "1e-999999999", "0." + "0" * 5000 + "1", "9" * 5000):
        yield f"epsilon {value[:20]!r}", release("--epsilon=" + value), 2, None, "epsilon"
    for value in ("-1", "1", "2", "nan", "x"):
        yield f"delta {value!r}", release(*eps, "--delta=" + value), 2, None, "delta"
    yield "no epsilon", release(), 2, None, "epsilon"
    yield "ledger is missing", release(*eps, book=["--ledger", os.path.join(d, "no-ledger")]), 2, "ledger", "ledger"
    yield "ledger is none", release(*eps, book=["--ledger", not_ledger]), 2, "ledger", "ledger"
    yield "no ledger named", release(*eps, book=[]), 2, None, "ledger"
    yield "over budget", release("--epsilon", "10.5"), 4, "budget", "10"
    yield "unknown command", ["frobnicate"], 2, "usage", "frobnicate"
    yield "unknown option", ["analyze", "--frobnicate", GOOD], 2, "usage", "frobnicate"
    yield "option without value", ["analyze", GOOD, "--schema"], 2, "usage", "schema"
    yield "no command", [], 2, "usage", "."
    yield "no query", ["analyze", *SCHEMA], 2, "usage", "query"
    yield "two queries", ["analyze", *SCHEMA, GOOD, GOOD], 2, "usage", "."
    yield "bad constraint", ["analyze", *SCHEMA, "--constraint", "pat id", GOOD], 2, None, "."
    yield "constraint on unknown column", ["analyze", *SCHEMA, "--constraint", "pat: id -> age", GOOD], 2, None, "age"
    yield "bad neighbours", ["analyze", *SCHEMA, "--neighbours", "few", GOOD], 2, None, "few|neighbours"
    yield "bad order", ["analyze", *SCHEMA, "--order", "0", GOOD], 2, None, "order"
    yield "maximum", ["analyze", *SCHEMA, "SELECT MAX(pat.hos) FROM pat JOIN doc ON pat.hos = doc.hos"], 3, "unsupported", "."
    yield "not a count", ["analyze", *SCHEMA, "SELECT SUM(id) FROM pat"], 3, "unsupported", "."
    yield "data-modifying", ["analyze", *SCHEMA, "DELETE FROM pat"], 3, "unsupported", "."
    yield "a second ledger in one place", ["budget", "init", *ledger, "--epsilon", "5"], 2, None, "exist|already|ledger"
    yield "grant nothing", ["budget", "grant", *ledger, "--epsilon", "-5"], 2, None, "epsilon"


def fingerprint(d):
    """Contents of the data and the state of the ledger."""
    state = {}
    for path in (os.path.join(MADE, "hospital.db"), os.path.join(d, "not-a-ledger")):
        with open(path, "rb") as f:
            state[path] = hashlib.sha256(f.read()).hexdigest()
    shown = run(["budget", "show", "--ledger", os.path.join(d, "ledger"), "--format", "json"])
    state["ledger"] = shown.stdout
    state["history"] = run(["budget", "history", "--ledger", os.path.join(d, "ledger"),
                            "--format", "json"]).stdout
    return state


def check(name, args, status, code, pattern):
    out = []
    words = 2 if args[:1] == ["budget"] else 1 if args else 0
    text, as_json = (run(args[:words] + ["--format", form] + args[words:])
                     for form in ("text", "json"))
    wanted = (status,) if status is not None else (2, 5)
    for form, p in (("text", text), ("json", as_json)):
        if p.returncode not in wanted:
            out.append(f"{name} ({form}): exit status {p.returncode}, not {status}: "
                       f"{(p.stderr or p.stdout).decode(errors='replace')[:300]}")
    told = text.stderr.decode(errors="replace")
    if not re.search(pattern, told, re.I):
        out.append(f"{name}: the message does not tell {pattern!r}: {told[:300]!r}")
    if text.stdout:
        out.append(f"{name}: text form wrote to standard output: {text.stdout[:200]!r}")
    try:
        error = json.loads(as_json.stdout)["error"]
        if code is not None and error["code"] != code:
            out.append(f"{name}: code {error['code']!r}, not {code!r}")
        if not error["message"] or error["message"].endswith(".") or "\n" in error["message"]:
            out.append(f"{name}: message style: {error['message']!r}")
    except (ValueError, KeyError, TypeError):
        out.append(f"{name}: no JSON error object: {as_json.stdout[:200]!r}")
    return out


def main():
    if not os.path.exists(DPCOUNT):
        print("skipped: the program is not built")
        return 77
    with tempfile.TemporaryDirectory() as d:
        made = run(["budget", "init", "--ledger", os.path.join(d, "ledger"), "--epsilon", "10"])
        if made.returncode:
            print(made.stderr.decode())
            return 1
        all_cases = list(cases(d))
        before = fingerprint(d)
        bad = []
        for case in all_cases:
            bad += check(*case)
        if fingerprint(d) != before:
            bad.append("the ledger or the data changed")
        left = sorted(set(os.listdir(d)) - {"ledger", "ledger-wal", "ledger-shm"})
        print("\n".join(bad) or f"{len(all_cases)} cases, left in the folder: {left}")
        return 1 if bad else 0


sys.exit(main())
