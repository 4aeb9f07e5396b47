#!/usr/bin/env python3
"""Expressions that grow by one row's value: products of products, texts that are replaced or joined again and again. What they
would need beyond the limits is NULL, so neighbours are answered alike, in little time and memory."""
import os
import resource
import tempfile

from outside import ask, check, end, slower, write

folder = tempfile.TemporaryDirectory(prefix="dpc-towers-")
os.chdir(folder.name)
for side, hiv, dx in (("a", 0, "none"), ("b", 1, "RARE")):
    write(f"{side}/p.csv", "id,hiv,dx\n" + "".join(f"{i},{hiv if i == 7 else 0},{dx if i == 7 else 'flu'}\n" for i in range(30)))
write("p.yaml", "tables:\n  p: {privacy: private, key: id, columns: {id: integer, hiv: integer, dx: text}}\n")


def tower(first, step, levels):
    e = first
    for _ in range(levels):
        e = step.format(e)
    return e


def processor():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


LEAF = "CASE WHEN id = 7 AND hiv = 1 THEN 99999999 ELSE 1 END"
questions = []
for levels in (8, 12):
    inner = f"SELECT id, {LEAF} AS a FROM p"
    for i in range(levels):
        inner = f"SELECT id, a * a AS a FROM ({inner}) t{i}"
    questions.append((f"products, {levels} levels", f"SELECT COUNT(*) FROM ({inner}) t WHERE a > 5"))
for levels in (8, 16):
    e = tower("dx", "replace({}, 'R', 'RRRRRRRRRR')", levels)
    questions.append((f"replaced, {levels} levels", f"SELECT COUNT(*) FROM p WHERE {e} = 'x'"))
    inner = "SELECT id, dx AS s FROM p"
    for i in range(min(levels, 12)):
        inner = f"SELECT id, s || s AS s FROM ({inner}) t{i}"
    questions.append((f"joined, {levels} levels", f"SELECT COUNT(*) FROM ({inner}) t WHERE s LIKE 'RARE%'"))
for n, (what, sql) in enumerate(questions):
    outcome = []
    for side in "ab":
        book = f"{side}{n}"
        ask("budget", "init", "--ledger", book, "--epsilon", "10")
        before = processor()
        status, a = ask("release", "--format", "json", "--ledger", book, "--epsilon", "0.1", "--db", side, "--policy", "p.yaml", "--memory", "128M", sql)
        took = processor() - before
        spent = ask("budget", "show", "--ledger", book, "--format", "json")[1]["spent"]
        code = a.get("error", {}).get("code") if isinstance(a, dict) else a
        outcome.append((status, code, spent))
        check(what, took < slower(5), f"{side}: {took} s of processor time")
    check(f"{what}: neighbours alike", outcome[0] == outcome[1] and outcome[0][0] in (0, 6), str(outcome))
    print(what, outcome[0])
end()
