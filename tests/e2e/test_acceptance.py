#!/usr/bin/env python3
"""Golden numbers through the command line: static bounds (cases in the folder
$DPC_CASES) and counts and sensitivities of graphs (folder $DPC_DATA). What is
not there is skipped with a message."""
import json
import math
import os
import subprocess
import sys
from itertools import combinations

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
problems, done = [], 0


def ask(*args):
    r = subprocess.run([DPCOUNT, args[0], "--format", "json", *args[1:]], capture_output=True,
                       text=True, timeout=60)
    return json.loads(r.stdout)


def value(v):
    return math.inf if v == "inf" else v


def static(case):
    args = [x for c in case["constraints"] for x in ("--constraint", c)]
    if case["private"] is not None:
        args += ["--private", ",".join(case["private"])]
        public = [r for r in case["relations"] if r not in case["private"]]
        args += ["--public", ",".join(public)] if public else []
    a = ask("analyze", *args, case["query"])
    if "error" in a:
        return f"refused: {a['error']['message']}"
    upper, lower = (value(a["global_sensitivity"][k]) for k in ("upper", "lower"))
    truth = value(case["exact"]) if case["exact"] is not None else case["lower_found"]
    if upper < truth:
        return f"UNSOUND: {upper} < {truth}"
    if upper > value(case["best_upper"]):
        return f"loose: {upper} > {case['best_upper']}"
    if case["exact"] is not None and lower != truth:
        return f"lower {lower}, not {truth}"
    w = a["witness"]
    if w and lower != math.inf and w["count_after"] - w["count_before"] < lower and case["private"] is None:
        return "the witness does not show the lower bound"
    return None


BODIES = {"tri": "ab bc ac", "3star": "ab ac ad", "rect": "ab bc cd da", "2tri": "ab ac bc ad bd"}


def graph(folder, name, pattern, gold):
    edges = BODIES[pattern].split()
    v = sorted(set("".join(edges)))
    rule = (f"Q({','.join(v)}) :- " + ", ".join(f"E({e[0]},{e[1]})" for e in edges) + ", "
            + ", ".join(f"{x} != {y}" for x, y in combinations(v, 2)) + ".")
    a = ask("sensitivity", "--beta", "0.1", "--table", f"E(s,t)={folder}/ca-{name}.txt", rule)
    if "error" in a:
        return a["error"]["message"]
    want = {"count": gold["count"], "capped": gold["RS_capped"]["0.1"][0], "paper": gold["RS"]}
    have = {"count": a["count"], "capped": a["residual"]["value"], "paper": a["residual"]["paper"]}
    bad = [k for k in want if abs(have[k] - want[k]) > 1e-6 * max(1, abs(want[k]))]
    return f"{bad}: {have}, not {want}" if bad else None


cases = os.environ.get("DPC_CASES")
if cases and os.path.exists(cases + "/static.json"):
    for c in json.load(open(cases + "/static.json"))["cases"]:
        done += 1
        found = static(c)
        if found:
            problems.append(f"{c['id']}: {found}")
else:
    print("static cases skipped: DPC_CASES is not set")
data = os.environ.get("DPC_DATA")
if data and os.path.exists(data + "/golden.json"):
    golden = json.load(open(data + "/golden.json"))
    for name in ("GrQc", "HepTh"):
        for pattern in BODIES:
            done += 1
            found = graph(data, name, pattern, golden[name]["queries"][pattern])
            if found:
                problems.append(f"{name} {pattern}: {found}")
else:
    print("graphs skipped: DPC_DATA is not set")
print("\n".join(problems[:30]))
print(f"{done} cases, {len(problems)} problems")
sys.exit(bool(problems))
