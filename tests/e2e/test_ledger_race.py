#!/usr/bin/env python3
"""Eight processes release at once against one budget that suffices for some of
them: no more is granted than there is, and every answer has one charge."""
import json
import os
import subprocess
import sys
import tempfile
import time

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
PROCESSES, EACH, AFFORDABLE = 8, 4, 20

with tempfile.TemporaryDirectory(prefix="dpc-race-") as folder:
    os.chdir(folder)
    with open("e.txt", "w") as f:
        f.write("1 2\n2 3\n")
    subprocess.run([DPCOUNT, "budget", "init", "--ledger", "l", "--epsilon", "2"], check=True,
                   capture_output=True)
    one = (f'"{DPCOUNT}" release --format json --fresh --ledger l --epsilon 0.1 '
           "--table 'E(a,b)=e.txt' 'Q(x,y) :- E(x,y).'")
    loop = f"for i in $(seq {EACH}); do {one}; echo \"status $?\"; done"
    jobs = [subprocess.Popen(["bash", "-c", loop], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for _ in range(PROCESSES)]
    lines = [x for j in jobs for x in j.communicate()[0].splitlines()]
    answers = [json.loads(x) for x in lines if x.startswith("{")]
    receipts = [a["receipt"] for a in answers if "receipt" in a]
    refused = lines.count("status 4")
    shown = json.loads(subprocess.run(
        [DPCOUNT, "budget", "show", "--ledger", "l", "--format", "json"],
        check=True, capture_output=True, text=True).stdout)
    history = json.loads(subprocess.run(
        [DPCOUNT, "budget", "history", "--ledger", "l", "--format", "json"],
        check=True, capture_output=True, text=True).stdout)["history"]
    stored = {h["receipt"]: h["answer"]["answers"][0] for h in history}
    problems = []
    if len(receipts) != AFFORDABLE or refused != PROCESSES * EACH - AFFORDABLE:
        problems.append(f"{len(receipts)} answers, {refused} refusals, {[x for x in lines if x.startswith('status')]}")
        problems += [json.dumps(a) for a in answers if "receipt" not in a and a.get("error", {}).get("code") != "budget"]
    if len(set(receipts)) != len(receipts) or set(receipts) != set(stored):
        problems.append("receipts and charges differ")
    if any(stored[a["receipt"]] != a["answer"] for a in answers if "receipt" in a):
        problems.append("an answer differs from the stored one")
    if shown["spent"] != 2 or shown["remaining"] != 0 or shown["held"] != 0:
        problems.append(f"balance {shown}")
    # the first two of a new ledger: one makes the key of its fingerprints between the other's two looks for it
    subprocess.run([DPCOUNT, "budget", "init", "--ledger", "k", "--epsilon", "2"], check=True, capture_output=True)
    first = [DPCOUNT, "release", "--format", "json", "--fresh", "--ledger", "k", "--epsilon", "0.1", "--table", "E(a,b)=e.txt", "Q(x,y) :- E(x,y)."]
    shim = os.environ["DPC_BUILD"] + "/tests/libfault_shim.so"
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    slow = subprocess.Popen(first, env={**os.environ, "LD_PRELOAD": shim, "DPC_FAULT_KIND": "late-key", "DPC_FAULT_AT": "3000", "ASAN_OPTIONS": sanitizer},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    quick = subprocess.run(first, capture_output=True, text=True, check=False)
    problems += [f"a key made meanwhile: {s} {t}" for s, t in ((quick.returncode, quick.stdout), (slow.wait(), slow.stdout.read())) if s]
    print("\n".join(problems) or f"{len(receipts)} answers, {refused} refusals, spent exactly 2")
    os.chdir("/")
    sys.exit(bool(problems))
