#!/usr/bin/env python3
"""Counts, residuals and groups of the program against their definitions, on
hundreds of random tables and queries."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import joingen  # noqa: E402

first = int(os.environ.get("DPC_SEED", "100000"))
rounds = int(os.environ.get("DPC_ROUNDS", "300"))
stats, failure = joingen.compare(range(first, first + rounds))
print(vars(stats))
if failure:
    sys.exit(failure)
if stats.compared < 4 * rounds or stats.errors > rounds // 10 or not stats.groups:
    sys.exit("too few were compared")
