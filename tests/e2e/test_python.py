#!/usr/bin/env python3
"""The Python package over the library: quotes, releases, groups, errors,
parameters, notebooks' tables, the magic; and its wheel, made without network."""
import decimal
import os
import re
import subprocess
import sys
import tempfile
import threading
import zipfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
from outside import check, end, run  # noqa: E402

if re.search("^DPC_SANITIZE:STRING=.", open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8").read(), re.M):
    print("skipped: Python does not load a library with sanitizers")
    sys.exit(77)
os.environ["DPCOUNT_LIBRARY"] = os.path.join(BUILD, "src", "libdpcount.so")
sys.path.insert(0, os.path.join(SOURCE, "python"))
import dpcount  # noqa: E402

EXAMPLES = os.path.join(BUILD, "examples")
OPTIONS = {"db": os.path.join(EXAMPLES, "hospital.db"), "policy": os.path.join(EXAMPLES, "policy.yaml"), "ledger": "l"}
WOMEN = "SELECT COUNT(*) FROM pat WHERE sex = 'F'"


def raised(kind, what, *args, **more):
    try:
        what(*args, **more)
    except kind as e:
        return e
    check(f"{kind.__name__} was expected", False, str(args))
    return dpcount.DpcountError("", "")


def averages():
    """One draw for both numbers; two where the ledger adds rho. The process that counts makes the choice again."""
    ds = {}
    for name, more in (("sum", []), ("zcdp", ["--delta", "1e-6"])):
        run("budget", "init", "--ledger", name, "--epsilon", "10", "--composition", name, *more)
        ds[name] = dpcount.Dataset(db=OPTIONS["db"], policy=OPTIONS["policy"], ledger=name)
    query = "SELECT AVG(id) FROM pat WHERE id BETWEEN 1 AND 2000"
    for name, law in (("sum", "joint-laplace"), ("zcdp", "discrete-laplace")):
        for _ in range(2):
            r = ds[name].release(query, epsilon=1)
            check("averages", [c["mechanism"] for c in r.json["counts"]] == [law] * 2, f"{name} {r.json}")


class Shell:
    """As much of IPython as the magic asks for."""

    def __init__(self, **names):
        self.user_ns, self.magics = names, {}

    def register_magic_function(self, f, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = f


def answers(ds):
    exact = ds.count(WOMEN)["count"]
    q = ds.quote(WOMEN, epsilon=2)
    check("a quote", q.price == (2, 0) and 0 < q.error95 < 10 and "pat" in q.guarantee, repr(q))
    check("a quote as HTML", "<table>" in q._repr_html_() and "95 %" in q._repr_html_(), "")
    a = ds.release(WOMEN, epsilon=decimal.Decimal("2"))
    check("an answer", abs(a.value - exact) < 30 and a.columns[0].name == "count" and len(a) == 1 and a.receipt, repr(a.json))
    check("what is left", a.remaining is not None and a.remaining < 20, str(a.remaining))
    again = ds.release(WOMEN, epsilon=2)
    check("the same again is free", again.value == a.value and again.repeated, repr(again.json))
    g = ds.release("SELECT sex, COUNT(*) AS n FROM pat GROUP BY sex", epsilon=1, groups="F,M")
    check("groups", [r[0] for r in g] == ["F", "M"] and g.records()[0]["n"] == g.rows[0][1], repr(g.rows))
    check("groups as HTML", "<th>sex</th>" in g._repr_html_(), g._repr_html_())
    p = ds.release("SELECT COUNT(*) FROM pat WHERE sex = $1", epsilon=2, params=["F"])
    check("a parameter", abs(p.value - exact) < 30, repr(p))
    check("analyze", ds.analyze(WOMEN)["global_sensitivity"]["upper"] == 1, "")
    check("budget and history", ds.budget()["spent"] > 0 and len(ds.history()) >= 2, str(ds.budget())[:200])


def failures(ds):
    e = raised(dpcount.UsageError, ds.quote, "SELECT COUNT(*) FROM nobody", epsilon=1)
    check("an unknown name", e.code == "unknown-name" and e.position == 21, repr((e.code, e.position)))
    e = raised(dpcount.RefusedError, ds.quote, "SELECT MAX(id) FROM pat", epsilon=1)
    check("a refusal has a hint", bool(e.hint), str(e))
    e = raised(dpcount.BudgetError, ds.release, WOMEN + " AND id < 9", epsilon=1000)
    check("too dear", e.code in ("budget", "price"), e.code)
    e = raised(dpcount.UsageError, ds.release, WOMEN, epsilon=1, policy="other.yaml")
    check("an owner's option in a question", "policy" in str(e), str(e))
    raised(dpcount.SourceError, dpcount.Dataset, db="nowhere.db")


def threads(ds):
    """One data set, many threads."""
    got, queries = {}, [f"SELECT COUNT(*) FROM pat WHERE id < {100 * i}" for i in range(1, 7)]

    def ask(q):
        got[q] = ds.release(q, epsilon="0.5").value
    workers = [threading.Thread(target=ask, args=(q,)) for q in queries]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    check("threads", len(got) == len(queries), str(got))


def magic(ds):
    shell = Shell(ds=ds)
    dpcount.load_ipython_extension(shell)
    cell = shell.magics["cell", "dpcount"]
    check("the magic quotes", isinstance(cell("ds --epsilon 1", WOMEN), dpcount.Quote), "")
    check("the magic spends", isinstance(cell("ds --epsilon 2 --spend", WOMEN), dpcount.Answer) and "_dpcount" in shell.user_ns, "")


def readme():
    """The page's first program, without the lines for a service, pandas and matplotlib."""
    with open(os.path.join(SOURCE, "python", "README.md"), encoding="utf-8") as f:
        program = re.search(r"(?s)```python\n(.*?)```", f.read()).group(1)
    for name in ("hospital.db", "policy.yaml"):
        os.symlink(os.path.join(EXAMPLES, name), name)
    run("budget", "init", "--ledger", "hospital.ledger", "--epsilon", "10")
    lines = [x for x in program.splitlines() if not re.search(r"connect\(|to_pandas|plot\(", x)]
    check("the page's program is whole", len(lines) >= 7, program)
    exec("\n".join(lines), {})  # pylint: disable=exec-used


def wheel():
    debian = "/usr/bin/python3"
    if subprocess.run([debian, "-c", "import setuptools, wheel, pip"], capture_output=True, check=False).returncode:
        print("the wheel is not made: python3-setuptools, python3-wheel or python3-pip is missing")
        return
    r = subprocess.run([os.path.join(SOURCE, "tools", "python-wheel"), "wheels"], capture_output=True, text=True, check=False)
    check("the wheel is made", r.returncode == 0, r.stderr)
    name = (os.listdir("wheels") or ["none"])[0]
    check("its name", name.startswith("dpcount-") and name.endswith("-py3-none-any.whl"), name)
    with zipfile.ZipFile(os.path.join("wheels", name)) as z:
        z.extractall("installed")
    r = subprocess.run([debian, "-c", "import dpcount; print(dpcount.library_version())"], capture_output=True, text=True, check=False,
                       env={**os.environ, "PYTHONPATH": "installed"})
    version = open(os.path.join(SOURCE, "VERSION"), encoding="utf-8").read()
    check("it works from the wheel", r.stdout == version, r.stdout + r.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run("budget", "init", "--ledger", "l", "--epsilon", "20", "--policy", OPTIONS["policy"], "--db", OPTIONS["db"])
    with dpcount.Dataset(**OPTIONS) as data:
        answers(data)
        failures(data)
        threads(data)
        magic(data)
    averages()
    readme()
    wheel()
    end()
