#!/usr/bin/env python3
"""What the README shows is what the program says. Every "$ dpcount ..." of its
console blocks is run in order in a scratch folder beside the example
database, and what it prints is compared; only what chance decides (numbers of a released
answer, receipts) is masked, and the release must have worked.

`python3 tests/e2e/test_readme.py --bless` writes the outputs of now into the README.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("DPC_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
BUILD = os.environ.get("DPC_BUILD") or os.path.join(SOURCE, "build")
README = os.path.join(SOURCE, "README.md")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


def run(command, folder):
    env = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    p = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True,
                       text=True, timeout=120)
    # On a terminal both come; notices first, since they are written first.
    return p.stderr + p.stdout


def steps(block):
    """[(command, output)] of one block; a command may go on after a backslash."""
    found = []
    for line in block.split("\n")[:-1]:
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found and found[-1][1] == "" and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        elif found:
            found[-1][1] += line + "\n"
    return found


def masked(command, text):
    text = re.sub(r"\b[0-9a-f]{24}\b", "RECEIPT", text)
    if re.match(r"dpcount release", command):
        text = re.sub(r"^((?:answer|error)\s.*|\S+\s+-?[\d,]+)$",
                      lambda m: re.sub(r" *-?\d[\d,]*(\.\d+)?", " N", m.group(0)), text, flags=re.M)
    return text


def prepare(folder):
    """The tour's folder: the example database with its policies and queries."""
    made = os.path.join(BUILD, "examples")
    for name in os.listdir(made):
        if name == "queries" or name.startswith("hospital") or name.endswith((".yaml", ".sql")):
            os.symlink(os.path.join(made, name), os.path.join(folder, name))


def main():
    with open(README, encoding="utf-8") as f:
        readme = f.read()
    if not os.path.exists(os.path.join(BUILD, "dpcount")):
        print("skipped: the program is not built")
        return 77
    bad, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)

        def block(match):
            nonlocal n
            out = "```console\n"
            for command, want in steps(match.group(1)):
                if not command.startswith("dpcount"):
                    out += f"$ {command}\n{want}"
                    continue
                n += 1
                got = run(command, folder)
                if masked(command, got) != masked(command, want):
                    bad.append(f"$ {command}\nREADME:\n{want}\nnow:\n{got}")
                out += f"$ {command}\n{got}"
            return out + "```"
        blessed = BLOCK.sub(block, readme)
    if "--bless" in sys.argv:
        with open(README, "w", encoding="utf-8") as f:
            f.write(blessed)
        return 0
    if n < 5:
        bad.append(f"only {n} commands found in the README")
    if bad:
        bad.append("to renew: python3 tests/e2e/test_readme.py --bless, then read the difference")
    print("\n".join(bad) or f"{n} commands say what the README says")
    return 1 if bad else 0


sys.exit(main())
