"""Tests that go on after a failure, and tell at the end."""
BAD = []


def check(ok, what, *more):
    if not ok:
        BAD.append(what)
        print("FAILED:", what, *more)
