#!/usr/bin/env python3
"""Seventy-one questions as analysts ask them, in the proportions in which they
were met: each is quoted and released. What is refused is refused by quote as
well, before anything is charged, with a hint; at most so many are."""
import os
import tempfile

import questions
from outside import ask, check, end

MOST_REFUSED = 8
# What no bound is known for; none of these may be answered by accident.
NEVER = {"window", "aggregate"}

folder = tempfile.TemporaryDirectory(prefix="dpc-questions-")
os.chdir(folder.name)
base = {}
for world in ("shop", "clinic"):
    questions.write_csv(world, world)
    base[world] = ["--schema", questions.schema(world), "--public", questions.PUBLIC[world], "--db", world]
ask("budget", "init", "--ledger", "l", "--epsilon", "1000", "--delta", "0.01")

refused = []
for world, kind, text in questions.questions():
    args = ["--format", "json", *base[world], "--epsilon", "1", "--delta", "1e-6"]
    status, quoted = ask("quote", *args, text)
    released, answer = ask("release", *args, "--ledger", "l", text)
    check("quote and release agree", (status == 0) == (released == 0), f"{text} {quoted} {answer}")
    if released:
        refused.append((kind, text, answer))
        check("refused as unsupported, with a hint", isinstance(answer, dict) and
              answer["error"]["code"] == "unsupported" and answer["error"].get("hint"), f"{text} {answer}")
    else:
        check("never answered", kind not in NEVER, text)
        check("an answer", "answer" in answer or answer.get("rows") is not None, f"{text} {answer}")
for kind, text, answer in refused:
    print("refused (%s): %s\n    %s" % (kind, text, answer["error"]["message"] if isinstance(answer, dict) else answer))
print("%d of %d refused" % (len(refused), len(questions.questions())))
check("few are refused", len(refused) <= MOST_REFUSED)
end()
