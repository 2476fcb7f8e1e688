# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Calls that are served before there is a frame: every way to call, and everything that needs the frame after all."""
import functools
import sys
import types

import terra
from terra import nn
from _harness import main, program

X = terra.arange(4.0)


@program(calls=16, captures=10)
def defaults_that_are_left_out_and_changed():
    def f(x, scale=2.0, shift=X):
        return x * scale + shift

    def args(i):
        if i == 9:
            f.__defaults__ = (3.0, X + 1)
        return ((X + i,), (X + i, 5.0), (X + i, 5.0, X))[i % 3 if i > 11 else 0]

    return f, args, None


@program(calls=16, captures=4)
def calls_with_the_wrong_arguments():
    def f(x, y):
        return x + y

    def call(*given):
        try:
            return f(*given)
        except TypeError as error:
            return str(error)

    return f, lambda i: (X, X + i), [call(X), call(X, X, X), call(), call(X, X + 1)]


@program(calls=16, captures=None)
def every_way_to_call():
    def f(x, y=X):
        return x * 2 + y

    class Holder:
        def method(self, x, y=X):
            return f(x, y)

        via = f

    holder, seen = Holder(), []

    @terra.capture.off
    def g(x):
        seen.append(len(seen))
        ways = [f(x), f(x, x), f(*[x, x]), f(x=x), f(x, y=x), f(**{"x": x}), holder.method(x), Holder.method(holder, x),
                functools.partial(f, x)(), functools.partial(f, y=x)(x), *map(f, [x, x], [X, x]),
                *sorted([f(x), f(x + 1)], key=lambda t: -float(t.sum()))]
        total = ways[0]
        for way in ways[1:]:
            total = total + way
        return total

    return g, lambda i: (X + i,), seen


@program(calls=20, captures=8)
def another_code_in_the_middle():
    def f(x):
        return x * 2

    def other(x):
        return x * 3 + 1

    first = f.__code__

    def args(i):
        f.__code__ = first if i < 8 or i > 14 else other.__code__
        return (X + i,)

    return f, args, None


@program(calls=18, captures=7)
def an_error_that_shows_the_frame():
    log = []

    def f(x, y):
        return x @ y

    def call(x, y):
        try:
            return f(x, y)
        except RuntimeError as error:
            frame = error.__traceback__.tb_next
            log.append((frame.tb_frame.f_code.co_name, frame.tb_lineno - f.__code__.co_firstlineno, str(error)))
            return None

    return call, lambda i: (X, terra.ones(4 if i % 5 else 3)), log


@program(calls=16, captures=None)
def a_tracer_that_comes_and_goes():
    events = []

    def f(x):
        y = x + 1
        return y * 2

    def trace(frame, event, arg):
        if frame.f_code is f.__code__:
            events.append((event, frame.f_lineno - f.__code__.co_firstlineno))
            return trace

    @terra.capture.off
    def g(i, x):
        if i % 5 == 4:
            sys.settrace(trace)
        try:
            return f(x)
        finally:
            sys.settrace(None)

    return g, lambda i: (i, X + i), events


@program(calls=16, captures=None)
def a_profiler_that_comes_and_goes():
    events = []

    def f(x):
        return x + 1

    def profile(frame, event, arg):
        if frame.f_code is f.__code__:
            events.append(event)

    @terra.capture.off
    def g(i, x):
        sys.setprofile(profile if i % 4 == 3 else None)
        try:
            return f(x)
        finally:
            sys.setprofile(None)

    return g, lambda i: (i, X + i), events


@program(calls=16, captures=6)
def arguments_that_are_dropped_inside():
    kept = [X + 100]

    def f(x):
        kept[0] = x * 2  # the last reference to the tensor that was there, which may be the argument
        return x + kept[0]

    def call(i):
        return f(kept[0]) if i % 2 else f(X + i)

    return call, lambda i: (i,), kept


@program(calls=16, captures=8)
def the_cells_of_arguments():
    def f(x, scale):
        def inner(y):
            return y * scale + x
        return inner(x) + inner(x + 1)

    return f, lambda i: (X + i, 2.0), None


@program(calls=16, captures=6)
def a_function_that_gets_another_name_and_dict():
    def f(x):
        return x + 1

    def args(i):
        if i == 8:
            f.__name__, f.__qualname__, f.note = "g", "g", i
        return (X + i,)

    return f, args, f.__dict__


def module_program(change, back=lambda m: None):
    def make():
        class Scale(nn.Module):
            def __init__(self, by):
                super().__init__()
                self.by = by
                self.weight = nn.Parameter(X + by)

            def forward(self, x):
                return x * self.weight + self.by

        class Other(Scale):
            def forward(self, x):
                return x - self.weight

        module = Scale(2.0)
        module.other = Other

        def args(i):
            if i == 7:
                change(module)
            if i == 12:
                back(module)
            return (X + i,)

        def scaled(x):
            return module(x)

        return scaled, args, None
    return make


def forward_of_its_own(m):
    m.forward = lambda x: x * 10


def forward_by_dict(m):
    m.__dict__["forward"] = types.MethodType(lambda self, x: x * self.by, m)


def another_dict(m):
    m.__dict__ = {**m.__dict__, "by": 7.0}


def another_class(m):
    m.__class__ = m.__dict__["other"]


def another_class_by_object(m):
    object.__dict__["__class__"].__set__(m, m.__dict__["other"])


handles = []


def hook(m):
    handles.append(m.register_forward_hook(lambda module, inputs, output: output + 100))


def no_hook(m):
    handles.pop().remove()


def parameter_by_dict(m):
    m._parameters["weight"] = nn.Parameter(X - 3)


def parameter_of_another_class(m):
    weight = m.weight.detach() + 1
    m._parameters["weight"] = weight
    weight.__class__ = nn.Parameter


def other_memory(m):
    m.weight.data = (X * 2).clone()


def other_memory_in_place(m):
    m.weight.detach().set_(terra.arange(1.0, 5.0)) if hasattr(m.weight, "set_") else other_memory(m)


for name, change, back in [
    ("other_memory", other_memory, other_memory),
    ("other_memory_in_place", other_memory_in_place, other_memory),
    ("forward_of_its_own", forward_of_its_own, lambda m: delattr(m, "forward")),
    ("forward_by_dict", forward_by_dict, lambda m: m.__dict__.pop("forward")),
    ("another_dict", another_dict, another_dict),
    ("another_class", another_class, lambda m: None),
    ("another_class_by_object", another_class_by_object, lambda m: None),
    ("hook", hook, no_hook),
    ("parameter_by_dict", parameter_by_dict, parameter_by_dict),
    ("parameter_of_another_class", parameter_of_another_class, lambda m: None),
]:
    make = module_program(change, back)
    make.__name__ = name
    program(calls=18, captures=6)(make)


@program(calls=16, captures=8)
def a_tensor_that_becomes_another_in_place():
    weight = X + 1

    def args(i):
        if i == 6:
            weight.resize_(2, 2)
        if i == 8:
            weight.data = terra.arange(4.0)
        if i == 10:
            weight.requires_grad_(True)
        if i == 12:
            weight.requires_grad_(False)
        return X.view(weight.shape) + i, weight

    def f(x, weight):
        return x * weight

    return f, args, weight


if __name__ == "__main__":
    main()
