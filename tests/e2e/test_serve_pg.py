#!/usr/bin/env python3
"""A service on a PostgreSQL server: its password stands in a file and nowhere else; what is served is the sealed copy, so
a server that is stopped later is not missed, and one that is not there at the first start is waited for."""
import os
import subprocess
import sys
import time

import pg
from processes import all_of
from service import Service

BAD = []
SECRET = "owl in the attic"


def check(ok, what, *more):
    if not ok:
        BAD.append(what)
        print("FAILED:", what, *more)


def psql(folder, sql, database="postgres"):
    p = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", "-d", database, "-c", sql],
                       capture_output=True, text=True, check=False)
    if p.returncode:
        sys.exit(p.stderr)


def fill(folder):
    psql(folder, f"CREATE ROLE reader LOGIN PASSWORD '{SECRET}'")
    psql(folder, "CREATE TABLE hos(h int PRIMARY KEY, city text NOT NULL)")
    psql(folder, "CREATE TABLE pat(id int PRIMARY KEY, sex text NOT NULL, h int REFERENCES hos)")
    psql(folder, "INSERT INTO hos VALUES (1, 'Bonn'), (2, 'Köln')")
    psql(folder, "INSERT INTO pat SELECT i, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END, 1 + i % 2 FROM generate_series(1, 1000) i")
    psql(folder, "GRANT SELECT ON pat, hos TO reader")
    with open(os.path.join(folder, "data", "pg_hba.conf"), "w", encoding="utf-8") as f:
        f.write("local all reader scram-sha-256\nlocal all all trust\n")
    psql(folder, "SELECT pg_reload_conf()")
    time.sleep(0.5)


class OnServer(Service):
    """The password stands in a file."""

    def __init__(self, folder, password):
        self.folder_of_server = folder
        super().__init__({"ann": "epsilon: 5"}, start=False)
        self.write("pw", password + "\n", 0o600)
        self.give_away()

    def configuration(self):
        url = f"postgresql:///postgres?host={self.folder_of_server}&user=reader"
        return super().configuration().replace(f"db: {self.path('h.db')}", f"db: {url}\n    password: file:{self.path('pw')}")


def without_the_password(s):
    """It is in no log, no file of the state, no command line, no environment of a process that goes on."""
    for name in [s.log] + [os.path.join(s.path("state"), n) for n in os.listdir(s.path("state"))]:
        with open(name, "rb") as f:
            check(SECRET.encode() not in f.read(), "the password is not in " + name)
    for pid, name in all_of(s).items():
        for part in ("cmdline", "environ"):
            try:
                with open(f"/proc/{pid}/{part}", "rb") as f:
                    check(SECRET.encode() not in f.read(), f"nor in {part} of {name}")
            except OSError:
                pass


def main():
    folder = pg.start()
    try:
        fill(folder)
        with OnServer(folder, "wrong") as s:
            s.start(wait="not-served")
            p = s.psql("ann", "\\set VERBOSITY verbose", "select count(*) from pat")
            check("55000" in p.stderr, "a wrong password: not served", p.stderr)
            with open(s.path("state/owner.log"), encoding="utf-8") as f:
                check("password" in f.read(), "the owner is told why")
            check("password authentication" not in p.stderr + open(s.log, encoding="utf-8").read(), "and nobody else", p.stderr)
        with OnServer(folder, SECRET) as s:
            p = s.run("serve", "--config", "serve.yaml", "--check-config")
            check(p.returncode == 0, "a good configuration", p.stderr)
            s.start()
            p = s.psql("ann", "\\d pat", "select city, count(*) from pat join hos using (h) group by city order by city")
            check("Bonn|" in p.stdout and "Köln|" in p.stdout, "an answer", p.stdout, p.stderr)
            without_the_password(s)
            pg.stop(folder)
            p = s.psql("ann", "select count(*) from pat where id < 500")
            check(p.stdout.strip().lstrip("-").isdigit(), "the server is gone: the sealed copy answers", p.stderr)
            check(s.stop() == 0, "ends with 0")
            s.start()
            p = s.psql("ann", "select count(*) from pat where id < 400")
            check(p.stdout.strip().lstrip("-").isdigit(), "also after a restart", p.stderr)
            check(s.spent("ann") == 1.5, "three charges", s.spent("ann"))
    finally:
        if os.path.exists(folder):
            pg.stop(folder)
    return 1 if BAD else 0


sys.exit(main())
