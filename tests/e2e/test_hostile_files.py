#!/usr/bin/env python3
"""What files can do: stored answers that somebody put into the ledger, names
of files that would end a quotation or look like an option, links and missing
rights around the ledger and the data. Each must end harmlessly: a plain error
or the right answer, nothing charged that was refused, no file changed but the
ledger."""
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
DPCOUNT = os.path.join(BUILD, "dpcount")
COUNT = "SELECT COUNT(*) FROM pat WHERE age > 3"
GROUPS = "SELECT age, COUNT(*) FROM pat GROUP BY age"
problems, checks = [], 0


def check(good, *words):
    global checks
    checks += 1
    if not good:
        problems.append(" ".join(str(w) for w in words))


def run(*args, **more):
    return subprocess.run([DPCOUNT, *args], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **more)


def release(query, *more, source=("--db", "d.db"), ledger="l", **how):
    return run("release", "--format", "json", "--ledger", ledger, "--epsilon", "1", *source, *more, query, **how)


def spent(ledger="l"):
    return json.loads(run("budget", "show", "--format", "json", "--ledger", ledger).stdout)["spent"]


def fresh_folder():
    for name in os.listdir("."):
        shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)
    db = sqlite3.connect("d.db")
    db.execute("CREATE TABLE pat(id integer, age integer)")
    db.executemany("INSERT INTO pat VALUES(?, ?)", [(i, i % 9) for i in range(40)])
    db.commit()
    db.close()
    check(run("budget", "init", "--ledger", "l", "--epsilon", "100").returncode == 0, "init")


def tamper(answer):
    """What the owner of the file could do, and a fault on the disk: the
    triggers of the ledger are taken away for it and put back."""
    db = sqlite3.connect("l")
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f'DROP TRIGGER "{name}"')
    db.execute("UPDATE charged SET answer = ?", (answer,))
    for _, sql in triggers:
        db.execute(sql)
    db.commit()
    db.close()


def stored_answers():
    """An answer in the ledger is printed again only if it has the form that
    the program writes and answers the question."""
    for query, more in ((COUNT, ()), (GROUPS, ("--groups", "1,2,3"))):
        fresh_folder()
        good = release(query, *more)
        check(good.returncode == 0, good.stdout)
        kept = sqlite3.connect("l").execute("SELECT answer FROM charged").fetchone()[0]
        for bad in ("", "{}", '{"answers": [], "error": []}', '{"answers": [1, 2], "error": []}',
                    '{"answers": [1', '{"answers": [null], "error": []}', '{"answers": ["1"], "error": []}',
                    '{"answers": [1], "answer": 2, "error": []}', '{"answers": [1}, "error": []}',
                    '{"answers": [1e5], "error": []}', '{"answers": [007], "error": []}',
                    '{"answers": [1], "error": [nan, 1, true]}', '{"answers": [1], "error": [1, 2]}',
                    kept + " ", kept.replace("]", "]]", 1), "[" * 100000, b"\xff\x00\xfe", kept.encode() + b"\x00"):
            tamper(bad)
            r = release(query, *more)
            try:
                code = json.loads(r.stdout)["error"]["code"]
            except (ValueError, KeyError, TypeError):
                code = r.stdout
            check(r.returncode == 2 and code == "ledger", "tampered", repr(bad)[:60], "gives", r.returncode, code)
            text = run("release", "--ledger", "l", "--epsilon", "1", "--db", "d.db", *more, query)
            check(text.returncode == 2 and "answer  " not in text.stdout, "as text:", text.stdout, text.stderr)
        tamper(kept)
        again = release(query, *more)
        check(again.returncode == 0 and json.loads(again.stdout)["repeated"], "the sound answer:", again.stdout)


def csv(path, rows=5):
    with open(path, "w") as f:
        f.write("id,age\n" + "".join(f"{i},{i}\n" for i in range(rows)))


def file_names():
    """Names that would end a quotation, name an option or leave the folder."""
    fresh_folder()
    os.mkdir("csv")
    csv("csv/pat.csv", 40)
    odd = ["it's", 'dou"ble', "semi;colon", "--ledger", "-x", "new\nline", "$(touch hit)", "`touch hit`", "a b", "%s%n"]
    for name in odd:
        csv(f"csv/{name}.csv")
        quoted = '"' + name.replace('"', '""') + '"'
        r = run("count", "--format", "json", "--db", "csv", f"SELECT COUNT(*) FROM {quoted}")
        check(r.returncode == 0 and json.loads(r.stdout)["count"] == 5, "file", repr(name), r.stdout, r.stderr)
        r = run("count", "--format", "json", "--table", f"t(a,b)=csv/{name}.csv", "Q(a) :- t(a,b).")
        check(r.returncode == 0, "--table", repr(name), r.stdout, r.stderr)
    for source in ("'; DROP TABLE pat; --", "file:d.db?mode=rwc", "sqlite:nothing.db", "sqlite:/dev/null", "csv/../csv/x",
                   "postgresql://", "../" * 30 + "etc", "\x01", "d.db/x", "x" * 5000):
        r = release(COUNT, "--fresh", source=("--db", source))
        check(r.returncode in (2, 3, 5, 6), "source", repr(source)[:40], r.returncode, r.stdout)
    check(not os.path.exists("hit") and not os.path.exists("nothing.db"), "a file name made a file")
    check(spent() == 0, "a refused source was charged")
    # a table's name does not leave the folder
    os.mkdir("secret")
    csv("secret/s.csv")
    for name in ("../secret/s", "/etc/passwd", "..", "pat.csv", "csv/pat"):
        r = run("count", "--db", "csv", f'SELECT COUNT(*) FROM "{name}"')
        check(r.returncode == 2, "the name", name, "gives", r.returncode, r.stdout)


def missing_tables():
    """Declared, but not in the data: told before anything is charged."""
    fresh_folder()
    with open("schema.sql", "w") as f:
        f.write("CREATE TABLE pat(id bigint, age bigint); CREATE TABLE gone(a bigint);")
    for query in ("SELECT COUNT(*) FROM gone", "SELECT COUNT(*) FROM pat, gone WHERE pat.id = gone.a"):
        r = release(query, "--schema", "schema.sql")
        check(r.returncode == 2 and json.loads(r.stdout)["error"]["message"] ==
              'table "gone" is not in the data source', query, r.returncode, r.stdout)
    check(spent() == 0, "a missing table was charged")


def links():
    """Side files that are links: nothing that they point to is changed."""
    for side in ("l-wal", "l-shm", "l-journal"):
        fresh_folder()
        with open("victim", "w") as f:
            f.write("precious\n" * 100)
        before = open("victim").read()
        os.symlink("victim", side)
        r = release(COUNT, "--fresh")
        check(open("victim").read() == before, side, "as a link let the target be written")
        if os.path.islink(side):
            os.unlink(side)
        check(r.returncode in (0, 5), side, r.returncode, r.stdout)
        check(abs(spent() - (r.returncode == 0)) < 1e-9, side, "answered without charge")


def rights():
    """As a user without rights: refused, nothing charged."""
    fresh_folder()
    if os.getuid() != 0:
        how = {}
    else:
        how = {"user": 65534, "group": 65534, "extra_groups": []}
        for name in (".", "d.db"):
            os.chmod(name, 0o755)
    shutil.copy("l", "readable")
    check(run("budget", "adopt", "--ledger", "readable").returncode == 0, "adopt")
    os.chmod("readable", 0o644 if how else 0o400)
    os.chmod("l", 0o600 if how else 0o000)
    for ledger in ("l", "readable"):
        r = release(COUNT, ledger=ledger, **how)
        check(r.returncode in (2, 5) and "answer" not in json.loads(r.stdout), ledger, r.returncode, r.stdout)
    os.chmod("l", 0o600)
    os.chmod("readable", 0o600)
    check(spent() == spent("readable") == 0, "charged without rights")
    check(stat.S_IMODE(os.stat("l").st_mode) == 0o600, "the mode changed")
    # data that may not be read: nothing charged, the path is not told
    os.chmod("d.db", 0o000)
    if how:
        os.chown("l", 65534, 65534)
        os.chmod(".", 0o777)
    r = release(COUNT, "--fresh", **how)
    check(r.returncode == 5 and os.getcwd() not in r.stdout + r.stderr, "unreadable data:", r.returncode, r.stdout)
    if how:
        os.chown("l", 0, 0)
    check(spent() == 0, "unreadable data was charged")


def owner_log():
    """A log that cannot be written changes nothing for the analyst."""
    fresh_folder()
    os.symlink("d.db", "linked")
    before = open("d.db", "rb").read()
    seen = []
    for log in ("no/such/folder", "linked", ".", "log"):
        r = release(COUNT, "--fresh", "--owner-log", log, "--constraint", "|pat| <= 3")
        error = json.loads(r.stdout)["error"]
        seen.append((r.returncode, error["code"], error["message"], r.stderr))
    check(len(set(seen)) == 1 and seen[0][:2] == (5, "data"), "owner log:", seen)
    check(open("d.db", "rb").read() == before, "the log was written through a link")
    check(os.path.getsize("log") > 0 and stat.S_IMODE(os.stat("log").st_mode) == 0o600, "the log")
    check(spent() == 0, "a constraint that does not hold was charged")


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="dpc-files-", dir=memory) as folder:
        os.chdir(folder)
        for part in (stored_answers, file_names, missing_tables, links, rights, owner_log):
            part()
        os.chdir("/")
    for p in problems:
        print(p)
    print(f"{checks - len(problems)} passed, {len(problems)} failed")
    return bool(problems) or checks < 120


sys.exit(main())
