#!/usr/bin/env python3
"""dpcount count on random SQLite databases, against SQLite's own answers."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import sqlgen  # noqa: E402

first = int(os.environ.get("DPC_SEED", "1"))
with tempfile.TemporaryDirectory() as tmp:
    equal, failure = sqlgen.command_differs(
        range(first, first + 5), 8, False, sqlgen.by_sqlite,
        sqlgen.sqlite_file(tmp + "/random.db"))
print("seeds %d..%d: %d answers equal" % (first, first + 4, equal))
if failure:
    sys.exit(failure)
