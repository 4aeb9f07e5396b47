#!/usr/bin/env python3
"""docs/analyst.md through a service: what the page says to psql and to psycopg2 is
said, on the example database, with the policy of docs/deploy.md."""
import os
import re
import shutil
import subprocess
import sys

from checks import BAD, check
from service import PASSWORD, Service

SOURCE = os.environ["DPC_SOURCE"]


def page():
    with open(os.path.join(SOURCE, "docs", "analyst.md"), encoding="utf-8") as f:
        text = f.read()
    return [re.search(rf"```{kind}\n(.*?)```", text, re.S).group(1) for kind in ("psql", "python")]


def by_psql(s, statements):
    r = subprocess.run(["psql", "-X", "-v", "ON_ERROR_STOP=1", s.uri("ann")], input=statements, capture_output=True, text=True, check=False,
                       timeout=300, env=s.environment())
    print(r.stdout, r.stderr)
    check(r.returncode == 0, "psql", r.stderr)
    check(r.stderr.count("charged epsilon") == 3, "three charges", r.stderr)
    check("n_error95" in r.stdout, "error columns")
    check(re.search(r"percent_error95 *\n[-+]+\n +[3-7]\d(\.\d)? \|", r.stdout) is not None, "a percentage")
    check(re.search(r"charged epsilon 0\.2; remaining 4\.4", r.stderr), "of two counts one was stored", r.stderr)
    check(re.search(r"committed \| \d+, \d+", r.stdout), "the history has the numbers")
    check('"guarantee"' in r.stdout, "dpcount.last")
    check(abs(s.spent("ann") - 0.6) < 1e-9, "three counts at 0.2", s.spent("ann"))


def by_python(s, program):
    program = program.replace("/run/dpcount", s.path("run"))
    try:
        import psycopg2  # noqa: F401, PLC0415
        python = sys.executable
    except ImportError:
        python = "/usr/bin/python3"  # Debian's packages are for Debian's Python
    r = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False, timeout=300,
                       env={**s.environment(), "PGPASSWORD": PASSWORD})
    print(r.stdout, r.stderr)
    check(r.returncode == 0 and re.search(r"in Ohio, about -?\d+", r.stdout), "psycopg2", r.stderr)
    check("charged epsilon 0.1" in r.stdout, "its notice", r.stdout)


def main():
    with open(os.path.join(SOURCE, "docs", "deploy.md"), encoding="utf-8") as f:
        policy = re.search(r"hospital.yaml <<'END'\n(.*?)\n *END", f.read(), re.S).group(1)
    with Service(policy=re.sub("(?m)^    ", "", policy) + "\n", start=False) as s:
        shutil.copy(os.path.join(os.environ["DPC_BUILD"], "examples", "hospital.db"), s.path("h.db"))
        s.give_away()
        s.start()
        psql, python = page()
        by_psql(s, psql)
        by_python(s, python)
    return 1 if BAD else 0


sys.exit(main())
