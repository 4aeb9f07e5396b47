#!/usr/bin/env python3
"""The manual page and --help tell the same: every command and every option of
the one stands in the other; exit statuses too; and the page is well formed."""
import os
import re
import shutil
import subprocess
import sys

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
PAGE = os.path.join(os.environ["DPC_SOURCE"], "docs", "man", "dpcount.1")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")


def told(*args):
    p = subprocess.run([DPCOUNT, *args], capture_output=True, text=True, timeout=20)
    if p.returncode or not p.stdout or p.stderr:
        sys.exit(f"dpcount {' '.join(args)}: exit status {p.returncode}, {p.stderr}")
    return p.stdout


def main():
    if not os.path.exists(DPCOUNT):
        print("skipped: the program is not built")
        return 77
    with open(PAGE, encoding="utf-8") as f:
        page = re.sub(r"\\f[A-Z]", "", f.read().replace("\\-", "-"))
    top = told("--help")
    commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", top, re.M)
    if len(commands) < 8:
        sys.exit(f"--help lists only {commands}")
    helped = {"help", "version", "format", "query-file"}
    bad = []
    for command in commands:
        helped |= set(OPTION.findall(told(*command.split(), "--help")))
        if not re.search(rf"^\.B {command}$", page, re.M):
            bad.append(f"the manual has no command \"{command}\"")
    in_page = set(OPTION.findall(page))
    bad += [f"the manual has no option --{o}" for o in sorted(helped - in_page)]
    bad += [f"--help has no option --{o}" for o in sorted(in_page - helped)]
    for status in ("0", "2", "3", "4", "5", "6", "70"):
        if f".B {status}\n" not in page or not re.search(rf"\b{status}\b", top):
            bad.append(f"exit status {status} is missing in one of them")
    version = told("--version").split()[-1]
    if f"dpcount {version}" not in page:
        bad.append(f"the manual is not for version {version}")
    if shutil.which("man"):
        p = subprocess.run(["man", "--warnings", "-l", PAGE], capture_output=True, text=True,
                           env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
        if p.stderr.strip() or p.returncode:
            bad.append("man: " + p.stderr)
    print("\n".join(bad) or f"{len(commands)} commands, {len(helped)} options")
    return 1 if bad else 0


sys.exit(main())
