#!/usr/bin/env python3
"""The service's configuration is checked as a whole: each of these files is
refused with its name, line and column, and exit status 2; a good one is told
in words, without a secret."""
import os
import re
import subprocess
import sys

from checks import BAD, check
from service import Service


def main():
    with Service({"ann": "epsilon: 5, per_day: 1", "bob": ("epsilon: 1", ", spend: off")}, tls=True, start=False) as s:
        good = s.configuration()

        def told(text, name="serve.yaml"):
            s.write(name, text, 0o640)
            s.give_away()
            return s.run("serve", "--config", name, "--check-config")

        p = told(good)
        check(p.returncode == 0, "a good file", p.stdout, p.stderr)
        said = p.stdout + p.stderr
        check(all(w in said for w in ("ann", "bob", "hospital", "5", "a day")), "what each analyst may do", said)
        check("SCRAM" not in said, "no secrets", said)

        def replaced(old, new):
            if old not in good:
                raise AssertionError(old)
            return good.replace(old, new, 1)

        listen = f"  - postgres: 127.0.0.1:{s.port}\n"
        tls = re.search(r"^tls: .*\n", good, re.M)[0]
        cases = [
            ("unknown key", good + "colour: red\n", 'unknown key "colour"'),
            ("unknown key of a data set", replaced("    version: v1\n", "    version: v1\n    publik: yes\n"), "unknown key"),
            ("unknown key of an analyst", replaced("{datasets: {hospital: {epsilon: 5", "{admin: yes, datasets: {hospital: {epsilon: 5"),
             "unknown key"),
            ("TCP without TLS", replaced(tls, ""), "needs tls"),
            ("HTTP beyond loopback without TLS", replaced(listen, "  - http: 0.0.0.0:8080\n").replace(tls, ""), "beyond loopback"),
            ("no pace", replaced("    pace: none\n", ""), "needs pace"),
            ("a pace of nothing", replaced("pace: none", "pace: 0 s"), "pace must be"),
            ("epsilon.min 0", replaced("min: 0.01", "min: 0"), "above 0"),
            ("default above max", replaced("default: 0.5", "default: 3"), "min <= default <= max"),
            ("too many digits", replaced("min: 0.01", "min: 0.0000000001"), "9 digits"),
            ("no cap", replaced("{epsilon: 5, per_day: 1}", "{}"), "needs a cap"),
            ("another data set", replaced("datasets: {hospital: {epsilon: 5", "datasets: {clinic: {epsilon: 5"), 'no data set "clinic"'),
            ("no version", replaced("    version: v1\n", ""), "needs version"),
            ("a plain password", re.sub(r'password: "SCRAM[^"]*"', 'password: "secret1"', good, count=1), "must be a verifier"),
            ("an md5 password", re.sub(r'password: "SCRAM[^"]*"', 'password: "md5' + "0" * 32 + '"', good, count=1), "must be a verifier"),
            ("a password of one iteration", good.replace("SCRAM-SHA-256$4096", "SCRAM-SHA-256$1", 1), "4096"),
            ("neither password nor peer", re.sub(r', password: "SCRAM[^"]*"', "", good, count=1), "neither password nor peer"),
            ("an analyst twice", good + f'owners:\n  ann: {{password: "{s.verifier}"}}\n', "twice"),
            ("a key twice", good + "state: /tmp/x\n", "twice"),
            ("a relative state", re.sub(r"^state: .*$", "state: here", good, flags=re.M), "absolute"),
            ("no listen", good.replace("listen:", "limits: {waiting: 2}\nlistening:", 1), "unknown key"),
            ("a port that is none", replaced(listen, "  - postgres: 127.0.0.1:99999\n"), "HOST:PORT"),
            ("a database's password in the file", replaced("    policy:", "    password: secret1\n    policy:"), "in a file"),
            ("a tab", replaced("datasets:\n  hospital:", "datasets:\n\thospital:"), ""),
            ("TLS 1.0", replaced(tls, tls.replace("{", '{minimum: "1.0", ')), "minimum"),
            ("workers: none", replaced("    pace: none\n", "    pace: none\n    workers: 0\n"), "workers must be"),
            ("no text", "", ""), ("a list", "- a\n- b\n", "mapping")]
        for what, text, expected in cases:
            p = told(text, "bad.yaml")
            check(p.returncode == 2, f"{what}: exit 2", p.returncode, p.stdout, p.stderr)
            check(re.search(r"bad\.yaml:\d+:\d+: ", p.stderr) and expected in p.stderr, f"{what}: where", p.stderr)
            check("secret1" not in p.stderr or "password" not in what, f"{what}: no secret is shown", p.stderr)

        files = [("a key that others can read", "server.key", 0o644), ("a state that others can enter", "state", 0o755),
                 ("a configuration that others can read", "serve.yaml", 0o644), ("a policy that others can write", "policy.yaml", 0o646),
                 ("data that others can write", "h.db", 0o602)]
        told(good)
        for what, name, mode in files:
            before = os.stat(s.path(name)).st_mode & 0o777
            os.chmod(s.path(name), mode)
            p = s.run("serve", "--config", "serve.yaml", "--check-config")
            os.chmod(s.path(name), before)
            check(p.returncode == 2 and name in p.stderr, f"{what}", p.returncode, p.stderr)
        os.chmod(s.path("h.db"), 0o644)
        check("EVERY USER OF THIS SYSTEM CAN READ IT" in told(good).stdout, "data that others can read")
        os.chmod(s.path("h.db"), 0o640)
        check("EVERY USER" not in told(good).stdout, "and that they cannot")
        os.link(s.path("server.key"), s.path("again.key"))
        p = s.run("serve", "--config", "serve.yaml", "--check-config")
        check(p.returncode == 2 and "server.key" in p.stderr, "a key with two names", p.stderr)
        os.unlink(s.path("again.key"))
        p = told(replaced("server.crt", "h.db"))
        check(p.returncode == 2, "no certificate", p.stdout, p.stderr)
        p = told(replaced("policy.yaml", "missing.yaml"))
        check(p.returncode == 2 and "missing.yaml" in p.stderr, "no policy", p.stderr)
        p = told(replaced(f"db: {s.path('h.db')}", f"db: {s.path('no.db')}"))
        check(p.returncode == 2 and re.search(r"serve.yaml:\d+:\d+: data set .*no.db", p.stderr), "no database", p.stdout, p.stderr)
        if os.geteuid() == 0:
            p = told(good)
            p = subprocess.run([os.path.join(s.bin, "dpcount"), "serve", "--config", "serve.yaml"], cwd=s.folder, capture_output=True,
                               text=True, env=s.environment(), timeout=120)
            check(p.returncode == 2 and "root" in p.stderr, "not as root", p.returncode, p.stderr)
        print(f"{len(cases) + len(files) + 5} files refused")
    return 1 if BAD else 0


sys.exit(main())
