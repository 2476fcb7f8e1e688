# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
"""Branches on tensor values: every path is an entry, and a call goes to the path that its values choose."""
import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


def swing(i, n=3):
    """Positive and negative in turn, never twice the same."""
    return (terra.arange(float(n)) + 1 + i) * (1 if i % 2 else -1)


@program(calls=12, captures=9)
def if_else():
    def f(x):
        if x.sum() > 0:
            return x * 2
        else:
            return x - 1
    return f, lambda i: (swing(i),), None


@program(calls=16, captures=11)
def two_in_sequence():
    def f(x, y):
        a = x + 1 if x.sum() > 0 else x - 1
        if y.sum() > 0:
            a = a * y
        else:
            a = a / y
        return a
    return f, lambda i: (swing(i), swing(i // 2)), None


@program(calls=16, captures=10)
def nested():
    def f(x, y):
        if x.sum() > 0:
            if y.sum() > 0:
                return x + y, "both"
            return x - y, "x"
        if y.sum() > 0:
            return y - x, "y"
        return -x - y, "none"
    return f, lambda i: (swing(i), swing(i // 2)), None


@program(calls=16, captures=9)
def while_on_tensor():
    def f(x):
        n = 0
        while x.sum() < 60:
            x = x * 2
            n += 1
        return x, n
    return f, lambda i: (t(1 + i % 5 * 3),), None


@program(calls=12, captures=8)
def early_return():
    def f(x, state):
        if x.max() < 2:
            return None
        state.seen = x.max()
        if x.min() < 0:
            return x.abs(), state
        return x
    state = Bag(seen=None)
    return f, lambda i: (t(i % 4) - (0, 0, 1, 3)[i % 4], state), state


@program(calls=12, captures=9)
def ternary():
    def f(x, k):
        return (x * k if x.sum() > 0 else x + k) * (1 if x.max() > 3 else 2)
    return f, lambda i: (swing(i), 3), None


@program(calls=16, captures=10)
def and_or():
    def f(x, y):
        z = x
        if x.sum() > 0 and y.sum() > 0:
            z = z + y
        if x.max() > 5 or y.max() > 5:
            z = z * 2
        return z, (x.sum() < 0) or (y.sum() < 0), not (x.sum() > 0)
    return f, lambda i: (swing(i), swing(i // 2)), None


@program(calls=12, captures=8)
def effect_on_one_side():
    state = Bag(total=0, kept=terra.zeros(3))
    def f(x):
        if x.sum() > 0:
            state.total += 1
            state.kept = x * 3
        return x + state.kept
    return f, lambda i: (swing(i),), state


@program(calls=12, captures=8)
def in_place_on_one_side():
    w = terra.ones(3)
    def f(x):
        if x.sum() > 0:
            w.add_(x, alpha=0.5)
        return w * 2
    return f, lambda i: (swing(i),), Bag(w=w)


@program(calls=12, captures=7)
def counters_on_both_sides():
    state = Bag(up=0, down=100)
    def f(x):
        if x.sum() > 0:
            state.up += 1
            return x * state.up
        state.down -= 2
        return x * state.down
    return f, lambda i: (swing(i),), state


@program(calls=12, captures=9)
def each_side_its_attribute():
    state = Bag(left=0.5, right=0.25, last="")
    def f(x):
        if x.mean() > 0:
            state.last = "left"
            state.left_value = x * state.left
        else:
            state.last = "right"
            state.right_value = x * state.right
        return state.last
    return f, lambda i: (swing(i),), state


@program(calls=16, captures=9)
def none_or_tensor():
    def f(x, mask):
        if mask is not None:
            x = x * mask
        return x + 1 if x.sum() > 0 else x
    return f, lambda i: (swing(i), None if i % 3 else t(i)), None


@program(calls=12, captures=6)
def number_or_tensor():
    def f(x, k):
        return x * k + 1
    return f, lambda i: (t(i), [i, t(i), i / 4][i % 3]), None


class Base:
    scale = 2

    def go(self, x):
        return x * self.scale


class Derived(Base):
    def go(self, x):
        return super().go(x) + self.extra


@program(calls=12, captures=8)
def subclass_or_base():
    a, b = Base(), Derived()
    b.extra = terra.ones(3)
    def f(o, x):
        return o.go(x)
    def args(i):
        b.extra = t(i)
        return (a, b)[i % 2], t(i)
    return f, args, None


@program(calls=40, captures=20)
def many_entries():
    def f(x, y):
        return x.sum() + y.mean(), x * 2
    return f, lambda i: (t(i, 1 + i % 10), t(i, 2 + i % 10)), None


@program(calls=30, captures=10)
def many_paths():
    def f(x):
        out = x
        for k in range(4):
            if x[k] > 0:
                out = out + k
            else:
                out = out * 2
        return out
    def args(i):
        return (terra.tensor([1.0 if (i % 8) >> k & 1 else -1.0 for k in range(4)]) * (1 + i),)
    return f, args, None


@program(calls=12, captures=6)
def number_from_a_tensor():
    state = Bag(best=1e9, bad=0)
    def f(x):
        loss = (x * x).mean().item()
        if loss < state.best:
            state.best = loss
            state.bad = 0
        else:
            state.bad += 1
        return state.bad
    return f, lambda i: (t(10 - i) if i % 3 else t(i + 3),), state


@program(calls=12, captures=8)
def random_draw_on_one_side():
    terra.manual_seed(5)
    def f(x):
        if x.sum() > 0:
            x = x + terra.rand(3)
        return x * 2
    return f, lambda i: (swing(i),), None


@program(calls=12, captures=8)
def gradient_step_on_one_side():
    w = terra.ones(3, requires_grad=True)
    def f(x):
        loss = (w * x).sum()
        if loss > 0:
            loss.backward()
            with terra.no_grad():
                w.sub_(w.grad, alpha=0.01)
            w.grad = None
        return loss.detach()
    return f, lambda i: (swing(i),), Bag(w=w)


@program(calls=12, captures=8)
def branch_before_a_loss():
    w = terra.ones(3, requires_grad=True)
    def f(x):
        y = w * x
        if x.sum() > 0:
            return (y * y).sum()
        return y.abs().sum() * 3
    def g(x):
        w.grad = None
        loss = f(x)
        loss.backward()
        return loss.detach(), w.grad
    return g, lambda i: (swing(i),), None


@program(calls=20, captures=14)
def aliased_arguments():
    whole = terra.ones(2, 3)
    def f(x, row):
        y = row.exp()
        row.add_(x)
        if whole.sum() > 0:
            y = y * 2
        if x.sum() > 0:
            whole.mul_(0.5)
        return y + row
    return f, lambda i: (swing(i) * (1 + i % 4 * 2 - 3), whole[1]), Bag(whole=whole)


@program(calls=30, captures=20)
def steps_of_two_paths():
    """Long enough for both paths to be merged and to take turns irregularly afterwards."""
    terra.manual_seed(2)
    p, momentum = terra.ones(3), terra.zeros(3)
    state = Bag(p=p, momentum=momentum, skipped=0)
    def f(x):
        g = p * x + terra.rand(3) * 0.1
        if g.norm() > 4:
            state.skipped += 1
            return None
        momentum.mul_(0.9).add_(g)
        p.sub_(momentum, alpha=0.01)
        return g.norm() * state.skipped
    return f, lambda i: (t(i * i % 7) * (1 if i % 3 else 0.1),), state


@program(calls=12, captures=8)
def append_on_one_side():
    log = []
    def f(x):
        if x.sum() > 0:
            log.append("up")
            y = x * 2
            log.append(y)
            return y
        log.append("down")
        return x
    return f, lambda i: (swing(i),), log


@program(calls=12, captures=7)
def clipped():
    def f(p, g, limit):
        n = g.norm()
        if n > limit:
            g = g * (limit / n)
        p.sub_(g, alpha=0.1)
        return n
    p = terra.ones(3)
    return f, lambda i: (p, swing(i) * (0.1 if i % 3 else 2.0), 1.5), Bag(p=p)


@program(calls=14, captures=8)
def assert_with_a_branch():
    def f(x):
        assert x.sum() > -100, "too small"
        if x[0] > 2:
            return x.sqrt()
        return x
    return f, lambda i: (t(i) if i != 9 else t(-200),), None


if __name__ == "__main__":
    main()
