#!/usr/bin/env python3
"""docs/sources.md and docs/tutorial.md: their commands with files, SQLite and PostgreSQL work."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg  # noqa: E402
import sources_page  # noqa: E402

sources_page.run("sh", least=2)
with pg.server() as server:
    sources_page.run("sh-postgres", {"URL": pg.url(server)})
