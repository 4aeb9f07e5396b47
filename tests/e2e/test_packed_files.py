#!/usr/bin/env python3
"""Delimited files packed by gzip and zstd: the same counts as plain ones,
several streams in one file, and one outcome for all that are malformed."""
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
from outside import ask, check, end, run, write  # noqa: E402

QUERIES = ["SELECT COUNT(*) FROM t", "SELECT COUNT(DISTINCT b) FROM t", "SELECT COUNT(*) FROM t x, t y WHERE x.b = y.a"]


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def put(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


def main():
    r = random.Random(5)
    text = "a,b\n" + "".join(f"{r.randrange(300)},\"{r.randrange(300)}\"\n" for _ in range(100000))
    write("plain/t.csv", text)
    write("s.sql", "CREATE TABLE t(a INTEGER, b INTEGER);")
    data, half = text.encode(), len(text) // 2
    put("gz/t.csv.gz", gzip.compress(data))
    put("gz2/t.csv.gz", gzip.compress(data[:half]) + gzip.compress(b"") + gzip.compress(data[half:]))
    put("zst/t.csv.zst", zstd(data))
    put("zst2/t.csv.zst", zstd(data[:half]) + zstd(data[half:]))
    want = [ask("count", "--db", "plain", "--format", "json", q)[1]["count"] for q in QUERIES]
    for folder in ("gz", "gz2", "zst", "zst2"):
        got = [ask("count", "--db", folder, "--format", "json", q)[1] for q in QUERIES]
        check(folder, [g.get("count") for g in got] == want, str(got)[:300])
    got = ask("count", "--table", "t=zst/t.csv.zst", "--format", "json", QUERIES[0])[1]
    check("--table", got.get("count") == want[0], str(got))

    run("budget", "init", "--ledger", "l", "--epsilon", "9")
    code, out = ask("release", "--db", "gz", "--schema", "s.sql", "--ledger", "l", "--epsilon", "1", "--format", "json", QUERIES[0])
    check("a release", code == 0 and abs(out["answer"] - 100000) < 100, str(out)[:300])
    packed, packed_z = gzip.compress(data), zstd(data)
    flipped = bytearray(packed)
    flipped[len(flipped) // 2] ^= 255
    for name, bad in (("g1/t.csv.gz", packed[:-9]), ("g2/t.csv.gz", bytes(flipped)), ("g3/t.csv.gz", packed + b"rest"), ("g4/t.csv.gz", data),
                      ("z1/t.csv.zst", packed_z[:-9]), ("z2/t.csv.zst", packed), ("z3/t.csv.zst", b"")):
        put(name, bad)
        for q in QUERIES[:2]:
            code, out = ask("release", "--db", name[:2], "--schema", "s.sql", "--ledger", "l", "--epsilon", "1", "--format", "json", q)
            check(f"{name} is malformed", code == 5 and out["error"]["code"] in ("data", "source"), str(out)[:300])
    shown = ask("budget", "show", "--ledger", "l", "--format", "json")[1]
    check("nothing but the release was charged", shown["spent"] == 1, str(shown)[:300])


if not shutil.which("zstd"):
    print("skipped: zstd is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    main()
    end()
