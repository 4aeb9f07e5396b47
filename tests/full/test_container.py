#!/usr/bin/env python3
"""The steps of packaging/Containerfile, each stage in a bare root of its own
(debootstrap): the package is built as README says, installed, and the image's
user asks the tour's question. Needs root, for the root's package manager."""
import glob
import json
import os
import re
import shutil
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
from bare import Root, base, fail, need, run  # noqa: E402


def steps():
    """Instruction and rest of each line, continued lines joined."""
    with open(os.path.join(SOURCE, "packaging", "Containerfile"), encoding="utf-8") as f:
        text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", f.read()))
    return [line.split(None, 1) for line in text.splitlines() if line.strip()]


def copy(stage, rest, stages):
    words = rest.split()
    if words[0].startswith("--from="):
        other = stages[words[0][7:]]
        for file in glob.glob(other.root + words[1]):
            shutil.copy(file, stage.root + words[2])
        return
    target = stage.root + words[1]
    os.makedirs(target)
    files = run("git ls-files", ["git", "-C", SOURCE, "ls-files", "-z"]).split("\0")
    for file in filter(lambda f: f and os.path.exists(os.path.join(SOURCE, f)), files):
        os.makedirs(os.path.dirname(os.path.join(target, file)), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, file), os.path.join(target, file))


def carry_out(tar, folder):
    stages, stage, entry = {}, None, []
    for what, rest in steps():
        if what == "FROM":
            name = rest.split(" AS ")[-1] if " AS " in rest else "last"
            if not rest.startswith("debian:12"):
                fail("an image that is not tried here: " + rest)
            stage = stages[name] = Root(tar, os.path.join(folder, name))
        elif what == "COPY":
            copy(stage, rest, stages)
        elif what == "WORKDIR":
            stage.folder = rest
        elif what == "RUN":
            stage.run("/bin/sh", "-ec", rest)
        elif what == "USER":
            stage.user = rest
        elif what == "ENTRYPOINT":
            entry = json.loads(rest)
        elif what == "CMD":
            entry += json.loads(rest)
        elif what != "VOLUME":
            fail("an instruction that is not tried here: " + what)
    return stage, entry


need()
with tempfile.TemporaryDirectory() as scratch:
    last, command = carry_out(base(scratch), scratch)
    if "\n  release " not in last.run(*command):
        fail("the image does not print its help")
    tour = ("cp -r /usr/share/doc/dpcount/examples tour; cd tour; dpcount budget init --ledger l --epsilon 10; "
            "dpcount release --db hospital.db --policy policy.yaml --ledger l --epsilon 1 --query-file queries/example16.sql")
    if not re.search("(?m)^answer +-?[0-9]", last.run("/bin/sh", "-ec", tour)):
        fail("the tour gave no answer")
    print("2 stages, the image answers")
