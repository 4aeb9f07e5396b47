#!/usr/bin/env python3
"""Comparisons with constants of several kinds: every two constants are ordered, numbers before texts before truth values
before dates, so one between two constants is decided while the query is normalised and never reaches the rows."""
import itertools
import os
import random
import tempfile

import outside
from outside import check, end

CELLS = [-1, 0.5, 1, 3, "a", "b"]
CONSTANTS = [(0, -1), (0, 0.5), (0, 1), (1, "a"), (1, "b"), (2, True), (3, "2020-01-02")]
OPS = {"<": lambda c: c < 0, "<=": lambda c: c <= 0, ">": lambda c: c > 0, ">=": lambda c: c >= 0, "!=": lambda c: c != 0}


def place(cell):
    return (1, cell) if isinstance(cell, str) else (0, cell)


def order(a, b):
    return (a > b) - (a < b)


def written(c):
    kind, v = c
    return [str(v), f"'{v}'", "true", f"date '{v}'"][kind]


def brute(cmps):
    n = 0
    for pair in itertools.product(CELLS, repeat=2):
        at = {"x": place(pair[0]), "y": place(pair[1])}
        value = [(op, at.get(l, l), at.get(r, r)) for l, op, r in cmps]
        n += all(OPS[op](order(l, r)) for op, l, r in value)
    return n


def some(rng):
    side = rng.choice(["x", "y"]), rng.choice(["x", "y", *CONSTANTS, *CONSTANTS])
    l, r = side if rng.random() < 0.7 else side[::-1]
    return l, rng.choice([*OPS, "<=", ">="]), r


folder = tempfile.TemporaryDirectory(prefix="dpc-mixed-")
os.chdir(folder.name)
outside.write("R.csv", "".join(f"{c}\n" for c in CELLS))
rng = random.Random(7)
cases = [[("x", ">", (0, -1)), ("x", ">", (1, "a")), ("x", "<", (0, -1))],
         [("x", "!=", (1, "a")), ("x", "<=", (0, 1)), ("x", ">=", (0, 1))],
         [("x", "<", (2, True)), ("x", "<=", (1, "a")), ("x", ">=", (1, "a"))],
         [("x", "!=", "y"), ("x", "<=", (1, "a")), ("x", ">=", (1, "a")), ("y", "<=", (0, 1)), ("y", ">=", (0, 1))]]
cases += [[some(rng) for _ in range(rng.randint(2, 5))] for _ in range(60)]
for cmps in cases:
    body = ", ".join(f"{l if isinstance(l, str) else written(l)} {op} {r if isinstance(r, str) else written(r)}" for l, op, r in cmps)
    rule = f"Q(x,y) :- R(x), R(y), {body}."
    want = brute(cmps)
    for command in ("count", "sensitivity"):
        status, a = outside.ask(command, "--table", "R(c1)=R.csv", "--format", "json", rule)
        check(f"{command} {rule}", status == 0 and a["count"] == want, f"{want} {status} {a}")
    status, a = outside.ask("analyze", "--format", "json", rule)
    check(f"analyze {rule}", status == 0 and (a["satisfiable"] or want == 0), f"{want} {status} {a}")
check("satisfiable", not outside.ask("analyze", "--format", "json", "Q(x) :- R(x), x > 'a', x < 1.")[1]["satisfiable"])
end()
