#!/usr/bin/env python3
"""The SQL front end against SQLite: random schemas, rows and queries."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import sqlgen  # noqa: E402

first = int(os.environ.get("DPC_SEED", "1"))
compared, refused, failure = sqlgen.compare(
    range(first, first + 40), 15, sqlgen.by_sqlite, "SQLite", False)
print("seeds %d..%d: %d answers equal, %d queries refused" % (
    first, first + 39, compared, refused))
if failure:
    sys.exit(failure)
if compared < 4 * refused or compared < 300:
    sys.exit("too many queries are refused")
