#!/usr/bin/env python3
"""What people read: thousands separators, the reason of a mechanism only with --explain, several counts told once with their price in
all, the history as a table, by time and as CSV, names that were meant, and the picture of --plot."""
import csv
import io
import os
import re
import sqlite3
import tempfile
import xml.etree.ElementTree as xml

import outside
from outside import check, end, run, write

folder = tempfile.TemporaryDirectory(prefix="dpc-people-")
os.chdir(folder.name)
with sqlite3.connect("d.db") as db:
    db.executescript("""CREATE TABLE person(id INTEGER PRIMARY KEY, sex TEXT NOT NULL CHECK (sex IN ('F', 'M', '<&>')), age INT);
CREATE TABLE visit(id INTEGER PRIMARY KEY, person INT);""")
    db.executemany("INSERT INTO person VALUES (?, ?, ?)", [(i, "F" if i % 3 else "M", i % 90) for i in range(12000)])
db.close()
run("budget", "init", "--ledger", "l", "--epsilon", "100")
RELEASE = ["release", "--db", "d.db", "--ledger", "l", "--epsilon", "10"]

# numbers and reasons
text = run(*RELEASE, "SELECT COUNT(*) FROM person").stdout
check("separators", re.search(r"^answer      1[12],\d\d\d$", text, re.M), text)
check("no reason", re.search(r"^mechanism   discrete-laplace on the global sensitivity$", text, re.M), text)
told = run(*RELEASE, "--explain", "SELECT COUNT(*) FROM person").stdout
check("the reason", "discrete-laplace on the global sensitivity. One row changes the count by at most 1" in told, told)
quote = ["quote", "--db", "d.db", "--epsilon", "0.0001", "SELECT COUNT(*) FROM person"]
check("separators of a quote", re.search(r"95 % within \d\d,\d\d\d$", run(*quote).stdout, re.M), run(*quote).stdout)

# several counts: what is the same is said once
two = "SELECT COUNT(*) AS everybody, COUNT(*) FILTER (WHERE age > 60) AS old FROM person"
text = run(*RELEASE, "--analyst", "ann", two).stdout
check("named", "count 1 of 2: everybody\n" in text and "count 2 of 2: old\n" in text, text)
check("said once", text.count("guarantee ") == text.count("budget ") == text.count("mechanism ") == 1 and text.count("error ") == 2, text)
check("price in all", "price in all  epsilon 20, delta 0 for 2 counts" in text, text)
text = run("quote", "--db", "d.db", "--epsilon", "1", two).stdout
check("quoted once", text.count("guarantee ") == text.count("No private row") == 1 and "price in all  epsilon 2," in text, text)

# history: a table with headings, of a time, of an analyst, as CSV
HISTORY = ["budget", "history", "--ledger", "l"]
past = run(*HISTORY).stdout.splitlines()
check("headings", past[0].split() == ["time", "analyst", "epsilon", "answer", "receipt", "query"] and len(past) == 4, str(past))
rows = list(csv.DictReader(io.StringIO(run(*HISTORY, "--format", "csv").stdout)))
check("as CSV", [r["query"] for r in rows] == ["SELECT COUNT(*) FROM person", two, two] and rows[1]["analyst"] == "ann" and
      rows[0]["epsilon"] == "10" and re.fullmatch(r"1[12]\d\d\d", rows[0]["answer"]), str(rows))
day = rows[0]["time"][:10]
for args, n in ((["--since", day], 3), (["--since", "2999-01-01"], 0), (["--until", day], 3), (["--until", "1999-01-01 12:30"], 0),
                (["--since", rows[0]["time"][:19].replace("T", " ")], 3), (["--analyst", "ann", "--until", "2999-12-31T23:59:59"], 2)):
    got = list(csv.DictReader(io.StringIO(run(*HISTORY, "--format", "csv", *args).stdout)))
    check(f"history {args}", len(got) == n, str(got))
    check(f"history {args}, JSON", len(outside.ask(*HISTORY, "--format", "json", *args)[1]["history"]) == n)
check("no time", run(*HISTORY, "--since", "yesterday").returncode == 2)
check("nothing of that", run(*HISTORY, "--since", "2999-01-01").stdout == "nothing of that was spent\n")

# a release as CSV
got = list(csv.reader(io.StringIO(run(*RELEASE, "--format", "csv", "SELECT sex, COUNT(*) FROM person GROUP BY sex").stdout)))
check("a release as CSV", got[0] == ["sex", "count"] and [r[0] for r in got[1:]] == ["F", "M", "<&>"], str(got))

# names
for args, meant in ((["budget", "shwo"], "budget show"), (["policy", "inti"], "policy init"), (["quote", "--db", "d.db", "--epsilon", "1", "SELECT COUNT(*) FROM persn"], "person"),
                    (["quote", "--db", "d.db", "--epsilon", "1", "SELECT COUNT(*) FROM person WHERE aeg > 3"], "age")):
    r = run(*args)
    check(f"did you mean {meant}", r.returncode == 2 and f"Did you mean {meant}? " in r.stderr, r.stderr)
r = run("quote", "--db", "d.db", "--epsilon", "1", "SELECT COUNT(*) FROM orders")
check("nothing is near", "Did you mean" not in r.stderr and "The tables are person, visit." in r.stderr, r.stderr)
check("budget --help", "budget history" in run("budget", "--help").stdout)

# a picture: well-formed, a bar and an error for each group and count
SVG = "{http://www.w3.org/2000/svg}"
GROUPS = "SELECT sex, COUNT(*) AS n, COUNT(*) FILTER (WHERE age > 60) AS old FROM person GROUP BY sex"
status, a = outside.ask(*RELEASE[:-1], "1", "--format", "json", "--plot", "p.svg", GROUPS)
root = xml.parse("p.svg").getroot()
bars = [r for r in root.iter(SVG + "rect") if r.find(SVG + "title") is not None]
texts = [t.text for t in root.iter(SVG + "text")]
check("bars", status == 0 and len(bars) == 6, f"{status} {len(bars)}")
check("keys", all(k in texts for k in ("F", "M", "<&>", "n", "old")), str(texts))
numbers = sorted(f"{v:,}" for r in a["rows"] for v in r[1:])
check("numbers", sorted(b.find(SVG + "title").text.split(" ± ")[0] for b in bars) == numbers, str(numbers))
check("errors", all(" ± " in b.find(SVG + "title").text for b in bars))
check("lines of errors", sum(l.get("stroke") == "#111" for l in root.iter(SVG + "line")) == 18)
check("the question", root.find(SVG + "title").text == GROUPS)
before = outside.ask("budget", "show", "--ledger", "l", "--format", "json")[1]["spent"]
check("no place for it", run(*RELEASE, "--plot", "no/such/p.svg", "--fresh", GROUPS).returncode == 2)
check("and nothing was charged", outside.ask("budget", "show", "--ledger", "l", "--format", "json")[1]["spent"] == before)
run(*RELEASE, "--plot", "p.svg", "SELECT COUNT(*) FROM nothing")
check("an older picture stays", xml.parse("p.svg").getroot().find(SVG + "title").text == GROUPS)
write("p2.svg", "x" * 100000)
run(*RELEASE, "--plot", "p2.svg", "SELECT COUNT(*) FROM person")
check("one number is one bar", len([r for r in xml.parse("p2.svg").getroot().iter(SVG + "rect") if r.find(SVG + "title") is not None]) == 1)
end()
