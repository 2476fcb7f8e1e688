# run: TERRA_EXACT=1
"""Every number of the table of reasons, each met by a program that ends with exactly that number."""
import sys

import _terra_C as C
import terra
from _harness import Bag, main, program, programs

#: An error of the recorder or of the graph compiler, and what a measurement decides: these no program brings about.
NOT_FROM_PYTHON = {17, 20, 27, 29, 30}
#: Not a matter of one recorded call in stress mode: below.
APART = {3, 16, 18, 23}


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


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


@program(calls=8, captures=None, reason=5)
def except_star():
    def f(x):
        try:
            raise ExceptionGroup("g", [ValueError(1)])
        except* ValueError:
            x = x + 1
        return x
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=6)
def operator_of_c_objects():
    import datetime
    day = datetime.timedelta(days=1)
    box = Bag(day=day)
    def f(x, box):
        return x * (box.day + box.day).days
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=7)
def attribute_of_a_c_object():
    import datetime
    box = Bag(day=datetime.timedelta(days=2))
    def f(x, box):
        return x * box.day.days
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=8)
def iterator_from_outside():
    def f(x, it):
        for k in it:
            x = x * k
        return x
    return f, lambda i: (t(i), map(float, [1, 2])), None


@program(calls=8, captures=None, reason=9)
def item_of_an_array():
    import array
    box = Bag(numbers=array.array("i", [1, 2]))
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
def range_of_an_object():
    class Size:
        def __index__(self):
            return 3
    size = Size()
    def f(x, size):
        return x * len(range(size))
    return f, lambda i: (t(i), size), None


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
        sys.settrace(None)
        return x * 2
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=19)
def list_of_a_tensor():
    def f(x):
        return x * len(x.tolist())
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=24)
def starts_a_thread():
    import _thread
    def f(x):
        _thread.start_new_thread(len, ((),))
        return x * 2
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=25)
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
def backward_of_a_loss_from_outside():
    w = terra.ones(3, requires_grad=True)
    def f(loss):
        loss.backward()
        return w.grad * 2
    return f, lambda i: ((w * i).sum(),), None


@program(calls=8, captures=None, reason=26)
def gradient_mode_left_changed():
    def f(x, on):
        terra.set_grad_enabled(on)
        return x * 2
    def args(i):
        terra.set_grad_enabled(True)
        return t(i), False
    return f, args, None


@program(calls=8, captures=None, reason=31)
def a_function_that_calls_itself():
    def fold(x, depth):
        return x if depth == 0 else fold(x * 2, depth - 1) + 1
    def f(x):
        return fold(x, 3)
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=28)
def tensor_error_is_caught():
    def f(x):
        try:
            return x @ terra.ones(3)
        except RuntimeError:
            return x
    return f, lambda i: (t(i),), None


@program(calls=8, captures=None, reason=10)
def key_that_nobody_showed():
    class Key:
        def __hash__(self):
            return hash("k")
        def __eq__(self, other):
            return True
    box = Bag(d={Key(): 2})
    def f(x, box):
        return x * box.d.get("k")
    return f, lambda i: (t(i), box), None


@program(calls=8, captures=None, reason=22)
def power_of_an_item():
    def f(x, y):
        return y * (x.sum().item() + 1)
    return f, lambda i: (t(i), t(1)), None


def reason_after(f, calls, mode):
    C.capture_mode(mode)
    for arguments in calls:
        f(*arguments)
    C.capture_mode("off")
    return C.capture_frame(f)["reason"]


def no_tensor_work(x):
    return x * 2  # with a number instead of a tensor, once it is hot


def too_long(x):
    for _ in range(1_000_000):
        pass
    return x * 2


def another_tag(x, tag):
    return x * 2, tag


def counter(x, box):
    box.d["n"] += 1
    return x * 2


def apart():
    x, box = t(1), Bag(d={"n": 0})
    assert reason_after(no_tensor_work, [(x,)] * 3 + [(2,)] * 3, "auto") == 3
    assert reason_after(too_long, [(x,)] * 3, "stress") == 16
    assert reason_after(another_tag, [(x, f"tag {i}") for i in range(200)], "stress") == 18
    assert reason_after(counter, [(x, box)] * 2, "stress") == 23


if __name__ == "__main__":
    expected = {reason for _, _, _, reason, *_ in programs.values()}
    table = {row.number for row in terra.capture.reasons()}
    assert expected | APART | NOT_FROM_PYTHON == table, sorted(table - expected - APART - NOT_FROM_PYTHON)
    apart()
    main()
