#!/usr/bin/env python3
"""Every module of src/ and every room in it has a README that a newcomer can
trust: the agreed parts, at most 100 lines, and every file of the folder named
in it. What the pages about the whole tree name is there: paths, and functions
in the files beside which they stand."""
import os
import re
import sys

SOURCE = os.environ["DPC_SOURCE"]
PARTS = ["purpose", "takes", "invariants", "files", "tested"]
ROOM_PARTS = ["purpose", "files"]
MAX_LINES = 100


def findings(module, names, text, parts=PARTS):
    out = []
    if text is None:
        return [f"src/{module}: there is no README.md"]
    headings = [line.lower() for line in text.split("\n") if line.startswith(("#", "**"))]
    for part in parts:
        if not any(part in h for h in headings):
            out.append(f"src/{module}/README.md: no part about \"{part}\"")
    if text.count("\n") > MAX_LINES:
        out.append(f"src/{module}/README.md: more than {MAX_LINES} lines")
    for name in names:
        # One of x.c and x.h stands for both, and so does x.{h,c}.
        stem = name.rsplit(".", 1)[0]
        if not any(f"{stem}.{end}" in text for end in ("c", "h", "def", "{", "*")):
            out.append(f"src/{module}/README.md: does not name {name}")
    return out


PAGES = ["architecture.md", "glossary.md"]


def missing(page, text, root):
    """Paths in backticks that are not there; functions that no file beside them has."""
    out = []
    for line in text.split("\n"):
        words = re.findall(r"`([^`]+)`", line)
        paths = [w for w in words if re.match(r"(src|tests|docs|tools|include)/[\w./-]+$", w)]
        for path in paths:
            if not os.path.exists(os.path.join(root, path)):
                out.append(f"docs/{page}: there is no {path}")
        if not line.startswith("|") or not paths:
            continue
        texts = []
        for path in paths:
            if os.path.isfile(os.path.join(root, path)):
                with open(os.path.join(root, path), encoding="utf-8") as f:
                    texts.append(f.read())
        for name in words:
            if re.match(r"[a-z]+_\w+$", name) and not any(re.search(rf"\b{name}\b", t) for t in texts):
                out.append(f"docs/{page}: {name} is not in {', '.join(paths)}")
    return out


def self_check():
    here = "`tests/e2e/test_readmes.py`"
    assert not missing("p", f"| `self_check` | {here} |", SOURCE)
    assert missing("p", "| `self_" + f"checks` | {here} |", SOURCE)
    assert missing("p", "`src/base/no" + "thing.c`", SOURCE)
    good = "\n".join("## " + p for p in PARTS) + "\nx.c"
    assert not findings("m", ["x.c"], good)
    assert findings("m", ["y.c"], good)
    assert findings("m", ["x.c"], good.replace("## tested", ""))
    assert findings("m", ["x.c"], good + "\n" * 101)
    assert findings("m", ["x.c"], None)
    assert not findings("m/r", ["x.c"], "# Purpose\n# Files\nx.c", ROOM_PARTS)
    assert findings("m/r", ["x.c"], "# Purpose\nx.c", ROOM_PARTS)


def folders(src):
    """Modules with the parts their READMEs have, and rooms with theirs."""
    for module in sorted(os.listdir(src)):
        if not os.path.isdir(os.path.join(src, module)):
            continue
        yield module, PARTS
        for room in sorted(os.listdir(os.path.join(src, module))):
            if os.path.isdir(os.path.join(src, module, room)):
                yield os.path.join(module, room), ROOM_PARTS


def main():
    self_check()
    bad = []
    src = os.path.join(SOURCE, "src")
    for module, parts in folders(src):
        folder = os.path.join(src, module)
        names = sorted(n for n in os.listdir(folder) if n.endswith((".c", ".h", ".def")))
        path = os.path.join(folder, "README.md")
        text = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if names:
            bad += findings(module, names, text, parts)
    for page in PAGES:
        with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as f:
            bad += missing(page, f.read(), SOURCE)
    print("\n".join(bad) or "every module has its README")
    return 1 if bad else 0


sys.exit(main())
