#!/usr/bin/env python3
"""docs/deploy.md from the package to the first question, literally, in a bare
root (debootstrap): every block of the page is carried out in its order, and the
commands of day-to-day work. There is no systemd in such a root: systemctl is
a stand-in beside this file that does what the unit says."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
from bare import PLAIN, Root, base, fail, need, package  # noqa: E402

PASSWORD = "correct horse"


def blocks():
    """{section: its indented blocks as one text}"""
    found, section = {}, ""
    with open(os.path.join(SOURCE, "docs", "deploy.md"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("## "):
                section = line[3:].split(".")[0].strip()
            elif line.startswith("    ") and section:
                found[section] = found.get(section, "") + line[4:]
    return found


def install(root, deb):
    shutil.copy(deb, root.root + "/srv/")
    root.folder = "/srv"
    root.sh("apt-get -q update")
    root.sh("apt-get -q -y install --no-install-recommends sudo openssl postgresql-client")
    root.sh(blocks()["1"].replace("apt-get install", "apt-get -q -y --no-install-recommends install"))
    root.sh("getent passwd dpcount")
    root.sh("cp /usr/share/doc/dpcount/examples/hospital.db /srv/hospital.db; chmod 0644 /srv/hospital.db")


def script():
    """The whole page as one script: sections in order, then what day-to-day work needs."""
    page = blocks()
    said = page["5"]
    connect = re.search(r'(?m)^psql "(.*)"$', said).group(1)
    statements = "\n".join(re.findall(r"(?m)^hospital=> (.*)$", said))
    lines = page["6"].splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("psql "))
    network, remote = "\n".join(lines[:at]), lines[at]
    days = page["Day to day"].split("systemctl stop dpcount\n")
    yield "policy", page["2"]
    yield "configuration", page["3"]
    yield "start", page["4"]
    yield "first", f"psql -X '{connect}' <<'END' 2>&1\n{statements}\nEND\n"
    yield "network", network
    yield "remote", remote.replace("psql ", "psql -X -c 'SELECT count(*) FROM pat' ")
    for i, day in enumerate(days[1:]):
        yield f"backup{i}", "systemctl stop dpcount\n" + day + f"psql -X '{connect}' -c 'SELECT count(*) FROM pat'\n"
    for i, command in enumerate(table()):
        yield f"table{i}", command
    yield "more", ("sed -i 's/epsilon: 5, per_day: 1/epsilon: 6, per_day: 2/' /etc/dpcount/serve.yaml; systemctl reload dpcount; sleep 2; "
                   f"psql -X -At '{connect}' -c 'SELECT * FROM dpcount.budget'")
    yield "version", ("sed -i 's/version: 2026-11/version: 2026-12/' /etc/dpcount/serve.yaml; systemctl reload dpcount; "
                      "for i in $(seq 120); do ls /var/lib/dpcount/hospital-2026-12.sealed 2>/dev/null && break; sleep 1; done; sleep 2; "
                      f"psql -X '{connect}' -c 'SELECT count(*) FROM pat' 2>&1")
    yield "broken", ("echo 'nonsense: [' >>/etc/dpcount/serve.yaml; systemctl reload dpcount; sleep 2; "
                     f"psql -X '{connect}' -c 'EXPLAIN SELECT count(*) FROM pat'")
    yield "end", "systemctl stop dpcount"


def table():
    """The commands of the table, but those that need a lock or take a name out."""
    with open(os.path.join(SOURCE, "docs", "deploy.md"), encoding="utf-8") as f:
        return [c for c in re.findall(r"`(sudo -u dpcount dpcount budget [^`]*)`", f.read()) if " unlock" not in c]


WANTED = {
    "configuration": ("ann",), "start": ("serving",), "first": ("charged epsilon 0.1; 95 % within 30", 'Table "public.pat"', "QUERY PLAN", "4.9"),
    "remote": ("(1 row)",), "backup0": ("(1 row)",), "backup1": ("(1 row)",), "table0": ("0.1",), "table1": ("SELECT count",), "more": ("5.9",),
    "version": ("charged epsilon 0.1",), "broken": ("QUERY PLAN",)}


def main():
    need()
    with tempfile.TemporaryDirectory() as scratch:
        place = Root(base(scratch), os.path.join(scratch, "root"))
        install(place, package(os.path.join(scratch)))
        for name in ("systemctl", "journalctl"):
            shutil.copy(os.path.join(SOURCE, "tests", "full", "systemctl"), place.root + "/usr/local/bin/" + name)
        steps = list(script())
        whole = f"export PGPASSWORD='{PASSWORD}'\n" + "".join(
            f"echo '=== {name}'\n{text}\n" for name, text in steps)
        r = subprocess.run(place.inside("/bin/bash", "-euc", whole), input=PASSWORD + "\n", text=True, capture_output=True, check=False,
                           env={**PLAIN, "PATH": "/usr/local/bin:" + PLAIN["PATH"]}, timeout=1200)
        parts = dict(part.split("\n", 1) for part in r.stdout.split("=== ")[1:])
        print(r.stdout)
        if r.returncode or "end" not in parts:
            fail(f"exit {r.returncode} in {list(parts)[-1:]}", r.stderr)
        for name, words in WANTED.items():
            for word in words:
                if word not in parts[name]:
                    fail(f"{name} lacks {word!r}", parts[name] + r.stderr)
    print("the page was carried out, word for word")


main()
