# run: TERRA_EXACT=1
"""Every number of the table of reasons, each met by a program that ends with exactly that number."""
import sys

import _terra_C as C
import terra
from _harness import main, program, programs

#: Numbers that no program can bring about: an error of the recorder (17, 27), and what is told apart from it.
NOT_FROM_PYTHON = {17, 24, 25, 27}


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@program(calls=12, captures=10, reason=0)
def captured():
    return (lambda x: x * 2), lambda i: (t(i),), None


@program(calls=8, captures=None, reason=1)
def raises():
    def f(x):
        raise ValueError(x.shape)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=2)
def generator_function():
    def f(x):
        yield x * 2
    def drained(x):
        return list(f(x))
    drained.target = f
    return drained, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=4)
def calls_the_clock():
    import time
    def f(x):
        return x * (time.time() > 0)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=5)
def class_body():
    def f(x):
        class Local:
            pass
        return x * 2
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=6)
def operator_of_c_objects():
    import datetime
    day = datetime.timedelta(days=1)
    box = Plain(day=day)
    def f(x, box):
        return x * (box.day + box.day).days
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=7)
def attribute_of_a_c_object():
    import datetime
    box = Plain(day=datetime.timedelta(days=2))
    def f(x, box):
        return x * box.day.days
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=8)
def iterator_from_outside():
    def f(x, it):
        for k in it:
            x = x * k
        return x
    return f, lambda i: (t(i), iter([1, 2])), None


@program(calls=8, captures=None, reason=9)
def slice_of_a_range():
    import array
    box = Plain(numbers=array.array("i", [1, 2]))
    def f(x, box):
        return x * box.numbers[1]
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=11)
def object_with_finalizer():
    class Handle:
        def __del__(self):
            pass
    def f(x):
        h = Handle()
        return x * 2
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=12)
def equality_in_python():
    class Key:
        def __hash__(self):
            return hash("k")
        def __eq__(self, other):
            return True
    d = {Key(): 2}
    box = Plain(d=d)
    def f(x, box):
        return x * box.d.get("k")
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=13)
def generator_escapes():
    def f(x):
        return (x * k for k in range(3))
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=14)
def generator_from_elsewhere():
    def endless():
        while True:
            yield 2.0
    stream = endless()
    def f(x):
        return x * next(stream)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=15)
def traced():
    def f(x):
        before = sys.gettrace()
        sys.settrace(None)
        sys.settrace(before)
        return g(x)
    def g(x):
        return x * 2
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=19)
def address_of_a_tensor():
    def f(x):
        return x * (x.data_ptr() > 0)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=21)
def import_of_a_new_module():
    def f(x):
        sys.modules.pop("colorsys", None)
        import colorsys
        return x * len(colorsys.__name__)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=26)
def gradient_state():
    def f(x):
        x.requires_grad_()
        y = (x * 2).sum()
        y.backward(retain_graph=True)
        y.backward()
        return x.grad_fn, x.grad
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=28)
def tensor_error_is_caught():
    def f(x):
        try:
            return x @ terra.ones(3)
        except RuntimeError:
            return x
    return f, lambda i: (t(i),), None


if __name__ == "__main__":
    main()
