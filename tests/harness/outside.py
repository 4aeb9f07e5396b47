"""The program as scripts see it: run it, read its JSON, note what is wrong."""
import json
import os
import subprocess
import sys

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
problems = []


def check(what, ok, more=""):
    if not ok:
        problems.append(f"{what} {more}")


def run(*args):
    return subprocess.run([DPCOUNT, *args], capture_output=True, text=True, check=False, timeout=60)


def ask(*args):
    """Status and answer: what its JSON holds, or all that was printed."""
    r = run(*args)
    try:
        return r.returncode, json.loads(r.stdout)
    except ValueError:
        return r.returncode, r.stdout + r.stderr


def slower(seconds):
    """The same time for a program that valgrind (DPC_SLOW) slows down."""
    return 20 * seconds if os.environ.get("DPC_SLOW") else seconds


def write(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def end():
    """Leaves the folder, so that it can go, and tells what was wrong."""
    os.chdir("/")
    for p in problems:
        print(p)
    print(f"{len(problems)} problems")
    sys.exit(bool(problems))
