"""The commands of docs/sources.md: blocks that begin with ```KIND are run as one shell script each."""
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.environ["DPC_SOURCE"], "docs", "sources.md")


def run(kind, env=None, least=1):
    with open(PAGE, encoding="utf-8") as f:
        blocks = re.findall(rf"```{kind}\n(.*?)```", f.read(), re.S)
    if len(blocks) < least:
        sys.exit(f"{PAGE}: {len(blocks)} blocks of {kind}")
    for block in blocks:
        with tempfile.TemporaryDirectory() as folder:
            more = {"PATH": os.environ["DPC_BUILD"] + ":" + os.environ["PATH"], **(env or {})}
            r = subprocess.run(["bash", "-eu", "-c", block], cwd=folder, env={**os.environ, **more}, capture_output=True, text=True,
                               check=False, timeout=300)
            if r.returncode:
                sys.exit(f"{block}\n{r.stdout}{r.stderr}")
            print(r.stdout)
