#!/usr/bin/env python3
"""Counts and residuals of the program against their definitions, a few cases."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import joingen  # noqa: E402

first = int(os.environ.get("DPC_SEED", "1"))
rounds = int(os.environ.get("DPC_ROUNDS", "20"))
stats, failure = joingen.compare(range(first, first + rounds))
print(vars(stats))
if failure:
    sys.exit(failure)
if stats.compared < 2 * rounds or stats.errors > rounds // 10:
    sys.exit("too few were compared")
