#!/usr/bin/env python3
"""Secrets are types (src/base/secret_count.h, src/num/secret_scale.h).

Programs that try to open one, or to draw without the hold that ledger_hold
returned, do not compile; the same programs without the offence do. Only the
files of src/SECRETS include what opens secrets, and each check is first seen
to catch a planted offence.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
SRC = os.path.join(SOURCE, "src")
BEGIN = """
#include <stdio.h>
#include "ledger/ledger.h"
#include "join/join.h"
#include "noise/elect.h"
#include "noise/noise.h"
#include "num/secret_scale.h"
#include "sens/sens.h"

int probe(struct join *j, const struct sens_counter *by, struct ledger_hold *hold, struct noise *n,
          struct secret_count c, struct secret_scale *s, struct entropy *rng,
          struct election *e, const mpq_t *scores, mpz_t out, struct err *err);
int probe(struct join *j, const struct sens_counter *by, struct ledger_hold *hold, struct noise *n,
          struct secret_count c, struct secret_scale *s, struct entropy *rng,
          struct election *e, const mpq_t *scores, mpz_t out, struct err *err)
{
    unsigned at = 0;
    u128 v = 0;
    struct scale_estimate est;
    (void)at, (void)v, (void)est, (void)e, (void)scores, (void)c, (void)s;
    (void)by, (void)hold, (void)n, (void)rng, (void)out, (void)j, (void)err;
"""
END = "\n    return 0;\n}\n"

# name, what compiles, what must not
CASES = [
    ("a counter's result is no number",
     "struct secret_count x; if (join_count(j, &x, err)) return 1;",
     "if (join_count(j, &v, err)) return 1;"),
    ("nor that of any counter",
     "struct secret_count x; if (by->count(by->ctx, &x, err)) return 1;",
     "if (by->count(by->ctx, &v, err)) return 1;"),
    ("nor that of a key",
     "struct secret_count x; if (by->groups(by->ctx, NULL, 1, &x, err)) return 1;",
     "if (by->groups(by->ctx, NULL, 1, &v, err)) return 1;"),
    ("a counter that gives numbers", "struct sens_counter x = {.count = by->count}; (void)x;",
     "struct sens_counter x = {.count = by->max}; (void)x;"),
    ("a count in a sum", "struct secret_count x = c; (void)x;", "v = c + 1;"),
    ("a count compared", "struct secret_count x = c; (void)x;", "if (c > 3) return 1;"),
    ("a count cast", "struct secret_count x = c; (void)x;", "v = (u128)c;"),
    ("a count printed", "printf(\"%d\", 1);", "printf(\"%d\", c);"),
    ("a count opened", "struct secret_count x = c; (void)x;", "v = secret_count_open(&c);"),
    ("a scale opened", "secret_scale_copy(s, s);", "mpq_set(mpq_numref(out), secret_scale_open(s));"),
    ("a scale's inside", "secret_scale_copy(s, s);", "mpq_srcptr x = s->sealed_->v; (void)x;"),
    ("a scale's number", "secret_scale_copy(s, s);", "v = mpz_sgn(s->sealed_);"),
    ("an answer without a hold",
     "if (noise_answer(hold, n, &c, s, rng, out, err)) return 1;",
     "if (noise_answer(n, &c, s, rng, out, err)) return 1;"),
    ("an answer with no hold",
     "if (noise_answer(hold, n, &c, s, rng, out, err)) return 1;",
     "if (noise_answer(NULL, n, &c, s, rng, out, err)) return 1;"),
    ("an answer with something else",
     "if (noise_answer(hold, n, &c, s, rng, out, err)) return 1;",
     "struct ledger *l = NULL; if (noise_answer(l, n, &c, s, rng, out, err)) return 1;"),
    ("a hold of one's own", "struct ledger_hold *h = hold; (void)h;",
     "struct ledger_hold h; if (noise_answer(&h, n, &c, s, rng, out, err)) return 1;"),
    ("an answer of a plain number",
     "if (noise_answer(hold, n, &c, s, rng, out, err)) return 1;",
     "if (noise_answer(hold, n, &v, s, rng, out, err)) return 1;"),
    ("an answer that nobody looks at",
     "if (noise_answer(hold, n, &c, s, rng, out, err)) return 1;",
     "noise_answer(hold, n, &c, s, rng, out, err);"),
    ("a rational answer with no hold",
     "if (noise_answer_rational(hold, n, 1, s, rng, out, err)) return 1;",
     "if (noise_answer_rational(NULL, n, 1, s, rng, out, err)) return 1;"),
    ("an estimate with no hold",
     "if (noise_release_scale(hold, n, s, NULL, NULL, rng, &est, err)) return 1;",
     "if (noise_release_scale(NULL, n, s, NULL, NULL, rng, &est, err)) return 1;"),
    ("an election with no hold",
     "if (elect_draw(hold, e, scores, rng, &at, err)) return 1;",
     "if (elect_draw(NULL, e, scores, rng, &at, err)) return 1;"),
    ("an elected answer with no hold",
     "if (elect_answer(hold, e, 0, s, rng, out, err)) return 1;",
     "if (elect_answer(NULL, e, 0, s, rng, out, err)) return 1;"),
    ("what was cut with no hold",
     "if (elect_lost(hold, e, 0, s, rng, out, err)) return 1;",
     "if (elect_lost(NULL, e, 0, s, rng, out, err)) return 1;"),
]
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-c", "-o", os.devnull,
         "-I", SRC, "-I", os.path.join(SOURCE, "include")]


def compiles(folder, body):
    path = os.path.join(folder, "probe.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(BEGIN + "    " + body + END)
    run = subprocess.run([os.environ.get("CC", "cc"), *FLAGS, path],
                         capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def compile_cases():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name, good, wrong in CASES:
            ok, why = compiles(folder, good)
            if not ok:
                bad.append(f"{name}: the control does not compile: {why}")
            if compiles(folder, wrong)[0]:
                bad.append(f"{name}: it compiles")
    return bad


OPENS = re.compile(r'#include "(base/open_count|num/open_scale)\.h"')
CALLS = re.compile(r"\bsecret_(count_open|scale_open|scale_of_count)\s*\(")
INSIDE = re.compile(r"\bsealed_\b")
OWN = {"base/secret_count.c", "base/secret_count.h", "num/secret_scale.c",
       "num/secret_scale.h", "base/open_count.h", "num/open_scale.h"}


def listed():
    names = set()
    with open(os.path.join(SRC, "SECRETS"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                names.add(line.split(":")[0])
    return names


def offences(files, may):
    """files: path to text. What is opened, declared or looked into elsewhere."""
    bad, used = [], set()
    for path, text in files.items():
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        if OPENS.search(code):
            used.add(path)
        if path in OWN:
            continue
        if (OPENS.search(code) or CALLS.search(code)) and path not in may:
            bad.append(f"{path} opens a secret and is not in src/SECRETS")
        if INSIDE.search(code):
            bad.append(f"{path} looks into a secret")
    return bad + [f"src/SECRETS names {p}, which opens nothing" for p in sorted(may - used)]


def tree():
    files = {}
    for top, _, names in os.walk(SRC):
        for name in names:
            if name.endswith((".c", ".h")):
                full = os.path.join(top, name)
                with open(full, encoding="utf-8") as f:
                    files[os.path.relpath(full, SRC)] = f.read()
    return files


def self_check(files, may):
    planted = [('#include "base/open_count.h"\n', "opens a secret"),
               ("u128 secret_count_open(const void *);\n", "opens a secret"),
               ("x = s.sealed_[0];\n", "looks into a secret")]
    for text, what in planted:
        if not any(what in b for b in offences({**files, "join/planted.c": text}, may)):
            sys.exit(f"the check misses {text!r}")
    if not offences(files, may | {"join/join.c"}):
        sys.exit("the check misses a name that is not needed")


def main():
    files, may = tree(), listed()
    self_check(files, may)
    bad = offences(files, may) + compile_cases()
    print("\n".join(bad) or f"{len(CASES)} programs do not compile, {len(may)} files open secrets")
    return 1 if bad else 0


sys.exit(main())
