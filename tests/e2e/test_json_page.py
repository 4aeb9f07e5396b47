#!/usr/bin/env python3
"""docs/json.md names every field that the commands print."""
import os
import re
import shutil
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
from outside import ask, check, end  # noqa: E402

ALIASES = {"explain": "analyze", "budget init": "budget show", "budget grant": "budget show", "budget verify": "budget show"}
SCHEMA = ["--schema", "schema.sql", "--policy", "policy.yaml"]
DATA = ["--db", "hospital.db", "--policy", "policy.yaml"]
JOIN = "SELECT COUNT(DISTINCT doc.id) FROM pat, doc, patdoc WHERE patdoc.pat = pat.id AND patdoc.doc = doc.id"
ANTI = "SELECT COUNT(*) FROM pat WHERE NOT EXISTS (SELECT 1 FROM patdoc WHERE patdoc.pat = pat.id)"
TWO = "SELECT COUNT(*), COUNT(DISTINCT hos) FROM pat"
GROUPS = "SELECT sex, COUNT(*) FROM pat GROUP BY sex"
PAY = [*DATA, "--ledger", "l", "--epsilon", "1"]
COMMANDS = [
    ("budget init", ["--ledger", "l", "--epsilon", "100", "--delta", "1e-6"]),
    ("analyze", [*SCHEMA, JOIN]), ("analyze", [*SCHEMA, ANTI]), ("analyze", ["--schema", "schema.sql", JOIN]), ("explain", [*SCHEMA, JOIN]),
    ("quote", [*SCHEMA, "--epsilon", "1", JOIN]), ("quote", [*SCHEMA, "--epsilon", "1", TWO]),
    ("quote", [*SCHEMA, "--epsilon", "1", "--query-file", "queries/example03.sql"]),
    ("release", [*PAY, JOIN]), ("release", [*PAY, "--query-file", "queries/example03.sql"]), ("release", [*PAY, "--groups", "F,M", GROUPS]),
    ("release", [*PAY, TWO]), ("release", [*PAY, "--delta", "1e-9", GROUPS]), ("count", [*DATA, JOIN]), ("count", [*DATA, "--groups", "F,M", GROUPS]),
    ("sensitivity", [*DATA, JOIN]), ("check", DATA), ("seal", [*DATA, "--ledger", "l", "--version", "v1"]), ("budget show", ["--ledger", "l"]),
    ("budget history", ["--ledger", "l"]), ("budget grant", ["--ledger", "l", "--analyst", "ann", "--epsilon", "1"]),
    ("budget verify", ["--ledger", "l"]),
]


def documented():
    """{command: patterns of paths}"""
    found = {}
    with open(os.path.join(SOURCE, "docs", "json.md"), encoding="utf-8") as f:
        for section in re.split(r"^## ", f.read(), flags=re.M)[1:]:
            name, _, text = section.partition("\n")
            paths = re.findall(r"`([a-z0-9_.\[\]*]+)`", text)
            found[name] = [re.compile(re.escape(p).replace(r"\*", ".+") + r"(\..*)?$" if p.endswith("*") else
                                      re.escape(p).replace(r"\*", "[^.]+") + "$") for p in paths]
    return found


def paths(value, at=""):
    """Paths of what is no object and no list of objects."""
    if isinstance(value, dict) and value:
        for key, v in value.items():
            yield from paths(v, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for v in value:
            yield from paths(v, at + "[]")
    else:
        yield at


def main():
    pages = documented()
    for command, args in COMMANDS:
        code, out = ask(*command.split(), *args, "--format", "json")
        check(" ".join([command, *args]), code == 0 and isinstance(out, dict), str(out)[:300])
        known = pages[ALIASES.get(command, command)]
        empty = {p.pattern.split(r"\.")[0].split(r"\[")[0].rstrip("$") for p in known}
        for path in paths(out) if isinstance(out, dict) else ():
            check(f"docs/json.md does not know {path} of {command}", any(p.match(path) for p in known) or path in empty)
    code, out = ask("count", *DATA, "SELECT COUNT(*) FROM nobody", "--format", "json")
    for path in paths(out):
        check(f"docs/json.md does not know {path} of failures", any(p.match(path) for p in pages["Failures"]))


with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(os.path.join(BUILD, "examples"), os.path.join(folder, "x"), ignore=shutil.ignore_patterns("CMakeFiles"))
    os.chdir(os.path.join(folder, "x"))
    main()
    end()
