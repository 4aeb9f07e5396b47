"""Two samples: do they come from one law?"""


def kolmogorov(a, b):
    """The p-value of the two-sample test, asymptotically."""
    a, b = sorted(a), sorted(b)
    i = j = 0
    d = 0.0
    while i < len(a) and j < len(b):
        x = min(a[i], b[j])
        while i < len(a) and a[i] <= x:
            i += 1
        while j < len(b) and b[j] <= x:
            j += 1
        d = max(d, abs(i / len(a) - j / len(b)))
    n = len(a) * len(b) / (len(a) + len(b))
    z = d * n ** 0.5
    total = sum((-1) ** (k - 1) * 2.718281828459045 ** (-2 * k * k * z * z) for k in range(1, 100)) * 2
    return min(1.0, max(0.0, total)) if z > 0.2 else 1.0
