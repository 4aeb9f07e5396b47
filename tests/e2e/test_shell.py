#!/usr/bin/env python3
"""dpcount shell and dpcount run: statements over several lines, commands,
forms of output, errors that stop or not, a terminal with history."""
import csv
import io
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
from outside import DPCOUNT, check, end, run, slower, write  # noqa: E402

DATA = ["--db", "hospital.db", "--policy", "policy.yaml", "--ledger", "l", "--epsilon", "1"]
WOMEN = "SELECT COUNT(*)\nFROM pat -- all; of them\nWHERE sex = 'F' /* ; */\n  AND sex <> 'a;b';\n"
GROUPS = "SELECT sex, COUNT(*) AS n FROM pat GROUP BY sex;\n"


def shell(text, *more, command="run"):
    args = [DPCOUNT, command, *DATA, *more] + (["-"] if command == "run" else [])
    return subprocess.run(args, input=text, capture_output=True, text=True, check=False, timeout=slower(60))


def forms():
    r = shell(WOMEN)
    check("a table", r.returncode == 0 and re.match(r" +count *\n-+\n +-?\d+\n\(1 row; 95 % within \d+; epsilon 1; \d+ left\)\n$", r.stdout), r.stdout + r.stderr)
    r = shell(GROUPS, "--groups", "F,M", "--format", "csv")
    rows = list(csv.reader(io.StringIO(r.stdout)))
    check("CSV", rows[0] == ["sex", "n"] and [x[0] for x in rows[1:]] == ["F", "M"], r.stdout + r.stderr)
    r = shell("\\set groups F,M\n" + GROUPS + GROUPS, "--format", "json")
    objects = [json.loads(x) for x in r.stdout.splitlines()]
    check("JSON, a line each", len(objects) == 2 and objects[0]["rows"][0] == ["F", int(rows[1][1])] and objects[1]["repeated"], r.stdout[:300])
    r = shell(GROUPS, "--groups", "F,M", "--format", "markdown")
    check("Markdown", r.stdout.startswith("| sex | ") and "|-----|" in r.stdout and ":|\n" in r.stdout, r.stdout)
    r = shell("EXPLAIN " + WOMEN + "\\quote SELECT COUNT(*) FROM doc\nQ(x) :- pat(x, 'F', _).\n")
    check("quotes, and a rule", r.stdout.count("nothing was spent") == 2 and "(1 row" in r.stdout, r.stdout + r.stderr)
    r = shell("SELECT COUNT(*) FROM pat WHERE sex <> $q$a;b$q$", command="shell")
    check("the last statement may lack its semicolon", "(1 row" in r.stdout, r.stdout + r.stderr)


def errors():
    bad = "SELECT COUNT(*) FROM nobody;\n"
    r = shell(bad + WOMEN)
    check("an error stops", r.returncode == 2 and "(1 row" not in r.stdout and "nobody" in r.stderr, r.stdout + r.stderr)
    r = shell(bad + WOMEN, "--keep-going")
    check("--keep-going", r.returncode == 2 and "(1 row" in r.stdout, r.stdout + r.stderr)
    for text in ("\\nothing\n", "\\set policy x\n", "\\d nobody\n", "\\format xml\n"):
        r = shell(text)
        check("a wrong command: " + text, r.returncode == 2 and r.stderr, r.stderr)
    r = run("run", *DATA, "nofile.sql")
    check("no such file", r.returncode == 2 and "nofile.sql" in r.stderr, r.stderr)
    r = run("run", *DATA)
    check("no file", r.returncode == 2, r.stderr)
    r = run("quote", "--format", "csv", "x")
    check("csv is the shell's", r.returncode == 2, r.stderr)


def commands():
    r = shell("\\d\n\\d pat\n\\set epsilon 2\n\\set\nSELECT COUNT(*) FROM doc;\n\\budget\n\\history\n\\?\n\\o out.txt\nSELECT COUNT(*) FROM doc;\n"
              "\\o\n\\timing\nSELECT COUNT(*) FROM doc;\n\\q\n\\nothing\n")
    for word in ("patdoc", "sex", "epsilon 2", "epsilon          2", "SELECT COUNT(*) FROM doc", "end\n", "asked before: free"):
        check("commands: " + word, word in r.stdout, r.stdout + r.stderr)
    check("they end well", r.returncode == 0 and "time: " in r.stderr, r.stderr)
    with open("out.txt", encoding="utf-8") as f:
        check("\\o", "(1 row" in f.read(), "")
    write("q.sql", GROUPS)
    r = run("run", *DATA, "--groups", "F,M", "q.sql")
    check("a file", r.returncode == 0 and "(2 rows" in r.stdout, r.stdout + r.stderr)


class Terminal:
    """The shell on a terminal of its own: what it shows, what one types."""

    def __init__(self, home):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"HOME": home, "TERM": "vt100"})
            os.execv(DPCOUNT, [DPCOUNT, "shell", *DATA])
        self.seen = b""

    def wait(self, text, seconds):
        """Whether text is shown in time; what stood before it is passed over."""
        until = time.time() + seconds
        while text not in self.seen and time.time() < until:
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.fd, 4096)
                except OSError:
                    break
        found = text in self.seen
        if found:
            self.seen = self.seen[self.seen.find(text) + len(text):]
        return found

    def type(self, text):
        os.write(self.fd, text)

    def end(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return status


def talk(t, *turns):
    for wait, text in turns:
        check(f"a terminal shows {wait}", t.wait(wait, slower(120)), repr(t.seen[-300:]))
        t.type(text)


def terminal():
    """What one types, with editing; the history is for its user only."""
    home = os.path.join(os.getcwd(), "home")
    os.mkdir(home)
    t = Terminal(home)
    talk(t, (b"dpcount> ", b"SELECT COUNT(*)\r"), (b"...> ", b"FROM nonsense"))
    # A signal may meet the terminal between two modes, as a person's may: again.
    for _ in range(20):
        t.type(b"\x03")
        if t.wait(b"dpcount> ", slower(5)):
            break
    t.type(b"SELECT COUNT(*)\r")
    talk(t, (b"...> ", b"FROM pat;\r"), (b"(1 row", b"\\q\r"))
    check("a terminal ends well", t.end() == 0, repr(t.seen[-300:]))
    history = os.path.join(home, ".dpcount_history")
    check("a history of its own", os.path.exists(history) and os.stat(history).st_mode & 0o077 == 0, "")
    with open(history, encoding="utf-8") as f:
        check("what was dropped is not in it", "nonsense" not in f.read(), "")


with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(os.path.join(BUILD, "examples"), os.path.join(folder, "x"), ignore=shutil.ignore_patterns("CMakeFiles"))
    os.chdir(os.path.join(folder, "x"))
    run("budget", "init", "--ledger", "l", "--epsilon", "100")
    forms()
    errors()
    commands()
    terminal()
    end()
