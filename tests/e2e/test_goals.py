"""The verdicts of the speed table: met, missed, or not shown because the peer
was stopped before it answered."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "bench/peer"))
sys.dont_write_bytecode = True
import goals  # noqa: E402


def goal(*found, unit="x"):
    g = goals.Goal("what", "peer", 25, 75, unit)
    for value, where, ours, exact in found:
        g.add(value, where, ours, exact)
    return g


def check(got, want):
    if got != want:
        sys.exit(f"got {got!r}, wanted {want!r}")


FAST, SLOW = (30, "fast", 5.0, True), (14, "slow", 5.0, True)
CUT, FAR = (7, "cut", 400.0, False), (90, "far", 5.0, False)
TINY = (3, "tiny", 0.4, True)

check(goal(FAST).verdict(25), "yes")
check(goal(FAST, SLOW).verdict(25), "no")
check(goal(FAST, CUT).verdict(25), "not shown (peer stopped)")
check(goal(SLOW, CUT).verdict(25), "no")
check(goal(FAST, FAR).verdict(25), "yes")
check(goal(FAST, FAR).verdict(75), "no")
check(goal(FAR, CUT).verdict(75), "not shown (peer stopped)")
check(goal(FAST, TINY).verdict(25), "yes")
check(goal(FAST, TINY, CUT).verdict(25), "not shown (peer stopped)")
check(goal((30, "a", 5.0, True), unit="ms").verdict(25), "no")
check(goal((20, "a", 5.0, True), unit="ms").verdict(25), "yes")

# The worst is one that was finished and that counts by its ratio.
check(goal(FAST, SLOW, CUT, TINY).worst()[2], "slow")
check(goal(CUT, FAR).worst()[2], "cut")
check(goal(TINY).worst()[2], "tiny")
check(goal((20, "a", 5.0, True), (30, "b", 5.0, True), unit="ms").worst()[2], "b")

row = goal(FAST, SLOW, CUT, TINY).row()
check(row[2], "3.00 .. 30.00 x; 1 stopped: at least 7.00 x")
check(row[3], "slow")
check(row[4], "25 x: **no**; 1 of 4 below it under 1 ms")
check(goal(FAR).row()[2], "1 stopped: at least 90.00 x")
check(goals.Goal("a", "b", 1, 2).row()[2], "not measured")
