#!/usr/bin/env python3
"""The texts of the project stand on their own: no path of somebody's machine,
every document that is named exists, every relative link leads somewhere.

Reads what git tracks, or every file where there is no git.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ["DPC_SOURCE"]
# A folder of somebody's machine, an address that only exists inside a company.
MACHINE = re.compile(r"(?<![\w.$}/-])/(root|home|work|farm|mnt|Users)/[\w.]"
                     r"|https?://(localhost|10\.|192\.168\.|[\w.-]*(mirror|proxy|registry))")
DOCUMENT = re.compile(r"(?<![\w*$}<-])((?:[\w.-]+/)*[\w.-]+\.md)\b")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
BINARY = (".db", ".svg", ".png", ".gz", ".bin")


def tracked():
    try:
        out = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True,
                             capture_output=True).stdout.decode().split("\0")
        names = [n for n in out if n]
    except (OSError, subprocess.CalledProcessError):
        names = [os.path.relpath(os.path.join(folder, n), SOURCE)
                 for folder, _, found in os.walk(SOURCE)
                 if "/build" not in folder and "/.git" not in folder for n in found]
    return [n for n in names if not n.endswith(BINARY) and os.path.isfile(os.path.join(SOURCE, n))]


def findings(name, text, documents):
    out = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}:{number}"
        hit = MACHINE.search(line)
        if hit:
            out.append(f"{where}: a path or host of one machine: {hit.group(0)}")
        for doc in DOCUMENT.findall(line):
            tail = doc.split("./")[-1]
            if not any(d == tail or d.endswith("/" + tail) for d in documents):
                out.append(f"{where}: there is no {doc}")
        if name.endswith(".md"):
            for target in LINK.findall(line):
                path = os.path.join(os.path.dirname(os.path.join(SOURCE, name)), target)
                if "://" not in target and not os.path.exists(path):
                    out.append(f"{where}: the link {target} leads nowhere")
    return out


def self_check():
    for text in ("see /ho" + "me/ann/x", "http://apt-pro" + "xy.example.org/x"):
        if not findings("a.c", text, []):
            sys.exit(f"the check does not notice: {text}")
    if not findings("a.c", "see NOWHERE" + ".md", ["README.md"]):
        sys.exit("the check does not notice a document that is missing")
    if not findings("a.md", "[x](nowhere/at/all)", []):
        sys.exit("the check does not notice a dead link")
    if findings("a.c", "a/home/b ${HOME}/wo" + "rk/x src/base/README.md", ["src/base/README.md"]):
        sys.exit("the check sees ghosts")


def main():
    self_check()
    names = tracked()
    documents = [n for n in names if n.endswith(".md")]
    bad = []
    for name in names:
        if os.path.basename(name) == os.path.basename(__file__):
            continue
        with open(os.path.join(SOURCE, name), encoding="utf-8", errors="replace") as f:
            bad += findings(name, f.read(), documents)
    print("\n".join(bad) or f"{len(names)} files read")
    return 1 if bad else 0


sys.exit(main())
