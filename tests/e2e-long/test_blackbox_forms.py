#!/usr/bin/env python3
"""Everything but the numbers is the same on neighbours, for what test_blackbox.py leaves out: persons with all their
rows (elections, groups, keys found in rows, guesses), sums and averages, error budgets and wanted errors, strict mode,
packed files, formats of cells, sealed copies, the shell of questions in one file.

One side has a person more, with thousands of rows, owners that are missing or of another type, and cells at every limit;
or a row more of such cells. Exit status, both outputs with the paid numbers masked, and the ledger must be the same. And everything
that is shown is a function of the stored answer: asked again over the other side's rows it is the same, digit for digit.

    test_blackbox_forms.py [SEED [QUESTIONS]]"""
import concurrent.futures
import contextlib
import fractions
import gzip
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from outside import DPCOUNT, check, end, slower, write

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
EACH = int(sys.argv[2]) if len(sys.argv) > 2 else 8
FORMS = {"born": "{type: date, format: DD.MM.YYYY}", "paid": "{type: decimal, comma: yes}"}
PERSON = "{columns: {id: integer, city: text, born: %(born)s}, key: [id]%(person)s}"
VISIT = "{columns: {id: integer, p: integer, kind: text, paid: %(paid)s, n: integer}, key: [id], not_null: [p]%(visit)s, clip: {n: [%(lo)s, 9], paid: [0.0, 99.0]}}"
ITEM = "{columns: {v: integer, code: text, w: integer}, not_null: [v]%(item)s}"
OWNED = {"visit": ", owned_by: [{via: [p], table: person}]", "item": ", owned_by: [{via: [v], table: visit}]"}
PUBLIC = "{privacy: public, columns: {code: text, class: text}, key: [code]}"
LARGE = 2**63 - 1


def base():
    """Rows of person, visit, item; a person has 0 to 9 visits."""
    r = random.Random("base")
    people = [(i, "ABC"[i % 3], f"{1 + i % 28:02}.{1 + i % 12:02}.19{50 + i % 50}") for i in range(1, 41)]
    visits = [(100 * i + k, i, "xyz"[k % 3], f"{r.randint(0, 99)},5", r.randint(-3, 12)) for i in range(1, 41) for k in range(i % 10)]
    return {"person": people, "visit": visits, "item": [(v[0], f"c{v[0] % 4}", k) for v in visits for k in range(v[0] % 3)]}


def heavy(n, person, cells):
    """One person more, with n visits, and an item for each."""
    return {"person": [person], "visit": [(10**6 + k, person[0], *cells) for k in range(n)],
            "item": [(10**6 + k, "c1", LARGE) for k in range(n)]}


LONG = "x" * 70000
PEOPLE = [heavy(3000, (999, "A", "31.12.9999"), ("x", "99999999999999999999,5", LARGE)),
          heavy(70, (999, LONG, "31.02.2001"), (LONG, "no", "-9" * 12)),
          heavy(1, (999, "\u00e4\U0001f600\"", ""), ("", "1e999", "x")),
          heavy(200, (-LARGE - 1, "nobody", "1.1.0001"), ("y", "0,000000000000000000000001", "")),
          {"person": [], "visit": [(10**6 + k, 555, "x", "3,0", 4) for k in range(500)], "item": []},  # of a person who is not there
          {"person": [], "visit": [(10**6 + k, "R", "z", "x", "y") for k in range(300)], "item": [(10**6, "c2", 1)] * 50}]
ROWS = [{"visit": [(10**6, 7, LONG, "9" * 900 + ",5", LARGE)]}, {"visit": [(10**6, 7, "x", "no", "")]}, {"person": [(999, "", "30.02.1999")]},
        {"item": [("R", LONG, "1.5")]}]


def cell(value):
    return '"' + str(value).replace('"', '""') + '"' if isinstance(value, str) else str(value)


def make(side, more, form):
    for t, rows in base().items():
        names = {"person": "id,city,born", "visit": "id,p,kind,paid,n", "item": "v,code,w"}[t]
        text = names + "\n" + "".join(",".join(map(cell, r)) + "\n" for r in rows + more.get(t, []))
        if form["packed"]:
            os.makedirs(f"{side}/data", exist_ok=True)
            with gzip.open(f"{side}/data/{t}.csv.gz", "wt", encoding="utf-8") as f:
                f.write(text)
        else:
            write(f"{side}/data/{t}.csv", text)
    write(f"{side}/data/code.csv", "code,class\n" + "".join(f"c{i},{'lh'[i % 2]}\n" for i in range(4)))
    fill = dict(FORMS, person="", visit="", item="", lo=form["lo"])
    if form["entities"]:
        fill.update(OWNED)
    if form["strict"]:
        fill.update({t: fill[t] + ", rows_at_most: 20000, bytes_at_most: 100000000" for t in ("person", "visit", "item")})
    head = "entities: [person]\n" if form["entities"] else ""
    tail = "limits: {strict: yes, work_at_most: 1e12}\n" if form["strict"] else ""
    write(f"{side}/p.yaml", head + tail + "tables:\n" + "".join(f"  {t}: {d % fill}\n" for t, d in
          (("person", PERSON), ("visit", VISIT), ("item", ITEM), ("code", PUBLIC))))
    run(side, "budget", "init", "--ledger", "l", "--policy", "p.yaml", "--epsilon", "1000", "--delta", "0.1", "--least-price", "0.001")
    if form["sealed"]:
        r = run(side, "seal", "--db", "data", "--policy", "p.yaml", "--ledger", "l", "--version", "v1", "--out", "copy.db", "--accept-nulls")
        check("seal", r.returncode == 0, r.stderr)


def run(side, *args):
    return subprocess.run([DPCOUNT, *args], cwd=side, capture_output=True, text=True, check=False, timeout=slower(120),
                          stdin=subprocess.DEVNULL)


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?$")
PUBLIC_NUMBERS = {"price", "budget", "remaining", "spent", "epsilon", "delta", "clamped_at", "work", "owners"}


def mask(a, lists):
    """Numbers that were paid for become a word; so do lists of keys that were found."""
    if isinstance(a, dict):
        out = {}
        for k, v in a.items():
            if k in ("receipt", "as_of", "hash"):
                out[k] = type(v).__name__
            elif k in ("groups", "rows", "thresholds") and lists and isinstance(v, list):
                out[k] = "list"
            elif k in ("error_p95", "errors"):  # of a noisy number below 1 there is none
                out[k] = "number"
            elif k in PUBLIC_NUMBERS:
                out[k] = v
            else:
                out[k] = mask(v, lists)
        return out
    if isinstance(a, list):
        return [mask(v, lists) for v in a]
    if isinstance(a, str):
        return "number" if NUMBER.match(a) else a
    return "number" if isinstance(a, (int, float)) and not isinstance(a, bool) else a


def texts(out, lists):
    try:
        return json.dumps(mask(json.loads(out), lists), sort_keys=True)
    except ValueError:
        return out


def question(r, entities):
    """Query, options, and whether its rows are chosen by noise."""
    found = r.choice((True, False))
    delta = ["--delta", "0.0001"] if found else []
    city = "city" if found else "coalesce(city, 'none')"
    where = r.choice(("", " WHERE v.paid > 5", " WHERE length(v.kind || v.kind) > 1", " WHERE v.n * v.n * v.n > 3", " WHERE v.kind ~ '(x|y)*'"))
    keys = ["--groups", "city=A,B,C,nobody"]
    plain = [(f"SELECT COUNT(*) FROM visit v{where}", []), ("SELECT COUNT(DISTINCT p) FROM visit", []),
             (f"SELECT COUNT(*) FROM person JOIN visit v ON v.p = person.id{where}", []),
             (f"SELECT COUNT(*) FROM visit v JOIN item i ON i.v = v.id{where}", []),
             ("SELECT COUNT(DISTINCT i.code) FROM visit v JOIN item i ON i.v = v.id", []),
             ("SELECT c.class, COUNT(*) FROM item i JOIN code c ON c.code = i.code GROUP BY c.class", []),
             ("SELECT COUNT(*), COUNT(DISTINCT p) FROM visit", []),
             ("SELECT COUNT(*) FROM visit v", ["--error", r.choice(("50", "5", "10%"))]),
             ("SELECT COUNT(*) FROM visit v", ["--error-budget", r.choice(("0.1", "none", "0.4"))]),
             ("SELECT COUNT(*) FROM visit a JOIN visit b ON a.p = b.p AND a.id < b.id", []),
             (f"SELECT EXTRACT(year FROM born), COUNT(*) FROM person WHERE born > DATE '1990-01-01' GROUP BY 1", ["--groups", "1991,1995,9999"])]
    groups = [(f"SELECT {city}, COUNT(*) FROM person GROUP BY 1", delta + ([] if found else ["--groups", "A,B,C,nobody"])),
              ("SELECT city, COUNT(*) FROM person GROUP BY city HAVING COUNT(*) > 3 ORDER BY 2 DESC, 1 LIMIT 2", keys),
              ("SELECT city, 100.0 * COUNT(*) / (COUNT(*) - COUNT(*)) FROM person GROUP BY city", keys),
              ("SELECT person.city, COUNT(*) FROM person JOIN visit v ON v.p = person.id GROUP BY person.city", keys),
              ("SELECT kind, COUNT(*) FROM visit GROUP BY kind", ["--delta", "0.0001"])]
    rows = [("SELECT SUM(n) FROM visit", []), ("SELECT AVG(n), COUNT(*) FROM visit", []), ("SELECT SUM(paid) FROM visit v" + where, []),
            ("SELECT AVG(paid) FROM person JOIN visit v ON v.p = person.id" + where, []),
            ("SELECT kind, SUM(n) FROM visit GROUP BY kind", ["--groups", "kind=x,y,z"]),
            ("SELECT COUNT(*) FROM person WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.p = person.id)", []),
            (f"SELECT COUNT(*) FROM person LEFT JOIN visit v ON v.p = person.id{where}", []),
            ("SELECT COUNT(*) FROM (SELECT city AS c FROM person UNION SELECT kind FROM visit) u", []),
            ("SELECT COUNT(*) FROM (SELECT p FROM visit GROUP BY p HAVING COUNT(*) > 2) t", []),
            ("SELECT COUNT(*) FROM visit v WHERE v.p IN (SELECT id FROM person WHERE city = 'A') AND v.kind NOT IN (SELECT code FROM item)", []),
            ("SELECT SUM(LEAST(GREATEST(n * n, 0), 50)) FROM visit", [])]
    query, more = r.choice(plain + groups + ([] if entities else rows))
    if entities and r.random() < 0.3:
        # a threshold that was told is a paid number: what it makes a repetition of differs
        more = more + r.choice((["--guess", "4"], ["--guess", "earlier", "--fresh"], ["--guess", "1000000"]))
    return query, more, "--delta" in more or "HAVING" in query


def laws(side):
    """What the ledger charged, by receipt: question and law, price, mechanism."""
    with contextlib.closing(sqlite3.connect(f"file:{side}/l?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT receipt, query || '; ' || settings, epsilon, mechanism FROM charged ORDER BY id").fetchall()
    return {r[0]: r[1:] for r in rows}


def receipts(out):
    try:
        a = json.loads(out)
    except ValueError:
        return None
    return [c["receipt"] for c in a.get("counts", [a]) if c.get("receipt")]


def spend(side, form, what, before, r, book):
    """The laws of what was answered, and whether it is the same on neighbours that something was charged: a threshold that
    was told is a paid number, and --guess earlier makes it a part of the question. So it must be seen from the ledger alone:
    what is charged was not asked before, what is repeated was."""
    after, fresh = laws(side), "--fresh" in what
    known = {law for law in before.values()}
    new = [law for receipt, law in after.items() if receipt not in before]
    check(f"{side} {form} {what}: asked before", fresh or not known & set(new), str(new))
    total = sum(fractions.Fraction(law[1]) for law in after.values())
    check(f"{side} {form} {what}: spent", abs(total - fractions.Fraction(book["spent"])) < 1e-9, f"{total} {book}")
    said = receipts(r.stdout)
    found = new if said is None else [after.get(receipt) for receipt in said]
    check(f"{side} {form} {what}: receipts", None not in found, str(said))
    if "earlier" in what:
        found = [(law[1], law[2]) for law in found if law]
    return found if said is not None else None


TOLD = ("spent", "remaining", "delta_spent", "delta_remaining", "committed", "head", "repeated", "isolation", "budget", "charged", "charged_delta")


def without_told(x):
    if isinstance(x, dict):
        return {k: without_told(v) for k, v in x.items() if k not in TOLD}
    return [without_told(v) for v in x] if isinstance(x, list) else x


def ask(sides, form, query, more, lists, fmt, told):
    """`told`: thresholds were told and asked with, so that what is a repetition differs."""
    seen, args = [], []
    for side in sides:
        source = ["--db", "copy.db" if form["sealed"] else "data", "--policy", "p.yaml"]
        price = [] if "--error" in more else ["--epsilon", "0.5"]
        args = ["release", "--format", fmt, "--ledger", "l", *price, *source, *more, query]
        before = laws(side)
        r = run(side, *args)
        book = json.loads(run(side, "budget", "show", "--format", "json", "--ledger", "l").stdout)
        book["head"]["hash"] = ""
        law = spend(side, form, [*more, query], before, r, book)
        out = texts(r.stdout, lists) if fmt == "json" else len(r.stdout) > 0
        if told:
            book = without_told(book)
            out = without_told(json.loads(out)) if fmt == "json" and out.startswith("{") else out
        seen.append((r.returncode, out, r.stderr, book, law, r.stdout))
    check(f"{form} {more} {query}", seen[0][:5] == seen[1][:5], f"\n   without: {seen[0][:5]}\n   with:    {seen[1][:5]}")
    check("never locked", seen[1][0] != 5, f"{form} {more} {query} {seen[1]}")
    if fmt == "json" and seen[0][0] == 0 and "--fresh" not in more and not form["sealed"]:
        from_the_stored(sides, args, [x[5] for x in seen])
    return seen[0][0] == 0


def from_the_stored(sides, args, first):
    """Everything that is shown is computed from the stored answer: with the other side's rows it is the same."""
    a, b = (f"{side}/data" for side in sides)

    def swap():
        os.rename(a, "x" + a.replace("/", "-"))
        os.rename(b, a)
        os.rename("x" + a.replace("/", "-"), b)
    swap()
    for side, out in zip(sides, first):
        again, out = json.loads(run(side, *args).stdout), json.loads(out)
        check(f"{side} {args}: repeated", all(c["repeated"] for c in again.get("counts", [again]) if c.get("receipt")), str(again))
        check(f"{side} {args}: from what is stored", without_told(again) == without_told(out), f"\n   {out}\n   {again}")
    swap()


def neighbours(n, more, entities):
    r = random.Random(f"{SEED} {n} {entities}")
    form = {"entities": entities, "packed": r.random() < 0.5, "sealed": not entities and r.random() < 0.5,
            "strict": not entities and r.random() < 0.4, "lo": r.choice(("0", "-5"))}
    form["sealed"] |= form["strict"]
    sides = [f"{'e' if entities else 'r'}{n}/{s}" for s in "ab"]
    for side, rows in zip(sides, ({}, more)):
        make(side, rows, form)
    answered, told = [], False
    for _ in range(EACH):
        query, more, lists = question(r, entities)
        told |= "earlier" in more
        answered.append(ask(sides, form, query, more, lists, r.choice(("json", "json", "text")), told))
    return answered


folder = tempfile.TemporaryDirectory(prefix="dpc-forms-")
os.chdir(folder.name)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(neighbours, n, more, entities) for entities, all_ in ((True, PEOPLE), (False, ROWS)) for n, more in enumerate(all_)]
    answered = [a for job in jobs for a in job.result()]
print(f"{len(answered)} asked, {sum(answered)} answered")
check("enough was answered", sum(answered) > 0.6 * len(answered), str(sum(answered)))
end()
