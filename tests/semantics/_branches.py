"""What the programs about branches on tensor values share."""
import terra


def sign(i, k):
    return 1.0 if (i * 11 + 5 + i // 3) >> k & 1 else -1.0


def row(i, k, n=3):
    """Positive or negative, by the bit k of a number that depends on i; never twice the same."""
    return (terra.arange(float(n)) + 1 + i * 0.125) * sign(i, k)


def rows(i, n):
    return tuple(row(i, k) for k in range(n))
