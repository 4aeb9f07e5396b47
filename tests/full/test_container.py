#!/usr/bin/env python3
"""The steps of packaging/Containerfile, each stage in a bare root of its own
(debootstrap): the package is built as README says, installed, and the image's
user asks the tour's question. Needs root, for the root's package manager."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
PLAIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "DEBIAN_FRONTEND": "noninteractive"}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fail(why, more=""):
    print(why, more[-1500:])
    sys.exit(1)


def run(what, args, **more):
    r = subprocess.run(args, capture_output=True, text=True, check=False, **more)
    if r.returncode:
        fail(f"{what}: exit {r.returncode}", r.stdout + r.stderr)
    return r.stdout


def steps():
    """Instruction and rest of each line, continued lines joined."""
    with open(os.path.join(SOURCE, "packaging", "Containerfile"), encoding="utf-8") as f:
        text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", f.read()))
    return [line.split(None, 1) for line in text.splitlines() if line.strip()]


class Stage:
    """A root in which instructions are carried out."""

    def __init__(self, base, root):
        self.root, self.folder, self.user = root, "/", None
        os.makedirs(root)
        run("tar", ["tar", "-C", root, "-xf", base])

    def inside(self, *args):
        as_user = ["--userspec", self.user] if self.user else []
        apart = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc"]
        return [*apart, "chroot", *as_user, self.root, "/bin/sh", "-ec", f'cd "{self.folder}"; exec "$@"', "sh", *args]

    def run(self, *args):
        return run(" ".join(args), self.inside(*args), env=PLAIN)


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


def carry_out(base, folder):
    stages, stage, entry = {}, None, []
    for what, rest in steps():
        if what == "FROM":
            name = rest.split(" AS ")[-1] if " AS " in rest else "last"
            if not rest.startswith("debian:12"):
                fail("an image that is not tried here: " + rest)
            stage = stages[name] = Stage(base, os.path.join(folder, name))
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


def base_root(folder):
    """A bare Debian, as a file; made once for a build folder."""
    file = os.path.join(BUILD, "bare.tar")
    if not os.path.exists(file):
        root = os.path.join(folder, "base")
        run("debootstrap", ["debootstrap", "--variant=minbase", "bookworm", root])
        shutil.copytree("/etc/apt", root + "/etc/apt", dirs_exist_ok=True)
        for name in ("resolv.conf", "hosts"):
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, root + "/etc/" + name)
        run("tar", ["tar", "-C", root, "-cf", file + ".new", "."])
        os.rename(file + ".new", file)
    return file


if os.getuid():
    skip("only root may install packages into a bare root")
if not shutil.which("debootstrap"):
    skip("debootstrap is not installed")
with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
    if not re.search("^DPC_SANITIZE:STRING=$", cache.read(), re.M):
        skip("once is enough, and this build has sanitizers")
with tempfile.TemporaryDirectory() as scratch:
    last, command = carry_out(base_root(scratch), scratch)
    if "\n  release " not in last.run(*command):
        fail("the image does not print its help")
    tour = ("cp -r /usr/share/doc/dpcount/examples tour; cd tour; dpcount budget init --ledger l --epsilon 10; "
            "dpcount release --db hospital.db --policy policy.yaml --ledger l --epsilon 1 --query-file queries/example16.sql")
    if not re.search("(?m)^answer +-?[0-9]", last.run("/bin/sh", "-ec", tour)):
        fail("the tour gave no answer")
    print("2 stages, the image answers")
