"""Packages of the npm registry for tests that need them: put into the build
folder once, at a fixed version, nothing of them run at installing."""
import fcntl
import os
import shutil
import subprocess
import sys


def package(name, version):
    """The folder of the package, or the end of the test as skipped."""
    top = os.path.join(os.environ["DPC_BUILD"], "npm", name.replace("/", "+") + "@" + version)
    where = os.path.join(top, "node_modules", name)
    os.makedirs(top, exist_ok=True)
    with open(os.path.join(top, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(where, "package.json")):
            return where
        if not shutil.which("npm"):
            print("skipped: npm is not installed")
            sys.exit(77)
        r = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", top,
                            f"{name}@{version}"], capture_output=True, text=True, check=False, timeout=300)
        if r.returncode:
            print(f"npm could not install {name}: {r.stderr.strip()}")
            sys.exit(1)
    return where
