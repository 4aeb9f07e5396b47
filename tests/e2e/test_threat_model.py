#!/usr/bin/env python3
"""The threat model names every option of a release, on the side that the table of options says it is on."""
import os
import re

from outside import check, end

TOP = os.environ["DPC_SOURCE"]


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read()


table = re.sub(r"/\*.*?\*/", "", read("src/release/options.def"), flags=re.S)
sets = dict(re.findall(r'^#define (O_[A-Z]+) +(.*?[^\\])$', table, flags=re.M | re.S))


def commands(text):
    """Macros become what they stand for."""
    for _ in range(3):
        text = re.sub(r"O_[A-Z]+", lambda m: sets.get(m[0], ""), text)
    return re.sub(r'[\s"\\]+', "", text).split(",")


options = re.findall(r'^(?:TEXT|LIST|FLAG|SELF)\(\w+, "([\w-]+)", (\w+), (?:"[^"]*"|NULL),\s*"[A-Z ]+",\s*((?:O_[A-Z]+|"[\w, *-]*"|\s)+?),\s*"[0-9.]+"', table, flags=re.M)
check("options are found", len(options) >= 40, str(len(options)))
page = read("docs/threat-model.md")
said = page[page.index("**Whose options"):page.index("The unit of protection")]
owner, analyst = said.split("The analyst chooses", 1)
analyst = analyst.split("A service that runs", 1)[0]
owners, analysts = (set(re.findall(r"`--([\w-]+)`", x)) for x in (owner, analyst))

for name, side, takes in options:
    if not {"release", "*"} & set(commands(takes)) or name == "help":
        continue
    mine, other = (analysts, owners) if side == "ANALYST" else (owners, analysts)
    check(f"--{name} ({side})", name in mine and name not in other)
known = {o[0] for o in options}
check("no others", (owners | analysts) <= known, str((owners | analysts) - known))
end()
