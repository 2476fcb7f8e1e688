# run: TERRA_CAPTURE=stress
# run: TERRA_CAPTURE=auto
# run: TERRA_CAPTURE=off
"""Exceptions and warnings that come out of captured code name the lines that plain Python would name."""
import traceback
import warnings

import terra


def checked(x, n):
    y = x * 2
    if n > 8:
        raise ValueError("n is too large")
    return y


def through_a_callee(x, n):
    a = checked(x, n)
    b = (a
         + a)
    return b * 2


def product(x, y):
    z = x * 2
    z = (z
         @ y)
    return z + 1


def caught_below(x, n):
    try:
        return checked(x, n)
    except ValueError:
        return product(x, terra.ones(3, 3))


def in_a_generator(xs, n):
    return sum(checked(x, n) for x in xs)


def warned(x):
    y = x * 2
    warnings.warn("careful")
    return y + 1


def lines_of(function, *arguments):
    """Functions and lines, relative to the first of each, of the exception that the call ends with."""
    try:
        function(*arguments)
    except Exception as error:
        first = {f.__name__: f.__code__.co_firstlineno for f in (checked, through_a_callee, product, caught_below, in_a_generator)}
        frames = traceback.extract_tb(error.__traceback__)[1:]
        return [(frame.name, frame.lineno - first.get(frame.name, frame.lineno)) for frame in frames]
    return None


x = terra.ones(2, 2)
for call in range(12):
    n = call if call < 8 else 9
    raised = [("through_a_callee", 1), ("checked", 3)] if n > 8 else None
    assert lines_of(through_a_callee, x, n) == raised, (call, lines_of(through_a_callee, x, n))
    y = terra.ones(2 if call < 8 else 3, 2)
    expected = [("product", 2)] if call >= 8 else None
    assert lines_of(product, x, y) == expected, (call, lines_of(product, x, y))
    expected = [("caught_below", 4), ("product", 2)] if n > 8 else None
    assert lines_of(caught_below, x, n) == expected, (call, lines_of(caught_below, x, n))
    expected = [("in_a_generator", 1), ("<genexpr>", 0), ("checked", 3)] if n > 8 else None
    assert lines_of(in_a_generator, [x, x], n) == expected, (call, lines_of(in_a_generator, [x, x], n))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warned(x)
    assert [w.lineno - warned.__code__.co_firstlineno for w in seen] == [2]
    assert seen[0].filename == __file__
print("60 passed")
