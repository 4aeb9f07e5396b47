#!/usr/bin/env python3
"""docs/sources.md and docs/tutorial.md: their commands with DuckDB and Parquet work."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import duck  # noqa: E402
import sources_page  # noqa: E402

MAKE = f"""#!{sys.executable}
import sys
sys.path.insert(0, {os.path.join(os.environ["DPC_SOURCE"], "tests", "harness")!r})
import duck
with duck.Duck(None if sys.argv[1] == ":" else sys.argv[1]) as d:
    d.run(sys.argv[2])
"""
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "make-duckdb")
    with open(name, "w", encoding="utf-8") as f:
        f.write(MAKE)
    os.chmod(name, 0o755)
    path = ":".join([folder, os.environ["DPC_BUILD"], os.environ["PATH"]])
    sources_page.run("sh-duckdb", {"PATH": path, "DPCOUNT_LIBDUCKDB": duck.library()}, least=2)
