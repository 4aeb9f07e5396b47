"""docs/evidence/static.md cannot drift: bench/static makes it again, with its
figures, and every byte must be the same. Then a printed value is falsified:
bench/static must notice, so that its exit status means something."""
import filecmp
import os
import re
import subprocess
import sys
import tempfile

source, build = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
program = os.path.join(build, "dpcount")
kept = os.path.join(source, "docs", "evidence")
bench = os.path.join(source, "bench")


def make(script, folder):
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": bench}
    return subprocess.run([sys.executable, script, "--program", program,
                           "--out", folder], capture_output=True, text=True,
                          env=env, check=False)


with tempfile.TemporaryDirectory() as folder:
    run = make(os.path.join(bench, "static"), folder)
    if run.returncode:
        sys.exit(f"bench/static failed: {run.stdout}{run.stderr}")
    names = sorted(os.listdir(folder))
    same, other, missing = filecmp.cmpfiles(folder, kept, names, shallow=False)
    with open(os.path.join(bench, "static")) as script:
        text = script.read()
    lie, n = re.subn(r'BOTH, 4, printed', 'BOTH, 3, printed', text)
    path = os.path.join(folder, "lie")
    with open(path, "w") as script:
        script.write(lie)
    caught = n == 1 and make(path, folder).returncode == 1
for name in [*other, *missing]:
    print(f"docs/evidence/{name} is not what bench/static makes; run it again")
if not caught:
    print("bench/static did not notice a wrong printed value")
print(f"{len(same) + caught} passed, {len(other) + len(missing)} failed")
sys.exit(bool(other or missing) or not caught or len(same) != 4)
