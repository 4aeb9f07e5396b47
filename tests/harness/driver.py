"""psycopg2: Debian's package is for Debian's Python. Without it the test is
skipped."""
import os
import sys

try:
    import psycopg2
except ImportError:
    if sys.executable != "/usr/bin/python3":
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: psycopg2 is not installed")
    sys.exit(77)

__all__ = ["psycopg2"]
