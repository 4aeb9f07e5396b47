#!/usr/bin/env python3
"""Names in the tree: what a reader searches for stands in one place.

  - basenames of source files are unique in src/, cli/ and server/
  - tags of structs, enums and unions are unique there, but for declarations
  - a name that a module shows to the linker begins with one of the prefixes
    that src/NAMES gives to the module, and no prefix has two owners
  - what is private to a module and shared by its files is <module>_int.h, and
    nobody else includes it
  - a function that the linker sees is used by another file than its own; those
    that only tests use stand in src/SEAMS

Each check is run on something broken first: a check that cannot fail says
nothing.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ["DPC_SOURCE"]
BUILD = os.environ["DPC_BUILD"]
PLACES = ["src", "cli", "server"]
# Headers that hold all of a module under names that say nothing.
NAMELESS = {"internal.h", "impl.h", "private.h", "common.h", "util.h", "utils.h", "misc.h"}


def sources(root):
    """{path: text} of the C files."""
    out = {}
    for place in PLACES:
        for folder, _, names in os.walk(os.path.join(root, place)):
            for name in names:
                if name.endswith((".c", ".h", ".def")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as f:
                        out[os.path.relpath(path, root)] = f.read()
    return out


def twice(pairs, what):
    """Findings for a name that several places have."""
    places = {}
    for name, place in pairs:
        places.setdefault(name, set()).add(place)
    return [f"{what} {name} is in {', '.join(sorted(p))}" for name, p in sorted(places.items()) if len(p) > 1]


def basenames(files):
    return twice(((os.path.basename(f), f) for f in files), "a file named")


def tags(files):
    found = []
    for path, text in files.items():
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        found += [(m[1], path) for m in re.finditer(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", text)]
    return twice(found, "the tag")


def headers(files):
    bad = []
    for path, text in files.items():
        parts = path.split("/")
        if parts[-1] in NAMELESS:
            bad.append(f"{path}: a private header is called <module>_int.h")
        if parts[-1].endswith("_int.h") and parts[0] == "src":
            stem = parts[-1][: -len("_int.h")]
            # of a module, of a room of it, or of the files that begin so
            if stem not in parts[1:-1] and not any(
                os.path.dirname(f) == os.path.dirname(path) and os.path.basename(f).startswith(stem + ".")
                for f in files
            ):
                bad.append(f"{path}: _int.h is for what {stem} shares")
        for m in re.finditer(r'#\s*include\s+"(\w+)/([\w/]*_int\.h)"', text):
            if parts[0] == "src" and parts[1] != m[1]:
                bad.append(f"{path}: {m[1]}/{m[2]} is private to {m[1]}")
    return bad


def owners(text):
    """({prefix: module}, findings) of NAMES."""
    out, bad = {}, []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        module, rest = line.split(":")
        for prefix in rest.split():
            if prefix in out:
                bad.append(f"NAMES: {prefix} belongs to {out[prefix]} and {module}")
            out[prefix] = module
    return out, bad


def objects(root, build):
    """(source, path) of the object files, but for what a build folder keeps of
    sources that moved."""
    for folder, _, names in os.walk(build):
        place, found, rest = os.path.relpath(folder, build).partition("CMakeFiles" + os.sep)
        for name in names:
            inside = os.path.join(rest, name).partition(".dir" + os.sep)[2]
            source = os.path.normpath(os.path.join(place, inside[:-2].replace("__", "..")))
            if found and name.endswith(".c.o") and os.path.exists(os.path.join(root, source)):
                yield source, os.path.join(folder, name)


def symbols(root, build):
    """({name: source of src, cli and server that defines it}, {name: sources that
    use it without defining it})"""
    defined, used = {}, {}
    sources_of = {path: source for source, path in objects(root, build)}
    text = subprocess.run(["nm", "-A", "-P", "-g", *sources_of], capture_output=True, text=True, check=True).stdout
    for line in text.split("\n"):
        path, _, rest = line.partition(": ")
        name, _, kind = rest.partition(" ")
        if not name or name.startswith(("_", "DW.")):
            continue
        source = sources_of[path]
        if kind[0] == "U":
            used.setdefault(name, set()).add(source)
        elif source.startswith(tuple(p + "/" for p in PLACES)):
            defined[name] = source
    return defined, used


def exported(defined):
    """(module, name) of what the objects of src define."""
    for name, source in sorted(defined.items()):
        if source.startswith("src/"):
            yield source.split("/")[1], name


def seams(text):
    return {name for line in text.split("\n") if not line.startswith("#") for name in line.split()}


def lonely(defined, used, seen):
    """Functions that could be static, and lines of SEAMS that say nothing."""
    bad = []
    for name, source in sorted(defined.items()):
        users = used.get(name, set()) - {source}
        if name == "main" or name.startswith("dpc_"):
            continue  # the program's, the library's
        if not users:
            bad.append(f"{name} is used in {source} alone: make it static")
        elif not any(u.startswith(tuple(p + "/" for p in PLACES)) for u in users):
            if name not in seen:
                bad.append(f"{name} of {source} is used by tests alone: to tests/harness, or into src/SEAMS")
            seen = seen - {name}
    return bad + [f"SEAMS: {name} is used by more than tests, or not there" for name in sorted(seen)
                  if not name.endswith("_check")]


def prefixes(names, owner):
    bad = []
    for module, name in names:
        # a prefix ends in "_"; an entry without it is a whole name
        fits = [p for p in owner if (p.endswith("_") and name.startswith(p)) or name == p]
        whose = owner[max(fits, key=len)] if fits else None
        if whose != module:
            bad.append(f"{name} of {module} " + (f"begins like a name of {whose}" if whose else "has no prefix of NAMES"))
    return bad


def self_check(files, owner):
    some = {"src/a/x.c": "struct s { int i; };", "src/b/y.c": "struct t { int i; };"}
    assert not basenames(some) and not tags(some) and not headers(some)
    assert basenames({"src/a/x.c": "", "src/b/x.c": ""})
    assert tags({**some, "src/b/z.h": "enum s {A};"})
    assert not tags({**some, "src/b/z.h": "struct s; /* struct s {} */"})
    assert headers({"src/a/internal.h": ""})
    assert headers({"src/a/b_int.h": ""})
    assert not headers({"src/a/a_int.h": "", "src/a/x.c": '#include "a/a_int.h"'})
    assert headers({"src/b/x.c": '#include "a/a_int.h"'})
    assert prefixes([("a", "b_x")], {"a_": "a", "b_": "b"})
    assert prefixes([("a", "x")], {"a_": "a"})
    assert not prefixes([("a", "b_c_x")], {"b_": "b", "b_c_": "a"})
    assert owners("a: x_\nb: x_\n")[1]
    two = {"a_x": "src/a/x.c"}
    assert not lonely(two, {"a_x": {"src/b/y.c"}}, set()) and not lonely(two, {"a_x": {"tests/t.c"}}, {"a_x"})
    assert lonely(two, {}, set()) and lonely(two, {"a_x": {"tests/t.c"}}, set())
    assert lonely(two, {"a_x": {"src/b/y.c"}}, {"a_x"}) and lonely({}, {}, {"a_x"})
    # and on the tree itself, broken in one place each
    path = next(f for f in files if f.endswith("/walk.c"))
    broken = dict(files)
    broken[path] += "\nstruct cq { int i; };\n"
    assert tags(broken)
    broken = dict(files)
    broken["src/base/walk.c"] = ""
    assert basenames(broken)
    assert prefixes([("join", "noise_draw")], owner)


def main():
    files = sources(SOURCE)
    with open(os.path.join(SOURCE, "src", "NAMES"), encoding="utf-8") as f:
        owner, bad = owners(f.read())
    self_check(files, owner)
    with open(os.path.join(SOURCE, "src", "SEAMS"), encoding="utf-8") as f:
        seen = seams(f.read())
    defined, used = symbols(SOURCE, BUILD)
    names = list(exported(defined))
    if len(names) < 500:
        bad.append("hardly any symbols: is the build folder whole?")
    bad += basenames(files) + tags(files) + headers(files) + prefixes(names, owner)
    bad += lonely(defined, used, seen)
    print("\n".join(bad) or f"{len(files)} files, {len(names)} names: each in one place")
    return 1 if bad else 0


sys.exit(main())
