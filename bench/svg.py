"""Line charts as SVG, with the standard library only."""
import math

COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b8860b", "#34495e"]


def _ticks(lo, hi):
    """Powers of ten that cover [lo, hi]."""
    ticks = [10.0 ** e for e in range(math.floor(math.log10(lo)),
                                      math.ceil(math.log10(hi)) + 1)]
    return ticks if len(ticks) > 1 else [ticks[0], ticks[0] * 10]


def _label(v):
    return f"{v:g}" if 1e-3 <= v < 1e5 else f"1e{round(math.log10(v))}"


def loglog(title, x_label, y_label, series, width=560, height=360):
    """series: list of (name, [(x, y), ...]); both axes logarithmic."""
    xs = [x for _, line in series for x, _ in line]
    yt = _ticks(min(y for _, line in series for _, y in line),
                max(y for _, line in series for _, y in line))
    left, right, top, bottom = 70, 150, 36, 46

    def px(x):
        span = math.log10(max(xs) / min(xs)) or 1
        return left + (width - left - right) * math.log10(x / min(xs)) / span

    def py(y):
        return height - bottom - (height - top - bottom) * \
            math.log10(y / yt[0]) / math.log10(yt[-1] / yt[0])

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{height}" font-family="Helvetica, Arial, sans-serif" '
           f'font-size="11"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="20" font-size="14">{title}</text>']
    for y in yt:
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(y):.1f}" '
                   f'y2="{py(y):.1f}" stroke="#ddd"/><text x="{left - 6}" '
                   f'y="{py(y) + 4:.1f}" text-anchor="end">{_label(y)}</text>')
    for x in sorted(set(xs)):
        out.append(f'<text x="{px(x):.1f}" y="{height - bottom + 16}" '
                   f'text-anchor="middle">{x:g}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" '
               f'text-anchor="middle">{x_label}</text>'
               f'<text transform="translate(14 {height / 2}) rotate(-90)" '
               f'text-anchor="middle">{y_label}</text>')
    for i, (name, line) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in line)
        out.append(f'<polyline points="{path}" fill="none" '
                   f'stroke="{colour}" stroke-width="2"/>')
        out.extend(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" '
                   f'fill="{colour}"/>' for x, y in line)
        y = top + 16 * i + 8
        out.append(f'<line x1="{width - right + 10}" x2="{width - right + 30}" '
                   f'y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{width - right + 36}" y="{y + 4}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def scatter(title, x_label, y_label, series, same, width=600, height=420):
    """Points on logarithmic axes; `same`: the ends of the line x = y."""
    xt = _ticks(min(x for _, p in series for x, _ in p), max(x for _, p in series for x, _ in p))
    yt = _ticks(min(min(y for _, p in series for _, y in p), same[0][1]),
                max(max(y for _, p in series for _, y in p), same[1][1]))
    left, right, top, bottom = 70, 130, 36, 46

    def px(x):
        return left + (width - left - right) * math.log10(x / xt[0]) / math.log10(xt[-1] / xt[0])

    def py(y):
        return height - bottom - (height - top - bottom) * \
            math.log10(y / yt[0]) / math.log10(yt[-1] / yt[0])

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'font-family="Helvetica, Arial, sans-serif" font-size="11">'
           f'<rect width="100%" height="100%" fill="white"/>'
           f'<text x="{left}" y="20" font-size="14">{title}</text>']
    for y in yt:
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(y):.1f}" y2="{py(y):.1f}" '
                   f'stroke="#ddd"/><text x="{left - 6}" y="{py(y) + 4:.1f}" '
                   f'text-anchor="end">{_label(y)}</text>')
    for x in xt:
        out.append(f'<line x1="{px(x):.1f}" x2="{px(x):.1f}" y1="{top}" y2="{height - bottom}" '
                   f'stroke="#ddd"/><text x="{px(x):.1f}" y="{height - bottom + 16}" '
                   f'text-anchor="middle">{_label(x)}</text>')
    (x1, y1), (x2, y2) = same
    out.append(f'<line x1="{px(x1):.1f}" y1="{py(y1):.1f}" x2="{px(x2):.1f}" y2="{py(y2):.1f}" '
               f'stroke="#888" stroke-dasharray="4 3"/>'
               f'<text x="{(left + width - right) / 2}" y="{height - 10}" '
               f'text-anchor="middle">{x_label}</text>'
               f'<text transform="translate(14 {height / 2}) rotate(-90)" '
               f'text-anchor="middle">{y_label}</text>')
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        out.extend(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3.5" fill="{colour}" '
                   f'fill-opacity="0.75"/>' for x, y in points)
        y = top + 16 * i + 8
        out.append(f'<circle cx="{width - right + 16}" cy="{y}" r="3.5" fill="{colour}"/>'
                   f'<text x="{width - right + 26}" y="{y + 4}">{name}</text>')
    out.append(f'<line x1="{width - right + 8}" x2="{width - right + 24}" '
               f'y1="{top + 16 * len(series) + 8}" y2="{top + 16 * len(series) + 8}" '
               f'stroke="#888" stroke-dasharray="4 3"/><text x="{width - right + 28}" '
               f'y="{top + 16 * len(series) + 12}">equal</text>')
    return "\n".join(out) + "\n</svg>\n"
