#!/usr/bin/env python3
"""The service from outside: two analysts with budgets of their own ask at the
same time with psql and psycopg2, a third name is rejected, budgets hold,
statements do what PostgreSQL's would."""
import json
import os
import re
import signal
import sys
import threading
import time

from checks import BAD, check
from driver import psycopg2
from processes import memory, memory_tells, named
from service import PASSWORD, Service


def number(text):
    return int(re.search(r"-?\d+", text)[0])


def sign_in(s):
    p = s.psql("eve", "select 1")
    q = s.psql("ann", "select 1", more="password=wrong")
    check(p.returncode and q.returncode, "a stranger and a wrong password are rejected")
    check(p.stderr.replace("eve", "ann") == q.stderr, "the same text for both", p.stderr, q.stderr)
    check('password authentication failed for user "eve"' in p.stderr, "the text", p.stderr)
    p = s.psql("ann", "select 1", more="dbname=secret")
    check('database "secret" does not exist' in p.stderr, "another data set", p.stderr)


def one_charge(s):
    before = s.spent("ann")
    p = s.psql("ann", "select count(*) from pat", "select count(*) from pat")
    lines = p.stdout.split()
    check(len(lines) == 2 and lines[0] == lines[1], "asked twice: the same number", p)
    check(abs(number(lines[0]) - 1000) < 200, "it is about the count", lines)
    check(p.stderr.count("NOTICE") == 1, "one notice", p.stderr)
    check(re.search(r"charged epsilon 0.5; 95 % within \d+; remaining 4.5", p.stderr), "its text", p.stderr)
    check("does not cover when the answer comes" in p.stderr, "no pace: the guarantee says so", p.stderr)
    check(abs(s.spent("ann") - before - 0.5) < 1e-9, "charged once")
    p = s.psql("ann", "begin", "select count(*) from pat where id < 10", "rollback", "show dpcount.last")
    check(abs(s.spent("ann") - before - 1.0) < 1e-9, "a rollback refunds nothing", p)
    check('"receipt"' in p.stdout, "SHOW dpcount.last", p.stdout)


def free_quotes(s):
    before = s.spent("ann")
    p = s.psql("ann", "select obj_description('pat'::regclass), obj_description('hos'::regclass)")
    check(p.stdout.split("|")[0] == "private: each row by itself" and p.stdout.split("|")[1].startswith("public"),
          "comments tell whose rows a table has", p)
    p = s.psql("ann", *["explain select count(*) from pat where id > 5"] * 50)
    check(p.returncode == 0 and "epsilon 0.5" in p.stdout, "EXPLAIN", p)
    p = s.psql("ann", "explain (format json) select count(*) from pat")
    check('"price": 0.5' in p.stdout, "EXPLAIN (FORMAT JSON)", p.stdout)
    check(s.spent("ann") == before, "quotes are free")


def one_string(s):
    p = s.psql("ann", "SET dpcount.epsilon='0.5'; SET dpcount.error_columns=on; "
               "select sex, count(*) as n from pat group by sex order by sex", options=["--csv"])
    check(p.stdout.splitlines()[-2:] and p.stdout.splitlines()[-2].count(",") == 2, "error columns", p.stdout, p.stderr)
    p = s.psql("ann", "set dpcount.error_columns = on; select sex, count(*) as n from pat group by sex order by 1",
               options=["-P", "tuples_only=off"])
    check("sex|n|n_error95" in p.stdout, "their names", p.stdout, p.stderr)


def refusals(s):
    cases = [("set dpcount.policy = 'x'", "42501"), ("set dpcount.public = 'pat'", "42501"),
             ("set dpcount.epsilon = '7'", "22023"), ("set dpcount.epsilon = '0.001'", "22023"),
             ("set dpcount.delta = '0.1'", "22023"), ("set nonsense = 1", "42704"),
             ("select * from pat", "0A000"), ("delete from pat", "0A000"), ("copy pat to stdout", "0A000"),
             ("explain analyze select count(*) from pat", "0A000"), ("selct 1", "42601"),
             ("select count(*) from nope", "42P01"), ("select count(*) from pat where nope = 1", "42703"),
             ("alter user bob password 'SCRAM-SHA-256$4096:x$y:z'", "42501"),
             ("alter user ann password 'plain'", "22023"), ("create table t(a int)", "0A000"),
             ("select count(*) from pat, pg_class", "0A000"), ("set statement_timeout = 'soon'", "22023")]
    before = s.spent("ann")
    for sql, state in cases:
        p = s.psql("ann", "\\set VERBOSITY verbose", sql)
        check(f"ERROR:  {state}:" in p.stderr, f"{sql}: {state}", p.stderr)
    p = s.psql("ann", "create table t as select 1", "vacuum")
    check("CREATE TABLE AS is not offered" in p.stderr and "VACUUM is not offered" in p.stderr, "in SQL's words", p.stderr)
    p = s.psql("ann", "select count(*) from pat", env={"PGOPTIONS": "-c dpcount.public=pat"})
    check("permission denied" in p.stderr, "PGOPTIONS", p.stderr)
    p = s.psql("ann", "select count(*) as \"ü\" from pat; select count(*) from pat where ö = 1")
    line = next((x for x in p.stderr.splitlines() if x.startswith("LINE")), "")
    mark = next((x for x in p.stderr.splitlines() if x.strip() == "^"), "")
    check(line and line[len(mark) - 1] == "ö", "the position, behind umlauts in a second statement", p.stderr)
    check(s.spent("ann") - before < 0.51, "refusals cost nothing")


def spend_off(s):
    p = s.psql("ann", "set dpcount.spend = off; select count(*) from pat where id < 77")
    check("would cost epsilon 0.5" in p.stderr, "spend off: the price", p.stderr)
    p = s.psql("ann", "set dpcount.spend = off; select count(*) from pat")
    check(number(p.stdout) and not p.stderr, "spend off: repeats are answered", p)
    p = s.psql("ann", "set dpcount.max_epsilon = '0.1'; select count(*) from pat where id < 78")
    check("more than dpcount.max_epsilon" in p.stderr, "max_epsilon", p.stderr)
    p = s.psql("tom", "select count(*) from pat")
    check("42501" in s.psql("tom", "\\set VERBOSITY verbose", "select count(*) from pat").stderr, "spend: off in the file", p)
    p = s.psql("tom", "set dpcount.spend = on")
    check("lets this user spend nothing" in p.stderr, "and no way around it", p.stderr)


def with_psycopg2(s):
    c = psycopg2.connect(s.uri("bob"))
    cur = c.cursor()
    cur.execute("select city, count(*) as n from pat join hos using (h) where born >= %s group by city order by city",
                ("1950-01-01",))
    rows = cur.fetchall()
    check([r[0] for r in rows] == ["Bonn", "Köln"] and all(isinstance(r[1], int) for r in rows), "psycopg2", rows)
    check([d[0] for d in cur.description] == ["city", "n"], "names of columns", cur.description)
    named = c.cursor("parts")
    named.itersize = 1
    named.execute("select city, count(*) as n from pat join hos using (h) where born >= '1950-01-01' group by city order by city")
    check(named.fetchall() == rows, "a named cursor: the same, stored answer")
    c.rollback()
    try:
        for i in range(5):
            cur.execute(f"select count(*) from pat where id < {i + 3}")
            c.commit()
        check(False, "bob's budget holds")
    except psycopg2.Error as e:
        check(e.pgcode == "53400", "bob's budget holds", e, e.pgcode)
    c.close()
    check(s.spent("bob") <= 1, "and no more was spent", s.spent("bob"))


def at_the_same_time(s):
    """ann with psql, cid with psycopg2, eight connections in all."""

    def with_psql(i):
        s.psql("ann2", f"select count(*) from pat where id > {i}")

    def with_python(i):
        c = psycopg2.connect(s.uri("cid"))
        c.autocommit = True
        c.cursor().execute(f"select count(*) from pat where id > {i}")
        c.close()

    threads = [threading.Thread(target=f, args=(i,)) for i in range(4) for f in (with_psql, with_python)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for name in ("ann2", "cid"):
        check(abs(s.spent(name) - 2.0) < 1e-9, f"four charges of {name}", s.spent(name))
    p = s.psql("cid", "select count(*) from dpcount.history")
    check(p.stdout.strip() == "4", "a history of one's own", p)


def the_smaller_cap(s):
    """The owner grants more in the ledger: the file's cap holds, and what was paid for is given."""
    p = s.run("budget", "grant", "--ledger", s.path("state/hospital.ledger"), "--analyst", "cid", "--epsilon", "5")
    check(p.returncode == 0, "a grant", p)
    c = psycopg2.connect(s.uri("cid"))
    c.autocommit = True
    cur = c.cursor()
    cur.execute("set dpcount.epsilon = 0.75")
    cur.execute("select count(*) from pat where id > 100")
    for sql in ("select count(*) from pat where id > 101", "select count(*), count(*) from pat where id > 102"):
        try:
            cur.execute(sql)
            check(False, "the cap of the file holds", sql)
        except psycopg2.Error as e:
            check(e.pgcode == "53400" and "allowed 3" in e.diag.message_detail, "the cap of the file holds", e)
    cur.execute("select count(*) from pat where id > 100")
    c.close()
    check(abs(s.spent("cid") - 2.75) < 1e-9, "and no more was spent", s.spent("cid"))
    codes = all_at_once(s, "cid", [f"select count(*) from pat where id > {103 + i}" for i in range(6)], "0.2")
    check(sorted(codes, key=str) == ["53400"] * 5 + [None], "of many that ask at once one gets the rest", codes)
    check(abs(s.spent("cid") - 2.95) < 1e-9, "and is charged", s.spent("cid"))


def all_at_once(s, user, queries, epsilon):
    """SQLSTATE of each; the questions wait for each other before they are asked."""
    codes, ready = [], threading.Barrier(len(queries))

    def ask(sql):
        c = psycopg2.connect(s.uri(user, more=f"options='-c dpcount.epsilon={epsilon}'"))
        c.autocommit = True
        ready.wait()
        try:
            c.cursor().execute(sql)
            codes.append(None)
        except psycopg2.Error as e:
            codes.append(e.pgcode)
        c.close()

    threads = [threading.Thread(target=ask, args=(q,)) for q in queries]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return codes


def seats_are_shared(s):
    """Where replies have no moment one analyst has several questions on their way, and another one is not kept waiting by them."""
    engine = named(s, "dpcount-engine")[0]
    codes = []
    os.kill(engine, signal.SIGSTOP)
    many = threading.Thread(target=lambda: codes.extend(
        all_at_once(s, "dan", [f"select count(*) from pat where id > {200 + i}" for i in range(4)], "0.1")))
    many.start()
    end = time.monotonic() + 60
    while time.monotonic() < end and s.spent("dan") < 0.2 - 1e-9:
        time.sleep(0.05)
    held = s.spent("dan")
    check(abs(held - 0.2) < 1e-9, "two are held, as many as there are seats", held)
    other = threading.Thread(target=lambda: codes.extend(all_at_once(s, "fay", ["select count(*) from pat where id > 300"], "0.1")))
    other.start()
    time.sleep(0.3)
    os.kill(engine, signal.SIGCONT)
    many.join()
    other.join()
    check(codes == [None] * 5, "all are answered", codes)
    holds = json.loads(s.run("budget", "history", "--ledger", s.path("state/hospital.ledger"), "--format", "json").stdout)["history"]
    order = [h["analyst"] for h in holds if h["analyst"] in ("dan", "fay")]
    check("fay" in order[:4], "who has no seat gets the next one", order)


def helpers_stay(s):
    """What works for the service stays for the next question, and does not grow."""
    def helpers():
        return {p for name in ("dpcount-steward", "dpcount-idle") for p in named(s, name)}

    def size():
        """Kilobytes of each, on average."""
        all_of_them = sum(n for name, n in memory(s).items() if name in ("dpcount-steward", "dpcount-idle"))
        return all_of_them / 1024 / len(helpers())

    c = psycopg2.connect(s.uri("cid"))
    c.autocommit = True
    cur = c.cursor()
    cur.execute("set dpcount.epsilon = 0.75")
    for _ in range(20):
        cur.execute("select count(*) from pat where id > 100")
    before, kilobytes = helpers(), size()
    for _ in range(300):
        cur.execute("select count(*) from pat where id > 100")
    # one that answered is not idle yet when the next question is there: a few are made
    check(len(helpers()) <= 10 and len(helpers() & before) > 1, "no process for each stored answer", before, helpers())
    check(not memory_tells(s) or size() < kilobytes + 1024, "and they do not grow", kilobytes, size())
    c.close()


def log_is_discreet(s):
    with open(s.log, encoding="utf-8") as f:
        text = f.read()
    check(PASSWORD not in text and "SCRAM-SHA-256$" not in text, "no password in the log")
    answers = s.psql("ann", "select count(*) from pat").stdout.strip()
    check(f'"{answers}"' not in text and f":{answers}," not in text, "no answer in the log")


def main():
    analysts = {"ann": "epsilon: 5", "bob": "epsilon: 1", "tom": ("epsilon: 1", ", spend: off"), "ann2": "epsilon: 3",
                "cid": "epsilon: 3", "dan": "epsilon: 3", "fay": "epsilon: 3"}
    with Service(analysts, dataset="    pace: none\n    workers: 2\n") as s:
        sign_in(s)
        one_charge(s)
        free_quotes(s)
        one_string(s)
        refusals(s)
        spend_off(s)
        with_psycopg2(s)
        at_the_same_time(s)
        the_smaller_cap(s)
        seats_are_shared(s)
        helpers_stay(s)
        log_is_discreet(s)
        check(s.stop() == 0, "ends with 0")
        p = s.run("budget", "verify", "--ledger", s.path("state/hospital.ledger"))
        check(p.returncode == 0, "the ledger is whole", p)
    return 1 if BAD else 0


sys.exit(main())
