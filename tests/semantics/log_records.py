# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Records of the logging module are made when the run has been committed, and say where the program made them."""
import io
import logging
import sys

import terra
from _harness import main, program

CALL = 4


def t(i, n=3):
    return terra.arange(float(n)) + i


def logger(name, handler=None, pattern="%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(message)s"):
    """A logger that writes to a string, and the string."""
    log, text = logging.Logger(name), io.StringIO()
    handler = handler or logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter(pattern))
    log.addHandler(handler)
    return log, text


def reading(f, text):
    """f, and what it has written."""
    def called(*args):
        here = sys._getframe()  # looked at, this frame runs plainly; f is recorded on its own
        return f(*args), text.getvalue()
    called.target = f
    return called


@program(calls=12, captures=8)
def first_of_the_frame():
    log, text = logger("train")
    def f(x, n):
        log.info("epoch %d of %s", n, "many")
        y = (x * 2).relu() + 1
        return y
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=12, captures=8)
def between_and_behind_the_work():
    log, text = logger("train")
    def f(x, n):
        y = x * 2
        log.warning(f"step {n}")
        z = y + n
        log.error("loss %.3f", z.sum().item())
        return z
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=20, captures=10)
def every_few_steps():
    log, text = logger("train")
    def f(x, n):
        y = (x * 2).mean()
        if n % 4 == 0:
            log.info("step %d: %s", n, f"{y.item():.2f}")
        return y
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=12, captures=8)
def from_a_function_below():
    log, text = logger("train")
    def report(n):
        log.info("at %d", n)
    def f(x, n):
        report(n)
        return x * 2 + 1
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=12, captures=8)
def order_with_print_is_kept():
    log, text = logger("train")
    def f(x, n):
        print("before", n, file=text)
        log.info("between")
        print("after", file=text)
        return x * 2 + 1
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=12, captures=8)
def level_that_is_off():
    log, text = logger("train")
    log.setLevel(logging.WARNING)
    def f(x, n):
        log.info("not written %d", n)
        log.warning("written %d", n)
        return x * 2 + 1
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=16, captures=6)
def level_changes():
    log, text = logger("train")
    def f(x, n):
        log.info("written from call 8 on: %d", n)
        return x * 2 + 1
    def args(i):
        log.setLevel(logging.INFO if i >= 8 else logging.WARNING)
        return t(i), i
    return reading(f, text), args, None


@program(calls=16, captures=4)
def handler_of_the_program_comes_later():
    seen = []
    class Keeps(logging.Handler):
        def emit(self, record):
            seen.append(record.getMessage())
    log, text = logger("train")
    def f(x, n):
        log.info("call %d", n)
        y = x * 2 + 1
        return y, len(seen)
    def args(i):
        if i == 8:
            log.addHandler(Keeps())
        return t(i), i
    return reading(f, text), args, seen


@program(calls=12, captures=None, reason=CALL)
def handler_of_the_program():
    seen = []
    class Keeps(logging.StreamHandler):
        def emit(self, record):
            seen.append(record.getMessage())
    log, text = logger("train", Keeps())
    def f(x, n):
        log.info("call %d", n)
        return x * 2 + len(seen)
    return reading(f, text), lambda i: (t(i), i), seen


@program(calls=12, captures=None, reason=CALL)
def filter_of_the_program():
    log, text = logger("train")
    log.addFilter(lambda record: record.args[0] % 2)
    def f(x, n):
        log.info("call %d", n)
        return x * 2 + 1
    return reading(f, text), lambda i: (t(i), i), None


@program(calls=12, captures=None, reason=CALL)
def of_an_object():
    log, text = logger("train")
    class Shown:
        count = 0
        def __str__(self):
            Shown.count += 1
            return f"shown {Shown.count}"
    shown = Shown()
    def f(x):
        log.info("it is %s", shown)
        return x * 2 + shown.count
    return reading(f, text), lambda i: (t(i),), None


@program(calls=12, captures=None, reason=CALL)
def with_an_exception():
    log, text = logger("train")
    def f(x):
        log.info("no exception", exc_info=True)
        return x * 2 + 1
    return reading(f, text), lambda i: (t(i),), None


@program(calls=8, captures=4)
def level_for_a_moment():
    """A record that is logged while the handler is set otherwise."""
    handler_of = logging.StreamHandler(text := io.StringIO())
    log, _ = logger("momentary", handler_of)
    def f(x, n):
        handler_of.level = logging.ERROR
        log.warning("quiet %d", n)
        handler_of.level = logging.INFO
        log.warning("loud %d", n)
        return x * n
    return reading(f, text), lambda i: (t(i), i), None


if __name__ == "__main__":
    main()
