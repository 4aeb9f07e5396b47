#!/usr/bin/env python3
"""Sums by definition: random rules over small tables, the total, every residual T_F with its weight, the first value of the
sequence, and that none exceeds the sequence without caps. The oracle tries every choice of rows."""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

DPCOUNT = os.path.join(os.environ["DPC_BUILD"], "dpcount")
ROUNDS = int(os.environ.get("DPC_ROUNDS", "60"))


def run(command, folder, tables, rule, *more):
    args = [DPCOUNT, command, "--format", "json"]
    for name, _ in tables:
        args += ["--table", f"{name}(x,y)={os.path.join(folder, name + '.csv')}"]
    out = subprocess.run(args + list(more) + [rule], capture_output=True, text=True, timeout=60)
    return json.loads(out.stdout)


def clip(v, lo, hi):
    return max(lo, min(hi, v))


def matches(atoms, data):
    """All assignments that satisfy the atoms."""
    found = [{}]
    for name, args in atoms:
        found = [dict(m, **dict(zip(args, row))) for m in found for row in data[name]
                 if all(m.get(a, v) == v for a, v in zip(args, row)) and (args[0] != args[1] or row[0] == row[1])]
    return found


def boundary(atoms, kept):
    inside = {v for i in kept for v in atoms[i][1]}
    outside = {v for i in range(len(atoms)) if i not in kept for v in atoms[i][1]}
    return sorted(inside & outside), inside


def residual(atoms, data, kept, outs, var, weight, most):
    if not kept:
        return most
    bd, inside = boundary(atoms, kept)
    shown = sorted(set(outs) & inside)
    groups = {}
    for m in matches([atoms[i] for i in kept], data):
        groups.setdefault(tuple(m[v] for v in bd), {})[tuple(m[v] for v in shown)] = m.get(var)
    if var in inside:
        return max((sum(weight(v) for v in g.values()) for g in groups.values()), default=0)
    return most * max((len(g) for g in groups.values()), default=0)


def subsets(items):
    items = sorted(items)
    return [c for n in range(1, len(items) + 1) for c in itertools.combinations(items, n)]


def check(rng, folder, number):
    names = ["r", "s"][:rng.choice([1, 2, 2])]
    data = {n: sorted({(rng.randrange(4), rng.randrange(-3, 9)) for _ in range(rng.randrange(1, 9))}) for n in names}
    for n in names:
        with open(os.path.join(folder, n + ".csv"), "w") as f:
            f.writelines(f"{x},{y}\n" for x, y in data[n])
    variables = ["a", "b", "c", "d"]
    atoms = []
    while len(atoms) < rng.choice([1, 2, 3]):
        atom = (rng.choice(names), (rng.choice(variables), rng.choice(variables)))
        if atom not in atoms:
            atoms.append(atom)
    used = sorted({v for _, args in atoms for v in args})
    var = rng.choice(used)
    outs = [v for v in used if v == var or rng.random() < 0.7]
    lo, hi = sorted([rng.randrange(-3, 4), rng.randrange(0, 7)])
    private = [n for n in names if rng.random() < 0.8 or n == names[0]]
    rule = f"Q({', '.join(outs)}, sum({var} in {lo}..{hi})) :- " + ", ".join(f"{n}({x}, {y})" for n, (x, y) in atoms) + "."
    got = run("sensitivity", folder, [(n, 0) for n in names], rule, "--beta", "0.1", "--private", ",".join(private),
              *(["--public", ",".join(set(names) - set(private))] if set(names) - set(private) else []))
    tuples = {tuple(m[v] for v in outs): m[var] for m in matches(atoms, data)}
    want = sum(clip(v, lo, hi) for v in tuples.values())
    say = f"round {number}: {rule}\n{data}\n{got}"
    if "error" in got:
        return say
    if got["count"] != want:
        return f"{say}\nsum {want}"
    signs = [(s, a, b) for s, a, b in ((1, max(lo, 0), hi), (-1, lo, min(hi, 0))) if (b > 0 if s > 0 else a < 0)]
    if len(signs) != len(got["parts"]) and (lo or hi):
        return f"{say}\nparts"
    total = {1: {}, -1: {}}
    for part, (sign, a, b) in enumerate(signs):
        def weight(v):
            return abs(clip(v, a, b))
        priv = [i for i, (n, _) in enumerate(atoms) if n in private]
        t = {}
        for e in subsets(priv) + [()]:
            kept = [i for i in range(len(atoms)) if i not in e]
            t[frozenset(e)] = residual(atoms, data, kept, outs, var, weight, max(abs(a), abs(b)))
        for r in got["residuals"]:
            if r["part"] == part and r["t"] != t[frozenset(r["removed"])]:
                return f"{say}\npart {part}, removed {r['removed']}: {t[frozenset(r['removed'])]}"
        for n in private:
            mine = [i for i in priv if atoms[i][0] == n]
            total[sign][n] = total[sign].get(n, 0) + sum(t[frozenset(e)] for e in subsets(mine))
    first = max((max(total[1].get(n, 0), total[-1].get(n, 0)) for n in private), default=0)
    sequence = got["residual"]["ls_hat"]
    if sequence[0] != min(first, got["global_upper"] if got["global_upper"] != "inf" else first):
        return f"{say}\nfirst value {first}"
    return "" if sequence == sorted(sequence) else f"{say}\nthe sequence falls"


def main():
    bad = []
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            bad += [w for w in [check(rng, folder, number)] if w]
    for b in bad[:3]:
        print(b)
    print(f"{ROUNDS - len(bad)} of {ROUNDS} agree")
    sys.exit(bool(bad))


main()
