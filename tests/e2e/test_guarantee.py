"""docs/guarantee.md names only proofs and tests that exist, and names every
proof there is."""
import os
import re
import sys

source = os.environ["DPC_SOURCE"]
with open(os.path.join(source, "docs", "guarantee.md")) as page:
    text = page.read()
named = set(re.findall(r"`((?:tests|src)/[\w./-]+)`", text))
named |= {os.path.normpath(os.path.join("docs", link))
          for link in re.findall(r"\]\(([^)]+)\)", text)}
missing = [n for n in sorted(named)
           if not os.path.exists(os.path.join(source, n))]
proofs = {f"src/{m}/PROOF.md" for m in os.listdir(os.path.join(source, "src"))
          if os.path.exists(os.path.join(source, "src", m, "PROOF.md"))}
unnamed = sorted(proofs - named)
for name in missing:
    print(f"docs/guarantee.md names {name}, which does not exist")
for name in unnamed:
    print(f"docs/guarantee.md does not name {name}")
bad = len(missing) + len(unnamed)
print(f"{len(named) - len(missing)} passed, {bad} failed")
sys.exit(bad > 0 or len(named) < 30)
