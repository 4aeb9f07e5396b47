#!/usr/bin/env python3
"""Every PROOF.md was read against the functions that stand there now.

Shown to fail first, on copies: a function whose text changes, one that goes,
a proof that names none. A comment or another layout is no change."""
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile

SOURCE = os.environ["DPC_SOURCE"]
loader = importlib.machinery.SourceFileLoader("proof_hashes", os.path.join(SOURCE, "tools", "proof-hashes"))
sys.dont_write_bytecode = True
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("proof_hashes", loader))
loader.exec_module(tool)

CODE = """/* what */
static int twice(int x)
{
    return 2 * x; /* why */
}

enum status other(struct mem *m,
                  const char *s)
{
    return s ? OK : '"';
}
"""
PROOF = "# Why\n\n    m/x.c twice new\n    m/x.c other new\n"


def broken(root, old, new):
    """Findings once the code is changed."""
    path = os.path.join(root, "src", "m", "x.c")
    with open(path, "w", encoding="utf-8") as f:
        assert old in CODE
        f.write(CODE.replace(old, new))
    return tool.findings(root, "m")


def self_check(root):
    os.makedirs(os.path.join(root, "src", "m"))
    for name, text in [("x.c", CODE), ("PROOF.md", PROOF)]:
        with open(os.path.join(root, "src", "m", name), "w", encoding="utf-8") as f:
            f.write(text)
    assert len(tool.findings(root, "m")) == 2
    tool.renew(root, "m")
    assert not tool.findings(root, "m")
    assert len(broken(root, "2 * x", "3 * x")) == 1
    assert len(broken(root, "int x)", "long x)")) == 1
    assert len(broken(root, "'\"'", "'\"' + 1")) == 1
    assert len(broken(root, "other(", "another(")) == 1
    assert not broken(root, "/* why */", "/* else */")
    assert not broken(root, "2 * x;", "2 *\n        x;")
    assert not broken(root, "(struct mem *m,\n                  const", "(struct mem *m, const")
    with open(os.path.join(root, "src", "m", "PROOF.md"), "w", encoding="utf-8") as f:
        f.write("# Why\n")
    assert tool.findings(root, "m")


def break_all(root):
    """On the tree itself: each function that is named, changed, is noticed."""
    n = 0
    for module in tool.proofs(SOURCE):
        for path, name, old in tool.ENTRY.findall(tool.read(SOURCE, module)):
            with open(os.path.join(SOURCE, "src", path), encoding="utf-8") as f:
                text = f.read()
            body = tool.function(text, name)
            if body is None:
                continue  # a finding below
            os.makedirs(os.path.join(root, "src", os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, "src", path), "w", encoding="utf-8") as f:
                f.write(text.replace(body, body[:-1] + "    changed();\n}"))
            assert tool.hash_of(root, path, name) not in (None, old), name
            n += 1
    return n


def main():
    scratch = tempfile.mkdtemp()
    try:
        self_check(scratch)
        n = break_all(os.path.join(scratch, "tree"))
    finally:
        shutil.rmtree(scratch)
    modules = tool.proofs(SOURCE)
    bad = [line for module in modules for line in tool.findings(SOURCE, module)]
    if bad:
        bad.append("Read the proof again; then tools/proof-hashes MODULE.")
    print("\n".join(bad) or f"{len(modules)} proofs, {n} functions")
    return 1 if bad else 0


sys.exit(main())
