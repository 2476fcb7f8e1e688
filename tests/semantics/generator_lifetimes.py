# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""When the `finally` of a generator runs that is dropped half-way: at the very instruction at which it does plainly."""
import contextlib

import terra
from _harness import main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


def noisy(xs, log, name="g"):
    log.append(f"start {name}")
    try:
        for x in xs:
            yield x
    finally:
        log.append(f"end {name}")


@contextlib.contextmanager
def scope(log):
    log.append("in")
    yield
    log.append("out")


class Box:
    n = 0


def lifetime(captures=9, reason=None):
    """body(x, log) must log in the order of plain Python; the log goes on over all calls."""
    def register(body):
        def make():
            log = []
            return body, lambda i: (t(i), log), log
        make.__name__ = body.__name__
        program(calls=12, captures=captures, reason=reason)(make)
        return body
    return register


@lifetime()
def overwritten(x, log):
    g = noisy([x, x], log)
    a = next(g)
    g = None
    log.append("after")
    return a * 2


@lifetime()
def deleted(x, log):
    g = noisy([x, x], log)
    a = next(g)
    del g
    log.append("after")
    return a * 2


@lifetime()
def local_of_a_callee(x, log):
    def first(x, log):
        g = noisy([x, x], log)
        y = next(g)
        log.append("returning")
        return y
    y = first(x, log)
    log.append("after")
    return y * 2


@lifetime()
def early_return_of_a_callee(x, log):
    def first(x, log):
        for y in noisy([x, x], log):
            return y
    y = first(x, log)
    log.append("after")
    return y * 2


@lifetime()
def through_a_plain_generator(x, log):
    def outer(x, log):
        for y in noisy([x, x * 2], log, "inner"):
            yield y
    for y in outer(x, log):
        break
    log.append("after")
    return y * 2


@lifetime()
def through_yield_from(x, log):
    def outer(x, log):
        try:
            yield from noisy([x, x * 2], log, "inner")
        finally:
            log.append("outer")
    for y in outer(x, log):
        break
    log.append("after")
    return y * 2


@lifetime()
def first_of_many(x, log):
    y = next(noisy([x, x], log))
    log.append("after")
    return y * 2


@lifetime()
def any_stops_early(x, log):
    found = any(y.dim() == 2 for y in noisy([x, x], log))
    log.append("after")
    return x * 2, found


@lifetime(captures=None, reason=13)
def dropped_inside_zip(x, log):
    for a, b in zip(noisy([x, x], log), [1, 2]):
        break
    log.append("after")
    return a * b


@lifetime(captures=None, reason=13)
def dropped_inside_enumerate(x, log):
    for k, y in enumerate(noisy([x, x], log)):
        break
    log.append("after")
    return y * 2


@lifetime()
def exhausted_inside_zip(x, log):
    total = sum(a * b for a, b in zip(noisy([x, x], log), [1, 2, 3]))
    log.append("after")
    return total


@lifetime(captures=None, reason=13)
def still_suspended_at_the_end(x, log):
    g = noisy([x, x], log)
    return next(g) * 2


@lifetime()
def without_a_try(x, log):
    def quiet(x):
        yield x
        yield x * 2
    g = quiet(x)
    return next(g) * 2


@lifetime()
def never_started(x, log):
    g = noisy([x], log)
    g = None
    log.append("after")
    return x * 2


@lifetime()
def with_inside(x, log):
    def gen():
        with contextlib.suppress(KeyError):
            yield x
            yield x * 2
    for y in gen():
        with scope(log):
            break
    log.append("after")
    return y * 2


@lifetime()
def writes_in_the_finally(x, log):
    box = Box()
    def gen():
        try:
            yield x
        finally:
            box.n += 1
    for y in gen():
        break
    return y * box.n, box.n


@lifetime()
def two_at_once(x, log):
    a, b = noisy([x], log, "a"), noisy([x], log, "b")
    y = next(a) + next(b)
    b = None
    a = None
    log.append("after")
    return y


@lifetime()
def exception_unwinds_it(x, log):
    def body():
        for y in noisy([x, x], log):
            raise KeyError("stop")
    try:
        body()
    except KeyError:
        log.append("caught")
    log.append("after")
    return x * 2


if __name__ == "__main__":
    main()
