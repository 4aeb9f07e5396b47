#!/usr/bin/env python3
"""Settings of a file and of the environment: a flag wins over the environment,
that over the file; what is unknown, written twice or writable by others is
refused; `ask` takes the owner's settings from --config alone; completion is
made from the same tables."""
import json
import os
import subprocess
import sys
import tempfile

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
QUERY = "SELECT COUNT(*) FROM pat"
bad = []


def run(*args, env=None, cwd=None):
    keep = {k: v for k, v in os.environ.items() if not k.startswith("DPCOUNT_")}
    p = subprocess.run([DPCOUNT, *args], capture_output=True, text=True, cwd=cwd, timeout=120,
                       env={**keep, **(env or {})})
    return p.returncode, p.stdout + p.stderr


def expect(what, good, said):
    if not good:
        bad.append(f"{what}: {said}")


def price(said):
    try:
        return json.loads(said[said.index("{"):])["price"]
    except (ValueError, KeyError):
        return said


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def precedence(folder):
    config = os.path.join(folder, "dpcount.yaml")
    quote = ["quote", "--format", "json", QUERY]
    write(config, "db: data\nschema: schema.sql\nledger: l\nepsilon: 0.5\n")
    code, said = run(*quote, cwd=folder)
    expect("file", code == 0 and price(said) == 0.5, said)
    code, said = run(*quote, cwd=folder, env={"DPCOUNT_EPSILON": "0.25"})
    expect("environment over file", code == 0 and price(said) == 0.25, said)
    code, said = run(*quote, "--epsilon", "0.125", cwd=folder, env={"DPCOUNT_EPSILON": "0.25"})
    expect("flag over environment", code == 0 and price(said) == 0.125, said)
    other = os.path.join(folder, "other.yaml")
    write(other, "db: data\nschema: schema.sql\nepsilon: 2\nerror_budget: none\n")
    for env, args in (({"DPCOUNT_CONFIG": other}, []), ({}, ["--config", other])):
        code, said = run(*quote, *args, cwd=folder, env=env)
        expect(f"{args} {env}", code == 0 and price(said) == 2, said)
    code, said = run("--config", other, *quote, cwd=folder)
    expect("before the command", code == 0 and price(said) == 2, said)
    # what repeats: the nearest place wins as a whole
    write(other, "table: ['a(x)=nowhere']\nschema: schema.sql\nepsilon: 2\n")
    code, said = run(*quote, "--config", other, "--table", "pat(id,sex)=data/pat.csv", cwd=folder)
    expect("lists are not mixed", code == 0, said)


def refusals(folder):
    other = os.path.join(folder, "other.yaml")
    for text, word in (("epsilom: 1\n", "epsilom"), ("epsilon: 1\nepsilon: 2\n", "twice"),
                       ("- 1\n", "list of settings"), ("epsilon: [1, 2]\n", "one value"),
                       ("help: yes\n", "help"), ("epsilon: {a: 1}\n", "text or a list"),
                       ("a: [\n", "other.yaml")):
        write(other, text)
        code, said = run("quote", "--config", other, "--schema", "schema.sql", QUERY, cwd=folder)
        expect(f"{text!r}", code == 2 and word in said, said)
    write(other, "epsilon: 1\n", 0o666)
    code, said = run("quote", "--config", other, "--schema", "schema.sql", QUERY, cwd=folder)
    expect("writable by others", code == 2 and "others may write" in said, said)
    code, said = run("quote", "--config", "/nowhere/x.yaml", "--schema", "schema.sql", QUERY)
    expect("no such file", code == 2, said)


def ask(folder):
    owner = os.path.join(folder, "owner.yaml")
    write(owner, "db: data\nschema: schema.sql\nledger: l\nanalyst: ann\n")
    os.remove(os.path.join(folder, "dpcount.yaml"))
    run("budget", "init", "--ledger", "l", "--epsilon", "10", cwd=folder)
    run("budget", "grant", "--ledger", "l", "--analyst", "ann", "--epsilon", "5", cwd=folder)
    pinned = ["--config", owner, "ask", "--epsilon", "1"]
    code, said = run(*pinned, QUERY, cwd=folder)
    expect("unsealed", code == 5 and "not sealed" in said, said)
    code, said = run("seal", "--config", owner, "--version", "v1", cwd=folder)
    expect("seal", code == 0, said)
    code, said = run(*pinned, QUERY, cwd=folder)
    expect("ask", code == 0, said)
    code, said = run("budget", "show", "--ledger", "l", "--analyst", "ann", "--format", "json", cwd=folder)
    expect("ann paid", code == 0 and '"ann"' in said, said)
    for option in (["--db", "data"], ["--public", "pat"], ["--analyst", "bob"], ["--ledger", "l"],
                   ["--config", owner], ["--memory", "1G"], ["--query-file", "schema.sql"]):
        code, said = run(*pinned, *option, QUERY, cwd=folder)
        expect(f"ask {option}", code == 2 and "only the owner" in said, said)
    code, said = run(*pinned, QUERY, cwd=folder, env={"DPCOUNT_LEDGER": "elsewhere", "DPCOUNT_PUBLIC": "pat"})
    expect("the environment is not the owner's", code == 0, said)
    code, said = run("ask", "--epsilon", "1", QUERY, cwd=folder, env={"DPCOUNT_CONFIG": owner})
    expect("ask without --config", code == 2 and "no configuration" in said, said)


def complete(line):
    """What bash offers for the last word of the line."""
    words = line.split(" ")
    script = (f'source <("{DPCOUNT}" completion bash); COMP_WORDS=({" ".join(repr(w) for w in words)}); '
              f'COMP_CWORD={len(words) - 1}; _dpcount; printf "%s\\n" "${{COMPREPLY[@]}}"')
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split()


def completion():
    expect("commands", "release" in complete("dpcount ") and "budget" in complete("dpcount b"),
           complete("dpcount "))
    expect("second words", complete("dpcount budget in") == ["init"], complete("dpcount budget in"))
    for command in ("release", "quote", "budget init", "seal"):
        helped = run(*command.split(), "--help")[1]
        known = {w for w in helped.split() if w.startswith("--") and w[2:3].isalpha()}
        offered = set(complete(f"dpcount {command} --"))
        listed = {line.split()[0] for line in helped.split("options:")[1].splitlines() if line.strip()}
        expect(command, offered == {w for w in listed if w.startswith("--")} and offered <= known,
               f"{sorted(offered ^ listed)}")
    expect("no owner's options", "--db" not in complete("dpcount ask --"), complete("dpcount ask --"))
    code, said = run("completion", "zsh")
    expect("zsh", code == 0 and said.startswith("#compdef dpcount"), said)
    expect("other shells", run("completion", "fish")[0] == 2, "")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        write(os.path.join(folder, "data", "pat.csv"), "id,sex\n1,F\n2,M\n")
        write(os.path.join(folder, "schema.sql"), "CREATE TABLE pat(id int PRIMARY KEY, sex text);")
        precedence(folder)
        refusals(folder)
        ask(folder)
    completion()
    print("\n".join(bad) or "settings come from where they should")
    return 1 if bad else 0


sys.exit(main())
