#!/usr/bin/env python3
"""The Python package with the real pandas, matplotlib and IPython, in Debian's
own Python: a data frame, bars with error bars in a file, a notebook's cell."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
PYTHON = "/usr/bin/python3"
WANTED = "import IPython, matplotlib, pandas"

if re.search("^DPC_SANITIZE:STRING=.", open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8").read(), re.M):
    print("skipped: Python does not load a library with sanitizers")
    sys.exit(77)
if subprocess.run([PYTHON, "-c", WANTED], capture_output=True, check=False).returncode:
    print("skipped: Debian's Python lacks one of pandas, matplotlib, IPython")
    sys.exit(77)

STEPS = r'''
import os
import matplotlib
matplotlib.use("Agg")
from IPython.core.interactiveshell import InteractiveShell
import dpcount

at = os.path.join(os.environ["DPC_BUILD"], "examples")
ds = dpcount.Dataset(db=os.path.join(at, "hospital.db"), policy=os.path.join(at, "policy.yaml"), ledger="l")
a = ds.release("SELECT sex, COUNT(*) AS n FROM pat GROUP BY sex", epsilon=1, groups="F,M")
frame = a.to_pandas()
assert list(frame.columns) == ["sex", "n"] and len(frame) == 2, frame
assert str(frame["n"].dtype).startswith("int"), frame.dtypes

axes = a.plot()
assert [t.get_text() for t in axes.get_xticklabels()] == ["F", "M"], "labels"
bars = [p.get_height() for p in axes.patches]
assert bars == [float(x) for x in frame["n"]], bars
low, high = axes.collections[0].get_segments()[0][:, 1]
assert abs((high - low) / 2 - a.error95) < 1e-6, (low, high, a.error95)
axes.figure.savefig("bars.png")
assert open("bars.png", "rb").read(4) == b"\x89PNG"

shell = InteractiveShell.instance()
shell.push({"ds": ds})
shell.run_line_magic("load_ext", "dpcount")
quote = shell.run_cell_magic("dpcount", "ds --epsilon 1", "SELECT COUNT(*) FROM pat")
assert isinstance(quote, dpcount.Quote) and quote.price.epsilon == 1, quote
answer = shell.run_cell_magic("dpcount", "ds --epsilon 1 --spend", "SELECT COUNT(*) FROM pat")
assert isinstance(answer, dpcount.Answer) and shell.user_ns["_dpcount"] is answer, answer
shown, _ = shell.display_formatter.format(answer)
assert "<table>" in shown["text/html"] and "Answer" in shown["text/plain"], shown
print("worked")
'''

with tempfile.TemporaryDirectory() as folder:
    env = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python"), "HOME": folder, "MPLCONFIGDIR": folder,
           "DPCOUNT_LIBRARY": os.path.join(BUILD, "src", "libdpcount.so")}
    subprocess.run([os.path.join(BUILD, "dpcount"), "budget", "init", "--ledger", "l", "--epsilon", "20"], cwd=folder, check=True,
                   capture_output=True)
    r = subprocess.run([PYTHON, "-c", STEPS], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600)
    if r.returncode or "worked" not in r.stdout:
        print(r.stdout[-1000:] + r.stderr[-3000:])
        sys.exit(1)
