#!/usr/bin/env python3
"""PostgreSQL from the outside: passwords in no message and in no list of
processes, every way to say where the server is, TLS, enums, views, schemas,
types with an equality of their own, and what a connection costs that is
lost."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")
SECRET = "s3cret-word"
problems = []

DDL = f"""
CREATE ROLE reader LOGIN PASSWORD '{SECRET}';
CREATE TYPE size AS ENUM ('small', 'medium', 'large');
CREATE TABLE shirt(id integer PRIMARY KEY, size size NOT NULL, other size, name text);
INSERT INTO shirt SELECT i, (ARRAY['small', 'medium', 'large'])[i % 3 + 1]::size, 'large', 'n' || i
  FROM generate_series(1, 30) i;
CREATE VIEW seen AS SELECT * FROM shirt;
CREATE TABLE long AS SELECT i AS a, 'some text ' || i AS b FROM generate_series(1, 400000) i;
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE own(id integer PRIMARY KEY, ip inet, span interval, doc jsonb, loose text COLLATE loose);
INSERT INTO own VALUES (1, '10.0.0.1', '1 day', '{{"a": 1}}', 'Anna'), (2, '10.0.0.1', '24:00', NULL, 'anna');
CREATE TABLE consent(id integer PRIMARY KEY); INSERT INTO consent VALUES (2);
CREATE TABLE consenting AS SELECT generate_series(1, 3) AS id;
ALTER TABLE consenting ENABLE ROW LEVEL SECURITY;
CREATE POLICY asked ON consenting USING (EXISTS (SELECT 1 FROM consent c WHERE c.id = consenting.id));
CREATE TABLE altered(gone integer, kept integer CHECK (kept IN (1, 2)));
ALTER TABLE altered DROP COLUMN gone; INSERT INTO altered VALUES (1), (2);
CREATE SCHEMA ref; CREATE TABLE ref.ward(id integer PRIMARY KEY);
CREATE TABLE ref.twice AS SELECT generate_series(1, 2) AS id;
CREATE SCHEMA other; CREATE TABLE other.twice(id integer PRIMARY KEY);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
"""


def check(what, ok, more=""):
    if not ok:
        problems.append(f"{what}: {more}")


def run(*args, env=None, **kw):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, **(env or {})}, **kw)


def count(db, query, env=None, more=()):
    r = run("count", "--format", "json", "--db", db, *more, query, env=env)
    check(f"count {query}", r.returncode == 0, r.stdout + r.stderr)
    return json.loads(r.stdout).get("count") if r.returncode == 0 else None


def psql(server, sql, database="postgres", **kw):
    return subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", server, "-U", "postgres", database], input=sql,
                          text=True, check=True, capture_output=True, **kw).stdout


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().decode()


def passwords(server):
    """The arguments of a running dpcount, in each form of --db."""
    forms = [["--db", f"postgresql://reader:{SECRET}@/postgres?host={server}"],
             [f"--db=postgresql:///postgres?host={server}&user=reader&password={SECRET}"],
             ["--db", f"host={server} user=reader password={SECRET} dbname=postgres"]]
    lock = subprocess.Popen(["psql", "-qAt", "-h", server, "-U", "postgres"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    lock.stdin.write("BEGIN; LOCK TABLE shirt IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
    lock.stdin.flush()
    lock.stdout.readline()
    waiting = [subprocess.Popen([PROGRAM, "count", *form, "SELECT COUNT(*) FROM shirt"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for form in forms]
    end = time.time() + 30
    while psql(server, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'") != "3\n" and time.time() < end:
        time.sleep(0.05)
    for form, p in zip(forms, waiting):
        shown = cmdline(p.pid)
        if os.environ.get("DPC_SLOW"):
            continue  # these are valgrind's arguments, which it keeps
        check("process list", "SELECT COUNT" in shown and SECRET not in shown, shown)
    lock.stdin.write("COMMIT;\n")
    lock.stdin.close()
    lock.wait()
    for p in waiting:
        out, err = p.communicate()
        check("count after the lock", p.returncode == 0 and out == "30\n", out + err)


def messages(server):
    """Whatever is wrong, the password is not repeated."""
    url = f"postgresql://reader:{SECRET}@/postgres?host={server}"
    wrong = [["count", "--db", url.replace("/postgres?", "/nowhere?"), "SELECT COUNT(*) FROM shirt"],
             ["count", "--dbx=" + url, "SELECT COUNT(*) FROM shirt"],
             ["count", url, "SELECT COUNT(*) FROM shirt"],
             ["count", "--db", url, url],
             ["count", "--db", url, "--db", url, "SELECT COUNT(*) FROM shirt"],
             ["count", "--db", f"host={server} user=reader password='{SECRET}", "SELECT COUNT(*) FROM shirt"],
             ["count", "--db", url, "SELECT COUNT(*) FROM nobody"]]
    for args in wrong:
        for form in ("text", "json"):
            r = run(*args[:1], "--format", form, *args[1:])
            check("a mistake is an error", r.returncode not in (0, 70), f"{args}")
            check("no password in messages", SECRET not in r.stdout + r.stderr, r.stdout + r.stderr)


def ways_in(server, folder):
    """Service file and password file."""
    service, passfile = os.path.join(folder, "service"), os.path.join(folder, "pass")
    with open(service, "w") as f:
        f.write(f"[here]\nhost={server}\nuser=reader\ndbname=postgres\n")
    with open(passfile, "w") as f:
        f.write(f"*:*:*:reader:{SECRET}\n")
    os.chmod(passfile, 0o600)
    env = {"PGSERVICEFILE": service, "PGPASSFILE": passfile}
    # from here on the server asks for the password
    hba = os.path.join(server, "data", "pg_hba.conf")
    with open(hba) as f:
        old = f.read()
    with open(hba, "w") as f:
        f.write("local all reader scram-sha-256\nhostssl all reader 127.0.0.1/32 scram-sha-256\n"
                "hostnossl all reader 127.0.0.1/32 reject\n" + old)
    psql(server, "SELECT pg_reload_conf()")
    time.sleep(0.2)
    check("service and password file", count("service=here", "SELECT COUNT(*) FROM shirt", env) == 30)
    r = run("count", "--db", "service=here", "SELECT COUNT(*) FROM shirt", env={**env, "PGPASSFILE": "/dev/null"})
    check("without a password", r.returncode == 5, r.stderr)
    return env


def tls(server, folder, env):
    """A certificate of its own, checked and not trusted otherwise."""
    if not shutil.which("openssl"):
        print("skipped: TLS (no openssl)")
        return
    cert, key = os.path.join(server, "data", "server.crt"), os.path.join(server, "data", "server.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    st = os.stat(os.path.join(server, "data"))
    os.chmod(key, 0o600)
    if os.getuid() == 0:
        os.chown(key, st.st_uid, st.st_gid)
        os.chown(cert, st.st_uid, st.st_gid)
    trusted = os.path.join(folder, "trusted.crt")
    shutil.copy(cert, trusted)
    port = 20000 + os.getpid() % 20000
    psql(server, f"ALTER SYSTEM SET ssl = on; ALTER SYSTEM SET listen_addresses = '127.0.0.1'; "
                 f"ALTER SYSTEM SET port = {port}")
    restart = subprocess.run(["bash", pg.SCRIPT, "restart", server], capture_output=True, text=True, check=False)
    if restart.returncode:
        check("restart with TLS", False, restart.stderr)
        return
    base = f"host=127.0.0.1 port={port} user=reader dbname=postgres"
    good = f"{base} sslmode=verify-full sslrootcert={trusted}"
    check("TLS", count(good, "SELECT COUNT(*) FROM shirt", env) == 30)
    check("TLS pushdown", count(good, "SELECT COUNT(*) FROM shirt", env, ["--engine", "sql"]) == 30)
    r = run("count", "--db", f"{base} sslmode=verify-full sslrootcert=/dev/null", "SELECT COUNT(*) FROM shirt", env=env)
    check("an unknown certificate is refused", r.returncode == 5, r.stdout + r.stderr)
    r = run("count", "--db", f"{base} sslmode=disable", "SELECT COUNT(*) FROM shirt", env=env)
    check("the server wants TLS", r.returncode == 5, r.stdout + r.stderr)


def enums(url):
    """Equality of enums is that of their texts, their order is their own."""
    for engine in ("embedded", "sql"):
        more = ["--engine", engine]
        check("enum =", count(url, "SELECT COUNT(*) FROM shirt WHERE size = 'small'", more=more) == 10)
        check("enum IN", count(url, "SELECT COUNT(*) FROM shirt WHERE size IN ('small', 'large')", more=more) == 20)
        check("enum <>", count(url, "SELECT COUNT(*) FROM shirt WHERE size <> other", more=more) == 20)
        for condition in ("size < 'medium'", "size >= 'medium' AND id > 3", "size <= other",
                          "NOT (size BETWEEN 'medium' AND 'large' OR id = 3)", "least(size, 'small') = 'small'"):
            r = run("count", "--db", url, *more, f"SELECT COUNT(*) FROM shirt WHERE {condition}")
            check(f"enum order {condition}", r.returncode == 3 and "order of an enum" in r.stderr, r.stdout + r.stderr)
        r = run("count", "--db", url, *more, "Q(i) :- shirt(i, s, o, _), s < o.")
        check("enum order in a rule", r.returncode == 3 and "order of an enum" in r.stderr, r.stdout + r.stderr)
        r = run("count", "--db", url, *more, "SELECT COUNT(*) FROM seen")
        check("a view", r.returncode == 3 and "is a view" in r.stderr, r.stdout + r.stderr)


def dropped_column(url):
    """A dropped column has no type any more; a CHECK belongs to none of the types."""
    r = run("count", "--db", url, "--format", "json", "SELECT kept, COUNT(*) FROM altered GROUP BY kept")
    check("a dropped column", r.returncode == 0 and json.loads(r.stdout)["rows"] == [[1, 1], [2, 1], [None, 0]],
          r.stdout + r.stderr)


def own_types(url):
    """Types with an equality of their own are not compared as if they were texts; their texts are."""
    for engine in ("embedded", "auto"):
        more = ["--engine", engine]
        for condition in ("ip = '10.0.0.1'", "span = '24:00'", "ip IN ('10.0.0.1')", "doc = '{\"a\":1}'", "loose = 'ANNA'",
                          "ip LIKE '10.%'"):
            r = run("count", "--db", url, *more, f"SELECT COUNT(*) FROM own WHERE {condition}")
            check(f"own type {condition}", r.returncode == 3 and "::text" in r.stderr, r.stdout + r.stderr)
        for query in ("SELECT COUNT(DISTINCT span) FROM own", "SELECT span, COUNT(*) FROM own GROUP BY span",
                      "SELECT COUNT(*) FROM own a JOIN own b USING (ip)",
                      "SELECT COUNT(*) FROM (SELECT DISTINCT span FROM own) d"):
            r = run("count", "--db", url, *more, query)
            check(f"own type {query}", r.returncode == 3 and "::text" in r.stderr, r.stdout + r.stderr)
        check("its text", count(url, "SELECT COUNT(*) FROM own WHERE ip::text = '10.0.0.1/32'", more=more) == 2)
        check("its texts", count(url, "SELECT COUNT(DISTINCT span::text) FROM own", more=more) == 2)
        check("its NULLs", count(url, "SELECT COUNT(*) FROM own WHERE doc IS NULL", more=more) == 1)
        check("those not NULL", count(url, "SELECT COUNT(doc) FROM own", more=more) == 1)


def schemas(url, folder):
    """A name stands for one table. What is declared of it holds for no other of that name."""
    policy = os.path.join(folder, "schemas.yaml")
    text = run("policy", "init", "--db", url).stdout
    check("outside of the search path", "\n  ref.ward:\n" in text and "twice is in more than one schema" in text, text)
    for name, right in (("ref.ward", True), ("ward", True), ("other.ward", False), ("public.ward", False)):
        with open(policy, "w") as f:
            f.write("tables: {" + name + ": {privacy: public}}\n")
        r = run("quote", "--db", url, "--policy", policy, "--epsilon", "1", "SELECT COUNT(*) FROM ref.ward")
        check(f"policy of {name}", (r.returncode == 0) == right, r.stdout + r.stderr)
        check("is public", not right or "none" in r.stdout, r.stdout)
    for name, status, says in (("twice", 3, "search_path"), ("other.twice", 3, "search_path"),
                               ("ref.twice", 2, "search path")):
        r = run("count", "--db", url, f"SELECT COUNT(*) FROM {name}")
        check(f"{name}, in two schemas", r.returncode == status and says in r.stderr, r.stdout + r.stderr)
    check("with a search path", count(url + "&options=-csearch_path%3Dref", "SELECT COUNT(*) FROM ref.twice") == 2)
    r = run("count", "--db", url, "SELECT COUNT(*) FROM nowhere.shirt")
    check("no such schema", r.returncode == 2 and '"nowhere.shirt"' in r.stderr, r.stderr)
    r = run("count", "--db", url, "SELECT COUNT(*) FROM nobody")
    check("views are not offered", "shirt" in r.stderr and "seen" not in r.stderr, r.stderr)


def row_security(server, url):
    """Rows that a policy of the database hides: a view by another name, unless it does not bind the user."""
    reader = f"postgresql:///postgres?host={server}&user=reader"
    r = run("quote", "--db", reader, "--epsilon", "1", "SELECT COUNT(*) FROM consenting")
    check("row security", r.returncode == 3 and "under row security" in r.stderr, r.stdout + r.stderr)
    check("the others", count(reader, "SELECT COUNT(*) FROM shirt") == 30)
    check("who is not bound", count(url, "SELECT COUNT(*) FROM consenting") == 3)
    text = run("policy", "init", "--db", reader).stdout
    check("row security in the policy", "# not to be queried: consenting is under row security" in text, text)


def citus(server, url):
    """The setting that Citus needs is made where the catalogue lists Citus. There is no Citus here: a row of that name
    is put into the catalogue, and the server takes the setting as it takes any of an unknown extension. What this shows
    is the detection and the statement, not that Citus answers."""
    setting = "SET LOCAL citus.enable_repartition_joins = 'on'"
    reach = "SET LOCAL citus.propagate_set_commands = 'local'"
    log = os.path.join(server, "data", "log")
    for sql in ("ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"):
        psql(server, sql)
    time.sleep(0.2)
    for listed in (False, True):
        if listed:
            psql(server, "SET allow_system_table_mods = on; INSERT INTO pg_extension (oid, extname, extowner, "
                         "extnamespace, extrelocatable, extversion) VALUES (99999, 'citus', 10, 11, false, '0')")
        check("citus count", count(url, "SELECT COUNT(*) FROM shirt", more=["--engine", "sql"]) == 30)
        with open(log, encoding="utf-8", errors="replace") as f:
            text = f.read()
        check(f"citus listed: {listed}", (setting in text) == (reach in text) == listed)
    # other settings come after the one that makes them reach the other servers
    check("order of settings", text.index(reach) < text.rindex("SET LOCAL TimeZone") and
          "set_config" not in text, text[-2000:])
    # what is set inside a savepoint Citus takes back on the workers when the savepoint ends
    inside, outside = False, set()
    for line in text.splitlines():
        inside = (inside or "statement: SAVEPOINT" in line) and "RELEASE SAVEPOINT" not in line
        if "statement: SET LOCAL" in line and not inside:
            outside.add(line.split("SET LOCAL ")[1].split()[0])
    check("settings outside of savepoints", {"transform_null_equals", "DateStyle", "TimeZone", "extra_float_digits",
                                             "search_path", "citus.enable_repartition_joins"} <= outside, outside)
    psql(server, "SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE extname = 'citus'")
    for sql in ("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()"):
        psql(server, sql)


def killer(server, stop):
    """Ends connections of dpcount while they copy."""
    while not stop.is_set():
        try:
            psql(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpcount' "
                         "AND query LIKE 'COPY%'")
        except subprocess.CalledProcessError:
            pass


def lost(server, url, folder):
    """In the middle of a transfer: the owner is told, the analyst pays."""
    ledger, log = os.path.join(folder, "ledger"), os.path.join(folder, "log")
    run("budget", "init", "--ledger", ledger, "--epsilon", "10")
    release = ["release", "--format", "json", "--ledger", ledger, "--owner-log", log, "--epsilon", "1", "--db", url]
    query = "SELECT COUNT(DISTINCT b) FROM long"
    stop = threading.Event()
    thread = threading.Thread(target=killer, args=(server, stop))
    thread.start()
    try:
        r = run("count", "--db", url, query)
        check("lost, owner", r.returncode == 5 and "lost the connection" in r.stderr, f"{r.returncode} {r.stderr}")
        r = run(*release, query)
        check("lost, analyst", r.returncode == 5 and '"locked"' in r.stdout and "connection" not in r.stdout, r.stdout)
    finally:
        stop.set()
        thread.join()
    with open(log) as f:
        text = f.read()
    check("lost, owner's log", "source-lost" in text and "lost the connection" in text, text)
    shown = json.loads(run("budget", "show", "--ledger", ledger, "--format", "json").stdout)
    check("lost, charged", '"spent": 1' in json.dumps(shown), json.dumps(shown))


def encodings(server, folder):
    """A byte that is no character of the database's encoding stops no question: the server could not convert it."""
    for name, mark in (("WIN1252", "€"), ("WIN1253", "Ω"), ("LATIN3", "ħ"), ("ISO_8859_6", "ش"), ("KOI8R", "ж"), ("SQL_ASCII", "€")):
        psql(server, f"CREATE DATABASE {name} ENCODING '{name}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        psql(server, f"""CREATE TYPE mood AS ENUM ('fine', '{mark}');
            CREATE TABLE p(id integer PRIMARY KEY, t text NOT NULL, c char(3), v varchar(9), m mood, x xml);
            INSERT INTO p SELECT i, convert_from(set_byte('a'::bytea || '\\x00', 1, i), '{name}') FROM generate_series(1, 255) i;
            UPDATE p SET c = t, v = t, m = 'fine'; INSERT INTO p VALUES (256, '{mark}', '{mark}', '{mark}', '{mark}', '{mark}')""", name.lower(),
             env={**os.environ, "PGCLIENTENCODING": "SQL_ASCII" if name == "SQL_ASCII" else "UTF8"})
        url = f"postgresql:///{name.lower()}?host={server}&user=postgres"
        # blanks at the end of char(3) do not count: 32 is nothing
        for query, want in (("COUNT(DISTINCT t) FROM p", 256), ("COUNT(DISTINCT v) FROM p", 256), ("COUNT(DISTINCT c) FROM p", 256),
                            (f"COUNT(*) FROM p WHERE t = '{mark}' AND v = t", 1), (f"COUNT(*) FROM p WHERE m = '{mark}'", 1),
                            ("COUNT(*) FROM p a JOIN p b ON a.t = b.v WHERE a.id > 127", 129)):
            check(f"{name} {query}", count(url, "SELECT " + query) == want, str(count(url, "SELECT " + query)))
        ledger = os.path.join(folder, name)
        run("budget", "init", "--ledger", ledger, "--epsilon", "10")
        r = run("release", "--ledger", ledger, "--epsilon", "1", "--db", url, "SELECT COUNT(*) FROM p WHERE id > 127 AND t <> 'x'")
        check(f"{name} answered", r.returncode == 0, r.stderr)
    psql(server, "CREATE DATABASE euc ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    psql(server, "CREATE TABLE p(id integer PRIMARY KEY, t text)", "euc")
    url, ledger = f"postgresql:///euc?host={server}&user=postgres", os.path.join(folder, "euc")
    run("budget", "init", "--ledger", ledger, "--epsilon", "10")
    for query, want in (("SELECT COUNT(DISTINCT t) FROM p", 3), ("SELECT COUNT(*) FROM p WHERE id > 3", 0)):
        r = run("release", "--ledger", ledger, "--epsilon", "1", "--db", url, query)
        check(f"EUC_JP {query}", r.returncode == want and (not want or "in EUC_JP cannot" in r.stderr), r.stderr)
    shown = json.loads(run("budget", "show", "--ledger", ledger, "--format", "json").stdout)
    check("EUC_JP, one was charged", shown["spent"] == 1, str(shown))


def main():
    with pg.server() as server, tempfile.TemporaryDirectory() as folder:
        psql(server, DDL)
        url = pg.url(server)
        enums(url)
        dropped_column(url)
        own_types(url)
        schemas(url, folder)
        row_security(server, url)
        citus(server, url)
        encodings(server, folder)
        lost(server, url, folder)
        messages(server)
        passwords(server)
        env = ways_in(server, folder)
        tls(server, folder, env)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
