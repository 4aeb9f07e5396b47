"""Counts beyond a limit: cuts p.x < f of a public table of the numbers below PUBLIC, as many as it takes."""
PUBLIC = 60000


def factors(goal, n):
    """n numbers up to PUBLIC whose product is near the goal."""
    out = []
    for left in range(n, 0, -1):
        f = min(PUBLIC, max(1, round(goal ** (1 / left))))
        out.append(f)
        goal = max(1, goal // f)
    return out
