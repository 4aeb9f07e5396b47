"""A running `dpcount serve` for tests: a folder of its own, unix sockets and
TLS on a port that the kernel chose, another user where the test is root."""
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["DPC_BUILD"]
NOBODY = 65534
PASSWORD = "correct horse"


def copy_program(folder):
    """The program and its library where any user may run them."""
    to = os.path.join(folder, "bin")
    os.mkdir(to)
    os.chmod(to, 0o755)
    shutil.copy(os.path.join(BUILD, "dpcount"), to)
    src = os.path.join(BUILD, "src")
    for name in os.listdir(src):
        if name.startswith("libdpcount.so"):
            shutil.copy(os.path.join(src, name), to, follow_symlinks=True)
    return to


def database(path, rows=1000):
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE hos(h INTEGER PRIMARY KEY, city TEXT NOT NULL) STRICT;
        CREATE TABLE pat(id INTEGER PRIMARY KEY, sex TEXT NOT NULL, born DATE, h INTEGER);
        INSERT INTO hos VALUES(1, 'Bonn'), (2, 'Köln');""")
    db.executemany("INSERT INTO pat VALUES(?, ?, ?, ?)",
                   [(i, "FM"[i % 2], f"19{i % 100:02d}-01-02", 1 + i % 2) for i in range(rows)])
    db.commit()
    db.close()


POLICY = """
tables:
  hos: {privacy: public}
  pat: {privacy: private, values: {sex: [F, M]}}
budget: {epsilon: 100, delta: 1e-6}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Service:
    """with Service(analysts=..., dataset=...) as s: s.psql("ann", "select 1")"""

    def __init__(self, analysts=None, dataset="", tls=False, extra="", rows=1000, policy=POLICY, start=True):
        # short: the name of a unix socket has at most 107 bytes
        self.folder = tempfile.mkdtemp(prefix="dps", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.bin = copy_program(self.folder)
        self.verifier = self.run("passwd", "ann", stdin=PASSWORD + "\n").stdout.strip()
        for name in ("run", "state"):
            os.mkdir(self.path(name))
        database(self.path("h.db"), rows)
        self.write("policy.yaml", policy)
        self.port = free_port() if tls else None
        if tls:
            self.certificate()
        self.analysts = analysts or {"ann": "epsilon: 5", "bob": "epsilon: 1"}
        self.dataset = dataset
        self.extra = extra
        self.configure()
        os.chmod(self.path("state"), 0o700)
        self.give_away()
        self.process = None
        self.log = self.path("log")
        if start:
            self.start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.path(name), mode)

    def give_away(self):
        if os.geteuid() == 0:
            for folder, _, names in os.walk(self.folder):
                for p in [folder] + [os.path.join(folder, n) for n in names]:
                    os.chown(p, NOBODY, NOBODY)

    def certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.path("server.key"), "-out", self.path("server.crt")],
                       check=True, capture_output=True)
        os.chmod(self.path("server.key"), 0o600)

    def configuration(self):
        people = ""
        for name, budget in self.analysts.items():
            more = ""
            if isinstance(budget, tuple):
                budget, more = budget
            if "password" not in more and "peer" not in more:
                more += f', password: "{self.verifier}"'
            people += f"  {name}: {{datasets: {{hospital: {{{budget}}}}}{more}}}\n"
        tls = (f"  - postgres: 127.0.0.1:{self.port}\n"
               f"tls: {{certificate: {self.path('server.crt')}, key: {self.path('server.key')}}}\n" if self.port else "")
        return f"""listen:
  - unix: {self.path('run')}
{tls}state: {self.path('state')}
datasets:
  hospital:
    db: {self.path('h.db')}
    policy: {self.path('policy.yaml')}
    version: v1
    epsilon: {{default: 0.5, min: 0.01, max: 2}}
    delta: {{max: 1e-7}}
{self.dataset or '    pace: none' + chr(10)}analysts:
{people}{self.extra}"""

    def configure(self):
        self.write("serve.yaml", self.configuration(), 0o640)
        self.give_away()

    def command(self, *args):
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
        return [*user, os.path.join(self.bin, "dpcount"), *args]

    def environment(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        env["LD_LIBRARY_PATH"] = self.bin
        return env

    def run(self, *args, stdin=None, timeout=120):
        return subprocess.run(self.command(*args), input=stdin, capture_output=True, text=True, timeout=timeout,
                              cwd=self.folder, env=self.environment())

    def start(self, wait="serving"):
        with open(self.log, "ab") as log:
            before = log.tell()
            self.process = subprocess.Popen(self.command("serve", "--config", "serve.yaml"), cwd=self.folder,
                                            stdout=log, stderr=log, env=self.environment())
        self.wait_for(wait, before)

    def events(self, since=0):
        out = []
        with open(self.log, "rb") as f:
            f.seek(since)
            for line in f:
                try:
                    out.append(json.loads(line))
                except ValueError:
                    out.append({"event": "text", "text": line.decode(errors="replace")})
        return out

    def wait_for(self, event, since=0, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(e["event"] == event for e in self.events(since)):
                return
            if self.process.poll() is not None:
                break
            if event == "serving" and any(e["event"] == "not-served" for e in self.events(since)):
                break
            time.sleep(0.05)
        told = [p for p in (self.log, self.path("state/owner.log")) if os.path.exists(p)]
        sys.exit(f"no event {event}:\n" + "".join(open(p, errors="replace").read() for p in told))

    def stop(self, seconds=120):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(seconds)
        return self.process.returncode if self.process else 0

    def uri(self, user, tls=False, more=""):
        host = f"host=localhost port={self.port} sslrootcert={self.path('server.crt')}" if tls else f"host={self.path('run')}"
        return f"{host} user={user} dbname=hospital password='{PASSWORD}' {more}"

    def psql(self, user, *commands, tls=False, more="", options=(), env=None):
        args = ["psql", "-X", "-A", "-t", *options, self.uri(user, tls, more)]
        for c in commands:
            args += ["-c", c]
        environment = self.environment()
        environment.update(env or {})
        return subprocess.run(args, capture_output=True, text=True, timeout=300, env=environment)

    def spent(self, user):
        p = self.psql(user, "select spent from dpcount.budget")
        if p.returncode:
            sys.exit(p.stderr)
        return float(p.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
