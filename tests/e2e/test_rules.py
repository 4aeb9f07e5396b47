#!/usr/bin/env python3
"""Rules of the house that a reader cannot be trusted to notice.

Each rule is a pattern over C code without comments and strings, the places
where it holds, and a sample that it must catch: a rule that misses its own
sample fails the test.
"""
import os
import re
import sys

SOURCE = os.environ["DPC_SOURCE"]


def call(*names):
    return re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")


# In the modules that decide with exact numbers a line with floating point says
# "display" in its comment, or "proposal" where exact arithmetic decides what
# becomes of the number, or the file's first comment says "for display only".
RULES = [
    # why, pattern, holds in, except in, sample
    ("writes without a bound", call("strcpy", "strcat", "sprintf", "vsprintf", "gets"),
     r"^(src|cli|examples)/", r"^$", "  strcpy(a, b);"),
    ("cannot report a bad number", call("atoi", "atol", "atoll", "atof"),
     r"^(src|cli|examples)/", r"^$", "  n = atoi(s);"),
    ("is not random enough; noise/ owns randomness",
     call("rand", "srand", "random", "srandom", "drand48", "lrand48"),
     r"^(src|cli)/", r"^$", "  x = rand();"),
    ("takes entropy outside noise/ (and salts of the ledger)", call("getrandom", "getentropy", "arc4random"),
     r"^(src|cli)/", r"^src/noise/|^src/ledger/chain\.c$", "  getrandom(p, n, 0);"),
    ("allocates outside base/", call("malloc", "calloc", "realloc", "strdup", "strndup",
                                     "asprintf", "vasprintf"),
     r"^src/", r"^src/base/", "  p = malloc(3);"),
    ("prints inside the library", call("printf", "puts", "putchar", "vprintf"),
     r"^src/", r"^$", '  printf("x");'),
    ("ends the process inside the library", call("exit", "_exit", "abort", "quick_exit"),
     r"^src/", r"^src/release/(child|post)\.c$", "  abort();"),
    ("uses a hidden static buffer", call("strtok", "localtime", "gmtime", "ctime", "asctime"),
     r"^(src|cli)/", r"^$", "  t = gmtime(&now);"),
]
FLOAT = re.compile(r"\b(float|double)\b")
FLOAT_IN = re.compile(r"^src/(noise|ledger|bound)/")
MAX_LINES = 700

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """The text with comments and literals blanked, line numbers kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return TOKEN.sub(blank, text)


def findings(path, text):
    lines, code = text.split("\n"), code_only(text).split("\n")
    shown = "for display only" in text.split("*/")[0].lower()
    out = []
    for number, line in enumerate(code, 1):
        for why, pattern, where, but, _ in RULES:
            hit = pattern.search(line)
            if hit and re.search(where, path) and not re.search(but, path):
                out.append(f"{path}:{number}: {hit.group(1)} {why}")
        if FLOAT_IN.search(path) and not shown and FLOAT.search(line) \
                and not re.search("display|proposal", lines[number - 1]):
            out.append(f"{path}:{number}: floating point may decide nothing here; "
                       "a line that only shows a number says so: /* display */")
    if len(lines) > MAX_LINES:
        out.append(f"{path}: {len(lines)} lines; is it one thing?")
    return out


def self_check():
    for why, _, where, but, sample in RULES:
        path = re.sub(r"[\^()]", "", where).split("|")[0].rstrip("/") + "/base2/x.c"
        if not findings(path, sample):
            sys.exit(f"the rule \"{why}\" misses its own sample")
        if findings(path, "/* " + sample + " */") or findings(path, f'x = "{sample[:3]}";'):
            sys.exit(f"the rule \"{why}\" reads comments or strings")
    if not findings("src/noise/x.c", "double d;"):
        sys.exit("the rule on floating point misses its own sample")
    if findings("src/noise/x.c", "double d; /* display */") or \
            findings("src/noise/x.c", "double d; /* proposal */"):
        sys.exit("the rule on floating point ignores its marker")
    if findings("src/noise/x.c", "/* Quantiles, for display only. */\ndouble d;"):
        sys.exit("the rule on floating point ignores the file's header")
    if not findings("src/cq/x.c", "\n" * 701):
        sys.exit("the rule on length misses its own sample")


def files(*suffixes):
    found = []
    for top in ("src", "cli", "include", "examples", "tests", "bench"):
        for folder, _, names in os.walk(os.path.join(SOURCE, top)):
            found += [os.path.join(folder, n) for n in names if n.endswith(suffixes)]
    return sorted(found)


def main():
    self_check()
    bad = []
    for full in files(".c", ".h"):
        with open(full, encoding="utf-8") as f:
            bad += findings(os.path.relpath(full, SOURCE), f.read())
    print("\n".join(bad) or "the rules hold")
    return 1 if bad else 0


sys.exit(main())
