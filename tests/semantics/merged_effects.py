# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Branches on tensor values whose sides do different things to the program's objects: what follows is one graph where the
sides store to the same attributes, or one of them leaves alone what the other changes."""
import terra
from terra import nn

from _branches import rows
from _harness import Bag, main, program


@program(calls=80, captures=60, recordings=12)
def counted_on_one_side():
    def f(x, y, z, state):
        if x.sum() > 0:
            state.skipped += 1
        a = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            state.late += 1
            return a + z
        return a
    state = Bag(skipped=0, late=100)
    return f, lambda i: rows(i, 3) + (state,), state


@program(calls=80, captures=60, recordings=8)
def counted_before():
    def f(x, y, z, state):
        state.step += 1
        a = x * 2 if x.sum() > 0 else x - 1
        a = a + y if y.sum() > 0 else a * y
        if z.sum() > 0:
            a = a * state.step
        return a, state.step
    state = Bag(step=0)
    return f, lambda i: rows(i, 3) + (state,), state


@program(calls=80, captures=50, recordings=18)
def labels_kept():
    def f(x, y, z, state):
        before = state.label
        state.label = "big" if x.sum() > 0 else "small"
        a = y * 2 if y.sum() > 0 else y - 1
        a = a + z if z.sum() > 0 else a - z
        return a, before == state.label
    state = Bag(label="none")
    return f, lambda i: rows(i, 3) + (state,), state


@program(calls=80, captures=50, recordings=14)
def stored_and_read_again():
    def f(x, y, z, state):
        if x.sum() > 0:
            state.scale = state.scale * 0.5
        else:
            state.count += 1
        a = y * state.scale
        if y.sum() > 0:
            state.scale = 1.0
        if z.sum() > 0:
            a = a + state.scale
        return a, state.count
    state = Bag(scale=8.0, count=0)
    return f, lambda i: rows(i, 3) + (state,), state


@program(calls=80, captures=50, cut=True)
def new_attributes_in_order():
    def f(x, y, z):
        made = Bag()
        state = f.state
        if x.sum() > 0:
            state.a = 1
            state.b = 2
        else:
            state.b = 3
            state.a = 4
        y = y * 2 if y.sum() > 0 else y - 1
        made.order = list(vars(state))
        return y + z if z.sum() > 0 else y - z, made.order

    def args(i):
        f.state = Bag()
        return rows(i, 3)
    return f, args, f


@program(calls=80, captures=50)
def attributes_stored_in_another_order():
    def f(x, y, z, state):
        if x.sum() > 0:
            state.a = state.a + 1
            state.b = state.b + state.a
        else:
            state.b = state.b + 1
            state.a = state.a + state.b
        y = y * 2 if y.sum() > 0 else y - 1
        return y + z if z.sum() > 0 else y - z
    state = Bag(b=0, a=0)

    def args(i):
        state.a %= 1000
        state.b %= 1000
        return rows(i, 3) + (state,)
    return f, args, state


@program(calls=80, captures=50, recordings=12)
def deleted_on_one_side():
    def f(x, y, z, state):
        n = state.n
        state.n = n + 1
        if x.sum() > 0:
            del state.n
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return y + z, hasattr(state, "n")
        return y - z, n

    def args(i):
        return rows(i, 3) + (Bag(n=i),)
    return f, args, None


@program(calls=80, captures=60, recordings=6)
def lists_before():
    def f(x, y, z, log):
        log.append(float(len(log) % 2))
        a = x * 2 if x.sum() > 0 else x - 1
        a = a + y if y.sum() > 0 else a * y
        log.append(a)
        return a + z if z.sum() > 0 else a - z
    log = []

    def args(i):
        del log[:]
        return rows(i, 3) + (log,)
    return f, args, log


@program(calls=80, captures=40)
def lists_on_one_side():
    def f(x, y, z, log, seen):
        if x.sum() > 0:
            log.append("x")
            seen["x"] = len(log)
        else:
            seen["other"] = 1
        a = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            log.append("z")
        return a, len(log), list(seen)
    return f, lambda i: rows(i, 3) + ([], {}), None


@program(calls=80, captures=60, recordings=10)
def temporaries():
    def f(x, y, z):
        if x.sum() > 0:
            t = x * 2
            k = 3.5
            a = t * k + t.sum()
        else:
            u = x - 1
            a = u.tanh()
        for r in (y, z):
            if r.sum() > 0:
                v = r + 1
                a = a * v
            else:
                w = r - 1
                a = a - w
        return a
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=40, cut=True)
def temporaries_asked_by_name():
    def f(x, y, z):
        if x.sum() > 0:
            t = x * 2
            a = t + 1
        else:
            a = x - 1
        a = a * y if y.sum() > 0 else a - y
        names = sorted(locals())
        return a + z if z.sum() > 0 else a - z, names
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=60, recordings=8)
def temporaries_used_later():
    def f(x, y, z):
        t = "before"
        if x.sum() > 0:
            t = "on one side"
            a = x + 1
        else:
            a = x - 1
        a = a * y if y.sum() > 0 else a - y
        try:
            if z.sum() > 0:
                raise KeyError(a.shape)
            t = "behind"
        except KeyError:
            a = a + z
        return a, t
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=30)
def unbound_on_one_side():
    def f(x, y, z):
        if x.sum() > 0:
            t = 5
        a = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return a
        try:
            return a, t
        except UnboundLocalError:
            return a, "unbound"
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=60, recordings=10)
def modules_that_count():
    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.opened = 0
            self.threshold = 0.5
            self.layer = nn.Linear(3, 3)

        def forward(self, x, y):
            with terra.no_grad():
                if x.sum() > 0:
                    self.opened += 1
                    x = self.layer(x)
                x = x * self.threshold
                if y.sum() > 0:
                    self.threshold = 0.25
                else:
                    self.threshold = 0.75
                if (x + y).sum() > 0:
                    return x + y
                return x - y
    terra.manual_seed(3)
    gate = Gate()

    def f(x, y):
        return gate(x, y)
    return f, lambda i: rows(i, 2), gate


@program(calls=80, captures=50, recordings=10)
def a_property_in_the_way():
    class Guarded:
        def __init__(self):
            self.raw, self.writes = 0, 0

        @property
        def n(self):
            return self.raw

        @n.setter
        def n(self, value):
            self.raw = value
            self.writes += 1

    def f(x, y, z, state):
        if x.sum() > 0:
            state.n += 1
        a = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            state.n += 10
        return a, state.n
    state = Guarded()
    return f, lambda i: rows(i, 3) + (state,), state


@program(calls=80, captures=30)
def two_objects_or_one():
    def f(x, y, z, first, second):
        if x.sum() > 0:
            first.n += 1
        else:
            second.n += 10
        a = y * 2 if y.sum() > 0 else y - 1
        a = a * first.n if z.sum() > 0 else a + second.n
        return a, first.n, second.n
    bags = [Bag(n=0), Bag(n=5)]

    def args(i):
        for bag in bags:
            bag.n %= 50
        return rows(i, 3) + (bags[0], bags[i // 7 % 2])
    return f, args, bags


@program(calls=80, captures=30)
def closures_that_count():
    n = 0

    def f(x, y, z):
        nonlocal n
        if x.sum() > 0:
            n += 1
        a = y * 2 if y.sum() > 0 else y - 1
        return a * n if z.sum() > 0 else a + n
    return f, lambda i: rows(i, 3), lambda: n


@program(calls=60, captures=30)
def early_stopping():
    class Stopper:
        def __init__(self):
            self.best, self.waited, self.stopped = 1e9, 0, False

        def step(self, loss):
            if loss < self.best:
                self.best = loss.item()
                self.waited = 0
            else:
                self.waited += 1
                if self.waited > 3:
                    self.stopped = True
            return self.stopped
    stopper = Stopper()

    def f(x, y):
        loss = (x * y).abs().sum() / (1 + x.abs().sum())
        return stopper.step(loss), loss
    return f, lambda i: rows(i, 2), stopper


main()
