# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What systems of this kind have got wrong: each program is named after what happens, with its report (PyTorch's)."""
import collections
import sys

import terra
from _harness import Bag, main, program


def x(i):
    return terra.arange(4.0) + i


@program(calls=8, captures=None, reason=5)
def list_changed_in_a_method_of_a_class_inside():  # 197896: the change was dropped
    def f(x):
        log, table = [], {}
        class Log:
            def add(self, name, value):
                log.append(name)
                table[name] = value
        a = Log()
        a.add("double", x * 2)
        a.add("sum", x.sum())
        return log, table
    return f, lambda i: (x(i),), None


@program(calls=10, captures=4)
def attributes_that_the_branch_compares_are_swapped():  # 196173: stale branch, lost write
    o = Bag(a=[1], b=[2])
    o.first = o.a
    def f(o, x):
        if o.a is o.first:
            o.a, o.b = o.b, o.a
            return x * 2
        o.a, o.b = o.b, o.a
        return x + 1
    return f, lambda i: (o, x(i)), o


@program(calls=8, captures=5)
def list_of_a_class_grows_in_forward():  # 169253: appends were lost
    class Net(terra.nn.Module):
        seen = []
        def forward(self, x):
            self.seen.append(x.sum().item())
            return x * 2
    net = Net()
    def f(x):
        return net(x) + 1
    return f, lambda i: (x(i),), Net.seen


@program(calls=8, captures=None)
def iterator_is_partly_consumed():  # 196211: it began anew
    def f(it, x):
        return next(iter(it)), x * next(it), list(it)
    def args(i):
        it = reversed([1, 2, 3, 4, 5 + i])
        next(it)
        return it, x(i)
    return f, args, None


@program(calls=8, captures=5)
def generator_appends_to_what_it_goes_through():  # 175855: items were not visited
    def f(x):
        todo = [1, 2]
        def walk():
            for n in todo:
                if n < 4:
                    todo.append(n + 2)
                yield x * n
        return list(walk()), todo
    return f, lambda i: (x(i),), None


@program(calls=10, captures=4)
def buffer_is_replaced_from_outside():  # 115774: the old one was read
    class Net(terra.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", terra.ones(4))
        def forward(self, x):
            return x * self.scale
    net = Net()
    def args(i):
        if i % 3 == 0:
            net.scale = terra.full((4,), 1.0 + i)
        elif i % 3 == 1:
            net.scale.add_(1)
        return x(i),
    return lambda x: net(x), args, None


@program(calls=8, captures=4)
def closures_that_share_their_code():  # 197811: one graph for both
    def maker(k):
        return lambda x: x * k
    first, second = maker(2), maker(terra.arange(4.0))
    def f(x):
        return first(x), second(x)
    f.target = first
    return lambda x: (first(x), second(x)), lambda i: (x(i),), None


@program(calls=8, captures=3)
def global_function_is_rebound():  # 108898: not guarded
    world = {}
    exec("def f(x): return h(x) + 1", world)
    def args(i):
        k = 2.0 + i // 4
        world["h"] = (lambda x: x * 2) if i < 4 else (lambda x: x * 5)
        return x(k),
    return world["f"], args, None


@program(calls=12, captures=3)
def global_changes_round_the_captured_part():  # 191821: the first value was used again
    world = {"k": 0}
    exec("def part(x): return x * k\n"
         "def f(x):\n    global k\n    out = []\n    for n in range(3):\n        k = n\n        out.append(part(x))\n"
         "    return out, k", world)
    return world["f"], lambda i: (x(i),), None


@program(calls=9, captures=3)
def class_attribute_and_flag_change():  # 176851, 124717: not guarded
    class Net(terra.nn.Module):
        quiet = False
        gain = 1.0
        def forward(self, x):
            return x if self.quiet else x * Net.gain
    net = Net()
    class quietly:
        def __enter__(self):
            net.quiet = True
        def __exit__(self, *_):
            net.quiet = False
    def f(x):
        before = net(x)
        with quietly():
            within = net(x)
        return before, within, net(x)
    def args(i):
        Net.gain = 1.0 + i // 3
        return x(i),
    return f, args, net.__dict__


@program(calls=10, captures=4)
def argument_is_a_global_list():  # 120861: guarded on one of the two only
    world = {"kept": [2.0]}
    exec("def f(items, x):\n    kept.append(1.0)\n    return x * items[0] * len(items)", world)
    def args(i):
        world["kept"] = [2.0]
        return (world["kept"] if i % 2 else [3.0]), x(i)
    return world["f"], args, None


@program(calls=10, captures=4)
def one_list_twice():  # 93722: aliasing was not guarded
    def f(a, b, x):
        a.append(x.sum())
        return x * len(b), a is b
    def args(i):
        a = [1]
        return a, (a if i % 2 else [1]), x(i)
    return f, args, None


@program(calls=8, captures=5)
def generator_returns_a_value():  # 198190: it was lost
    def walk(x):
        yield x * 2
        return x.sum()
    def through(x):
        total = yield from walk(x)
        yield total
    def f(x):
        it, items = walk(x), []
        while True:
            try:
                items.append(next(it))
            except StopIteration as end:
                return items, end.value, list(through(x))
    return f, lambda i: (x(i),), None


@program(calls=8, captures=None, reason=19)
def detached_in_place():  # 176854: requires_grad stayed True
    def f(w, x):
        y = w * x
        before = y.requires_grad
        y.detach_()
        return before, y.requires_grad, y.is_leaf, y
    w = terra.ones(4, requires_grad=True)
    return f, lambda i: (w, x(i)), None


@program(calls=10, captures=2)
def eager_refuses_it():  # 150993: compiled, it ran
    def f(x, y):
        return x.view(2, 2) @ y
    return f, lambda i: (x(i), terra.ones(2 + (i % 3 == 2), 2)), None


@program(calls=10, captures=None, reason=19)
def flag_of_the_engine_changes_inside():  # 162522: the graph of the other setting
    def f(x, wide):
        before = terra.get_default_dtype()
        terra.set_default_dtype(terra.float64 if wide else terra.float32)
        try:
            return x * terra.ones(4), terra.zeros(2).dtype
        finally:
            terra.set_default_dtype(before)
    return f, lambda i: (x(i), i % 4 > 1), None


@program(calls=8, captures=5)
def return_inside_try_and_call_in_finally():  # 103706: the tracer failed
    log = []
    def note(text):
        log.append(text)
    def f(x):
        try:
            return x * 2
        finally:
            note("done")
    return f, lambda i: (x(i),), log


@program(calls=8, captures=5)
def backward_of_what_was_changed_in_place():  # 163567: it failed only when compiled
    def f(w, x):
        h = w * x
        h[0] = 0
        h += x
        loss = (h * h.detach()).sum()
        w.grad = None
        loss.backward()
        return loss.item(), w.grad
    w = terra.ones(4, requires_grad=True)
    return f, lambda i: (w, x(i)), None


@program(calls=8, captures=4)
def partly_written_when_it_raises():  # a region that fails in its middle must leave what plain execution leaves
    def f(x, log, n):
        x.add_(1)
        log.append("one")
        y = x / n
        if n == 0:
            raise ZeroDivisionError(f"after {len(log)}")
        x.mul_(2)
        log.append("two")
        return y
    return f, lambda i: (x(i), [], i % 4), None


@program(calls=10, captures=6)
def functions_that_call_each_other():
    def even(x, n):
        return x if n == 0 else odd(x * 2, n - 1)
    def odd(x, n):
        return x + 1 if n == 0 else even(x + 3, n - 1)
    return even, lambda i: (x(i), 3 + i // 5), None


@program(calls=10, captures=5)
def loops_that_break_inside_each_other():  # 124437: four times the compile time
    def f(x, rows):
        out = []
        for row in rows:
            for n in row:
                if n < 0:
                    break
                if n == 3:
                    continue
                out.append(x * n)
            else:
                out.append("whole")
                continue
            out.append("cut")
            break
        return out
    return f, lambda i: (x(i), [[1, 3], [2, -1, 4], [5]] if i % 5 else [[1], [2]]), None


@program(calls=8, captures=5)
def many_items_are_read():  # aimnetcentral 109: 137 graph breaks
    def f(x):
        total, seen = 0.0, []
        for k in range(40):
            x = x * 1.01
            value = x[k % 4].item()
            total += value
            seen.append(round(value, 3))
        return total, seen, x
    return f, lambda i: (x(i),), None


@program(calls=10, captures=2)
def guarded_object_dies_and_another_takes_its_place():  # 180741: its address was found again
    box = Bag(f=None)
    def f(x):
        return box.f(x)
    def args(i):
        box.f = None
        k = 1.0 + i // 2
        box.f = lambda x: x * k
        return x(i),
    return f, args, None


@program(calls=8, captures=4)
def suspended_across_a_captured_part():
    def part(x):
        return x * 2 + 1
    def walk(x, log):
        for n in range(3):
            x = part(x)
            log.append(n)
            yield x
    log, open_ones = [], collections.deque(maxlen=2)
    def f(x):
        open_ones.append(walk(x, log))
        return [next(g) for g in open_ones]
    f.target = part
    return f, lambda i: (x(i),), log


@program(calls=12, captures=4)
def old_entries_stay_when_new_ones_come():  # 135458: all were dropped
    def f(x, n):
        return x * n if n != 3 else x + n
    return f, lambda i: (x(i), ("a", 2, 2.5, True, None)[i // 12] if i > 11 else 1 + i % 4), None


@program(calls=8, captures=3)
def error_tells_the_line_inside():
    def part(x, n):
        y = x * 2
        if n == 3:
            raise ValueError("three")
        return y
    def f(x, n):
        try:
            return part(x, n)
        except ValueError as error:
            lines, step = [], error.__traceback__
            while step:
                lines.append((step.tb_frame.f_code.co_name, step.tb_lineno - step.tb_frame.f_code.co_firstlineno))
                step = step.tb_next
            return lines, sys.exc_info()[0]
    return f, lambda i: (x(i), i % 4), None


main()
