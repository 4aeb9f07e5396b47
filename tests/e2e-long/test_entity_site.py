#!/usr/bin/env python3
"""Joins of bench/entity/site.py with four and five owners of a result, over a million rows: the sets of owners that results have
are far too many to be listed, and no join needs long."""
import os
import subprocess
import sys
import tempfile

ROWS, CPU, JOINS = 1000000, 10, [8, 10, 12, 16, 29, 36, 42, 59, 60]
site = os.path.join(os.environ["DPC_SOURCE"], "bench/entity/site.py")
with tempfile.TemporaryDirectory(prefix="dpc-site-") as folder:
    subprocess.run([sys.executable, site, "make", folder, str(ROWS)], check=True)
    program = os.environ["DPC_BUILD"] + "/dpcount"
    sys.exit(subprocess.run([sys.executable, site, "run", folder, program, str(CPU), *map(str, JOINS)], check=False).returncode)
