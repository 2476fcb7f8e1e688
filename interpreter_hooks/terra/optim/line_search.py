"""How far to go along a line: strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, algorithms 3.5, 3.6)."""


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where a cubic with these values and slopes is least, within the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    if x1 > x2:
        x1, f1, g1, x2, f2, g2 = x2, f2, g2, x1, f1, g1
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    root = square**0.5
    least = x2 - (x2 - x1) * ((g2 + root - d1) / (g2 - g1 + 2 * root))
    return min(max(least, low), high)


class _Point:
    """A length that was tried."""

    def __init__(self, length, loss, gradient, slope):
        self.length, self.loss, self.gradient, self.slope = length, loss, gradient, slope


def strong_wolfe(evaluate, length, direction, loss, gradient, slope, c1=1e-4, c2=0.9, tolerance=1e-9, most=25):
    """Loss and gradient at the length that is found, that length, and how often evaluate(length) was called."""
    largest = direction.abs().max()
    start = _Point(0, loss, gradient.clone(), slope)

    def at(length):
        loss, gradient = evaluate(length)
        return _Point(length, loss, gradient.clone(), gradient.dot(direction))

    def too_high(point):
        return point.loss > start.loss + c1 * point.length * start.slope

    def flat(point):
        return abs(point.slope) <= -c2 * start.slope

    # Lengths grow until two of them are known to have a good one between them.
    before, here, tried = start, at(length), 1
    bracket, done = None, False
    for rounds in range(most):
        if too_high(here) or (rounds > 0 and here.loss >= before.loss):
            bracket = [before, here]
        elif flat(here):
            bracket, done = [here], True
        elif here.slope >= 0:
            bracket = [before, here]
        if bracket is not None:
            break
        bounds = (here.length + 0.01 * (here.length - before.length), here.length * 10)
        length = cubic_minimum(
            before.length, before.loss, before.slope, here.length, here.loss, here.slope, bounds=bounds
        )  # fmt: skip
        before, here = here, at(length)
        tried += 1
    else:
        rounds = most
        bracket = [start, here]

    # The two come closer; `low` is the better one.
    stuck = False
    low, high = (0, -1) if len(bracket) == 1 or bracket[0].loss <= bracket[-1].loss else (1, 0)
    while not done and rounds < most:
        if abs(bracket[1].length - bracket[0].length) * largest < tolerance:
            break
        a, b = bracket
        length = cubic_minimum(a.length, a.loss, a.slope, b.length, b.loss, b.slope)
        left, right = min(a.length, b.length), max(a.length, b.length)
        margin = 0.1 * (right - left)
        if min(right - length, length - left) < margin:  # too near to an end, twice: a step inwards
            if stuck or length >= right or length <= left:
                length = right - margin if abs(length - right) < abs(length - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        here = at(length)
        tried += 1
        rounds += 1
        if too_high(here) or here.loss >= bracket[low].loss:
            bracket[high] = here
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if flat(here):
                done = True
            elif here.slope * (bracket[high].length - bracket[low].length) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = here
    found = bracket[low]
    return found.loss, found.gradient, found.length, tried
