"""docs/errata.md cannot drift: runs its commands and compares the results."""
import json
import os
import re
import shlex
import subprocess
import sys

source, build = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
program = os.path.join(build, "dpcount")


def expectations(text):
    """(command, {field: value}) for each command with a line '#=> ...'."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        lines = block.strip().split("\n")
        for command, want in zip(lines[::2], lines[1::2]):
            words = want.removeprefix("#=> ").split()
            yield shlex.split(command), dict(zip(words[::2], words[1::2]))


def result(command):
    run = subprocess.run([program, *command[1:], "--format", "json"],
                         capture_output=True, text=True, timeout=60)
    return run, json.loads(run.stdout) if run.stdout else {}


def field(out, name):
    value = out.get("global_sensitivity", {}).get(name, out.get(name))
    return value if isinstance(value, str) else json.dumps(value)


bad = count = 0
with open(os.path.join(source, "docs", "errata.md")) as page:
    for command, want in expectations(page.read()):
        run, out = result(command)
        for name, value in want.items():
            count += 1
            if field(out, name) != value:
                bad += 1
                print(f"{shlex.join(command)}: {name} is {field(out, name)}, "
                      f"the page says {value} {run.stderr.strip()}")
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0 or count < 20)
