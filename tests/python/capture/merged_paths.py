# run: TERRA_EXACT=1
"""Entries that part at a branch on a tensor become paths of one graph once both sides have come again. Nothing but this
test notices when they don't: one by one they give the same results."""
import re

import terra
import _terra_C as C


def one_branch(x):
    y = (x * 2 + 1).tanh()
    if y.sum() > 0:
        return y * 3
    return (y - 1).exp()


def two_branches(x):
    if x[0] > 0:
        x = x * 2
    else:
        x = x - 1
    if x[1] > 0:
        return x.exp()
    return x + 5


def a_loop(x):
    n = 0
    while n < 3 and x.sum() < 10:
        x = x * 2
        n += 1
    return x, n


def calls(f, inputs):
    """Plain results, results under capture, and what is said of the function afterwards."""
    plain = [f(x) for x in inputs]
    with terra.capture.mode("stress"):
        captured = [f(x) for x in inputs]
    return repr(plain), repr(captured), C.capture_explain(f)


def check(f, inputs, paths):
    plain, captured, text = calls(f, inputs)
    assert plain == captured, (f.__name__, plain, captured)
    merged = [int(n) for n in re.findall(r"path \d+ of (\d+) that run as one graph with switches", text)]
    assert merged and max(merged) >= paths, f"{f.__name__}: paths are not merged\n{text}"


signs = [terra.tensor([a, b]) for a in (0.5, -0.5) for b in (0.75, -0.75)]
check(one_branch, [signs[0], signs[3]] * 8, 2)
check(two_branches, signs * 8, 2)  # they meet behind the first branch: two paths know all four ways
check(a_loop, [terra.tensor([s, s]) for s in (0.2, 1.0, 4.0, 2.0)] * 8, 2)
