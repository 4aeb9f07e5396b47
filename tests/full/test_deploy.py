#!/usr/bin/env python3
"""docs/deploy.md from the package to the first question, literally, in a bare
root (debootstrap): the page's own blocks are carried out. There is no systemd
in such a root: what its unit starts is started by hand."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

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


def unit():
    """What the unit starts."""
    with open(os.path.join(SOURCE, "packaging", "systemd", "dpcount.service"), encoding="utf-8") as f:
        return re.search(r"(?m)^ExecStart=(.*)$", f.read()).group(1).split()


def install(root, deb):
    shutil.copy(deb, root.root + "/srv/")
    root.folder = "/srv"
    root.sh("apt-get -q update")
    root.sh("apt-get -q -y install --no-install-recommends sudo postgresql-client")
    root.sh(blocks()["1"].replace("apt-get install", "apt-get -q -y --no-install-recommends install"))
    root.sh("getent passwd dpcount")
    root.sh("cp /usr/share/doc/dpcount/examples/hospital.db /srv/hospital.db; chmod 0644 /srv/hospital.db")
    root.sh("install -d -o dpcount -g dpcount -m 0700 /var/lib/dpcount; install -d -o dpcount -g dpcount -m 0755 /run/dpcount")


def ask(root, service):
    """The statements of section 5, until the data set is served."""
    said = blocks()["5"]
    connect = re.search(r'(?m)^psql "(.*)"$', said).group(1)
    statements = re.findall(r"(?m)^hospital=> (.*)$", said)
    notice = re.search(r"(?m)^NOTICE: .*$", said).group(0)
    until = time.time() + 240
    while True:
        r = subprocess.run(root.inside("psql", "-X", connect), input="\n".join(statements) + "\n", text=True, capture_output=True,
                           check=False, env={**PLAIN, "PGPASSWORD": PASSWORD})
        if notice in r.stderr or time.time() > until or service.poll() is not None:
            break
        time.sleep(1)
    if notice not in r.stderr:
        fail("the page's notice did not come:", r.stdout + r.stderr)
    for word in ('Table "public.pat"', "QUERY PLAN", "4.9"):
        if word not in r.stdout:
            fail("the answers lack " + word, r.stdout)


def day_to_day(root):
    """The page's own words for what is spent, while the service runs."""
    with open(os.path.join(SOURCE, "docs", "deploy.md"), encoding="utf-8") as f:
        command = re.search(r"`(sudo -u dpcount dpcount budget show[^`]*)`", f.read()).group(1)
    if "0.1" not in root.sh(command):
        fail("what is spent is not shown: " + command)


need()
with tempfile.TemporaryDirectory() as scratch:
    place = Root(base(scratch), os.path.join(scratch, "root"))
    install(place, package(os.path.join(scratch)))
    place.sh(blocks()["2"])
    print(place.sh(blocks()["3"], input=PASSWORD + "\n"))
    started = place.inside("sudo", "-u", "dpcount", *unit())
    with open(os.path.join(scratch, "log"), "w", encoding="utf-8") as log:
        server = subprocess.Popen(started, stdout=log, stderr=log, env=PLAIN)
        try:
            ask(place, server)
            day_to_day(place)
        finally:
            server.kill()  # and all in its root with it
            server.wait(timeout=120)
    print("the first analyst was answered")
