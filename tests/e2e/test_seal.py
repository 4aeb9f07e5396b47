"""Whole sources and versions: a file that is malformed, a page that is broken, a constraint
that does not hold stop every question alike, uncharged; a sealed version answers about itself."""
import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile

import outside
import pg
from outside import ask, check, run, write

QUESTIONS = ["SELECT COUNT(*) FROM p", "SELECT COUNT(*) FROM p WHERE hiv = 1", "SELECT COUNT(hiv) FROM p WHERE id = 7",
             "SELECT COUNT(DISTINCT dx) FROM p", "SELECT COUNT(*) FROM other", "SELECT COUNT(*) FROM other WHERE x > 3",
             "SELECT COUNT(*) FROM p, other WHERE p.id = other.x", "SELECT COUNT(*) FROM p a, p b WHERE a.id = b.id",
             "SELECT COUNT(*) FROM p WHERE id < 9 OR hiv IS NULL", "SELECT COUNT(*) FROM p WHERE dx LIKE 'a%'"]
POLICY = """
tables:
  p: {privacy: private, columns: {id: integer, hiv: integer, dx: text}, at_most: [{per: [hiv], of: [id], k: 60}]}
  other: {privacy: private, columns: {x: integer, y: integer}}
"""
ROWS = "".join(f"{i},{i % 2},{'abc'[i % 3]}\n" for i in range(100))


def ledger(name):
    for f in (name, name + ".key"):
        if os.path.exists(f):
            os.unlink(f)
    r = run("budget", "init", "--ledger", name, "--epsilon", "1000")
    check("init", r.returncode == 0, r.stderr)
    return name


def spent(book):
    return ask("budget", "show", "--ledger", book, "--format", "json")[1]["spent"]


def release(source, book, query, *more):
    return ask("release", *source, "--ledger", book, "--epsilon", "1", "--format", "json", *more, query)


def all_alike(what, source, code, *more):
    """The same failure for ten questions, and nothing is spent."""
    book = ledger("alike.ledger")
    seen = set()
    for q in QUESTIONS:
        status, out = release(source, book, q, *more)
        e = out["error"] if isinstance(out, dict) and "error" in out and "code" in out["error"] else {"message": out}
        seen.add((status, e.get("code"), str(e.get("message")), str(e.get("detail")), str(e.get("hint"))))
    check(f"{what}: one text", len(seen) == 1 and next(iter(seen))[:2] == (5, code), seen)
    check(f"{what}: nothing spent", spent(book) == 0)


def files():
    """One bad line, in a column or table that most questions do not ask for."""
    write("p.yaml", POLICY)
    source = ["--db", "csv", "--policy", "p.yaml"]
    for bad in ("101\n", "101,0,a,b\n", '101,"0\n', '101,"0"b\n'):
        for table in ("p", "other"):
            write("csv/p.csv", "id,hiv,dx\n" + ROWS + (bad if table == "p" else ""))
            write("csv/other.csv", "x,y\n1,1\n2,2\n" + (bad if table == "other" else ""))
            all_alike(f"line {bad!r} in {table}", source, "data")
    write("csv/p.csv", "id,hiv,dx\n" + ROWS)
    write("csv/other.csv", "x,y\n1,1\n2,2\n")
    book = ledger("good.ledger")
    for q in QUESTIONS:
        status, out = release(source, book, q)
        check(f"good files: {q}", status == 0 and out.get("version") == "live" and out.get("as_of"), out)
    # the constraint is true of 50 rows for each hiv; of 80 it is not
    write("csv/p.csv", "id,hiv,dx\n" + ROWS + "".join(f"{i},1,a\n" for i in range(200, 230)))
    all_alike("false at_most", source, "data")
    status, out = ask("seal", *source, "--ledger", book, "--version", "v1", "--format", "json")
    check("seal sees it", status == 5 and out["error"]["code"] == "constraint", out)


def make_db(name):
    if os.path.exists(name):
        os.unlink(name)
    db = sqlite3.connect(name)
    db.execute("PRAGMA page_size = 512")
    db.execute("CREATE TABLE p(id INTEGER, hiv INTEGER, dx TEXT, note TEXT)")
    db.execute("CREATE TABLE other(x INTEGER)")
    db.executemany("INSERT INTO p VALUES (?, ?, ?, ?)",
                   [(i, i % 2, "abc"[i % 3], "MARK" + "n" * 5000 if i == 50 else "") for i in range(100)])
    db.execute("INSERT INTO other VALUES (1), (2)")
    db.commit()
    db.close()
    return name


def broken_page():
    """The chain of one long text leads out of the file; no question asks for that column."""
    make_db("x.db")
    source = ["--db", "x.db", "--policy", "db.yaml"]
    write("db.yaml", "tables: {p: {privacy: private, at_most: [{per: [hiv], of: [id], k: 60}]}}\n")
    book = ledger("x.ledger")
    check("whole before", release(source, book, QUESTIONS[0])[0] == 0)
    with open("x.db", "r+b") as f:
        data = f.read()
        # a page of the text alone: its first four bytes name the next
        page = next(p for p in range(0, len(data), 512) if data[p + 4:p + 512] == b"n" * 508)
        f.seek(page)
        f.write((2**31 - 5).to_bytes(4, "big"))
    all_alike("broken page", source, "data")


def changed_meanwhile():
    """A content is checked once; another one is checked again."""
    write("csv2/p.csv", "id,hiv,dx\n" + ROWS)
    write("csv2/other.csv", "x,y\n1,1\n")
    source = ["--db", "csv2", "--policy", "p.yaml"]
    book = ledger("c.ledger")
    check("first", release(source, book, QUESTIONS[1])[0] == 0)
    write("csv2/p.csv", "id,hiv,dx\n" + ROWS + "1\n")
    check("then broken", release(source, book, QUESTIONS[2])[0] == 5)
    write("csv2/p.csv", "id,hiv,dx\n" + ROWS)
    check("and good again", release(source, book, QUESTIONS[2])[0] == 0)


def repeated_live():
    """What was written since does not show: a stored answer is given again."""
    make_db("live.db")
    source = ["--db", "live.db"]
    book = ledger("live.ledger")
    first = release(source, book, QUESTIONS[0])[1]
    db = sqlite3.connect("live.db")
    db.execute("INSERT INTO p VALUES (1000, 1, 'a', '')")
    db.commit()
    db.execute("VACUUM")
    db.close()
    again = release(source, book, QUESTIONS[0])[1]
    check("repeated after a write", again.get("repeated") is True and again["receipt"] == first["receipt"] and
          spent(book) == 1, (first, again))
    check("as of then", again.get("as_of") == first.get("as_of"), (first, again))
    fresh = release(source, book, QUESTIONS[0], "--fresh")[1]
    check("fresh pays", not fresh["repeated"] and spent(book) == 2, fresh)


def writes_do_not_show():
    """The head's number in an answer, and in `budget show`, counts what was asked and not what was written."""
    heads = []
    for writes in (False, True):
        make_db("w.db")
        book = ledger("w.ledger")
        seen = []
        for i in range(3):
            if writes and i:
                with contextlib.closing(sqlite3.connect("w.db")) as db:
                    db.execute("INSERT INTO other VALUES (?)" if i == 1 else "DELETE FROM other WHERE x = ?", (9,))
                    db.commit()
                    db.execute("VACUUM")
            status, out = release(["--db", "w.db"], book, f"SELECT COUNT(*) FROM p WHERE id < {i}")
            show = ask("budget", "show", "--ledger", book, "--format", "json")[1]
            check("answered", status == 0, out)
            seen.append((out["head"]["n"], show["head"]["n"], {k: v for k, v in show.items() if k != "head"}))
        check("the ledger is whole", run("budget", "verify", "--ledger", book).returncode == 0)
        heads.append(seen)
    check("the heads do not tell of writes", heads[0] == heads[1], heads)


def sealed():
    """In place, and as a copy."""
    make_db("s.db")
    source = ["--db", "s.db", "--policy", "db.yaml"]
    book = ledger("s.ledger")
    status, out = ask("seal", *source, "--ledger", book, "--version", "v1", "--format", "json")
    check("sealed", status == 0 and out.get("version") == "v1" and out["tables"] == 2, out)
    first = release(source, book, QUESTIONS[1])[1]
    check("version", first.get("version") == "v1", first)
    status, out = ask("seal", *source, "--ledger", book, "--version", "v2", "--out", "s.sealed", "--format", "json")
    check("copied", status == 0 and stat.S_IMODE(os.stat("s.sealed").st_mode) == 0o400, out)
    check("never replaced", run("seal", *source, "--ledger", book, "--version", "v3", "--out", "s.sealed").returncode == 5)
    copy = ["--db", "s.sealed", "--policy", "db.yaml"]
    for q in QUESTIONS:
        a, b = (ask("count", *s, "--format", "json", q)[1] for s in (source, copy))
        check(f"the copy counts alike: {q}", a["count"] == b["count"], (a, b))
    status, out = release(copy, book, QUESTIONS[1])
    check("release from the copy", status == 0 and out.get("version") == "v2" and not out["repeated"], out)
    db = sqlite3.connect("s.db")
    db.execute("INSERT INTO p VALUES (1000, 1, 'a', '')")
    db.commit()
    db.close()
    status, out = release(copy, book, QUESTIONS[1])
    check("writes do not show in the copy", status == 0 and out["repeated"], out)
    # the sealed source has another content now
    seen = {(lambda s, o: (s, o["error"]["code"]))(*release(source, book, q)) for q in QUESTIONS[2:8]}
    check("stale", seen == {(5, "stale")}, seen)
    check("a name is one content for good",
          run("seal", *source, "--ledger", book, "--version", "v1").returncode == 2)
    check("a used name is not for other content in another file",
          run("seal", *source, "--ledger", book, "--version", "v2", "--out", "again.sealed").returncode == 2
          and not os.path.exists("again.sealed"))
    for at, name in ((["--version", "v2"], "in place"), (["--version", "v1", "--out", "again.sealed"], "as a copy")):
        r = run("seal", *source, "--ledger", book, *at)
        check(f"a name of the other kind is not for other content, {name}",
              r.returncode == 2 and "other content" in r.stderr and not os.path.exists("again.sealed"), r)
    check("a new version", run("seal", *source, "--ledger", book, "--version", "v4").returncode == 0)
    check("which a copy of the same rows may share",
          run("seal", *source, "--ledger", book, "--version", "v4", "--out", "same.sealed").returncode == 0)
    status, out = release(source, book, QUESTIONS[1])
    check("is asked from then on", status == 0 and out.get("version") == "v4" and not out["repeated"], out)
    os.chmod("s.sealed", 0o600)
    with open("s.sealed", "r+b") as f:
        f.seek(os.path.getsize("s.sealed") - 3)
        f.write(b"zzz")
    check("a copy that was written to", release(copy, book, QUESTIONS[3])[0] == 5)
    other = ledger("other.ledger")
    make_db("t.db")
    run("seal", "--db", "t.db", "--ledger", other, "--version", "a", "--out", "t.sealed")
    status, out = release(["--db", "t.sealed"], book, QUESTIONS[1])
    check("a copy that this ledger does not know", status == 5 and out["error"]["code"] == "stale", out)
    for bad in ("", "live", "a b"):
        check(f"name {bad!r}", run("seal", *source, "--ledger", book, "--version", bad).returncode == 2)


def ill_typed():
    """seal refuses cells that would be NULL, unless it is told to take them."""
    db = sqlite3.connect("odd.db")
    db.execute("CREATE TABLE p(id INTEGER, hiv INTEGER NOT NULL, dx TEXT)")
    db.execute("INSERT INTO p VALUES (1, 1, 'a'), ('x', 0, 'b'), (3, 'y', 'c')")
    db.commit()
    db.close()
    book = ledger("odd.ledger")
    source = ["--db", "odd.db"]
    status, out = ask("seal", *source, "--ledger", book, "--version", "a", "--format", "json")
    check("refused", status == 5 and out["error"]["code"] == "data", out)
    status, out = ask("seal", *source, "--ledger", book, "--version", "a", "--accept-nulls", "--out", "odd.sealed",
                      "--format", "json")
    check("accepted", status == 0 and out["converted"] == 2 and out["rows_left_out"] == 1, out)
    for q in ("SELECT COUNT(*) FROM p", "SELECT COUNT(id) FROM p"):
        a, b = (ask("count", "--db", s, "--format", "json", q)[1]["count"] for s in ("odd.db", "odd.sealed"))
        check(f"copy of odd cells: {q}", a == b, (a, b))
    write("owners.yaml", "entities: [p]\ntables: {p: {key: [id]}}\n")
    status, out = ask("seal", *source, "--policy", "owners.yaml", "--ledger", ledger("own.ledger"), "--version", "a",
                      "--accept-nulls", "--out", "own.sealed", "--format", "json")
    check("no copy without owners", status == 3 and not os.path.exists("own.sealed"), out)


def server(folder):
    """Every type of a server goes into a copy and comes back."""
    def sql(text):
        subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-c", text], check=True)
    url = pg.url(folder)
    sql("CREATE TYPE mood AS ENUM ('low', 'high')")
    sql("CREATE TABLE t(id int PRIMARY KEY, b boolean, d date, ts timestamp, tz timestamptz, n numeric, r float8, "
        "x text, c char(5), v varchar(9), u uuid, e mood, i inet, h time)")
    sql("INSERT INTO t VALUES (1, true, '2020-01-02', '2020-01-02 03:04:05.678901', '2020-01-02 03:04:05+02', "
        "12345678901234567890.123456789, 1e-300, 'it''s', 'ab', 'v', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'low', "
        "'10.0.0.1', '23:59'), (2, false, 'infinity', '-infinity', 'infinity', 'NaN', 'NaN', '', '', '', NULL, 'high', "
        "NULL, NULL), (3, NULL, '0044-03-15 BC', '0001-01-01', NULL, -0.5, '-infinity', U&'\\00e9', NULL, NULL, NULL, "
        "NULL, '::1', '00:00')")
    book = ledger("pg.ledger")
    r = run("seal", "--db", url, "--ledger", book, "--version", "v")
    check("a server needs --out", r.returncode == 2, r.stderr)
    r = run("seal", "--db", url, "--ledger", book, "--version", "v", "--out", "pg.sealed", "--constraint", "|t| <= 3")
    check("server sealed", r.returncode == 0, r.stderr)
    for q in ["SELECT COUNT(*) FROM t WHERE " + w for w in
              ("b", "d > '2019-01-01'", "ts < '2021-01-01'", "tz > '2020-01-01'", "n = 12345678901234567890.123456789",
               "n > 1", "r < 0", "x = ''", "c = 'ab'", "u IS NOT NULL", "e = 'low'", "i = '10.0.0.1'", "h > '12:00'",
               "id IN (1, 2)", "d < '0001-01-01'")] + ["SELECT COUNT(DISTINCT r) FROM t", "SELECT COUNT(*) FROM t a, t b WHERE a.id = b.id"]:
        a, b = (ask("count", "--db", s, "--format", "json", q) for s in (url, "pg.sealed"))
        check(f"server and copy: {q}", a[0] == b[0] and a[1].get("count") == b[1].get("count"), (a, b))
    check("enums are not ordered in the copy either",
          run("count", "--db", "pg.sealed", "SELECT COUNT(*) FROM t WHERE e < 'high'").returncode == 3)
    # the copy is checked, so its constraint lowers the noise; the server's own does not
    a, b = (ask("quote", "--db", s, "--constraint", "|t| <= 3", "--epsilon", "1", "--format", "json",
                "SELECT COUNT(*) FROM t a, t b") for s in (url, "pg.sealed"))
    check("noise of the sealed version", b[1].get("mechanism") == "discrete-laplace" and a[1].get("mechanism") != "discrete-laplace", (a, b))


def main():
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        files()
        broken_page()
        changed_meanwhile()
        repeated_live()
        writes_do_not_show()
        sealed()
        ill_typed()
        folder = pg.start(needed=False)
        if folder:
            try:
                server(folder)
            finally:
                pg.stop(folder)
        outside.end()


if __name__ == "__main__":
    sys.exit(main())
