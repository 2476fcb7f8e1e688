# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@2
"""Frames that are left in the middle: what comes before something opaque is served, CPython goes on from there.

`cut=N`: at least one entry ends where the recording met reason N. The opaque call of most programs is os.getpid."""
import io
import logging
import os
import sys
import threading
import weakref

import terra
import terra.nn.functional as F
from _harness import Bag, main, program
from terra import nn

CALL, OPAQUE, SCALAR = 4, 19, 22


def t(n, grad=False):
    x = terra.arange(4.0).view(2, 2) * 0.5 + n
    return x.requires_grad_() if grad else x


def opaque():
    """What no recorder can follow."""
    return os.getpid() > 0


# ---- straight code ----

@program(calls=12, captures=8, cut=CALL)
def straight():
    def f(x):
        y = x * 2
        z = (y + 1).relu()
        os.getpid()
        return y, z, y + z
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=CALL)
def in_an_expression():
    def g(a, k, b, *, c):
        return a * 2 + b * c, k
    def f(x):
        return g(x * 2 + 1, os.getpid() > 0, (x - 3).abs(), c=x.sum())
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=CALL)
def keywords_of_the_call_itself():
    out = []
    def f(x):
        y = (x * 2).exp()
        return sorted([3, 1, 2], key=lambda v: (out.append(v), os.getpid(), -v)[2]), y.sum(), x
    return f, lambda i: (t(i * 0.1),), out


@program(calls=12, captures=8, cut=OPAQUE)
def tolist():
    def f(x):
        y = (x * 2).relu() + 1
        values = y.tolist()
        return [v * 2 for row in values for v in row], y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=25)
def numpy_in_the_middle():
    import numpy
    def f(x):
        y = (x * 2).relu() + 1
        a = y.numpy()
        a += 1
        y.mul_(2)
        return float(numpy.sum(a)), y + terra.from_numpy(a)
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=CALL)
def print_of_a_tensor():
    out = io.StringIO()
    def f(x):
        y = (x * 2).relu() + 1
        print("y is", y, file=out)
        return y.sum(), out.getvalue()
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8)
def print_to_stdout():
    def f(x):
        y = (x * 2).relu() + 1
        print("sum", y.sum().item())
        return y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def log_record():
    records = []
    class Handler(logging.Handler):
        def emit(self, record):
            records.append((record.getMessage(), record.lineno - record.args[1]))
    logger = logging.Logger("cuts")
    logger.addHandler(Handler())
    def f(x):
        y = (x * 2).relu() + 1
        logger.warning("max %s %d", y.max(), sys._getframe().f_lineno)
        return y * 2
    return f, lambda i: (t(i),), records


@program(calls=12, captures=8, cut=True)
def a_file_in_a_with():
    def f(x):
        y = (x * 2).relu() + 1
        with open(os.devnull, "w") as sink:
            count = sink.write(str(y.tolist()))
            y = y * count
        return y, sink.closed
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def import_inside():
    def f(x):
        y = (x * 2).relu() + 1
        import math
        return y * math.pi
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=SCALAR)
def a_number_out_and_in_again():
    def f(x):
        y = x * 2 + 1
        scale = y.sum().item() / 4
        return y * (scale - 1), scale
    return f, lambda i: (t(i),), None


@program(calls=12, captures=None)
def too_little_before_it():
    def f(x):
        os.getpid()
        return (x * 2).relu() + 1
    return f, lambda i: (t(i),), None


# ---- blocks ----

class Logged:
    def __init__(self, log, swallow=None):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append(("exit", kind.__name__ if kind else None, os.getpid() > 0))
        return self.swallow is not None and kind is not None and issubclass(kind, self.swallow)


@program(calls=12, captures=8, cut=True)
def inside_a_with():
    log = []
    def f(x):
        with Logged(log) as manager:
            y = (x * 2 + 1).relu()
            os.getpid()
            manager.log.append("body")
            y = y * 2
        return y
    return f, lambda i: (t(i),), log


@program(calls=12, captures=8, cut=True)
def a_with_that_swallows():
    log, manager = [], Logged([], KeyError)
    manager.log = log
    def f(x, n):
        y = x
        with manager:
            y = (x * 2 + 1).relu()
            os.getpid()
            y = y * {0: 3}[n % 2]
        return y
    return f, lambda i: (t(i), i), log


@program(calls=12, captures=8, cut=CALL)
def inside_no_grad():
    def f(x):
        with terra.no_grad():
            y = (x * 2 + 1).relu()
            with terra.enable_grad():
                z = x * 3
                os.getpid()
                v = z * y
            w = x * y
        return [(q.requires_grad, q) for q in (y, z, v, w, x * 1)], terra.is_grad_enabled()
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=8, cut=CALL)
def the_gradient_mode_left_off():
    def f(x):
        y = x * 2
        terra.set_grad_enabled(False)
        z = x * 3
        os.getpid()
        w = x * 4
        terra.set_grad_enabled(True)
        return y.requires_grad, z.requires_grad, w.requires_grad, y + z + w
    return f, lambda i: (t(i, True),), None


@program(calls=12, captures=8, cut=True)
def raise_behind_the_cut_is_caught():
    def f(x, n):
        y = x * 2
        try:
            y = (y + 1).relu()
            os.getpid()
            y = y * [2, 3][n % 3]
        except IndexError as error:
            return str(error), y
        else:
            y = y + 1
        finally:
            y.add_(1)
        return y
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=6, cut=True)
def raise_behind_the_cut_leaves():
    def f(x, n):
        y = (x * 2 + 1).relu()
        os.getpid()
        return y * [2, 3][n % 3]
    def call(x, n):
        try:
            return f(x, n)
        except IndexError as error:
            here = error.__traceback__
            lines = []
            while here:
                lines.append((here.tb_frame.f_code.co_name, here.tb_lineno - here.tb_frame.f_code.co_firstlineno))
                here = here.tb_next
            return lines, sorted(error.__traceback__.tb_next.tb_frame.f_locals)
    call.target = f
    return call, lambda i: (t(i), i), None


@program(calls=12, captures=None)
def inside_a_handler():
    def f(x):
        try:
            raise KeyError("k")
        except KeyError as error:
            y = (x * 2 + 1).relu()
            os.getpid()
            return y, str(sys.exc_info()[1])
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6, cut=True)
def behind_a_handler():
    def f(x, d):
        y = (x * 2 + 1).relu()
        try:
            y = y * d["absent"]
        except KeyError:
            y = y + 2
        os.getpid()
        return y, sys.exc_info()
    return f, lambda i: (t(i), {"k": 1}), None


@program(calls=12, captures=6, cut=True)
def called_inside_a_handler():
    def f(x):
        y = (x * 2 + 1).relu()
        os.getpid()
        return y, str(sys.exc_info()[1])
    def call(x):
        try:
            raise KeyError("outer")
        except KeyError:
            return f(x)
    call.target = f
    return call, lambda i: (t(i),), None


# ---- locals, cells, closures, methods ----

@program(calls=12, captures=6, cut=True)
def cells():
    def f(x, n):
        y = (x * 2 + 1).relu()
        total = y * 2
        os.getpid()
        def inner():
            nonlocal total
            total = total + y
            return n
        return inner(), inner(), total
    return f, lambda i: (t(i), "k"), None


@program(calls=12, captures=8, cut=True)
def free_variables():
    count, kept = 0, []
    def f(x):
        nonlocal count
        y = (x * 2 + 1).relu()
        count = count + 1
        kept.append(count)
        os.getpid()
        count = count + 10
        return y * count, len(kept)
    return f, lambda i: (t(i),), kept


@program(calls=12, captures=6, cut=True)
def closures_that_share_code():
    def make(k):
        def f(x):
            y = (x * k + 1).relu()
            os.getpid()
            return y * k
        return f
    fs = [make(2), make(3)]
    def call(i, x):
        return fs[i % 2](x)
    call.target = fs[0]
    return call, lambda i: (i, t(i)), None


@program(calls=12, captures=8, cut=True)
def deleted_and_unbound_locals():
    def f(x, spare):
        y = (x * 2 + 1).relu()
        del spare
        if y is None:
            never = 1
        os.getpid()
        try:
            return y, spare
        except UnboundLocalError as first:
            try:
                return never
            except UnboundLocalError as second:
                return str(first), str(second), y
    return f, lambda i: (t(i), [i]), None


@program(calls=12, captures=8, cut=True)
def locals_behind_the_cut():
    def f(x, a, *rest, key=3, **more):
        y = (x * 2 + 1).relu()
        a = [y, y]
        return {k: v for k, v in locals().items()}, a[0] is a[1]
    return f, lambda i: (t(i), 1, 2, 3), None


@program(calls=12, captures=8, cut=True)
def a_method_with_state():
    class Model:
        def __init__(self):
            self.count, self.history = 0, []
        def step(self, x):
            self.count += 1
            y = (x * 2 + self.count).relu()
            self.last = y
            self.history.append(self.count)
            os.getpid()
            self.count += 100
            self.history.append(self.last is y)
            return y
    m = Model()
    return m.step, lambda i: (t(i),), m


@program(calls=12, captures=8, cut=True)
def identity_among_locals_stack_and_effects():
    o = Bag(kept=None)
    def f(o, x):
        y = (x * 2 + 1).relu()
        pair = [y, y]
        o.kept = pair
        both = (pair, o, opaque(), y, pair[0])
        return both[0] is o.kept, both[1] is o, both[3] is both[4], both[3] is y, o.kept[1] is y
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8, cut=True)
def objects_made_before():
    class Point:
        def __init__(self, a, b):
            self.a, self.b = a, b
    def f(x):
        p = Point((x * 2 + 1).relu(), "text")
        d = {"p": p, "q": [p, p.a]}
        opaque()
        return d["q"][0] is p, d["q"][1] is p.a, p.b, p.a * 2, d
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def bound_methods_on_the_stack():
    def f(x, log):
        add = log.append
        y = (x * 2 + 1).relu()
        add(os.getpid() > 0)
        y.sum().add(1).mul(len(log) + os.getpid() * 0)
        return y, add.__self__ is log
    return f, lambda i: (t(i), []), None


# ---- effects before and after ----

@program(calls=12, captures=8, cut=True)
def order_of_effects():
    log = []
    class Watched(list):
        pass
    def f(o, x):
        log.append("start")
        o.a = (x * 2 + 1).relu()
        log.append("before")
        logged(log)
        log.append("after")
        o.a = o.a + 1
        return list(log[-4:])
    def logged(log):
        os.getpid()
        log.append(len(log))
    o = Bag(a=None, log=log)
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8, cut=True)
def effects_of_an_inlined_callee_happen_once():
    o = Bag(n=0)
    def g(o, x):
        o.n += 1
        y = x * o.n
        os.getpid()
        o.n += 10
        return y
    def f(o, x):
        y = (x * 2 + 1).relu()
        return g(o, y) + y, o.n
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8, cut=True)
def in_place_before_and_after():
    def f(x, buffer):
        buffer.mul_(2).add_(x)
        view = buffer[0]
        opaque()
        view.add_(1)
        buffer.mul_(0.5)
        return view, buffer.sum()
    buffer = terra.zeros(2, 2)
    return f, lambda i: (t(i), buffer), Bag(buffer=buffer)


@program(calls=12, captures=6, cut=True)
def dropped_arguments_die_in_time():
    log = []
    class Token:
        pass
    def f(x, box):
        y = (x * 2 + 1).relu()
        box = None
        opaque()
        return y, log[-1:]
    def args(i):
        token = Token()
        weakref.finalize(token, log.append, i)
        return t(i), token
    def call(x, box):
        boxes = [box]
        del box
        return f(x, boxes.pop())
    call.target = f
    return call, lambda i: (t(i), Bag(i=i)), log


# ---- training ----

@program(calls=12, captures=6, cut=True)
def a_training_step_that_prints():
    terra.manual_seed(3)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizer = terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    out = io.StringIO()
    def f(x):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), file=out)
        return loss.detach(), [p.grad.sum() for p in net.parameters()], out.getvalue()
    return f, lambda i: (t(i * 0.1),), None


@program(calls=12, captures=6, cut=True)
def backward_behind_the_cut():
    terra.manual_seed(4)
    first, last, out = nn.Linear(2, 3), nn.Linear(3, 1), io.StringIO()
    net = nn.ModuleList([first, last])
    def f(x):
        hidden = first(x).tanh()
        loss = last(hidden).square().mean()
        print("loss", loss, file=out)
        loss.backward()
        grads = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        return grads, loss.grad_fn is not None, hidden.requires_grad
    return f, lambda i: (t(i * 0.1),), None


@program(calls=12, captures=6, cut=True)
def forward_of_a_module_that_reports():
    class Reporting(nn.Module):
        def __init__(self):
            super().__init__()
            terra.manual_seed(5)
            self.a, self.b, self.seen = nn.Linear(2, 3), nn.Linear(3, 2), []
        def forward(self, x):
            y = F.relu(self.a(x))
            self.seen.append(float(y.detach().numpy().sum()))
            return self.b(y)
    net = Reporting()
    def call(x):
        y = net(x)
        y.sum().backward()
        grad = net.a.weight.grad.clone()
        net.zero_grad()
        return y, grad
    call.target = Reporting.forward
    return call, lambda i: (t(i * 0.1),), Bag(seen=net.seen)


# ---- calls, recursion, several cuts ----

@program(calls=12, captures=6, cut=True)
def several_cuts_by_branch():
    def f(x, kind):
        y = (x * 2 + 1).relu()
        if kind == "a":
            y = y * 2
            os.getpid()
            return y + 1
        y = y * 3
        os.getcwd()
        return y + 2
    return f, lambda i: (t(i), "ab"[i // 3 % 2]), None


@program(calls=12, captures=6, cut=True)
def whole_and_cut():
    def f(x, report):
        y = (x * 2 + 1).relu()
        if report:
            os.getpid()
        return y * 2
    return f, lambda i: (t(i), i % 3 == 0), None


@program(calls=12, captures=8, cut=True)
def recursive():
    def f(x, depth):
        y = (x * 2 + depth).relu() * 0.5
        if os.getpid() and depth:
            y = y + f(y, depth - 1)
        return y
    return f, lambda i: (t(i), 3), None


@program(calls=12, captures=8, cut=True)
def nested_cuts():
    def h(x):
        y = x * 3 + 1
        os.getpid()
        return y * 2
    def g(x):
        y = (x - 1).abs() + 2
        return h(y) + h(y + 1)
    def f(x):
        y = (x * 2 + 1).relu()
        z = g(y)
        return z + y
    f.target = g
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def line_numbers_behind_the_cut():
    def f(x):
        y = (x * 2 + 1).relu()
        first = sys._getframe().f_lineno
        frame = sys._getframe()
        second = frame.f_lineno
        return first - frame.f_code.co_firstlineno, second - first, sorted(frame.f_locals), frame.f_back.f_code.co_name, y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6, cut=True)
def a_tracer_set_behind_the_cut():
    def f(x):
        y = (x * 2 + 1).relu()
        seen = []
        def tracer(frame, event, argument):
            seen.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
            return tracer
        sys.settrace(tracer)
        opaque()
        sys.settrace(None)
        return seen, y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=4, cut=True)
def a_thread_behind_the_cut():
    def f(x):
        y = (x * 2 + 1).relu()
        got = []
        thread = threading.Thread(target=lambda: got.append(y * 2))
        thread.start()
        thread.join()
        return got, y
    return f, lambda i: (t(i),), None


@program(calls=14, captures=6, cut=True)
def shapes_change():
    def f(x):
        y = (x * 2 + 1).relu()
        n = len(y.tolist())
        return y.sum() * n, y
    return f, lambda i: (t(i)[: 1 + i // 5 % 2],), None


@program(calls=12, captures=6, cut=True)
def a_counter_and_a_late_number():
    o = Bag(n=0, best=0.0)
    def f(o, x):
        o.n += 1
        loss = ((x - o.n) ** 2).sum()
        value = loss.item()
        if value > o.best:
            o.best = value
        opaque()
        return value, o.best, o.n, loss
    return f, lambda i: (o, t(i)), o


if __name__ == "__main__":
    main()
