"""Load on a service by pgbench: questions a second, memory, and the sum of the
ledger. Used by tests/e2e-long/test_serve_load.py and by bench/load.py."""
import glob
import json
import os
import re
import sqlite3
import subprocess
import time

from service import PASSWORD, Service

PRICE = 0.001
NAMES = [f"a{i}" for i in range(8)]  # one question of an analyst runs at a time
CONNECTIONS = 16

SCRIPTS = {
    "explain": "\\set k random(1, 1000000000)\nexplain select count(*) from pat where id < :k;\n",
    "stored": "select count(*) from pat;\n",
    "fresh": "\\set k random(1, 1000000000000)\nselect count(*) from pat where id < :k;\n",
}


def pgbench():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
    return found[-1] if found else None


class LoadService(Service):
    def configuration(self):
        return super().configuration().replace("min: 0.01", f"min: {PRICE}")


def load_service(seats=4, rows=1000):
    policy = ("tables:\n  hos: {privacy: public}\n  pat: {privacy: private, values: {sex: [F, M]}}\n"
              "budget: {epsilon: 1000, delta: 1e-6}\n")
    return LoadService({n: "epsilon: 120" for n in NAMES}, rows=rows, policy=policy,
                       dataset=f"    pace: none\n    workers: {seats}\n",
                       extra="limits: {connections: 200, connections_each: 50, waiting: 100}\n")


def run(s, kind, seconds, protocol="simple", connections=CONNECTIONS):
    """Transactions, failed ones, their rate; all analysts at the same time."""
    path = s.path(kind + ".sql")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SCRIPTS[kind])
    each = max(1, connections // len(NAMES))
    env = s.environment()
    env.update(PGPASSWORD=PASSWORD, PGOPTIONS=f"-c dpcount.epsilon={PRICE} -c dpcount.notices=off")
    started = time.monotonic()
    all_of_them = [subprocess.Popen([pgbench(), "-n", "-h", s.path("run"), "-U", n, "-c", str(each), "-j", "1", "-T", str(seconds),
                                     "-M", protocol, "-f", path, "hospital"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, env=env) for n in NAMES[:connections]]
    done, text = 0, []
    for p in all_of_them:
        out, err = p.communicate()
        m = re.search(r"actually processed: (\d+)", out)
        done += int(m[1]) if m else 0
        text += [x for x in err.splitlines() if "error" in x.lower() or "FATAL" in x]
        if p.returncode:
            text.append(f"pgbench ended with {p.returncode}")
    return done, text, done / (time.monotonic() - started)


def fsync_rate(folder, seconds=2.0):
    path = os.path.join(folder, "bare")
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    n, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        os.pwrite(fd, b"x" * 4096, 4096 * (n % 64))
        os.fsync(fd)
        n += 1
    os.close(fd)
    os.unlink(path)
    return n / seconds


def ledger(s):
    """(charges that were committed, those that were not, spent)"""
    path = s.path("state/hospital.ledger")
    out = s.run("budget", "show", "--ledger", path, "--format", "json")
    spent = float(json.loads(out.stdout)["spent"])
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = dict(db.execute("select state, count(*) from charged group by 1").fetchall())
    finally:
        db.close()
    return rows.get("committed", 0), sum(v for k, v in rows.items() if k != "committed"), spent
