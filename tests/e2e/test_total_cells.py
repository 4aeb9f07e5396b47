"""Cells, files, constraints and versions: what rows must not show.

Two sources that differ in one row are asked the same questions; everything but
the noisy number must be the same. Ill-typed cells, declared types that are not
the server's, BLOBs."""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile

import outside
import pg
from outside import ask, check, run, write

POLICY = "tables: {p: {privacy: private}}\n"


def ledger(name, epsilon="1000", *more):
    check("init", run("budget", "init", "--ledger", name, "--epsilon", epsilon,
                      *more).returncode == 0)
    return name


def spent(name):
    return ask("budget", "show", "--ledger", name, "--format", "json")[1]["spent"]


def shape(status, out):
    """What an analyst sees but numbers, receipts and moments."""
    if isinstance(out, dict) and "error" in out and len(out) == 1:
        return status, out["error"]["code"], out["error"]["message"]
    return status, tuple(sorted(out)) if isinstance(out, dict) else out


def release(db, book, query, *more):
    return ask("release", "--db", db, "--ledger", book, "--epsilon", "1", "--format", "json",
               "--fresh", *more, query)


def make_sqlite(name, rows):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
    db = sqlite3.connect(name)
    db.execute("CREATE TABLE p(id INTEGER NOT NULL, hiv INTEGER, code INTEGER, dx TEXT NOT NULL)")
    db.execute("CREATE TABLE other(id INTEGER)")
    db.executemany("INSERT INTO p VALUES (?, ?, ?, ?)", rows)
    db.commit()
    db.close()
    return name


PLAIN = [(i, i % 2, i % 5, "flu") for i in range(1, 20)]
ODD = [(7, 1, "R", "rare"), (7, 1, b"\x00\x01", "rare"), (7, 1, 3, b"BLOB"), ("x", 1, 3, "rare"),
       (7, "", 1.5, "rare"), (7, 1, 10**18 * 1.0, "rare"), (7, None, None, "rare")]
QUESTIONS = ["SELECT COUNT(*) FROM p WHERE hiv = 1 AND code <> 3",
             "SELECT COUNT(*) FROM p WHERE id = 7 AND hiv = 1",
             "SELECT COUNT(*) FROM p WHERE id = 7 AND code + 1 > 2",
             "SELECT COUNT(DISTINCT dx) FROM p WHERE code IS NULL",
             "SELECT COUNT(*) FROM p a, p b WHERE a.code = b.code AND a.dx = 'rare'",
             "SELECT COUNT(*) FROM other"]


def sqlite_cells():
    """One row more, of whatever cells: the same but for the numbers."""
    base = make_sqlite("base.db", PLAIN)
    for n, row in enumerate(ODD):
        db = make_sqlite("odd.db", PLAIN + [row])
        books = ledger(f"a{n}.ledger"), ledger(f"b{n}.ledger")
        for q in QUESTIONS:
            seen = [shape(*release(d, b, q)) for d, b in zip((base, db), books)]
            check(f"row {row} in {q}:", seen[0] == seen[1], seen)
            counts = [ask("count", "--db", d, "--format", "json", q) for d in (base, db)]
            check(f"count with {row} in {q}:", counts[0][0] == counts[1][0] == 0, counts)
        check(f"spent with {row}", spent(books[0]) == spent(books[1]))
    # whether a row exists does not depend on the question: dx is NOT NULL
    gone = make_sqlite("gone.db", PLAIN + [(100, 1, 3, b"BLOB"), ("x", 1, 3, "rare")])
    for q in ("SELECT COUNT(*) FROM p", "SELECT COUNT(hiv) FROM p", "SELECT COUNT(*) FROM p WHERE dx <> ''"):
        check(f"rows of {q}:", ask("count", "--db", gone, "--format", "json", q)[1]["count"] == len(PLAIN))
    status, out = ask("check", "--db", gone, "--format", "json")
    check("check counts cells", status == 0 and out["rows_left_out"] == 2 and out["holds"] and
          {(c["column"], c["cells"]) for c in out["converted"]} == {("dx", 1), ("id", 1)}, out)


def declared_types(folder):
    """The filter goes to the server, so only what it lets through would be read: a declared
    type that is not the server's is refused whatever the rows are, and costs nothing."""
    def sql(text):
        subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-c", text], check=True)
    sql("CREATE TABLE d(id int, hiv int, code text)")
    sql("INSERT INTO d VALUES (1, 0, '3'), (7, 1, 'R')")
    write("decl.sql", "CREATE TABLE d(id int, hiv int, code int);")
    book = ledger("decl.ledger")
    seen = {shape(*release(pg.url(folder), book, f"SELECT COUNT(*) FROM d WHERE id = 7 AND hiv = {h} "
                           "AND code <> 3", "--schema", "decl.sql")) for h in (0, 1)}
    check("another type is refused:", len(seen) == 1 and next(iter(seen))[:2] == (2, "type"), seen)
    check("and costs nothing", spent(book) == 0)
    write("decl.sql", "CREATE TABLE d(id int, hiv int, code text);")
    status, out = release(pg.url(folder), book, "SELECT COUNT(*) FROM d WHERE code <> '3'",
                          "--schema", "decl.sql")
    check("the server's own type is not", status == 0, out)


def first_lines():
    """The first line of a private file may be a row: no analyst sees it, whatever is asked."""
    write("raw/p.csv", "7,victim@example.org,HIV\n8,b@example.org,flu\n")
    write("raw/q.csv", "twin,twin\n1,2\n")
    write("part.yaml", "tables: {p: {columns: ['7']}}\n")
    write("wrong.yaml", "tables: {p: {columns: [id, mail, dx]}}\n")
    write("wrong.sql", "CREATE TABLE p(id int, mail text, dx text);")
    ledger("raw.ledger")
    for source in (["--db", "raw"], ["--table", "p=raw/p.csv"], ["--table", "q=raw/q.csv"],
                   ["--table", "p=raw/p.csv", "--policy", "part.yaml"],
                   ["--table", "p=raw/p.csv", "--policy", "wrong.yaml"],
                   ["--table", "p=raw/p.csv", "--schema", "wrong.sql"]):
        for q in ("SELECT COUNT(*) FROM p", "SELECT COUNT(*) FROM p WHERE x = 1", "SELECT COUNT(x) FROM q",
                  "SELECT COUNT(*) FROM p GROUP BY x", "Q(a) :- p(a, b, c).", "Q(a) :- p(a)."):
            for command in (["analyze"], ["quote", "--epsilon", "1"], ["explain", "--epsilon", "1"],
                            ["release", "--epsilon", "1", "--ledger", "raw.ledger"]):
                r = run(*command, *source, q)
                said = r.stdout + r.stderr
                check(f"first line shown by {command} {source} {q}:",
                      not any(w in said for w in ("victim", "HIV", "twin")), said)
    status, out = ask("quote", "--table", "p(id,mail,dx)=raw/p.csv", "--epsilon", "1", "--format", "json",
                      "SELECT COUNT(*) FROM p WHERE dx = 'HIV'")
    check("declared columns:", status == 0, out)


def texts():
    """Names are shown as they are, but nothing that a terminal obeys; lines of a file that is no query are not."""
    for args in (["analyze", "SELECT COUNT(*) FROM \"a\x1b]0;title\x07b\""], ["analyze", "--no\x1b[2J", "x"],
                 ["analyze", "--constraint", "p\x1b[31m: a -> b", "SELECT 1"],
                 ["analyze", "--schema", "no\x1b[31m.sql", "SELECT COUNT(*) FROM \u009b31mp"]):
        said = run(*args).stderr
        check(f"escape sequence in {said!r}", not any(c < " " and c != "\n" or "\x7f" <= c < "\xa0" for c in said))
    write("notes.txt", "id,name\n7,victim@example.org\n")
    for command in (["analyze"], ["quote", "--epsilon", "1"], ["explain"]):
        r = run(*command, "--query-file", "notes.txt")
        check("a line of a file is shown", r.returncode == 2 and "victim" not in r.stdout + r.stderr, r.stderr)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        sqlite_cells()
        first_lines()
        texts()
        server = pg.start(needed=False)
        if server:
            try:
                declared_types(server)
            finally:
                pg.stop(server)
        outside.end()


if __name__ == "__main__":
    sys.exit(main())
