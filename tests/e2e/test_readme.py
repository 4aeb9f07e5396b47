#!/usr/bin/env python3
"""What the README and the pages of docs show is what the program says. Every
"$ dpcount ..." of their console blocks is run in order, each page in a scratch
folder of its own beside the example database, and what it prints is compared;
only what chance decides (numbers of a released answer, receipts, times) is masked, and the
release must have worked. Files that a page writes ("$ cat >FILE <<'EOF'") are written.

`python3 tests/e2e/test_readme.py --bless` writes the outputs of now into the pages.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("DPC_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
BUILD = os.environ.get("DPC_BUILD") or os.path.join(SOURCE, "build")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


def run(command, folder):
    env = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    p = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True,
                       text=True, timeout=120)
    # On a terminal both come; notices first, since they are written first.
    return p.stderr + p.stdout


def steps(block):
    """[(command, output)] of one block; a command may go on after a backslash."""
    found, until = [], ""
    for line in block.split("\n")[:-1]:
        if until:
            found[-1][0] += "\n" + line
            until = "" if line == until else until
        elif line.startswith("$ "):
            found.append([line[2:], ""])
            here = re.search(r"<<'(\w+)'$", line)
            until = here.group(1) if here else ""
        elif found and found[-1][1] == "" and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        elif found:
            found[-1][1] += line + "\n"
    return found


def masked(command, text):
    text = re.sub(r"\b[0-9a-f]{24}\b", "RECEIPT", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "HEAD", text)
    if re.match(r"dpcount release", command):
        text = re.sub(r"^((?:answer|error|counted|cut)?\s.*|\S+\s+-?[\d,]+)$",
                      lambda m: re.sub(r" *-?\d[\d,]*(\.\d+)?", " N", m.group(0)), text, flags=re.M)
    return text


def prepare(folder):
    """The tour's folder: the example database with its policies and queries."""
    made = os.path.join(BUILD, "examples")
    for name in os.listdir(made):
        if name == "queries" or name.startswith("hospital") or name.endswith((".yaml", ".sql")):
            os.symlink(os.path.join(made, name), os.path.join(folder, name))


def pages():
    """README and those pages of docs that have commands."""
    names = ["README.md"] + sorted(os.path.join("docs", n) for n in os.listdir(os.path.join(SOURCE, "docs")) if n.endswith(".md"))
    for name in names:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
            text = f.read()
        if BLOCK.search(text):
            yield name, text


def page(name, text, bad):
    """The number of commands that were run, and the page with what they say now."""
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)

        def block(match):
            nonlocal n
            out = "```console\n"
            for command, want in steps(match.group(1)):
                if not command.startswith(("dpcount", "cat >", "mkdir ")):
                    out += f"$ {command}\n{want}"
                    continue
                n += 1
                got = run(command, folder)
                if masked(command, got) != masked(command, want):
                    bad.append(f"$ {command}\n{name}:\n{want}\nnow:\n{got}")
                out += f"$ {command}\n{got}"
            return out + "```"
        blessed = BLOCK.sub(block, text)
        return n, blessed


def main():
    if not os.path.exists(os.path.join(BUILD, "dpcount")):
        print("skipped: the program is not built")
        return 77
    bad, total = [], 0
    for name, text in pages():
        n, blessed = page(name, text, bad)
        total += n
        if "--bless" in sys.argv:
            with open(os.path.join(SOURCE, name), "w", encoding="utf-8") as f:
                f.write(blessed)
        elif name == "README.md" and n < 3:
            bad.append(f"only {n} commands found in the README")
    if "--bless" in sys.argv:
        return 0
    if bad:
        bad.append("to renew: python3 tests/e2e/test_readme.py --bless, then read the difference")
    print("\n".join(bad) or f"{total} commands say what the pages say")
    return 1 if bad else 0


sys.exit(main())
