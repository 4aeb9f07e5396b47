#!/usr/bin/env python3
"""The owner sees which engine of the join solved which part; nobody else does.

Each engine is shown to be reached by a query made for it, so that a table of
engines with one that is never tried, or that passes everything on, fails."""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ["DPC_BUILD"], "dpcount")
TRIANGLE = "Q(x, y, z) :- e(x, y), e(y, z), e(z, x)."
ORDER = "Q(x, y, z, u) :- t(x, y, z), s(u, x), u < y."
CYCLE = "Q(x, y, z, w, u) :- t(x, y, z), t(y, z, w), t(w, x, u)."


def run(folder, *args):
    return subprocess.run([PROGRAM, args[0], "--db", folder, *args[1:]], capture_output=True, text=True)


def parts(folder, query):
    out = run(folder, "sensitivity", "--beta", "0.1", "--format", "json", query)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)["engines"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("e", "a,b\n1,2\n2,3\n3,1\n1,3\n"), ("s", "a,b\n1,2\n2,1\n"),
                           ("t", "a,b,c\n1,2,3\n2,3,3\n3,3,1\n")]:
            with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as f:
                f.write(text)
        found = {q: parts(folder, q) for q in (TRIANGLE, ORDER, CYCLE)}
        one = parts(folder, "SELECT COUNT(*) FROM e WHERE a = 1")
        assert one.get("scan", 0) == 1, one
        same = parts(folder, "SELECT COUNT(DISTINCT b) FROM e")  # 3 comes twice
        assert "scan" not in same, same
        assert set(found[TRIANGLE]) == {"messages"}, found
        assert found[ORDER].get("rows", 0) > 0 and "backtracking" not in found[ORDER], found
        assert found[CYCLE].get("backtracking", 0) > 0, found
        text = run(folder, "explain", "--owner", "--epsilon", "1", TRIANGLE).stdout
        assert "solved by             messages (" in text, text
        for command in ("analyze", "quote", "explain"):
            out = run(folder, command, *([] if command == "analyze" else ["--epsilon", "1"]), TRIANGLE)
            assert out.returncode == 0 and "messages (" not in out.stdout, out
    print("scan, messages, rows and backtracking are reached")


sys.exit(main())
