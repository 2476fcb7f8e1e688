# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
# run: TERRA_EXACT=1 TERRA_PASSES=-fuse,-cse
"""Branches on tensors in loops: rounds that go different ways are rounds of one loop, whatever the pattern."""
import terra
from terra import nn

from _harness import Bag, main, program

STARTS = [3.0, 17.5, 0.2, 8.0, 64.0, 1.5, 33.0, 5.0, 0.7, 120.0, 2.2, 12.0, 45.0, 77.7, 9.1]


def start(i):
    return STARTS[i % len(STARTS)] + i * 0.13


def row(i, n=3):
    return (terra.arange(float(n)) + 1) * start(i)


@program(calls=40, captures=26, recordings=8)
def two_ways():
    def f(x, eps):
        while x.norm() > eps:
            if x.sum() % 2 > 1:
                x = x * 0.7
            else:
                x = x * 0.9 - 0.01
        return x
    return f, lambda i: (row(i), 0.5), None


@program(calls=40, captures=26, recordings=8)
def one_way_does_nothing():
    def f(x, eps):
        y = x.clone()
        n = 0
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                y = y - 0.05
            n += 1
        return y, n
    return f, lambda i: (row(i), 0.5), None


@program(calls=40, captures=26, recordings=8)
def counts_on_one_way():
    def f(x, eps):
        y, hits, rounds = x + 0.0, 0, 0
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                hits += 1
                y = y - 0.02
            rounds += 1
        return y, hits, rounds
    return f, lambda i: (row(i), 0.5), None


@program(calls=40, captures=22, recordings=10)
def singular_on_the_way_not_taken():
    def f(x, eps):
        y = x + 0.0
        while y.abs().max() > eps:
            if y.min() > 0:
                y = y.sqrt() - 0.9 - y * 0.01
            else:
                y = y * 0.5 + y.abs() * 0.2
        return y
    return f, lambda i: (row(i), 0.3), None


@program(calls=40, captures=22, recordings=10)
def break_in_a_while_true():
    def f(x, tol):
        y = x * 1.0
        steps = 0
        while True:
            z = 0.5 * (y + x / y)
            if (z - y).abs().sum() < tol:
                break
            if z.sum() % 2 > 1:
                y = z + 0.0
            else:
                y = z * 0.75 + y * 0.25
            steps += 1
        return z, steps
    return f, lambda i: (row(i), 1e-2), None


@program(calls=40, captures=30, recordings=6)
def with_continue():
    def f(x, eps):
        y, n = x * 1.0, 0
        while y.norm() > eps:
            n += 1
            if y.sum() % 2 > 1:
                y = y * 0.6
                continue
            y = y * 0.85 - 0.03
        return y, n
    return f, lambda i: (row(i), 0.5), None


@program(calls=40, captures=26, recordings=8)
def with_else():
    def f(x, eps, low):
        y = x * 1.0
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                y = y * 0.7
            else:
                y = y * 0.9 - 0.01
            if y.min() < low:
                break
        else:
            return y, "small"
        return y, "low"
    return f, lambda i: (row(i), 0.5, -0.01 if i % 2 else 0.05), None


@program(calls=50, captures=20, recordings=14)
def two_branches_in_a_row():
    def f(x, eps):
        y, z = x * 1.0, x * 0.0
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                y = y * 0.7
            else:
                y = y * 0.9 - 0.01
            if y[0] % 1 > 0.5:
                z = z + y
            else:
                z = z * 0.5
        return y, z
    return f, lambda i: (row(i), 0.3), None


@program(calls=50, captures=20, recordings=14)
def elif_chain():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            s = y.sum() % 3
            if s > 2:
                y = y * 0.7
            elif s > 1:
                y = y * 0.8 - 0.02
            else:
                y = y * 0.9 + 0.001
        return y
    return f, lambda i: (row(i), 0.3), None


@program(calls=50, captures=20, recordings=14)
def branch_in_a_branch():
    def f(x, eps):
        y, n = x * 1.0, 0
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                if y[0] % 1 > 0.5:
                    y = y * 0.7
                    n += 1
                else:
                    y = y * 0.75
            else:
                y = y * 0.9 - 0.01
        return y, n
    return f, lambda i: (row(i), 0.3), None


@program(calls=40, captures=20, recordings=12)
def item_decides():
    def f(x, eps):
        y = x * 1.0
        err = y.norm().item()
        while err > eps:
            if y.sum().item() > 4.0:
                y = y * 0.6
            else:
                y = y * 0.9
            err = y.norm().item()
        return y, err
    return f, lambda i: (row(i), 0.3), None


@program(calls=40, captures=20, recordings=12)
def range_with_break():
    def f(x, n):
        y = x * 1.0
        for i in range(n):
            if y.sum() % 2 > 1:
                y = y * 0.7
            else:
                y = y * 0.9 - 0.01
            if y.norm() < 0.5:
                break
        return y, i
    return f, lambda i: (row(i), 200), None


@program(calls=40, captures=20, recordings=12)
def varying_range():
    def f(x, n):
        y = x * 1.0
        for i in range(n):
            if y.sum() % 2 > 1:
                y = y * 0.7
            else:
                y = y * 0.9 - 0.01
        return y
    return f, lambda i: (row(i), 5 + (i * 7) % 11), None


@program(calls=40, captures=12)
def varying_range_under_gradients():
    w = terra.tensor([0.5, 1.0, 2.0], requires_grad=True)

    def f(x, n):
        w.grad = None
        h = x * w
        for i in range(n):
            if h.sum() % 2 > 1:
                h = (h * w).abs().sqrt()
            else:
                h = h * 0.5
        h.sum().backward()
        return h.detach(), w.grad.clone()
    return f, lambda i: (row(i) * (i % 4), 3 + i % 3), None


@program(calls=40, captures=8)
def gradients_to_a_tensor_end():
    w = terra.tensor([0.5, 0.7, 0.9], requires_grad=True)

    def f(x):
        w.grad = None
        h = x * w
        while h.norm() > 1:
            if h.sum() % 2 > 1:
                h = h * w
            else:
                h = h * 0.5
        h.sum().backward()
        return h.detach(), w.grad.clone()
    return f, lambda i: (row(i % 4),), None


@program(calls=40, captures=16, recordings=14)
def inner_loop_with_branch():
    def f(x, n):
        total = terra.zeros(3)
        for i in range(n):
            y = x * (1.0 + i)
            while y.norm() > 0.5:
                if y.sum() % 2 > 1:
                    y = y * 0.7
                else:
                    y = y * 0.9 - 0.01
            total = total + y
        return total
    return f, lambda i: (row(i), 3), None


@program(calls=40, captures=30, recordings=6)
def branch_around_an_inner_loop():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                for k in range(3):
                    y = y * 0.9
            else:
                y = y * 0.8 - 0.01
        return y
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=1)
def identity_shows():
    def f(x, eps):
        best, y = x, x * 1.0
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                best = y
        return best, y, best is y, best is x
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=20, recordings=6)
def views_written_behind():
    def f(x, eps):
        y = x * 1.0
        v = y[:1]
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                y = y * 0.8
            elif y.sum() < 4:
                y = y * 0.7
            # where neither holds the loop would not end
            else:
                y = y * 0.6
        y += 1
        return y, v
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=8)
def perhaps_shared():
    def f(x, c):
        y = x * 1.0
        v = y[:1]
        n = 0
        while n < 4 and y.norm() > c:
            z = y
            if z.sum() % 2 > 1:
                z = z * 0.5
            z += 1
            y = z * 0.5
            n += 1
        return y, v, z
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=0)
def writes_in_a_way():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            y = y * 0.9
            if y.sum() % 2 > 1:
                y *= 0.8
                y -= 0.01
        return y
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=0)
def attributes_in_a_way():
    def f(bag, x, eps):
        y = x * 1.0
        while y.norm() > eps:
            y = y * 0.9
            if y.sum() % 2 > 1:
                bag.hits += 1
                bag.last = y
        return y
    bag = Bag(hits=0, last=None)
    return f, lambda i: (bag, row(i), 0.4), bag


@program(calls=30, captures=0)
def lists_in_a_way():
    def f(x, eps):
        y, kept = x * 1.0, []
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                kept.append(y)
        return y, kept
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=0)
def list_that_is_counted():
    def f(x, eps):
        y, kept = x * 1.0, []
        kept.append(y)
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                kept.append(y * 1.0)
        return y, len(kept)
    return f, lambda i: (row(i), 0.4), None


@program(calls=40, captures=0)
def list_that_grows_before_or_behind_the_exit():
    def f(x, eps):
        y, kept = x * 1.0, []
        kept.append(y)
        while True:
            y = y * 0.8
            c = y.sum() % 2 > 1
            if c:
                kept.append(y)
            if y.norm() < eps:
                break
            if not c:
                kept.append(y)
        return y, len(kept)
    return f, lambda i: (row(i), 0.4), None


@program(calls=40, captures=30, recordings=6)
def returned_from_inside():
    def f(x, eps):
        y = x * 1.0
        for i in range(100):
            if y.sum() % 2 > 1:
                y = y * 0.7
            else:
                y = y * 0.9 - 0.01
            if y.norm() < eps:
                return y, i
        return y, -1
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=8)
def rows_collected():
    def f(x, n):
        h, out = x * 1.0, []
        for i in range(n):
            if h.sum() % 2 > 1:
                h = h * 0.7
            else:
                h = h * 0.9 - 0.01
            out.append(h)
        return terra.stack(out).sum(0)
    return f, lambda i: (row(i), 6 + i % 5), None


@program(calls=40, captures=30, recordings=6)
def a_number_chosen_by_the_way():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            if y.sum() % 2 > 1:
                scale = 0.7
            else:
                scale = 0.9
            y = y * scale - 0.01
        return y
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=4)
def step_size_that_shrinks():
    def f(x, eps):
        y, lr = x * 1.0, 0.5
        while y.norm() > eps:
            y = y - lr * y
            if y.sum() % 2 > 1:
                lr = lr * 0.9
        return y, lr
    return f, lambda i: (row(i), 0.4), None


@program(calls=30, captures=8)
def raises_on_one_way():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() > 300:
                raise ValueError("too large")
            if y.sum() % 2 > 1:
                y = y - 0.01
        return y
    return f, lambda i: (row(i) * (100 if i % 9 == 8 else 1), 0.4), None


@program(calls=40, captures=20, recordings=12)
def modules_on_both_ways():
    terra.manual_seed(3)
    net = nn.Module()
    net.a, net.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def f(x, eps):
        with terra.no_grad():
            y = x * 1.0
            n = 0
            while y.norm() > eps:
                if y.sum() > 0:
                    y = 0.5 * terra.tanh(net.a(y)) * y.norm() * 0.8
                else:
                    y = 0.5 * terra.tanh(net.b(y)) * y.norm() * 0.7
                n += 1
            return y, n
    return f, lambda i: (row(i) - 2 * start(i + 1), 0.05), None


@program(calls=40, captures=20, recordings=12)
def method_with_tensors_of_self():
    class Solver:
        def __init__(self):
            self.down = terra.tensor([0.7, 0.8, 0.9])
            self.shift = terra.tensor([0.01, 0.02, 0.0])
            self.eps = 0.4

        def step(self, y):
            if y.sum() % 2 > 1:
                return y * self.down
            return y * 0.9 - self.shift

        def solve(self, x):
            y = x * 1.0
            while y.norm() > self.eps:
                y = self.step(y)
            return y
    s = Solver()
    return s.solve, lambda i: (row(i),), s


@program(calls=16, captures=4)
def sums_of_sums():
    def f(x, eps):
        box = [x.shape[0], 0]
        for _ in range(40):
            box[1] = box[0]
            box[0] = box[0] + box[1]
        while x.norm() > eps:
            x = x * 0.25
        return x, box
    return f, lambda i: (row(i, 3 + i % 4), 3.0), None


@program(calls=30, captures=0)
def random_on_one_way():
    def f(x, eps):
        y = x * 1.0
        while y.norm() > eps:
            y = y * 0.8
            if y.sum() % 2 > 1:
                y = y + terra.rand(3) * 0.01
        return y
    return f, lambda i: (terra.manual_seed(i), row(i))[1:] + (0.4,), None


if __name__ == "__main__":
    main()
