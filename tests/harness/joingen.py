"""Random medium tables and queries, and what the program says of them against
the definitions: the count, every T_F of `sensitivity`, the counts of GROUP BY.

Tables have skewed degrees, hubs whose neighbours have no others, dense parts,
loops, repeated rows, NULLs, functional keys; queries have two to six atoms,
constants, !=, < and <=, projections, computed columns (in SQL), public tables.
Counts of SQL and groups are SQLite's. A residual is computed here, by joining
one atom after another on plain dictionaries, from the normalised query that
the program prints. What grows too large for that is left out.
"""
import json
import os
import random
import re
import sqlite3
import subprocess
import tempfile

PROGRAM = os.environ["DPC_BUILD"] + "/dpcount"
MOST = 150000  # tuples kept at once


class TooMuch(Exception):
    pass


# --- data -------------------------------------------------------------------
def value(rng, n, skew):
    if skew == 0:
        return rng.randrange(n)
    if skew == 1:
        return int(n * rng.random() ** 3)
    return min(n - 1, int(rng.paretovariate(0.8)) - 1)


def rows_of(rng, arity, n, dom):
    skew = [rng.choice([0, 0, 1, 1, 2]) for _ in range(arity)]
    rows = [tuple(value(rng, dom, s) for s in skew) for _ in range(n)]
    if arity >= 2:
        kind = rng.random()
        if kind < 0.35:  # hubs on no cycle: neighbours that have no others
            for _ in range(rng.randint(1, 2)):
                h, side = rng.randrange(dom), rng.random()
                for i in range(rng.randint(5, n // 2)):
                    r = [rng.randrange(dom) for _ in range(arity)]
                    a, b = (h, dom + i) if side < 0.4 else (dom + i, h)
                    r[0], r[1] = a, b
                    rows.append(tuple(r))
                    if side > 0.7:
                        rows.append((b, a) + tuple(r[2:]))
        if rng.random() < 0.3:  # a dense part
            k = [rng.randrange(dom) for _ in range(rng.randint(3, 6))]
            rows += [tuple([a, b] + [rng.choice(k) for _ in range(arity - 2)])
                     for a in k for b in k if rng.random() < 0.8]
        kind = rng.random()
        if kind < 0.35:
            rows += [(r[1], r[0]) + r[2:] for r in rows]
        elif kind < 0.45:
            rows = [r for r in rows if r[0] < r[1]]
        if rng.random() < 0.4:
            rows = [r for r in rows if r[0] != r[1]]
        elif rng.random() < 0.3:
            rows += [(v, v) + tuple(rng.randrange(dom) for _ in range(arity - 2))
                     for v in range(0, dom, 3)]
    rng.shuffle(rows)
    return rows[:300]


def make_tables(rng):
    dom = rng.choice([6, 12, 25, 40, 80])
    tables = {}
    for i in range(rng.randint(1, 3)):
        arity = rng.choice([2, 2, 2, 2, 1, 3]) if i else 2
        rows = rows_of(rng, arity, rng.choice([20, 40, 80, 150, 250]), dom)
        key = rng.random() < 0.25 and arity > 1
        if key:  # a functional key: the first column
            rows = list({r[0]: r for r in rows}.values())
        elif rng.random() < 0.35:
            rows += [rng.choice(rows) for _ in range(len(rows) // 3)] if rows else []
        else:
            rows = list(set(rows))
        if rng.random() < 0.2:
            rows = [tuple(None if rng.random() < 0.1 and not (key and c == 0) else v
                          for c, v in enumerate(r)) for r in rows]
        tables["t%d" % i] = (arity, rows, key)
    return tables, dom


# --- queries ----------------------------------------------------------------
def make_query(rng, tables, dom):
    names = list(tables)
    n = rng.choice([2, 3, 3, 4, 4, 5, 5, 6])
    only = rng.random() < 0.5
    shape = rng.random()
    atoms, used = [], []
    n_vars = rng.randint(2, n + 2)
    if shape < 0.35:  # a pattern of edges over one table
        pats = ["ab bc ca", "ab bc cd da", "ab bc cd de", "ab ac ad", "ab ac ad ae", "ab bc ca cd",
                "ab bc cd da ac", "ab bc cd de ea", "ab ac bd cd be ce", "ab bc ca ad de", "ab ac ad bc",
                "ab bc ca cd de ec", "ab cb cd ed", "ab bc cd da ae", "ac bc ad bd", "ab bc ca ad bd cd",
                "ab ac bd be cf", "ab bc ca de", "ab ac ad bc be", "ab ba", "ab ba bc", "aa ab bc"]
        for e in rng.choice(pats).split():
            if rng.random() < 0.3:
                e = e[::-1]
            t = "t0" if only else rng.choice([x for x in names if tables[x][0] == 2])
            atoms.append((t, list(e)))
    else:
        for i in range(n):
            t = "t0" if only else rng.choice(names)
            args = []
            for _ in range(tables[t][0]):
                x = rng.random()
                if x < 0.06:
                    args.append(str(rng.randrange(dom)))
                elif x < 0.12:
                    args.append("_")
                elif used and x < 0.55:
                    args.append(rng.choice(used))
                else:
                    args.append("abcdefgh"[rng.randrange(n_vars)])
            used += [x for x in args if x.isalpha()]
            atoms.append((t, args))
        if rng.random() < 0.9:  # mostly connected
            for i in range(1, n):
                have = {v for _, s in atoms[:i] for v in s if v.isalpha()}
                if have and not have & set(atoms[i][1]):
                    atoms[i][1][rng.randrange(len(atoms[i][1]))] = rng.choice(sorted(have))
    vs = sorted({v for _, s in atoms for v in s if v.isalpha()})
    cmps = []
    x = rng.random()
    if x < 0.3 and len(vs) > 1:
        cmps = [(a, "!=", b) for i, a in enumerate(vs) for b in vs[:i]]
    elif x < 0.7 and len(vs) > 1:
        for _ in range(rng.randint(1, 3)):
            a, b = rng.sample(vs, 2)
            cmps.append((a, rng.choice(["!=", "!=", "!=", "<", "<="]), b))
    if vs and rng.random() < 0.15:
        cmps.append((rng.choice(vs), rng.choice(["!=", "<", "<="]), str(rng.randrange(dom))))
    head = vs if rng.random() < 0.65 else [v for v in vs if rng.random() < 0.5]
    return atoms, cmps, head


def rule_text(atoms, cmps, head):
    parts = ["%s(%s)" % (t, ",".join(s)) for t, s in atoms]
    parts += ["%s %s %s" % c for c in cmps]
    return "Q(%s) :- %s." % (",".join(head), ", ".join(parts))


def sql_text(atoms, cmps, head, rng, group):
    place, cond, shifted = {}, [], rng.random() < 0.4
    for i, (t, s) in enumerate(atoms):
        for j, v in enumerate(s):
            here = "a%d.c%d" % (i, j)
            if v == "_":
                continue
            if v.isalpha() and v not in place:
                place[v] = here
            else:
                shift = " + %d" % rng.randint(0, 2) if shifted and rng.random() < 0.6 else ""
                cond.append("%s%s = %s" % (place.get(v, v), shift if v.isalpha() else "", here))
    cond += ["%s %s %s" % (place.get(a, a), "<>" if o == "!=" else o, place.get(b, b))
             for a, o, b in cmps]
    frm = " FROM " + ", ".join("%s a%d" % (t, i) for i, (t, _) in enumerate(atoms))
    where = " WHERE " + " AND ".join(cond) if cond else ""
    if group:
        cols = ", ".join(place[v] for v in group)
        return "SELECT %s, COUNT(*)%s%s GROUP BY %s" % (cols, frm, where, cols)
    return "SELECT COUNT(*)%s%s" % (frm, where)


# --- the definition ---------------------------------------------------------
def parse(text):
    m = re.match(r"Q\(([^)]*)\) :- (.*)\.$", text)
    if not m:
        raise TooMuch(text)
    head = [v for v in re.split("[,;]", m.group(1)) if v]
    atoms, cmps = [], []
    plain = re.sub(r"\w+ := \{[^}]*\}", "", m.group(2))
    for p in re.findall(r"\w+(?:@\w+)?\([^)]*\)|\w+ (?:!=|<=|<) -?\w+", plain):
        a = re.match(r"(\w+)(?:@(\w+))?\((.*)\)$", p)
        if a:
            atoms.append((a.group(1), a.group(2), a.group(3).split(",")))
        else:
            cmps.append(tuple(p.split()))
    calcs = [(y, x, int(k)) for y, x, k in re.findall(r"(\w+) := \{add\((\w+), (\d+)\)\}", m.group(2))]
    if m.group(2).count("{") != len(calcs):
        raise TooMuch
    return head, atoms, cmps, calcs


def is_var(x):
    return x != "_" and not x.lstrip("-").isdigit()


def relation(tables, atom, nonnull, calcs=()):
    t, rowid, args = atom
    calcs = [c for c in calcs if c[1] in args]
    out_vars = []
    for v in ([rowid] if rowid else []) + args + [c[0] for c in calcs]:
        if is_var(v) and v not in out_vars:
            out_vars.append(v)
    out = set()
    for n, r in enumerate(tables[t][1]):
        b = {rowid: n} if rowid else {}
        ok = True
        for v, x in zip(args, r):
            if v == "_":
                continue
            if not is_var(v):
                ok = ok and x == int(v)
            elif v in b:
                ok = ok and b[v] == x and x is not None
            else:
                b[v] = x
                ok = ok and not (x is None and v in nonnull)
        for y, x, k in calcs if ok else []:
            new = None if b[x] is None else b[x] + k
            ok = ok and not (new is None and y in nonnull) and b.get(y, new) == new
            b[y] = new
        if ok:
            out.add(tuple(b[v] for v in out_vars))
    return out_vars, out


OPS = {"!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b}


def reader(vs, x):
    """What gives the value of a variable or a number in a tuple over vs."""
    if not is_var(x):
        return lambda t, k=int(x): k
    return lambda t, i=vs.index(x): t[i]


def t_value(rels, cmps, boundary, outs):
    """Largest number of distinct outs for one boundary value."""
    all_vars = {v for vs, _ in rels for v in vs}
    cmps = [c for c in cmps if all(not is_var(x) or x in all_vars for x in (c[0], c[2]))]
    full = all_vars <= set(outs) | set(boundary)
    keep_always = set(boundary) if full else set(boundary) | set(outs)
    left, todo = list(rels), list(cmps)
    vs, state = [], {(): 1}
    while left:
        def cost(r):
            return (not (set(r[0]) & set(vs)), len(set(r[0]) - set(vs)), len(r[1]))
        r = min(left, key=cost)
        left.remove(r)
        common = [v for v in r[0] if v in vs]
        at = [r[0].index(v) for v in common]
        new = [i for i, v in enumerate(r[0]) if v not in vs]
        index = {}
        for row in r[1]:
            index.setdefault(tuple(row[i] for i in at), []).append(tuple(row[i] for i in new))
        here = [vs.index(v) for v in common]
        nvs = vs + [r[0][i] for i in new]
        ready = [c for c in todo if all(not is_var(x) or x in nvs for x in (c[0], c[2]))]
        todo = [c for c in todo if c not in ready]
        tests = [(reader(nvs, a), OPS[o], reader(nvs, b)) for a, o, b in ready]
        needed = keep_always | {v for q in left for v in q[0]} | {x for c in todo for x in (c[0], c[2])}
        kept = [i for i, v in enumerate(nvs) if v in needed]
        nstate, work = {}, 0
        for t, n in state.items():
            for e in index.get(tuple(t[i] for i in here), ()):
                u = t + e
                work += 1
                if all(op(a(u), b(u)) for a, op, b in tests):
                    w = tuple(u[i] for i in kept)
                    nstate[w] = nstate.get(w, 0) + n if full else 1
            if work > 4 * MOST or len(nstate) > MOST:
                raise TooMuch
        state, vs = nstate, [nvs[i] for i in kept]
    if not state:
        return 0
    at = [vs.index(v) for v in boundary]
    groups = {}
    for t, n in state.items():
        k = tuple(t[i] for i in at)
        groups[k] = groups.get(k, 0) + n
    return max(groups.values())


# --- running ----------------------------------------------------------------
def run(args):
    p = subprocess.run([PROGRAM] + args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return {"error": {"message": "exit %d: %r" % (p.returncode, p.stdout[:200])}}


def store(tables, path):
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous=off")
    for t, (arity, rows, key) in tables.items():
        cols = ["c%d int" % i for i in range(arity)]
        if key:
            cols[0] += " PRIMARY KEY NOT NULL"
        db.execute("CREATE TABLE %s (%s)" % (t, ", ".join(cols)))
        db.executemany("INSERT INTO %s VALUES (%s)" % (t, ",".join("?" * arity)), rows)
    db.commit()
    return db


def ask(db, sql):
    steps = [0]

    def tick():
        steps[0] += 1
        return steps[0] > 400
    db.set_progress_handler(tick, 10000)
    try:
        return db.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return None
    finally:
        db.set_progress_handler(None, 0)


def nonnull_of(head, atoms, cmps, tables, calcs=()):
    seen, out = {}, set()
    for y, _, _ in calcs:
        seen[y] = seen.get(y, 0) + 1
    for t, rowid, args in atoms:
        for i, v in enumerate(args):
            seen[v] = seen.get(v, 0) + 1
            if tables[t][2] and i == 0:
                out.add(v)
    out |= {v for v in seen if seen[v] > 1}
    return out | {x for c in cmps for x in (c[0], c[2])}


class Stats:
    """cases; residuals compared, of those above one, left out; counts; groups;
    queries that the program refused."""
    cases = compared = positive = skipped = counts = groups = errors = 0


def key_text(values):
    """Texts, so that keys with NULL can be sorted."""
    return tuple("null" if x is None else str(x) for x in values)


def check(case, path, stats, options=()):
    """None, or what differs."""
    tables, public, text, sql, group = case
    db = store(tables, path)
    query = sql or text
    base = ["--db", path] + list(options)
    if public:
        base += ["--public", ",".join(public)]
    if group:
        out = run(["count", "--format", "json"] + base + [query])
        if "groups" not in out:
            stats.errors += 1
            return ("bad", out) if "internal" in str(out) or "exit" in str(out) else None
        want = ask(db, sql)
        if want is None:
            return None
        got = sorted((key_text(g["key"]), g["count"]) for g in out["groups"] if g["count"])
        want = sorted((key_text(r[:-1]), r[-1]) for r in want)
        if public:  # keys of a public table are its values: NULL is none
            got, want = ([g for g in x if "null" not in g[0]] for x in (got, want))
        stats.groups += len(want)
        return None if got == want else ("groups", got, want)
    out = run(["sensitivity", "--format", "json"] + base + [query])
    if "residuals" not in out:
        stats.errors += 1
        return ("bad", out) if "internal" in str(out) or "exit" in str(out) else None
    head, atoms, cmps, calcs = parse(out["query"])
    nonnull = nonnull_of(head, atoms, cmps, tables, calcs)
    rels = [relation(tables, a, nonnull, calcs) for a in atoms]
    for y, x, k in calcs:  # of which atom it is, the text does not say
        if sum(x in a[2] for a in atoms) > 1:
            out["residuals"] = []
    if sql:
        r = ask(db, sql)
        if r is not None:
            stats.counts += 1
            if r[0][0] != out["count"]:
                return ("count", out["count"], r[0][0], out["query"])
    else:
        h, a, c, _ = parse(text)
        a = [x for i, x in enumerate(a) if x not in a[:i]]
        rel0 = [relation(tables, (x, y, z), nonnull_of(h, a, c, tables)) for x, y, z in a]
        try:
            want = t_value(rel0, c, [], h)
            stats.counts += 1
            if want != out["count"]:
                return ("count", out["count"], want, out["query"])
        except TooMuch:
            pass
    for r in out["residuals"]:
        rest = [x for i, x in enumerate(rels) if i not in r["removed"]]
        have = {v for vs, _ in rest for v in vs}
        try:
            want = t_value(rest, cmps, r["boundary"], [v for v in head if v in have])
        except TooMuch:
            stats.skipped += 1
            continue
        stats.compared += 1
        stats.positive += want > 1
        if want != r["t"]:
            return ("residual", r, want, out["query"])
    return None


def make_case(rng):
    tables, dom = make_tables(rng)
    atoms, cmps, head = make_query(rng, tables, dom)
    public = [t for t in tables if rng.random() < 0.2]
    if len(public) == len(tables):
        public = []
    text = sql = group = None
    x = rng.random()
    vs = sorted({v for _, s in atoms for v in s if v.isalpha()})
    if x < 0.7:
        text = rule_text(atoms, cmps, head)
    else:
        group = rng.sample(vs, min(len(vs), rng.randint(1, 3))) if vs and x > 0.85 else None
        sql = sql_text(atoms, cmps, head, rng, group)
    return tables, public, text, sql, group


def shrink(case, path, options):
    """Fewer rows that differ still."""
    tables, rest, stats = case[0], case[1:], Stats()
    for t in tables:
        size = len(tables[t][1]) // 2
        while size:
            at = 0
            while at < len(tables[t][1]):
                arity, rows, key = tables[t]
                less = dict(tables)
                less[t] = (arity, rows[:at] + rows[at + size:], key)
                if check((less,) + rest, path, stats, options):
                    tables = less
                else:
                    at += size
            size //= 2
    return (tables,) + rest


def compare(seeds):
    """Statistics, and None or the first difference as text."""
    stats = Stats()
    with tempfile.TemporaryDirectory() as d:
        path = d + "/random.db"
        for seed in seeds:
            rng = random.Random(seed)
            case = make_case(rng)
            options = ["--threads", rng.choice("12")]
            stats.cases += 1
            try:
                bad = check(case, path, stats, options)
            except TooMuch:
                continue
            if bad:
                small = shrink(case, path, options)
                return stats, "seed %d: %s\nshrunk: %s\n%s" % (
                    seed, str(bad)[:1000], str(small)[:4000],
                    str(check(small, path, stats, options))[:1000])
    return stats, None
