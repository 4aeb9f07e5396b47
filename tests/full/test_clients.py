#!/usr/bin/env python3
"""Clients that others wrote, against the service: JDBC, pgbench in its three
protocols, psycopg 3, SQLAlchemy, RPostgreSQL, ODBC's isql, all that psql's
backslash commands ask. Whatever they ask of the catalogue is answered, and
each question is charged once."""
import datetime
import decimal
import glob
import os
import re
import subprocess
import sys

try:
    import psycopg
    import sqlalchemy
except ImportError:  # Debian's packages are for Debian's Python
    if sys.executable != "/usr/bin/python3":
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: psycopg or sqlalchemy is not installed")
    sys.exit(1 if os.environ.get("CI") else 77)

from checks import BAD, check
from service import PASSWORD, Service

HERE = os.path.dirname(os.path.abspath(__file__))
JAR = "/usr/share/java/postgresql.jar"


def output(s, *command, stdin=None, env=None):
    p = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=600, cwd=s.folder,
                       env={**s.environment(), "PGPASSWORD": PASSWORD, "PGHOST": s.path("run"), "PGDATABASE": "hospital",
                            **(env or {})})
    return p


JDBC = {"seven": "1", "keys": "FM", "product": "PostgreSQL", "schemas": "information_schema;pg_catalog;public",
        "catalogs": "hospital", "tables": "hos,public;pat,private: each row by itself",
        "columns": "id,int8,NO;sex,text,NO;born,date,YES;h,int8,YES", "primary": "id", "imported": "hos,h",
        "exported": "pat,h", "best": "id", "user": "jan 63 true", "connection": "public hospital true",
        "types": "text int8 date", "result": "n int8", "timestamp": "Long", "local date": "true", "pieces": "F;M",
        "delete from pat": "0A000", "select * from pat": "0A000", "set dpcount.policy = 'x'": "42501",
        "select count(*) from nope": "42P01", "labels": "true", "warnings": "true"}


def jdbc(s, user, *more):
    classes = s.path("classes")
    if not os.path.exists(classes):
        p = output(s, "javac", "-d", classes, os.path.join(HERE, "Clients.java"))
        check(p.returncode == 0, "javac", p.stderr)
    p = output(s, "java", "-cp", classes + ":" + JAR, "Clients", str(s.port), s.path("server.crt"), user, PASSWORD, *more)
    check(p.returncode == 0, "JDBC", p.stderr)
    return dict(line.split(": ", 1) for line in p.stdout.splitlines())


def with_jdbc(s):
    said = jdbc(s, "jan")
    for key, value in JDBC.items():
        check(said.get(key) == value, f"JDBC: {key}", said.get(key), "not", value)
    check(re.fullmatch(r"id,(-1|0),0", said.get("indexes", "")), "JDBC tells no sizes", said.get("indexes"))
    # seven executions, a timestamp and its day, the pieces, one with 0.7
    check(abs(s.spent("jan") - (0.5 * 3 + 0.7)) < 1e-9, "JDBC: each question was charged once", s.spent("jan"))


def with_pgbench(s):
    script = s.path("questions.sql")
    with open(script, "w", encoding="utf-8") as f:
        f.write("\\set i random(1, 4)\nselect count(*) from pat where id < :i;\n"
                "explain select count(*) from pat where id > :i;\n")
    for mode in ("simple", "extended", "prepared"):
        p = output(s, "pgbench", "-n", "-c", "4", "-t", "20", "-M", mode, "-f", script, "-U", "pia")
        check(p.returncode == 0 and "number of failed transactions: 0" in p.stdout, f"pgbench {mode}", p.stdout, p.stderr[-500:])
    check(s.spent("pia") <= 0.5 * 4, "pgbench: four questions, four charges", s.spent("pia"))


def with_psycopg3(s):
    c = psycopg.connect(s.uri("tim"))
    cur = c.cursor(binary=True)
    sql = "select sex, count(*) as n from pat where id < %s and born < %s group by sex order by sex"
    seen = {tuple(cur.execute(sql, (500, datetime.date(1990, 1, 1))).fetchall()) for _ in range(7)}
    check(len(seen) == 1 and [r[0] for r in seen.pop()] == ["F", "M"], "psycopg 3: seven times", seen)
    for value in (decimal.Decimal("12.5"), 12.5, 12, datetime.date(1990, 1, 1), datetime.datetime(1990, 1, 1, 12)):
        column = "born" if isinstance(value, datetime.date) else "id"
        n = cur.execute(f"select count(*) from pat where {column} < %s", (value,)).fetchall()
        check(len(n) == 1 and isinstance(n[0][0], int), "psycopg 3: a parameter", value, n)
    for binary in (False, True):
        with c.cursor("named", binary=binary) as named:
            named.execute(sql, (300, datetime.date(1980, 1, 1)))
            first, rest = named.fetchmany(1), named.fetchall()
            check([r[0] for r in first + rest] == ["F", "M"], "psycopg 3: a named cursor", first, rest)
        c.rollback()
    with c.pipeline():
        a = c.execute("select count(*) from pat where id < 12")
        b = c.execute("select count(*) from pat where id < %s", (12,))
    check(a.fetchall() and b.fetchall(), "psycopg 3: a pipeline")
    c.rollback()
    plan = c.execute("explain select count(*) from pat where id < %s", (12,)).fetchall()
    check(any("epsilon 0.5" in r[0] for r in plan), "psycopg 3: EXPLAIN with a parameter", plan)
    c.close()


def with_sqlalchemy(s):
    url = sqlalchemy.engine.URL.create("postgresql+psycopg2", "tim", PASSWORD, database="hospital", query={"host": s.path("run")})
    engine = sqlalchemy.create_engine(url)
    i = sqlalchemy.inspect(engine)
    check(i.get_table_names() == ["hos", "pat"], "SQLAlchemy: tables", i.get_table_names())
    columns = [(c["name"], str(c["type"]), c["nullable"]) for c in i.get_columns("pat")]
    check(columns == [("id", "BIGINT", False), ("sex", "TEXT", False), ("born", "DATE", True), ("h", "BIGINT", True)],
          "SQLAlchemy: columns", columns)
    check(i.get_pk_constraint("pat")["constrained_columns"] == ["id"], "SQLAlchemy: key")
    keys = i.get_foreign_keys("pat")
    check([(k["constrained_columns"], k["referred_table"]) for k in keys] == [(["h"], "hos")], "SQLAlchemy: references", keys)
    check(i.get_table_comment("pat")["text"].startswith("private: "), "SQLAlchemy: comment")
    meta = sqlalchemy.MetaData()
    meta.reflect(engine)
    t = meta.tables["pat"]
    with engine.connect() as con:
        rows = con.execute(sqlalchemy.select(t.c.sex, sqlalchemy.func.count().label("n")).where(t.c.id < 100)
                           .group_by(t.c.sex).order_by(t.c.sex)).fetchall()
    check([r[0] for r in rows] == ["F", "M"], "SQLAlchemy: a question", rows)
    engine.dispose()


R = """suppressMessages(library(RPostgreSQL))
c <- dbConnect(dbDriver("PostgreSQL"), host=Sys.getenv("PGHOST"), user="tim", password=Sys.getenv("PGPASSWORD"), dbname="hospital")
cat(dbListTables(c), dbListFields(c, "pat"), dbExistsTable(c, "pat"), "\\n")
d <- dbGetQuery(c, "select sex, count(*) as n from pat group by sex order by sex")
cat(names(d), d$sex, is.numeric(d$n), "\\n")
invisible(dbDisconnect(c))
"""


def with_r(s):
    with open(s.path("clients.R"), "w", encoding="utf-8") as f:
        f.write(R)
    p = output(s, "Rscript", s.path("clients.R"))
    check(p.stdout.split("\n")[:2] == ["hos pat id sex born h TRUE ", "sex n F M TRUE "], "RPostgreSQL", p.stdout, p.stderr)


def with_odbc(s):
    with open(s.path("odbc.ini"), "w", encoding="utf-8") as f:
        f.write(f"[h]\nDriver={glob.glob('/usr/lib/*/odbc/psqlodbcw.so')[0]}\nServername=localhost\nPort={s.port}\nDatabase=hospital\nUserName=tim\n"
                f"Password={PASSWORD}\nSSLmode=require\n")
    p = output(s, "isql", "-b", "h", "-v", "-x0x2c", env={"ODBCINI": s.path("odbc.ini")},
               stdin="help\nhelp pat\nselect sex, count(*) as n from pat group by sex order by sex\n")
    check("hospital,public,pat,TABLE" in p.stdout and "public,pat,born,9,date" in p.stdout and re.search(r"^F,-?\d+$", p.stdout, re.M),
          "isql", p.stdout, p.stderr)


BACKSLASH = r"""\d \dt \d+ \dt+ \l \l+ \dn \dn+ \du \du+ \df \dfS \dp \z \di \ds \dv \dm \dT \db \dg \do \dC \dc \dD \det \dx \dy \dF \drds
\dRp \dRs \dP \dA \dAc \dAf \dAp \dAo \dL \dE \ddp \dO \dd \dl \des \dew \deu \dFp \dFd \dFt \dconfig \dX \dtS \conninfo \encoding""".split()


def with_psql(s):
    for command in [*BACKSLASH, r"\d pat", r"\d+ pat", r"\d hos", r"\dt public.*", r"\dt *.pat", r"\d h*", r'\d "pat"', r"\dd pat"]:
        p = s.psql("tim", command, options=["-v", "ON_ERROR_STOP=1"])
        check(p.returncode == 0 and "ERROR" not in p.stderr, f"psql {command}", p.stderr)
    p = s.psql("tim", r"\d pat", options=["-P", "tuples_only=off"])
    check("FOREIGN KEY (h) REFERENCES hos(h)" in p.stdout, "psql shows references", p.stdout)


def main():
    people = {"jan": "epsilon: 20", "pia": "epsilon: 20", "tim": "epsilon: 20"}
    with Service(people, dataset="    pace: none\n", tls=True, start=False) as s:
        subprocess.run(["sqlite3", s.path("h.db"), "ALTER TABLE pat RENAME TO old; CREATE TABLE pat(id INTEGER PRIMARY KEY, "
                        "sex TEXT NOT NULL, born DATE, h INTEGER REFERENCES hos(h)); INSERT INTO pat SELECT * FROM old; "
                        "DROP TABLE old"], check=True)
        s.give_away()
        s.start()
        for part in (with_jdbc, with_pgbench, with_psycopg3, with_sqlalchemy, with_r, with_odbc, with_psql):
            part(s)
        check(s.stop() == 0, "ends with 0")
        check(s.run("budget", "verify", "--ledger", s.path("state/hospital.ledger")).returncode == 0, "the ledger is whole")
    with Service({"jan": "epsilon: 5"}, dataset="    pace: 4 s\n    load_visible: yes\n", tls=True) as s:
        said = jdbc(s, "jan", "timeout")
        check(said == {"timeout": "57014", "later": "true"}, "setQueryTimeout: worked off, then free", said)
        check(abs(s.spent("jan") - 0.5) < 1e-9, "and charged once", s.spent("jan"))
    return 1 if BAD else 0


sys.exit(main())
