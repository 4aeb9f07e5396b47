"""The commands of docs/sources.md and docs/tutorial.md: blocks that begin with ```KIND are run as one shell script
each; a page that has none of a kind is a mistake."""
import os
import re
import subprocess
import sys
import tempfile

PAGES = ("sources.md", "tutorial.md")


def run(kind, env=None, least=1):
    for page in PAGES:
        name = os.path.join(os.environ["DPC_SOURCE"], "docs", page)
        with open(name, encoding="utf-8") as f:
            blocks = re.findall(rf"```{kind}\n(.*?)```", f.read(), re.S)
        if len(blocks) < (least if page == PAGES[0] else 1):
            sys.exit(f"{name}: {len(blocks)} blocks of {kind}")
        for block in blocks:
            script(block, env or {})


def script(block, env):
    """One block, in a folder of its own."""
    if "URL" in env:  # nothing is left of the block before
        subprocess.run(["psql", "-qX", env["URL"], "-c", "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public"],
                       check=True)
    with tempfile.TemporaryDirectory() as folder:
        more = {"PATH": os.environ["DPC_BUILD"] + ":" + os.environ["PATH"], **env}
        r = subprocess.run(["bash", "-eu", "-c", block], cwd=folder, env={**os.environ, **more}, capture_output=True, text=True,
                           check=False, timeout=300)
        if r.returncode:
            sys.exit(f"{block}\n{r.stdout}{r.stderr}")
        print(r.stdout)
