"""The page of bench/peers: tables, the goals and whether they hold, a picture."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import svg  # noqa: E402
import tasks  # noqa: E402

PEERS = ["PostgreSQL", "SQLite", "DuckDB", "GraphBLAS"]
# How many times as fast as the peer, by kind or name of the request: must, stretch.
FASTER = {("count", "DuckDB"): (25, 75), ("max", "DuckDB"): (100, 1000),
          ("count: triangle", "GraphBLAS"): (2, 4),
          ("count: two triangles", "GraphBLAS"): (5, 15),
          ("count: rectangle", "GraphBLAS"): (10, 30),
          ("one", "DuckDB"): (10, 25), ("two", "DuckDB"): (5, 12)}


def milliseconds(v):
    return f"{v:,.3f}" if v < 10 else f"{v:,.1f}" if v < 1000 else f"{v:,.0f}"


def cell(got, ours=None):
    if not got:
        return "-"
    if "over" in got:
        return f"> {got['over'] * 1e3:,.0f}"
    if "error" in got:
        return "out of memory" if "emory" in got["error"] else "failed"
    times = got["cpu"] / ours if ours else 0
    ratio = f" ({times:,.{0 if times >= 10 else 1}f}x)" if ours else ""
    return f"{milliseconds(got['cpu'])} / {milliseconds(got['wall'])}{ratio}"


def least(got):
    """CPU milliseconds a peer needs at least; None when it gave no answer."""
    if not got or "error" in got:
        return None
    return got["over"] * 1e3 if "over" in got else got["cpu"]


def enough(task, peer, ours):
    """CPU seconds of the peer that show the bound, with a quarter to spare."""
    must = FASTER.get((task["kind"], peer)) or FASTER.get((task["name"], peer)) or (0,)
    return 1.25 * must[0] * ours.get("cpu", 0) / 1e3


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return out + ["| " + " | ".join(r) + " |" for r in rows] + [""]


def set_table(s):
    peers = [p for p in PEERS if any((t["name"], p) in s["out"] for t in s["todo"])]
    rows = []
    for t in s["todo"]:
        ours = s["out"][(t["name"], "dpcount")]
        rows.append([t["name"], f"{int(ours['answer']):,}", cell(ours)] +
                    [cell(s["out"].get((t["name"], p)), ours["cpu"]) for p in peers])
    return [f"## {s['title']}", ""] + table(["request", "answer", "dpcount"] + peers, rows)


class Goal:
    """Ratios (peer over ours) for one line of the table of goals."""

    def __init__(self, what, against, must, stretch, unit="x"):
        self.what, self.against, self.unit = what, against, unit
        self.must, self.stretch = must, stretch
        self.found = []  # (value, exact?, where, our ms)

    def add(self, value, where, ours=None, exact=True):
        self.found.append((value, exact, where, ours))

    def by_time(self, ours):
        """Below a millisecond the time counts, not the ratio."""
        return self.unit == "x" and ours is not None and ours < 1

    def verdict(self, bound):
        """A peer that was stopped may be slower than what is known of it: a
        bound that only such requests miss is not shown, but not missed."""
        if self.unit != "x":
            return "yes" if all(v <= bound for v, *_ in self.found) else "no"
        missed = [exact for v, exact, _, ours in self.found
                  if v < bound and not self.by_time(ours)]
        return "no" if any(missed) else "not shown (peer stopped)" if missed else "yes"

    def worst(self):
        """Of requests that count by their ratio, if there are such, and that
        the peer finished, if there are such."""
        among = [f for f in self.found if not self.by_time(f[3])] or self.found
        among = [f for f in among if f[1]] or among
        return (min if self.unit == "x" else max)(among, key=lambda f: f[0])

    def measured(self):
        done, cut = ([f[0] for f in self.found if f[1] == e] for e in (True, False))
        text = f"{min(done):,.2f} .. {max(done):,.2f} {self.unit}" if done else ""
        more = f"{len(cut)} stopped: at least {min(cut):,.2f} {self.unit}" if cut else ""
        return "; ".join(filter(None, (text, more)))

    def row(self):
        if not self.found:
            return [self.what, self.against, "not measured", "", "", ""]

        def say(bound):
            sub = [f for f in self.found if f[0] < bound and self.by_time(f[3])]
            return f"{bound:g} {self.unit}: **{self.verdict(bound)}**" + \
                (f"; {len(sub)} of {len(self.found)} below it under 1 ms" if sub else "")
        return [self.what, self.against, self.measured(), self.worst()[2], say(self.must),
                say(self.stretch)]


def ratio_goal(goal, sets, peer, pick):
    for s in sets:
        for t in s["todo"]:
            if not pick(s, t):
                continue
            ours, theirs = s["out"][(t["name"], "dpcount")], s["out"].get((t["name"], peer))
            if least(theirs) is not None:
                goal.add(least(theirs) / ours["cpu"], f"{t['name']}, {s['title']}",
                         ours["cpu"], "over" not in theirs)
    return goal


def whole_goal(sets):
    goal = Goal("count and every T_F", "PostgreSQL", 200, 1000)
    rows = []
    for s in sets:
        if not s.get("small"):
            continue
        for name, parts in tasks.WHOLE.items():
            got = [s["out"].get((p, "PostgreSQL")) for p in parts]
            ours = s["out"][(f"all of {name}", "dpcount")]["cpu"]
            if any(least(g) is None for g in got):
                continue
            total, exact = sum(map(least, got)), all("cpu" in g for g in got)
            goal.add(total / ours, f"{name}, {s['title']}", ours, exact)
            rows.append([name, s["title"], milliseconds(ours),
                         ("" if exact else "> ") + milliseconds(total),
                         f"{total / ours:,.0f}x"])
    return goal, rows


def growth_goal(sets):
    goal = Goal("growth from 1M to 10M edges, over that of the wedges", "itself", 2, 1.5,
                "of the ratio of work")
    big = [s for s in sets if s["kind"] == "graph" and not s["small"]]
    if len(big) == 2:
        for name, work in (("count: triangle", "oriented"), ("count: rectangle", "light"),
                           ("count: two triangles", "oriented")):
            t = [s["out"][(name, "dpcount")]["cpu"] for s in big]
            w = [s["facts"][work] for s in big]
            goal.add(t[1] / t[0] / (w[1] / w[0]), name)
    return goal


def absolute_goal(sets):
    goal = Goal("disconnected and many-to-many residuals", "time", 100, 10, "ms")
    for s in sets:
        for t in s["todo"]:
            if t["kind"] in ("many", "apart"):
                goal.add(s["out"][(t["name"], "dpcount")]["cpu"], f"{t['name']}, {s['title']}")
    return goal


def all_goals(sets, load):
    def kind(k):
        return lambda s, t: t["kind"] == k

    def named(n):
        return lambda s, t: t["name"] == n
    whole, rows = whole_goal(sets)
    titles = {"count": "pattern counts", "max": "residual maxima", "one": "TPC-H-like, one column",
              "two": "TPC-H-like, two columns"}
    goals = [whole]
    for (what, peer), bounds in FASTER.items():
        title = titles.get(what) or what.removeprefix("count: ") + " count"
        goals.append(ratio_goal(Goal(title, peer, *bounds), sets, peer,
                                kind(what) if what in titles else named(what)))
    goals += [absolute_goal(sets), growth_goal(sets)]
    return goals, rows


def picture(sets):
    """CPU time of each program on each request, sorted by ours."""
    points = {}
    for s in sets:
        for t in s["todo"]:
            ours = s["out"][(t["name"], "dpcount")]["cpu"]
            for p in PEERS:
                theirs = least(s["out"].get((t["name"], p)))
                if theirs:
                    points.setdefault(p, []).append((ours, theirs))
    every = [o for line in points.values() for o, _ in line]
    same = [(min(every), min(every)), (max(every), max(every))]
    return svg.scatter("CPU time of peers against dpcount's, same request",
                       "dpcount, ms", "peer, ms (stopped ones: at the limit)",
                       list(points.items()), same)


def command(args):
    """The whole command line; folders of this machine by their meaning only."""
    words = ["bench/peers", "--data DIR", f"--limit {args.limit:g}", f"--rounds {args.rounds}"]
    words += ["--large"] if args.large else []
    words += [f"--only {args.only}"] if args.only else []
    return " ".join(words)


def ends(numbers):
    """Smallest and largest, once if they are one."""
    return sorted({min(numbers), max(numbers)})


def page(sets, facts, load, args):
    goals, rows = all_goals(sets, load)
    out = ["# dpcount beside its peers", "",
           f"Written by `{command(args)}`; all programs on one thread, data loaded and indexed, "
           f"requests interleaved, medians of {args.rounds} rounds (of one where a request took "
           f"more than {args.limit / 5:g} s). Cells: CPU / wall milliseconds (ratio of CPU times). "
           f"A request was stopped after {args.limit:g} s of CPU, or later where only that shows "
           f"a bound, or after six times as much by the clock: `>`. {sum(s['compared'] for s in sets)} answers were compared, all equal.", "",
           "![CPU times](peers.svg)", "", "Machine: " + "; ".join(facts) + ".", "",
           "## Goals", "",
           "The bound holds when every request meets it; requests that dpcount answers in less "
           "than a millisecond count by that time, not by the ratio. Of a peer that was stopped "
           "only the least is known that it needs: where that alone misses the bound, the bound "
           "is not shown. The worst request is one that the peer finished.", ""]
    out += table(["what", "against", "measured", "worst at", "must", "stretch"],
                 [g.row() for g in goals])
    if rows:
        out += ["## Count and every T_F", "",
                "PostgreSQL: the count and each residual that is not a constant, equal ones "
                "once, best SQL each, CPU added.", ""]
        out += table(["query", "data", "dpcount, ms", "PostgreSQL, ms", "ratio"], rows)
    for s in sets:
        out += set_table(s)
    out += ["## Memory and loading", ""]
    out += ["Peaks are of a process that has one query alone and answers its requests above; 9 MB of each "
            "are the program.", ""]
    out += table(["data", "input, MB", "peak of dpcount, MB", "times the input"],
                 [[s["title"], f"{s['input'] / 1e6:.1f}",
                   " .. ".join(f"{p / 1e6:.1f}" for p in ends(s["peaks"])),
                   " .. ".join(f"{p / s['input']:.1f}" for p in ends(s["peaks"]))]
                  for s in sets])
    out += ["`bench-load 10`:", "", "```", load, "```", ""]
    return "\n".join(out), picture(sets)
