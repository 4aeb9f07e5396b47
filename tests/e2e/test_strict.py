#!/usr/bin/env python3
"""Strict mode: what is admitted follows from the query, declared bounds and
public sizes; what is not is told before anything is charged, with the
promise that would help; what is admitted is answered."""
import json
import os
import tempfile

from outside import ask, check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-strict-")
os.chdir(folder.name)
MOST = 16_000_000_000  # steps


def policy(name, tables, limits="", most=MOST):
    lines = "".join(f"  {t}: {text}\n" for t, text in tables.items())
    write(name, f"tables:\n{lines}limits: {{strict: yes, work_at_most: {most}{limits}}}\n")


def edges(name, pairs):
    write(f"{name}/edge.csv", "src,dst\n" + "".join(f"{a},{b}\n" for a, b in pairs))


def quote(db, pol, sql, *more):
    return ask("quote", "--db", db, "--policy", pol, "--epsilon", "1", "--format", "json", *more, sql)


def code(answer):
    return answer.get("error", {}).get("code") if isinstance(answer, dict) else answer


EDGE = "{privacy: private, columns: {src: integer, dst: integer}, rows_at_most: 1000000%s}"
TRIANGLE = "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src"
RECTANGLE = ("SELECT COUNT(*) FROM edge a, edge b, edge c, edge d"
             " WHERE a.dst = b.src AND b.dst = c.src AND c.dst = d.src AND d.dst = a.src")
edges("small", [(1, 2), (2, 3), (3, 1)])
edges("large", [(a, b) for a in range(40) for b in range(40)])
policy("p.yaml", {"edge": EDGE % ""})
policy("keyed.yaml", {"edge": EDGE % ", key: [src, dst]"})
policy("degree.yaml", {"edge": EDGE % ", key: [src, dst], at_most: [{of: dst, per: src, k: 10}]"})
policy("free.yaml", {"edge": "{privacy: private, columns: {src: integer, dst: integer}}"})

# a triangle of a million edges passes, a rectangle does not, and the work hangs on no row
for db in ("small", "large"):
    s, a = quote(db, "p.yaml", TRIANGLE)
    check("triangle", s == 0 and 10 ** 9 <= a["work"] <= MOST, f"{s} {a}")
    triangle = a["work"] if s == 0 else 0
    s, r = quote(db, "p.yaml", RECTANGLE)
    check("rectangle", s == 3 and code(r) == "too-costly" and "->" in r["error"]["hint"], f"{s} {r}")
    s, f = quote(db, "free.yaml", TRIANGLE)
    check("no bounds", s == 3 and "rows_at_most" in f["error"]["message"], f"{s} {f}")
    if db == "small":
        first = (triangle, r, f)
check("neighbours and far databases alike", first == (triangle, r, f), f"{first} {(triangle, r, f)}")

# the promise that is named helps
s, a = quote("small", "degree.yaml", RECTANGLE)
check("with degrees", s == 0 and a["work"] <= MOST, f"{s} {a}")
hint = quote("small", "keyed.yaml", RECTANGLE)[1]["error"]["hint"]
promise = hint.split('"')[1]
s, a = quote("small", "keyed.yaml", RECTANGLE, "--constraint", promise)
check("the promise named", s == 0, f"{promise}: {s} {a}")

# sets of atoms are looked at by themselves: without u this is a triangle, and
# two edges with both ends in the boundary are quadratic
policy("u.yaml", {"edge": EDGE % ", key: [src, dst]",
                  "u": "{privacy: private, columns: {a: integer, b: integer, c: integer}, rows_at_most: 1000000, key: [a, b, c]}"})
edges("acyclic", [(1, 2), (2, 3), (1, 3)])
write("acyclic/u.csv", "a,b,c\n1,2,3\n")
ACYCLIC = ("SELECT COUNT(*) FROM edge x, edge y, edge z, u WHERE x.src = u.a AND x.dst = u.b AND y.src = u.b"
           " AND y.dst = u.c AND z.src = u.a AND z.dst = u.c")
s, a = quote("acyclic", "u.yaml", ACYCLIC, "--mechanism", "discrete-laplace")
check("the count of an acyclic query is linear", s == 0 and a["work"] < 10 ** 9, f"{s} {a}")
s, a = quote("acyclic", "u.yaml", ACYCLIC, "--mechanism", "smooth-laplace")
check("its residuals are not", s == 0 and a["work"] > 10 ** 9, f"{s} {a}")
PATH = "SELECT COUNT(*) FROM edge a, edge b, edge c, edge d WHERE a.dst = b.src AND b.dst = c.src AND c.dst = d.src"
s, a = quote("acyclic", "u.yaml", PATH, "--mechanism", "discrete-laplace")
check("a path is linear", s == 0 and a["work"] < 10 ** 9, f"{s} {a}")
s, a = quote("acyclic", "u.yaml", PATH, "--mechanism", "smooth-laplace")
check("what is between its ends is not", s == 3 and code(a) == "too-costly", f"{s} {a}")

# a site with eight tables: every join along keys is admitted, as in STATS-CEB
SITE = {"users": "id", "posts": "id, owner", "comments": "id, post, author", "votes": "id, post, author", "badges": "id, author",
        "history": "id, post, author", "links": "id, post, related", "tags": "id, post"}
tables = {}
for name, cols in SITE.items():
    types = ", ".join(f"{c.strip()}: integer" for c in cols.split(","))
    tables[name] = f"{{privacy: private, columns: {{{types}}}, key: id, rows_at_most: 300000}}"
    width = cols.count(",") + 1
    write(f"site/{name}.csv", cols.replace(" ", "") + "\n" + "".join(",".join([str(i)] * width) + "\n" for i in range(20)))
policy("site.yaml", tables)
for sql in ("comments c, posts p WHERE c.post = p.id",
            "users u, posts p, comments c WHERE p.owner = u.id AND c.post = p.id",
            "users u, badges b, comments c, posts p WHERE b.author = u.id AND c.author = u.id AND p.owner = u.id",
            "votes v, posts p, users u, badges b, history h WHERE v.post = p.id AND p.owner = u.id AND b.author = u.id AND h.post = p.id",
            "comments c, posts p, links l, history h, votes v, badges b, users u WHERE c.post = p.id AND l.post = p.id AND"
            " h.post = p.id AND v.post = p.id AND b.author = u.id AND p.owner = u.id"):
    s, a = quote("site", "site.yaml", "SELECT COUNT(*) FROM " + sql)
    check("site", s == 0 and a["work"] < MOST, f"{sql}: {s} {a}")

# admitted means answered: exact up to noise that is hardly any
policy("run.yaml", {"edge": EDGE % ", key: [src, dst], at_most: [{of: dst, per: src, k: 40}, {of: src, per: dst, k: 40}]"})
for sql, more in ((TRIANGLE, []), (RECTANGLE, []), ("SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src AND a.src < b.dst", []),
                  ("SELECT src, COUNT(*) FROM edge GROUP BY src", ["--groups", "0,1,99"]),
                  ("SELECT a.src, COUNT(*) FROM edge a, edge b WHERE a.dst = b.src GROUP BY a.src", ["--groups", "0,1,99"])):
    exact = ask("count", "--db", "large", "--policy", "run.yaml", "--format", "json", *more, sql)[1]
    ledger = f"l{len(sql)}"
    ask("budget", "init", "--ledger", ledger, "--epsilon", "1000", "--db", "large", "--policy", "run.yaml")
    s, a = ask("release", "--ledger", ledger, "--db", "large", "--policy", "run.yaml", "--format", "json", "--epsilon", "1000",
               "--mechanism", "discrete-laplace", *more, sql)
    if more:
        exact = {json.dumps(g["key"]): g["count"] for g in exact.get("groups", [])}
        found = {json.dumps(g["key"]): int(g["answer"]) for g in a.get("groups", [])}
        check("groups", found and all(abs(n - exact.get(k, 0)) < 20 for k, n in found.items()), f"{found} {exact}")
    else:
        check("answered", s == 0 and abs(int(a["answer"]) - exact["count"]) < 300, f"{s} {a} {exact}")

# refusals cost nothing
s, a = ask("budget", "init", "--ledger", "m", "--epsilon", "10", "--db", "small", "--policy", "p.yaml")
for sql, what in ((RECTANGLE, "too-costly"), ("SELECT COUNT(*) FROM edge a WHERE NOT EXISTS (SELECT 1 FROM edge b WHERE b.src = a.dst)", "unsupported"),
                  ("SELECT SUM(LEAST(GREATEST(src, 0), 10)) FROM edge", "unsupported")):
    s, a = ask("release", "--ledger", "m", "--db", "small", "--policy", "p.yaml", "--format", "json", "--epsilon", "1", sql)
    check("refused", s == 3 and code(a) == what, f"{s} {a}")
check("nothing spent", ask("budget", "show", "--ledger", "m", "--format", "json")[1]["spent"] == 0)
s, a = ask("release", "--ledger", "m", "--db", "small", "--policy", "p.yaml", "--format", "json", "--epsilon", "1", "--engine", "sql", TRIANGLE)
check("engine", s == 3, f"{s} {a}")

# the size of a public table is public
policy("pub.yaml", {"edge": EDGE % "", "kind": "{privacy: public, columns: {id: integer, x: integer}}"})
edges("pub", [(1, 2)])
write("pub/kind.csv", "id,x\n" + "".join(f"{i},{i}\n" for i in range(50)))
s, a = quote("pub", "pub.yaml", "SELECT COUNT(*) FROM edge e, kind k WHERE e.src = k.id")
check("public sizes", s == 0 and a["work"] < 10 ** 9, f"{s} {a}")

# texts: their bytes are declared and checked; what grows is too costly
TEXT = "{privacy: private, columns: {id: integer, name: text}, rows_at_most: 1000%s}"
write("text/t.csv", "id,name\n1,abc\n2,de\n")
policy("t0.yaml", {"t": TEXT % ""})
policy("t1.yaml", {"t": TEXT % ", bytes_at_most: 5"}, most=10 ** 6)
policy("t2.yaml", {"t": TEXT % ", bytes_at_most: 4"}, most=10 ** 6)
LIKE = "SELECT COUNT(*) FROM t WHERE name LIKE 'a%'"
s, a = quote("text", "t0.yaml", LIKE)
check("bytes_at_most is asked for", s == 3 and "bytes_at_most" in a["error"]["message"], f"{s} {a}")
s, a = quote("text", "t0.yaml", "SELECT COUNT(*) FROM t WHERE id < 3")
check("also where it is only passed over", s == 3 and "bytes_at_most" in a["error"]["message"], f"{s} {a}")
for pol, want in (("t1.yaml", 0), ("t2.yaml", 5)):
    ask("budget", "init", "--ledger", pol + ".l", "--epsilon", "10", "--db", "text", "--policy", pol)
    s, a = ask("release", "--ledger", pol + ".l", "--db", "text", "--policy", pol, "--format", "json", "--epsilon", "1", LIKE)
    check("bytes are checked", s == want, f"{pol}: {s} {a}")
grow = "name"
for _ in range(8):
    grow = f"replace({grow}, 'a', 'aaaaaaaaaa')"
s, a = quote("text", "t1.yaml", f"SELECT COUNT(*) FROM t WHERE {grow} = 'x'")
check("growing texts", s == 3 and code(a) == "too-costly", f"{s} {a}")

# memory likewise; limits that are not whole
policy("memory.yaml", {"edge": EDGE % ""}, ", memory: 1M")
ask("budget", "init", "--ledger", "n", "--epsilon", "10", "--db", "small", "--policy", "memory.yaml")
s, a = ask("release", "--ledger", "n", "--db", "small", "--policy", "memory.yaml", "--format", "json", "--epsilon", "1", "SELECT COUNT(*) FROM edge")
check("memory", s == 3 and "memory" in a["error"]["message"], f"{s} {a}")
write("none.yaml", "tables:\n  edge: " + EDGE % "" + "\nlimits: {strict: yes}\n")
s, a = quote("small", "none.yaml", TRIANGLE)
check("work_at_most is needed", s == 2 and "calibrate" in a["error"]["hint"], f"{s} {a}")

for limit in ("strict: true", "work_at_most: 1000", "strict: yes, work_at_most: many"):  # never silently without effect
    write("odd.yaml", "tables:\n  edge: " + EDGE % "" + f"\nlimits: {{{limit}}}\n")
    s, a = quote("small", "odd.yaml", TRIANGLE)
    check("odd limits", s == 2, f"{limit}: {s} {a}")

# what this machine does
s, a = ask("calibrate", "--respond-after", "2", "--format", "json")
check("calibrate", s == 0 and a["work_at_most"] > 1000 and a["respond_after"] == 2, f"{s} {a}")
check("calibrate needs a time", ask("calibrate")[0] == 2)
end()
