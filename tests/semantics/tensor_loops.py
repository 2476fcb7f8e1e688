# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
# run: TERRA_EXACT=1 TERRA_PASSES=-fuse,-cse
"""Loops that a tensor's value ends: nobody knows before how many rounds there are, and one entry serves any number."""
import terra
from terra import nn

from _harness import Bag, main, program

STARTS = [3.0, 17.5, 0.2, 8.0, 64.0, 1.5, 33.0, 5.0, 0.7, 120.0, 2.2, 12.0]


def start(i):
    return STARTS[i % len(STARTS)] + i * 0.01


def row(i, n=3):
    return (terra.arange(float(n)) + 1) * start(i)


@program(calls=20, captures=14, recordings=4)
def shrink():
    def f(x, eps):
        while x.norm() > eps:
            x = x * 0.5 + 0.01
        return x
    return f, lambda i: (row(i), 0.5), None


@program(calls=20, captures=14, recordings=4)
def counted():
    def f(x):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
        return x, n
    return f, lambda i: (row(i),), None


@program(calls=20, captures=14, recordings=4)
def endless_with_break():
    def f(x, tol):
        y = x.clone()
        while True:
            z = 0.5 * (y + x / y)
            if (z - y).abs().max() < tol:
                break
            y = z
        return z
    return f, lambda i: (row(i), 1e-4), None


@program(calls=20, captures=14, recordings=4)
def break_on_item():
    def f(x, tol):
        y = x.clone()
        rounds = 0
        while True:
            z = 0.5 * (y + x / y)
            err = (z - y).abs().max()
            y = z
            rounds += 1
            if err.item() < tol:
                break
        return z, rounds, err
    return f, lambda i: (row(i), 1e-4), None


@program(calls=20, captures=13, recordings=5)
def last_reading_returned():
    def f(x):
        err = x.norm().item()
        while err > 0.3:
            x = x * 0.7
            err = x.norm().item()
        return x, err
    return f, lambda i: (row(i),), None


@program(calls=20, captures=13, recordings=5)
def float_of_a_tensor():
    def f(x, state):
        while float(x.abs().sum()) >= 2.5:
            x = x / 3
        state.last = x
        return float(x.sum())
    state = Bag(last=None)
    return f, lambda i: (row(i), state), state


@program(calls=20, captures=13, recordings=5)
def bounded_range_with_break():
    def f(x, limit):
        for i in range(limit):
            x = x * 0.6
            if x.max() < 1:
                break
        return x, i
    return f, lambda i: (row(i), 50), None


@program(calls=24, captures=12)
def bounded_range_that_runs_out():
    def f(x):
        for i in range(6):
            x = x * 0.6
            if bool((x < 1).all()):
                break
        else:
            return x, "not converged"
        return x, i
    return f, lambda i: (row(i),), None


@program(calls=20, captures=13, recordings=5)
def power_iteration():
    a = terra.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])

    def f(m, v):
        old = terra.zeros(3)
        while (v - old).norm() > 1e-3:
            old = v
            v = m @ v
            v = v / v.norm()
        return v, (v @ (m @ v)).item()
    return f, lambda i: (a + i, row(i)), None


@program(calls=20, captures=13, recordings=5)
def in_place_on_something_fresh():
    def f(x):
        y = x + 1
        while y.sum() > 4:
            y *= 0.5
            y -= 0.125
        return y, y.sum()
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def versions_asked_in_the_frame():
    def f(x):
        y = x + 1
        while y.sum() > 4:
            y *= 0.5
            y -= 0.125
        return y, y._version
    return f, lambda i: (row(i),), None


@program(calls=20, captures=13, recordings=5)
def in_place_on_an_argument():
    def f(x):
        while x.sum() > 10:
            x.mul_(0.5)
        return x.sum()
    return f, lambda i: (row(i),), None


@program(calls=16, captures=10, recordings=5)
def versions_are_counted():
    kept = terra.ones(3)
    seen = []

    def f(x):
        while x.sum() > 10:
            x.mul_(0.5)
        return x

    def args(i):
        seen.append(kept._version)
        kept.fill_(start(i) + 5)
        return (kept,)
    return f, args, seen


@program(calls=20, captures=11)
def writes_into_a_row():
    def f(x, table):
        while table[0].sum() < 30:
            table[0] += x
            table[1].mul_(2)
        return table.sum()
    return f, lambda i: (row(i), terra.ones(2, 3) * (i % 4 + 1)), None


@program(calls=16, captures=4)
def grows():
    def f(x):
        while x.sum() < 40:
            x = terra.cat([x, x[-1:] + 1])
        return x
    return f, lambda i: (terra.arange(3.0) + i % 5,), None


@program(calls=16, captures=4)
def changes_its_type():
    def f(x):
        n = 0
        while x.sum() > 3:
            x = x / 2
            n += 1
        return x, n
    return f, lambda i: (terra.arange(4) + (i % 4) * 3,), None


@program(calls=20, captures=11)
def nested_in_a_range():
    def f(x):
        total = x * 0
        for k in range(3):
            y = x + k
            while y.max() > 1:
                y = y * 0.5
            total = total + y
        return total
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def loop_in_a_loop():
    def f(x, y):
        n = 0
        while x.sum() > 2:
            x = x * 0.5
            z = y
            while z.sum() > 3:
                z = z * 0.25
            x = x - z * 0.01
            n += 1
        return x, n
    return f, lambda i: (row(i), row(i + 3)), None


@program(calls=20, captures=5)
def appends_in_rounds():
    def f(x, log):
        kept = []
        while x.norm() > 1:
            x = x * 0.5
            kept.append(x)
            log.append("round")
        return kept, len(kept)
    log = []
    return f, lambda i: (row(i), log), log


@program(calls=20, captures=12, recordings=6)
def stores_in_rounds():
    def f(x, state):
        while x.norm() > 1:
            x = x * 0.5
            state.x = x
        state.done = True
        return x
    state = Bag(x=None, done=False)
    return f, lambda i: (row(i), state), state


@program(calls=20, captures=5)
def counter_in_an_attribute():
    def f(x, state):
        while x.norm() > 1:
            x = x * 0.5
            state.n += 1
        return x
    state = Bag(n=0)
    return f, lambda i: (row(i), state), state


@program(calls=20, captures=8)
def raises_inside():
    def f(x):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
            if x.max() > 100:
                raise ValueError("diverges")
        return x, n
    return f, lambda i: (row(i, 5),), None


@program(calls=24, captures=6)
def continues():
    def f(x):
        n = k = 0
        while n < 40:
            n += 1
            x = x * 0.8
            if x.sum() > 10:
                continue
            k += 1
            if x.sum() < 1:
                break
        return x, n, k
    return f, lambda i: (row(i),), None


@program(calls=20, captures=13, recordings=5)
def else_of_a_while():
    def f(x):
        while x.norm() > 1:
            x = x * 0.5
        else:
            x = x + 100
        return x
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def identity_without_a_round():
    def f(x):
        y = x
        while y.norm() > 4:
            y = y / 2
        return x, y, y is x
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def identity_of_something_fresh():
    def f(x):
        first = x + 1
        y = first
        while y.norm() > 4:
            y = y / 2
        return first, y, y is first
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def a_view_leaves():
    def f(x):
        y = (x * 1).reshape(3, 1)
        while y.norm() > 4:
            y = (y / 2).t().t()
        z = y.view(3)
        z.add_(1)
        return y, z
    return f, lambda i: (row(i),), None


@program(calls=20, captures=12, recordings=6)
def two_carried():
    def f(x, y):
        a, b = x * 1, y * 1
        while b.sum() < 200:
            a, b = b, a + b
        return a, b
    return f, lambda i: (row(i), row(i + 1)), None


@program(calls=20, captures=10)
def swapped_arguments():
    def f(x, y):
        s = x.sum()
        while s < 200:
            x, y = y, x
            s = s + x.sum()
        return x, y
    return f, lambda i: (row(i), row(i + 1)), None


@program(calls=16, captures=1)
def gradients_through_the_loop():
    w = terra.tensor([0.5, 0.6, 0.7], requires_grad=True)

    def f(x):
        y = x
        while y.sum() > 5:
            y = y * w
        y.sum().backward()
        g = w.grad
        w.grad = None
        return y.detach(), g
    return f, lambda i: (row(i),), w


@program(calls=16, captures=2)
def a_result_with_history():
    w = terra.tensor([0.5, 0.6, 0.7], requires_grad=True)

    def f(x):
        y = x * w
        while y.sum() > 5:
            y = y * w
        return y

    def args(i):
        return (row(i),)

    def outer(x):
        y = f(x)
        if y.requires_grad:
            y.sum().backward()
        g, w.grad = w.grad, None
        return y.detach(), g
    return outer, args, w


@program(calls=20, captures=9)
def gradients_before_the_loop():
    w = terra.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x):
        (w * x).sum().backward()
        g = w.grad.clone()
        w.grad = None
        with terra.no_grad():
            while g.norm() > 1:
                g = g * 0.5
            w.sub_(g * 0.01)
        return g
    return f, lambda i: (row(i),), w


@program(calls=16, captures=6)
def gradients_in_rounds():
    def f(x):
        x = x.clone()
        while True:
            p = x.detach().requires_grad_()
            g, = terra.autograd.grad(((p - 1) ** 2).sum(), p)
            x = x - 0.3 * g
            if g.norm() < 0.5:
                break
        return x
    return f, lambda i: (row(i),), None


@program(calls=20, captures=10, recordings=6)
def a_module_in_rounds():
    terra.manual_seed(3)
    cell = nn.GRUCell(3, 4)
    head = nn.Linear(4, 3)

    def f(x):
        h = terra.zeros(1, 4)
        n = 0
        with terra.no_grad():
            while n < 30:
                h = cell(x, h)
                x = head(h)
                n += 1
                if x.sum().item() > 0.1:
                    break
        return x, n
    return f, lambda i: (row(i).reshape(1, 3) * (-1) ** i,), None


@program(calls=16, captures=3)
def draws_in_rounds():
    def f(x):
        n = 0
        while x.sum() < 5:
            x = x + terra.rand(3)
            n += 1
        return x, n, terra.rand(1)

    def args(i):
        terra.manual_seed(i)
        return (terra.zeros(3) - i % 3,)
    return f, args, None


@program(calls=20, captures=5)
def a_float_that_shrinks():
    def f(x):
        lr = 1.0
        while x.norm() > 1:
            x = x - lr * 0.5 * x
            lr *= 0.99
        return x, lr
    return f, lambda i: (row(i),), None


@program(calls=20, captures=10)
def two_loops():
    def f(x, y):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
        while y.norm() > n + 1:
            y = y * 0.5 + x * 0.01
            n += 1
        return x, y, n
    return f, lambda i: (row(i), row(i + 5)), None


@program(calls=24, captures=10)
def a_branch_behind():
    def f(x, y, log):
        while x.norm() > 1:
            x = x * 0.5
        if x.sum() > 1:
            log.append("large")
            return x + y
        log.append("small")
        return x - y
    log = []
    return f, lambda i: (row(i), row(i + 1), log), log


@program(calls=20, captures=8)
def a_number_that_decides_behind():
    def f(x):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
        if n > 4:
            return x * 100
        return x + n
    return f, lambda i: (row(i),), None


@program(calls=20, captures=5)
def a_number_as_an_index():
    def f(x, table):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
        return table[n], x
    return f, lambda i: (row(i), terra.arange(20.0)), None


@program(calls=20, captures=11)
def prints_behind():
    def f(x):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            n += 1
        print("rounds", n)
        return x
    return f, lambda i: (row(i),), None


@program(calls=20, captures=8)
def a_fact_of_the_first_rounds():
    def f(x):
        n = 0
        while x.norm() > 1:
            x = x * 0.5
            if n == 3:
                x = x + 1
            n += 1
        return x, n
    return f, lambda i: (row(i),), None


@program(calls=20, captures=10)
def until_all_are_done():
    table = (terra.arange(25) * 7 + 3) % 5

    def f(state):
        done = terra.zeros(4, dtype=terra.bool)
        length = terra.zeros(4, dtype=terra.int64)
        for step in range(20):
            state = table[state * 5 + step % 5 * 0]
            done = done | (state == 0)
            length = length + (~done).long()
            if bool(done.all()):
                break
        return state, length, done
    return f, lambda i: ((terra.arange(4) + i) % 5,), None


@program(calls=5, captures=1)
def rounds_that_no_tensor_shows():
    steps = [terra.arange(4.0).view(2, 2) * 0.1 + i for i in range(3)]

    def f(kept, step, x, other, n):
        rounds = 0
        a, b = x + n, x * 1
        first = a
        while a.abs().sum() > n:
            rounds += 1
            a = a + x * 0.1
            a, b = b * 0.5, a
        x = other + step
        kept.append(x.tanh())
        return rounds

    def args(i):
        return [], steps[1], steps[[0, 1, 2, 2, 1][i]], steps[1] * 1, [1, 2, 1, 1, 2][i]
    return f, args, None


main()
