#!/usr/bin/env python3
"""The console in Chromium: signing in by keyboard, quote, release, chart and table, the
gauge, history, the owner's page; accessible in light, dark and on a phone (axe-core); no
harm from names and values; nothing from or for other sites. Screenshots stay in the build
folder. Needs chromium, nodejs and npm; fetches playwright-core and axe-core once."""
import functools
import http.server
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

from service import PASSWORD
from webservice import WebService

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["DPC_BUILD"]
PACKAGES = ["playwright-core@1.48.2", "axe-core@4.10.2"]
HARM = '<img src=x onerror="window.hurt=1">'


def skip(why):
    print("skipped:", why)
    sys.exit(1 if os.environ.get("CI") else 77)


def packages():
    """The folder node_modules with both, of these versions."""
    folder = os.path.join(BUILD, "npm-console")
    done = os.path.join(folder, "done-" + "-".join(PACKAGES))
    if not os.path.exists(done):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        p = subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts",
                            *PACKAGES], capture_output=True, text=True, check=False)
        if p.returncode:
            skip("npm could not fetch " + " ".join(PACKAGES) + ": " + p.stderr[-300:])
        with open(done, "w", encoding="utf-8"):
            pass
    return os.path.join(folder, "node_modules")


def harmful(s):
    """A city and a table whose names would hurt a page that takes them for markup."""
    db = sqlite3.connect(s.path("h.db"))
    db.execute("UPDATE hos SET city = ? WHERE h = 2", (HARM,))
    db.execute(f"CREATE TABLE \"{HARM.replace(chr(34), chr(34) * 2)}\" (\"<b>x</b>\" INTEGER PRIMARY KEY)")
    db.commit()
    db.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def other_site(folder):
    """A server on another port: another origin."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as f:
        f.write("<!doctype html><title>another site</title><body>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    chromium = shutil.which("chromium")
    for program in ("chromium", "node", "npm"):
        if not shutil.which(program):
            skip(program + " is not installed")
    npm = packages()
    shots = os.path.join(BUILD, "console-shots")
    shutil.rmtree(shots, ignore_errors=True)
    os.makedirs(shots)
    server = other_site(os.path.join(shots, "other"))
    with WebService(analysts={"ann": "epsilon: 5", "bob": "epsilon: 5"}, start=False,
                    dataset="    pace: 0.5 s\n    load_visible: yes\n") as s:
        harmful(s)
        s.give_away()
        s.start()
        env = {**os.environ, "CONSOLE_NPM": npm, "CONSOLE_URL": s.origin + "/", "CONSOLE_PASSWORD": PASSWORD,
               "CONSOLE_OTHER": f"http://127.0.0.1:{server.server_port}/", "CONSOLE_SHOTS": shots, "CONSOLE_CHROMIUM": chromium}
        p = subprocess.run(["node", os.path.join(HERE, "console.js")], env=env, check=False, timeout=1500)
    server.shutdown()
    if p.returncode == 0:
        print("the console works; screenshots are in", shots)
    return p.returncode


if __name__ == "__main__":
    sys.exit(main())
