# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Context managers: the engine's, classes of the program, contextlib."""
import contextlib
import io

import terra
from _harness import Bag, main, program
from _leaving import WAYS


def t(n, grad=False):
    x = terra.arange(4.0).view(2, 2) * 0.5 + n
    return x.requires_grad_() if grad else x


class Logged:
    def __init__(self, log, name, swallow=None):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append(("exit " + self.name, kind.__name__ if kind else None))
        return self.swallow is not None and kind is not None and issubclass(kind, self.swallow)


@program(calls=12, captures=10)
def no_grad():
    def f(x):
        with terra.no_grad():
            y = x * 2
        z = x * 3
        return y.requires_grad, z.requires_grad, y + z
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=8)
def enable_and_set_grad():
    def f(x, flag):
        with terra.no_grad():
            with terra.enable_grad():
                y = x * 2
            with terra.set_grad_enabled(flag):
                z = x * 3
            w = x * 4
        return y.requires_grad, z.requires_grad, w.requires_grad, terra.is_grad_enabled(), y + z + w
    return f, lambda i: (t(i, True), i % 2 == 0), None


@program(calls=12, captures=10)
def inference_mode():
    def f(x):
        with terra.inference_mode():
            y = x * 2
        return y.requires_grad, y + 1
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=10)
def grad_mode_decorators():
    @terra.no_grad()
    def plain(x):
        return x * 2
    @terra.enable_grad()
    def tracked(x):
        return x * 3
    def f(x):
        with terra.no_grad():
            y = tracked(x)
        return plain(x).requires_grad, y.requires_grad, y
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=10)
def set_grad_enabled_as_a_function():
    def f(x):
        before = terra.is_grad_enabled()
        terra.set_grad_enabled(False)
        y = x * 2
        terra.set_grad_enabled(before)
        return y.requires_grad, (x * 2).requires_grad, y
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=9)
def class_of_the_program():
    def f(x, log, n):
        with Logged(log, "a") as a, Logged(log, "b") as b:
            x = x * n
            log.append((a.name, b.name))
        return x
    log = []
    return f, lambda i: (t(i), log, 2.0), log


@program(calls=12, captures=7)
def swallowed_and_passed_on():
    def f(x, log, n):
        with Logged(log, "a", KeyError):
            x = x + 1
            if n:
                raise KeyError("k")
            x = x * 2
        try:
            with Logged(log, "b", KeyError):
                raise ValueError("v")
        except ValueError:
            x = x * 3
        return x
    log = []
    return f, lambda i: (t(i), log, i % 2), log


@program(calls=12, captures=6)
def return_break_continue_through_with():
    def f(x, log, n):
        for j in range(4):
            with Logged(log, str(j)):
                if j == 0:
                    continue
                if n == 1 and j == 2:
                    break
                if n == 2:
                    return x * j
                x = x + j
        return x
    log = []
    return f, lambda i: (t(i), log, i % 3), log


@program(calls=12, captures=7)
def generator_context_manager():
    @contextlib.contextmanager
    def scaled(o, k):
        before = o.scale
        o.scale = k
        try:
            yield o
        finally:
            o.scale = before
    def f(x, o, k):
        with scaled(o, k) as inner:
            y = x * inner.scale
        return y + o.scale
    o = Bag(scale=1.0)
    return f, lambda i: (t(i), o, 2.0 + i % 2), o


@program(calls=12, captures=7)
def generator_context_manager_with_exception():
    @contextlib.contextmanager
    def guarded(log):
        try:
            yield
        except KeyError as e:
            log.append(e.args[0])
    def f(x, log, n):
        with guarded(log):
            x = x + 1
            if n:
                raise KeyError("k")
            x = x * 2
        return x
    log = []
    return f, lambda i: (t(i), log, i % 2), log


@program(calls=12, captures=9)
def generator_context_manager_as_decorator():
    @contextlib.contextmanager
    def counted(o):
        o.depth += 1
        yield
        o.depth -= 1
    o = Bag(depth=0, seen=[])
    @counted(o)
    def inner(x):
        o.seen.append(o.depth)
        return x * 2
    def f(x):
        return inner(x) + 1
    return f, lambda i: (t(i),), o


@program(calls=12, captures=9)
def suppress():
    def f(x, d):
        with contextlib.suppress(KeyError, IndexError):
            x = x + 1
            x = x * d["k"]
        return x
    return f, lambda i: (t(i), {"k": 3.0} if i % 2 else {}), None


@program(calls=12, captures=8)
def nullcontext():
    def f(x, log, verbose):
        with Logged(log, "v") if verbose else contextlib.nullcontext(4) as c:
            x = x * (c if not verbose else 2)
        return x
    log = []
    return f, lambda i: (t(i), log, i % 2 == 0), log


@program(calls=12, captures=None, reason=4)
def exit_stack():
    def f(x, log):
        with contextlib.ExitStack() as stack:
            for name in "ab":
                stack.enter_context(Logged(log, name))
            x = x * 2
        return x
    log = []
    return f, lambda i: (t(i), log), log


@program(calls=12, captures=9)
def closing():
    class Thing:
        def __init__(self, log):
            self.log = log
        def close(self):
            self.log.append("closed")
    def f(x, log):
        with contextlib.closing(Thing(log)) as thing:
            thing.log.append("inside")
            x = x * 2
        return x
    log = []
    return f, lambda i: (t(i), log), log


@program(calls=12, captures=9)
def context_decorator_class():
    class traced(contextlib.ContextDecorator):
        def __init__(self, log):
            self.log = log
        def __enter__(self):
            self.log.append("in")
            return self
        def __exit__(self, *exc):
            self.log.append("out")
            return False
    log = []
    @traced(log)
    def inner(x):
        return x * 2
    def f(x):
        return inner(x) + 1
    return f, lambda i: (t(i),), log


@program(calls=8, captures=3)
def output_sent_elsewhere():
    """The stream of a print is the one of that moment, not that of the end."""
    kept = io.StringIO()
    def f(x, i):
        with contextlib.redirect_stdout(kept):
            print("round", i)
        return x * i
    def args(i):
        return terra.ones(2), i
    def g(x, i):
        y = f(x, i)
        return y, kept.getvalue()
    g.target = f
    return g, args, None


def left_inside(target):
    """The frame leaves a gradient mode that somebody else entered: the mode of before comes back, which is not that of
    another call."""
    makers = terra.enable_grad, terra.no_grad, terra.inference_mode

    def f(i, x):
        with terra.set_grad_enabled(i % 5 != 4):
            mode = makers[i // 5 % 3]()
            mode.__enter__()
            found = [y.requires_grad for y in target(mode, lambda: x * 2)]
            return found, terra.is_grad_enabled(), terra.is_inference_mode_enabled()
    f.target = target
    return f, lambda i: (i, t(i, True)), None


def left_by(way):
    def make():
        return left_inside(way)
    make.__name__ = "modes_left_" + way.__name__
    return make


for way in WAYS:
    program(calls=30)(left_by(way))


@program(calls=20)
def modes_entered_inside():
    def target(mode, x):
        with mode:
            y = x * 2
        return y.requires_grad, (x * 3).requires_grad

    def f(i, x):
        with terra.set_grad_enabled(i % 3 != 2):
            return target((terra.no_grad, terra.enable_grad)[i % 2](), x), terra.is_grad_enabled()
    f.target = target
    return f, lambda i: (i, t(i, True)), None


@program(calls=20)
def modes_held_by_an_object():
    class Holder:
        def __enter__(self):
            self.mode = terra.enable_grad()
            self.mode.__enter__()
            return self

        def __exit__(self, *error):
            self.mode.__exit__(*error)
            return False

    def f(i, x):
        with terra.set_grad_enabled(i % 5 != 4):
            with Holder():
                y = x * 2
            return y.requires_grad, terra.is_grad_enabled()
    return f, lambda i: (i, t(i, True)), None


if __name__ == "__main__":
    main()
