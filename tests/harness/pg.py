"""A PostgreSQL server of the test's own, by pg.sh.

    with pg.server() as folder:
        ...  # a client gives host=FOLDER user=postgres

Where no server can be had the test ends as skipped (status 77), and as failed
when CI is set."""
import contextlib
import os
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pg.sh")


def start(needed=True):
    """The folder of a new server; not needed: None where there is none."""
    p = subprocess.run(["bash", SCRIPT, "start"], capture_output=True, text=True, check=False)
    if p.returncode:
        print("skipped:" if p.returncode == 77 else "failed:", p.stderr.strip())
    if p.returncode and (needed or p.returncode != 77):
        sys.exit(p.returncode)
    return p.stdout.strip() if p.returncode == 0 else None


def stop(folder):
    subprocess.run(["bash", SCRIPT, "stop", folder], check=False)


def url(folder):
    return f"postgresql:///postgres?host={folder}&user=postgres"


@contextlib.contextmanager
def server():
    folder = start()
    try:
        yield folder
    finally:
        stop(folder)
