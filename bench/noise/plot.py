#!/usr/bin/env python3
"""Draws densities.csv and quantiles.csv of bench-noise as SVG.

    plot.py FOLDER      reads FOLDER/*.csv, writes FOLDER/*.svg
"""
import csv
import math
import os
import sys

COLOURS = {"smooth-laplace": "#1b6ca8", "generalized-cauchy": "#c1121f",
           "arsinh-normal": "#2a9d4b", "paper": "#777777"}
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 880, 420, 70, 40, 230, 60


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Plot:
    """Axes with a scale for each direction; text collects the SVG."""

    def __init__(self, title, x_label, y_label, xs, ys, log_x=False, log_y=False):
        self.log_x, self.log_y = log_x, log_y
        self.xs, self.ys = xs, ys
        self.text = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="22" text-anchor="middle" font-size="15">{title}</text>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{x_label}</text>',
            f'<text x="18" y="{HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 18 {HEIGHT / 2})">{y_label}</text>']
        self.legend = 0

    def at(self, x, y):
        def place(v, lo, hi, log):
            if log:
                v, lo, hi = math.log(v), math.log(lo), math.log(hi)
            return (v - lo) / (hi - lo)
        px = LEFT + place(x, *self.xs, self.log_x) * (WIDTH - LEFT - RIGHT)
        py = HEIGHT - BOTTOM - place(y, *self.ys, self.log_y) * (HEIGHT - TOP - BOTTOM)
        return px, py

    def ticks(self, xs, ys):
        for x in xs:
            px, py = self.at(x, self.ys[0])
            self.text.append(f'<path d="M{px:.1f} {py:.1f}V{TOP}" stroke="#ddd"/>'
                             f'<text x="{px:.1f}" y="{py + 18:.1f}" text-anchor="middle">{x:g}</text>')
        for y in ys:
            px, py = self.at(self.xs[0], y)
            self.text.append(f'<path d="M{px:.1f} {py:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                             f'<text x="{px - 8:.1f}" y="{py + 4:.1f}" text-anchor="end">{y:g}</text>')

    def line(self, name, points, dash="", label=None):
        lo, hi = self.ys
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in
                        (self.at(x, y) for x, y in points if lo <= y <= hi))
        self.text.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" '
                         f'stroke-width="2" stroke-dasharray="{dash}"/>')
        y = TOP + 16 + 18 * self.legend
        self.legend += 1
        x = WIDTH - RIGHT + 14
        self.text.append(f'<path d="M{x} {y - 4}h24" stroke="{COLOURS[name]}" stroke-width="2" '
                         f'stroke-dasharray="{dash}"/><text x="{x + 30}" y="{y}">{label or name}</text>')

    def save(self, path):
        with open(path, "w") as file:
            file.write("\n".join(self.text) + "\n</svg>\n")


def densities(folder):
    data = rows(os.path.join(folder, "densities.csv"))
    plot = Plot("Density of the noise, epsilon 1, beta 1/10 (histogram of draws)",
                "noise / S", "density", (-8, 8), (1e-3, 1), log_y=True)
    plot.ticks(range(-8, 9, 2), [1e-3, 1e-2, 1e-1, 1])
    for name in dict.fromkeys(row["mechanism"] for row in data):
        plot.line(name, [(float(r["z"]), float(r["density"])) for r in data
                         if r["mechanism"] == name])
    # the paper's: density 1/(1+z^4) with alpha = 1/10
    alpha, norm = .1, math.pi / math.sqrt(2)
    plot.line("paper", [(z / 10, alpha / norm / (1 + (alpha * z / 10) ** 4))
                        for z in range(-80, 81)], "4 3")
    plot.save(os.path.join(folder, "densities.svg"))


def quantiles(folder):
    data = rows(os.path.join(folder, "quantiles.csv"))
    plot = Plot("Error at beta = epsilon/10", "epsilon", "error in S/epsilon",
                (.1, 10), (1, 40), log_x=True, log_y=True)
    plot.ticks([.1, .5, 1, 2, 5, 10], [1, 2, 5, 10, 20, 40])
    for name in dict.fromkeys(row["mechanism"] for row in data):
        for column, dash in (("std", ""), ("p95", "7 3"), ("p99", "2 3")):
            plot.line(name, [(float(r["epsilon"]), float(r[column])) for r in data
                             if r["mechanism"] == name], dash, f"{name} {column}")
    plot.save(os.path.join(folder, "quantiles.svg"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    densities(sys.argv[1])
    quantiles(sys.argv[1])
