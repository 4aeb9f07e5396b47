#!/usr/bin/env python3
"""Makes table.txt and entity.svg from errors.tsv of bench-entity.

    table.py FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import svg  # noqa: E402

NAMES = "name k count largest eps a50 a95 b50 b95 e50 e95 seconds".split()


def read(path):
    out = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                v = line.rstrip("\n").split("\t")
                out.append(dict(zip(NAMES, [v[0]] + [float(x) for x in v[1:]])))
    return out


def line(r):
    best50, best95 = min(r["a50"], r["b50"]), min(r["a95"], r["b95"])
    return (f'| {r["name"]} | {r["k"]:.0f} | {r["count"]:.0f} | {r["largest"]:.0f} | {r["a50"]:.0f} / {r["a95"]:.0f} | '
            f'{r["b50"]:.0f} / {r["b95"]:.0f} | {r["e50"]:.0f} / {r["e95"]:.0f} | '
            f'{best50 / max(r["e50"], 1):.1f} | {best95 / max(r["e95"], 1):.1f} |')


def main(folder):
    rows = read(os.path.join(folder, "errors.tsv"))
    with open(os.path.join(folder, "table.txt"), "w", encoding="utf-8") as out:
        for eps in sorted({r["eps"] for r in rows}):
            print(f"\n## epsilon {eps:g}\n", file=out)
            print("| instance | owners | count | largest | R2T base 2: median / 95 % | R2T base 5.5 | election | "
                  "median, times smaller | 95 %, times smaller |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|", file=out)
            for r in rows:
                if r["eps"] == eps:
                    print(line(r), file=out)
    one = [r for r in rows if r["eps"] == 1]
    ends = [min(r["e50"] for r in one), max(max(r["e50"], min(r["a50"], r["b50"])) for r in one)]
    picture = svg.scatter(
        "Median error at epsilon 1; on the dashed line both are equal", "R2T, the better of both bases", "election",
        [("one owner", [(min(r["a50"], r["b50"]), r["e50"]) for r in one if r["k"] == 1]),
         ("several owners", [(min(r["a50"], r["b50"]), r["e50"]) for r in one if r["k"] > 1])],
        ((max(ends[0], min(min(r["a50"], r["b50"]) for r in one)),) * 2, (ends[1],) * 2))
    with open(os.path.join(folder, "entity.svg"), "w", encoding="utf-8") as out:
        out.write(picture)


main(sys.argv[1])
