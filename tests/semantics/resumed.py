# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@3
"""Frames that meet something opaque are served again behind it: values, stack, loops, exceptions and frames that are
looked at are those of plain execution."""
import contextlib
import gc
import io
import itertools
import os
import sys
import threading
import traceback
import weakref

import numpy as np

import terra
from _gradients import Net, Seen
from _harness import main, program

def t(i, n=3):
    return terra.arange(float(n)) + i


def opaque(value=0):
    """Something that no recording goes through."""
    return os.getpid() * 0 + value


class Strange:
    """What a recording can't follow: another object at each call, of C types, with code behind operators."""
    def __init__(self, number, told):
        self.number, self.told = number, told

    @property
    def late(self):
        return opaque(self.number)

    @late.setter
    def late(self, number):
        self.told.append(opaque(number))
        self.number = number

    def __getitem__(self, key):
        return opaque(self.number + key)

    def __setitem__(self, key, value):
        self.told.append(opaque(key + value))

    def __add__(self, other):
        return opaque(self.number + other)

    def __contains__(self, other):
        return opaque(other) == self.number

    def __lt__(self, other):
        return opaque(self.number) < other

    def __iter__(self):
        return iter([opaque(1), opaque(2)])


@program(calls=24, captures=8)
def one_in_the_middle():
    def f(x):
        y = (x * 2).relu() + 1
        n = os.getpid()
        return (y * n - y * n).exp() + y
    return f, lambda i: (t(i),), None


@program(calls=24, captures=8)
def several_in_a_row():
    def f(x, i):
        a = os.getpid() * 0
        b = os.getppid() * 0 + i
        y = x * 2 + a + b
        c = os.getpid() * 0
        d = os.stat("/").st_mode * 0 + c
        return y * 2 + d, a, b, c
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=8)
def each_kind_of_instruction():
    told = []
    def f(x, i):
        o = Strange(i, told)
        y = x * 2 + o.late
        o.late = i + 1
        y = y * 3 + o[2]
        o[3] = i
        y = y + (o + 1)
        y = y * (2 if 3 in o else 1)
        y = y - (o < 5)
        for n in o:
            y = y * 2 + n
        z = max(*[opaque(1), i], **{"key": abs})
        return y + z, len(told)
    return f, lambda i: (t(i), i % 4), told


@program(calls=20, captures=4)
def calls_with_names_and_stars():
    def f(x, i):
        y = x + 1
        n = np.full(2, fill_value=i, dtype=np.float32)
        z = y * float(n[0])
        text = "{} {b}".format(i, b=os.getpid() * 0)
        pair = divmod(*(i + 7, 3))
        return z + pair[0], y * pair[1], text, sorted([3, 1, 2], key=lambda v: opaque(v), reverse=True)
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=4)
def in_a_loop():
    def f(x, i):
        ys = []
        for k in range(i % 3 + 2):
            y = x * k + 1
            n = os.getpid() * 0
            ys.append(y * 2 + n)
            if k == 3:
                break
        else:
            ys.append(x)
        return ys, k
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=8)
def in_nested_loops():
    def f(x, rows):
        total = x * 0
        for row in rows:
            for j, v in enumerate(row):
                total = total + x * v
                if opaque(j) == 1:
                    continue
                total = total * 2
            total = total - len(row)
        return total
    return f, lambda i: (t(i), [[1, 2], [3], [i % 2, 4, 5]]), None


@program(calls=24, captures=8)
def in_a_while():
    def f(x, i):
        y, n = x, 0
        while n < 3:
            y = y * 2 + i
            n += 1 + opaque()
        return y, n
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=None)
def in_comprehensions():
    def f(x, i):
        a = [x * n + opaque(n) for n in range(3)]
        b = {n: x + opaque(n) for n in (i, i + 1)}
        c = {opaque(n) for n in (1, 2, 2)}
        d = [*map(opaque, [i, 2]), *itertools.chain([1], [2])]
        return a, b, sorted(c), d, sum(x * opaque(n) for n in (1, 2))
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=None)
def over_a_generator_from_outside():
    told = []
    def items(i):
        for n in range(3):
            told.append(n)
            yield n + i
    def f(x, source):
        y = x
        for n in source:
            y = y * 2 + n
            y = y + opaque()
        return y
    return f, lambda i: (t(i), items(i)), told


@program(calls=24, captures=8)
def raises_at_times():
    told = []
    def risky(i):
        if opaque(i) % 3 == 2:
            raise ValueError(f"bad {i}")
        return i
    def f(x, i):
        y = x * 2 + 1
        try:
            n = risky(i)
            y = y * n
        except ValueError as error:
            y = y - 1
            return y, str(error)
        finally:
            told.append(i)
        return y + 1, n
    return f, lambda i: (t(i), i), told


@program(calls=24, captures=8)
def an_error_of_c_code():
    def f(x, i):
        y = x * 2 + 1
        try:
            n = os.stat("/" if i % 3 else "/no such place").st_mode * 0
        except FileNotFoundError as error:
            return y * 3, error.errno, traceback.extract_tb(error.__traceback__)[0].lineno - f.__code__.co_firstlineno
        return y + n, 0, 0
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=6)
def an_error_that_leaves():
    def f(x, i):
        y = x * 2 + 1
        n = os.stat("/" if i % 3 else "/no such place").st_mode * 0
        return y + n
    def lines(x, i):
        here = sys._getframe()
        try:
            return f(x, i)
        except FileNotFoundError as error:
            return [s.lineno - f.__code__.co_firstlineno for s in traceback.extract_tb(error.__traceback__)][1:]
    lines.target = f
    return lines, lambda i: (t(i), i), None


@program(calls=24, captures=None)
def inside_with_blocks():
    told = []
    @contextlib.contextmanager
    def noted(name):
        told.append("+" + name)
        try:
            yield opaque(2)
        finally:
            told.append("-" + name)
    def f(x, w):
        with noted("a") as n:
            y = x * n + w
            with terra.no_grad():
                z = y * 2 + opaque()
                z = z * 3
            y = (y * z).sum()
        return y, y.requires_grad, z.requires_grad, terra.is_grad_enabled()
    w = t(1).requires_grad_()
    return f, lambda i: (t(i), w), (told, w)


@program(calls=24, captures=8)
def inside_modes():
    def f(x, w):
        y = x * opaque(2) + w
        with terra.no_grad():
            z = y * 2 + opaque()
            with terra.enable_grad():
                u = w * opaque(3)
                u = u + 1
            z = z * 3
        return y * z, y.requires_grad, z.requires_grad, u.requires_grad, terra.is_grad_enabled()
    w = t(1).requires_grad_()
    return f, lambda i: (t(i), w), w


@program(calls=24, captures=8)
def gradients_across():
    net = Net()
    optimizer = terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    def f(x):
        optimizer.zero_grad()
        y = net(x)
        n = opaque(2)
        loss = (y * n).pow(2).mean()
        opaque()
        loss.backward()
        opaque()
        optimizer.step()
        return loss.item(), y
    return f, lambda i: (terra.sin(terra.arange(8.0) + i).view(2, 4),), Seen(net)


@program(calls=24, captures=8)
def views_and_writes_across():
    def f(x):
        y = x * 2
        v = y[1:]
        opaque()
        y.add_(1)
        v.mul_(3)
        opaque()
        w = v + y[0]
        v[0] = 7
        return y, v, w, v.storage_offset()
    return f, lambda i: (t(i),), None


@program(calls=24, captures=None)
def cells_and_closures():
    def f(x, i):
        count = 0
        def add(n):
            nonlocal count
            count += n
            return count
        y = x * 2 + add(i)
        n = opaque(1)
        z = y * add(n)
        count = count * 2
        opaque()
        return z + count, add(1), count, [g() for g in [lambda: count + n]]
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=8)
def names_that_come_and_go():
    told = []
    def f(x, i):
        y = x * 2
        if i % 2:
            extra = y + 1
        opaque()
        try:
            y = y + extra
            del extra
        except UnboundLocalError as error:
            told.append(str(error))
            y = y - 1
        opaque()
        try:
            return y + extra
        except UnboundLocalError:
            return y * 5
    return f, lambda i: (t(i), i // 3), told


@program(calls=24, captures=None)
def last_references():
    told = []
    class Told:
        def __init__(self, name):
            self.name = name
        def __del__(self):
            told.append(self.name)
    def f(x, i):
        kept = Told(f"first {i}")
        opaque()
        y = x * 2
        kept = Told(f"second {i}")
        told.append("between")
        y = y + 1
        opaque()
        z = y * 3
        del kept
        told.append("end")
        return z
    return f, lambda i: (t(i), i), told


@program(calls=24, captures=8)
def tensors_that_go():
    def f(x):
        y = x * 2
        watched = weakref.ref(y)
        opaque()
        y = y + 1
        gone = watched() is None
        opaque()
        return y * 2, gone
    return f, lambda i: (t(i),), None


@program(calls=24, captures=None)
def looked_at_by_its_callee():
    def spy():
        caller = sys._getframe(1)
        return caller.f_lineno - f.__code__.co_firstlineno, sorted(caller.f_locals), caller.f_locals["y"].sum().item()
    def f(x):
        y = x * 2 + 1
        seen = spy()
        z = y * 2
        again = spy()
        return z + 1, seen, again
    return f, lambda i: (t(i),), None


@program(calls=16)
def a_frame_that_is_kept():
    kept = []
    def spy():
        kept.append(sys._getframe(1))
    def f(x, i):
        y = x * 2 + 1
        if i % 2:
            spy()
        opaque()
        z = y * 2
        return z + 1
    def shown(x, i):
        result = f(x, i)
        frames = [(k.f_lineno - f.__code__.co_firstlineno, sorted(k.f_locals)) for k in kept]
        kept.clear()
        return result, frames
    shown.target = f
    return shown, lambda i: (t(i), i), None


@program(calls=16)
def calls_itself_below():
    def f(x, depth):
        y = x * 2 + depth
        if opaque(depth):
            y = y + f(y, depth - 1)
        opaque()
        return y * 3
    return f, lambda i: (t(i), i % 4), None


@program(calls=16)
def changed_below():
    """The opaque call changes what the rest of the frame reads."""
    box = {"scale": 1.0}
    state = [t(1)]
    def change(i):
        opaque()
        box["scale"] = float(i % 3)
        state[0].add_(1)
        if i % 5 == 4:
            state[0] = t(i, 4)
    def f(x, i):
        y = x + state[0][:3] * box["scale"]
        change(i)
        return y + state[0][:3] * box["scale"], state[0].shape[0]
    return f, lambda i: (t(i), i), (box, state)


@program(calls=16)
def traced_from_below():
    """Somebody sets a tracer in the middle."""
    lines = []
    def follow(frame, event, argument):
        if frame.f_code is g.__code__:
            lines.append((event, frame.f_lineno - g.__code__.co_firstlineno))
        return follow
    def g(x):
        y = x + 1
        return y * 2
    def f(x, i):
        y = x * 2
        if i % 3 == 2:
            sys.settrace(follow)
        opaque()
        y = g(y) + 1
        sys.settrace(None)
        return y * 2, len(lines)
    return f, lambda i: (t(i), i), lines


@program(calls=24, captures=None)
def threads_in_between():
    def f(x, i):
        y = x * 2
        out = []
        worker = threading.Thread(target=lambda: out.append(y + i))
        worker.start()
        worker.join()
        y.mul_(2)
        gc.collect()
        return out[0] + y, y
    return f, lambda i: (t(i), i), None


@program(calls=20, captures=4)
def numpy_and_files():
    generator = np.random.default_rng(3)
    def f(x, i):
        y = (x * 2).relu()
        noise = generator.normal(size=3).astype(np.float32)
        y = y + terra.from_numpy(noise)
        sink = io.StringIO()
        print(y.sum().item() > 0, file=sink)
        z = y * 2
        text = sink.getvalue()
        return z - 1, text
    return f, lambda i: (t(i), i), None


@program(calls=20, captures=4)
def temporaries_on_the_stack():
    """Operands that wait below the call."""
    def f(x, i):
        return terra.stack([x * 2, x + opaque(i), (x * 3 + opaque(1)) * (x - opaque(2))]), [x, opaque(3), x * opaque(4)]
    return f, lambda i: (t(i), i), None


if __name__ == "__main__":
    main()
