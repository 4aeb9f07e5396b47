"""The formulas of "Sensitivity of Counting Queries" (Arapinis, Figueira,
Gaboardi), word for word as printed, errors included. bench/static sets their
values beside dpcount's. Shares nothing with the program: a query is a tuple of
free variables and a set of atoms (relation, terms); a term that starts with a
quote is a constant; everything is found by brute force."""
import itertools
import math
import re

INF = math.inf


def parse(rule):
    """'Q(x) :- R(x,'c').' as (("x",), frozenset of atoms)."""
    head, body = rule.rstrip(". ").split(":-")

    def terms(text):
        return tuple(t.strip() for t in text.split(",") if t.strip())

    atoms = frozenset((name, terms(inner)) for name, inner in
                      re.findall(r"(\w+)\(([^)]*)\)", body))
    return terms(re.search(r"\(([^)]*)\)", head).group(1)), atoms


def dependencies(constraints):
    """'R: 1 -> 2 <= 3' as {("R", 0, 1): 3}."""
    sigma = {}
    for text in constraints:
        name, i, j, k = re.fullmatch(
            r"(\w+): (\d+) -> (\d+)(?: <= (\d+))?", text).groups()
        key = (name, int(i) - 1, int(j) - 1)
        sigma[key] = min(sigma.get(key, INF), int(k or 1))
    return sigma


def constant(term):
    return term.startswith("'")


def elements(atoms):
    return sorted({t for _, terms in atoms for t in terms})


def rename(atoms, mapping):
    return frozenset((name, tuple(mapping.get(t, t) for t in terms))
                     for name, terms in atoms)


def homs(source, target, fixed):
    """Homomorphisms from source to target that keep constants and `fixed`."""
    target = sorted(target)

    def extend(rest, h):
        if not rest:
            yield dict(h)
            return
        name, terms = rest[0]
        for other, images in target:
            if other != name or len(images) != len(terms):
                continue
            g = dict(h)
            if all(g.setdefault(t, t if constant(t) or t in fixed else v) == v
                   for t, v in zip(terms, images)):
                yield from extend(rest[1:], g)

    yield from extend(sorted(source), {})


def count(free, atoms, database):
    """Distinct answers in {relation: rows}: an independent recount."""
    facts = [(r, tuple(f"'{v}'" for v in row)) for r, rows in database.items()
             for row in rows]
    atoms = rename(atoms, {t: f"'{t.strip(chr(39))}'"
                           for t in elements(atoms) if constant(t)})
    return len({tuple(h.get(x, x) for x in free)
                for h in homs(atoms, facts, ())})


def core(free, atoms):
    """core(C, x): the smallest retract that keeps the free variables."""
    for atom in sorted(atoms):
        for h in homs(atoms, atoms - {atom}, free):
            return core(free, rename(atoms, h))
    return atoms


def chases(free, atoms, sigma):
    """Every result that the printed chase can end with; bottom is left out."""
    for (name, i, j), k in sorted(sigma.items()):
        same = [t for r, t in sorted(atoms) if r == name]
        steps = [(t[j], s[j]) for t, s in itertools.permutations(same, 2)
                 if k == 1 and t[i] == s[i] and t[j] != s[j]]
        if not steps:
            continue
        for keep, lose in steps:
            if not constant(lose):
                left = tuple(dict.fromkeys(x for x in free if x != lose))
                yield from chases(left, rename(atoms, {lose: keep}), sigma)
        return
    yield free, atoms


def components(atoms):
    groups = []
    for atom in sorted(atoms):
        touching = [g for g in groups if any(
            set(atom[1]) & set(t) for _, t in g)]
        groups = [g for g in groups if g not in touching]
        groups.append({atom}.union(*touching))
    return [frozenset(g) for g in groups]


def delta_str(free, atoms):
    """Proposition 1 for connected queries, Theorem 8 for the others."""
    parts = components(atoms)
    if len(parts) == 1:
        misses = any(x not in terms for x in free
                     for _, terms in core(free, atoms))
        return INF if misses else 1
    for part in parts:
        if set(free) <= set(elements(part)):
            others = atoms - part
            if any(True for _ in homs(others, part, ())):
                return delta_str(free, part)
    return INF


def proposition_2(free, atoms):
    """Infinite for disconnected queries with a conjunct as described."""
    parts = components(atoms)
    told = len(parts) > 1 and any(
        not any(constant(t) for t in elements(p)) and
        set(free) & set(elements(p)) for p in parts)
    return INF if told else None


def path_cardinality(atoms, sigma, start, goal):
    """The least cardinality of a simple path from a term of start to goal;
    a constant on the way starts the product again."""
    best = INF

    def walk(at, seen, cost):
        nonlocal best
        if at == goal:
            best = min(best, cost)
        for name, terms in atoms:
            for i, j in itertools.permutations(range(len(terms)), 2):
                nxt = terms[j]
                if terms[i] != at or nxt in seen:
                    continue
                step = cost * sigma.get((name, i, j), INF)
                walk(nxt, seen | {nxt}, 1 if constant(nxt) else step)

    for term in set(start):
        walk(term, {term}, 1)
    return best


def delta(free, atoms, sigma, inner, outer):
    """max over relations of outer over its atoms of inner over the free
    variables; None where the printed maximum is over nothing."""
    if not free and inner is max:
        return None
    per = {}
    for name, terms in atoms:
        per.setdefault(name, []).append(inner(
            [path_cardinality(atoms, sigma, terms, x) for x in free]))
    return max(outer(values) for values in per.values())


def product(values):
    return math.prod(values)


def theorem_11(free, atoms, sigma, outer):
    """All values that the printed chase allows, smallest first."""
    values = {delta(f, core(f, a), sigma, max, outer)
              for f, a in chases(free, atoms, sigma)}
    return sorted(values, key=lambda v: -1 if v is None else v)


def theorem_11_upper(free, atoms, sigma):
    return theorem_11(free, atoms, sigma, sum)


def theorem_11_lower(free, atoms, sigma):
    return theorem_11(free, atoms, sigma, max)


def theorem_15(free, atoms, sigma):
    return [delta(free, core(free, atoms), sigma, product, sum)]


def theorem_17(free, atoms, sigma):
    return [delta(free, core(free, atoms), sigma, product, max)]
