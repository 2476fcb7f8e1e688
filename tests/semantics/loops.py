# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
"""Loops whose number of rounds changes from call to call: one entry serves them, however many rounds come."""
import terra

from _harness import main, program

COUNTS = [4, 7, 3, 5, 12, 2, 9, 6, 17, 8, 11, 3, 20, 5, 4, 14]


def count(i):
    return COUNTS[i % len(COUNTS)]


def ones(i, *shape):
    """A tensor that differs between calls, with no two elements alike."""
    n = 1
    for size in shape:
        n *= size
    return (terra.arange(n).float() + i).sin().reshape(shape)


@program(calls=14, captures=10, recordings=3)
def plain_range():
    def f(x, n):
        for _ in range(n):
            x = x * 0.9 + 0.1
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=2)
def arguments_that_change_places():
    def f(x, y, n):
        for _ in range(n):
            x, y = y, x
            x.sum()
        return x, y
    return f, lambda i: (ones(i, 3), ones(i + 1, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def index_in_arithmetic():
    def f(x, n):
        y = terra.zeros(3)
        for t in range(n):
            y = y + x * t - t * t
        return y
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=20, captures=4)
def digits_of_a_number():
    """The numbers that a while loop carries, and no tensor at all."""
    def f(n, base):
        digits = []
        while n:
            n, digit = divmod(n, base)
            digits.append(digit)
        return digits
    return f, lambda i: (count(i // 6), 2 + 8 * (i % 2)), None


@program(calls=20, captures=4)
def number_of_digits():
    def f(n, base):
        digits = 0
        while n:
            n = n // base
            digits = digits * 2 + n % base
        return digits, n
    return f, lambda i: (count(i // 2), 2 + 8 * (i % 2)), None


@program(calls=20, captures=4)
def digits_as_factors():
    def f(x, n, base):
        while n:
            n, digit = divmod(n, base)
            x = x * 0.5 + digit
        return x, n
    return f, lambda i: (ones(i, 3), count(i // 2), 2 + 8 * (i % 2)), None


@program(calls=14, captures=10, recordings=3)
def rows_of_a_tensor():
    def f(x, n):
        h = terra.zeros(4)
        for t in range(n):
            h = (h * 0.5 + x[t]).tanh()
        return h
    return f, lambda i: (ones(i, 20, 4), count(i)), None


@program(calls=14, captures=9, recordings=4)
def rows_by_the_size_of_a_tensor():
    def f(x):
        h = terra.zeros(4)
        for t in range(x.shape[0]):
            h = (h * 0.5 + x[t]).tanh()
        return h
    return f, lambda i: (ones(i, count(i), 4),), None


@program(calls=14, captures=9, recordings=4)
def length_of_a_tensor():
    def f(x):
        h = terra.zeros(4)
        for t in range(len(x)):
            h = h + x[t] * (t + 1)
        return h
    return f, lambda i: (ones(i, count(i), 4),), None


@program(calls=14, captures=10, recordings=3)
def columns_and_slices():
    def f(x, n):
        h = terra.zeros(2)
        for t in range(n):
            h = h + x[:, t] - x[:, t:t + 1].sum(1) * 0.5
        return h
    return f, lambda i: (ones(i, 2, 21), count(i)), None


@program(calls=14, captures=10, recordings=3)
def from_the_end():
    def f(x, n):
        h = terra.zeros(2)
        for t in range(n):
            h = h * 0.5 + x[n - 1 - t]
        return h
    return f, lambda i: (ones(i, 20, 2), count(i)), None


@program(calls=14, captures=10, recordings=3)
def negative_steps():
    def f(x, n):
        h = terra.zeros(2)
        for t in range(n - 1, -1, -1):
            h = h * 0.5 + x[t]
        return h, t
    return f, lambda i: (ones(i, 20, 2), count(i)), None


@program(calls=14, captures=10, recordings=3)
def reversed_range():
    def f(x, n):
        h = terra.zeros(2)
        for t in reversed(range(n)):
            h = h * 0.5 + x[t] * t
        for t in reversed(range(1, n + 1)):
            h = h * 0.5 + x[t]
        return h, t
    return f, lambda i: (ones(i, 22, 2), count(i)), None


@program(calls=14, captures=9, recordings=4)
def rounds_of_two_kinds():
    def f(x, n, m):
        for t in range(n + m):
            if t < n:
                x = x * 0.9 + t
            else:
                x = (x - t).tanh()
        return x
    return f, lambda i: (ones(i, 3), min(count(i), 9), count(i + 3)), None


@program(calls=80, captures=70, recordings=4)
def another_count_in_every_call():
    def f(x):
        h = terra.zeros(2, 3)
        for t in range(x.shape[0]):
            h = (h * 0.5 + x[t]).tanh()
        return h
    return f, lambda i: (ones(i, 2 + i * 7 % 39, 2, 3),), None


@program(calls=14, captures=10, recordings=3)
def steps_of_two():
    def f(x, n):
        h = terra.zeros(2)
        for t in range(1, 2 * n, 2):
            h = h * 0.5 + x[t]
        return h
    return f, lambda i: (ones(i, 40, 2), count(i)), None


@program(calls=14, captures=10, recordings=3)
def list_collected_and_stacked():
    def f(x, n):
        h = terra.zeros(3)
        outs = []
        for t in range(n):
            h = (h + x[t]).tanh()
            outs.append(h)
        return terra.stack(outs), h
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def two_lists_in_turn():
    def f(x, n):
        h = terra.zeros(3)
        outs, states = [x[0]], []
        for t in range(n):
            states.append(h)
            h = (h + x[t]).tanh()
            outs.append(h * 2)
            outs.append(h * 3)
        outs.append(h)
        return terra.cat(outs), terra.stack(states)
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=16, captures=11, recordings=4)
def lists_that_loops_inside_loops_append_to():
    """What an inner loop of a round appended becomes a part of what the outer loop collects."""
    def f(x, n):
        rows = [x]
        for t in range(0, n, 2):
            for u in range(n - 1, -1, -1):
                if u == 4:
                    break
                rows.append(x * u + t)
        return terra.stack(rows)
    return f, lambda i: (ones(i, 3), 4 + count(i) % 7), None


@program(calls=16, captures=13, recordings=2)
def lists_of_triangles():
    """Each round appends one more than the round before."""
    def f(x, n):
        rows = [x]
        for t in range(n):
            for u in range(t):
                rows.append(x * u + t)
        rows.append(x * 2)
        rows.append(x * 3)
        return terra.stack(rows)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def size_of_what_was_stacked():
    def f(x, n):
        outs = []
        for t in range(n):
            outs.append(x[t] * 2)
        y = terra.stack(outs)
        return y / y.shape[0], y.numel()
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def comprehension():
    def f(x, n):
        return terra.stack([x[t] * (t + 1) for t in range(n)]).sum(0)
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=10, recordings=4)
def while_counter():
    def f(x, n):
        i = 0
        while i < n:
            x = x * 0.9 + i
            i += 1
        return x, i
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=10, recordings=4)
def while_countdown():
    def f(x, n):
        while n > 0:
            x = x * 0.9 + n
            n -= 1
        return x, n
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=10, recordings=4)
def while_halving():
    def f(x, n):
        steps = 0
        while n:
            x = x * 0.5 + n
            n //= 2
            steps += 1
        return x, steps
    return f, lambda i: (ones(i, 3), 40 * count(i)), None


@program(calls=14, captures=9, recordings=4)
def break_at_an_index():
    def f(x, n, m):
        for t in range(n):
            x = x * 0.9 + t
            if t >= m:
                break
            x = x + 1
        return x, t
    return f, lambda i: (ones(i, 3), 30, count(i)), None


@program(calls=14, captures=8, recordings=5)
def break_or_end():
    def f(x, n, m):
        for t in range(n):
            if t == m:
                x = x * 2
                break
            x = x * 0.9 + t
        else:
            x = x - 100
        return x
    return f, lambda i: (ones(i, 3), count(i), count(3 * i + 1)), None


@program(calls=14, captures=9, recordings=4)
def early_return():
    def f(x, n, m):
        for t in range(n):
            x = x * 0.9 + t
            if t == m:
                return x, t
        return x, -1
    return f, lambda i: (ones(i, 3), 30, count(i)), None


@program(calls=14, captures=9, recordings=4)
def first_and_last_rounds_differ():
    def f(x, n):
        for t in range(n):
            if t == 0:
                x = x + 10
            elif t == n - 1:
                x = x * 3
            else:
                x = x * 0.9 + t
        return x
    return f, lambda i: (ones(i, 3), count(i) + 2), None


@program(calls=14, captures=10, recordings=3)
def skipped_below_a_number():
    def f(x, n):
        for t in range(n):
            if t < 2:
                continue
            x = x * 0.9 + t
        return x
    return f, lambda i: (ones(i, 3), count(i) + 3), None


@program(calls=16, captures=9, recordings=6)
def no_round_and_one():
    counts = [3, 5, 0, 1, 0, 4, 1, 7, 0, 1, 2, 0, 6, 1, 3, 2]
    def f(x, n):
        for t in range(n):
            x = x * 0.9 + t
        else:
            x = x + 0.5
        return x
    return f, lambda i: (ones(i, 3), counts[i]), None


@program(calls=14, captures=10, recordings=3)
def nested_fixed_inside():
    def f(x, n):
        for t in range(n):
            for k in range(3):
                x = x * 0.9 + k * t
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=9, recordings=4)
def nested_changing_inside():
    def f(x, n):
        for k in range(2):
            for t in range(n):
                x = x * 0.9 + k * t
            x = x - 1
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=8, recordings=5)
def nested_both():
    def f(x, n, m):
        for k in range(n):
            for t in range(m):
                x = x * 0.9 + k * t
            x = x - k
        return x
    return f, lambda i: (ones(i, 3), count(i) + 1, count(i + 5) + 1), None


@program(calls=14, captures=10, recordings=3)
def in_a_callee():
    def walk(x, n):
        for t in range(n):
            x = x * 0.9 + t
        return x, t
    def f(x, n):
        y, t = walk(x, n)
        return y * 2, t
    f.target = f
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def pair_of_states():
    class Cell:
        def __init__(self):
            self.w = ones(1, 3, 3)
        def step(self, x, state):
            h, c = state
            c = (x @ self.w).sigmoid() * c + h
            return c.tanh(), c
    cell = Cell()
    def f(x, n):
        state = terra.zeros(2, 3), terra.ones(2, 3)
        for t in range(n):
            state = cell.step(x[t], state)
        return state
    return f, lambda i: (ones(i, 20, 2, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def the_value_before():
    def f(x, n):
        before = h = terra.zeros(3)
        for t in range(n):
            before = h
            h = (h + x[t]).tanh() + before * 0.1
        return h, before
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=9, recordings=4)
def values_that_change_places():
    def f(x, y, n):
        for t in range(n):
            x, y = y * 0.5, x + t
        return x, y
    return f, lambda i: (ones(i, 3), ones(i + 1, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def in_place():
    def f(x, n):
        total = terra.zeros(3)
        for t in range(n):
            total += x[t]
            total.mul_(0.9)
        return total
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def rows_written():
    def f(x, n):
        y = terra.zeros(20, 3)
        for t in range(n):
            y[t] = x[t] * t
        return y
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=10, recordings=3)
def state_kept_on_an_object():
    class Net:
        def __init__(self):
            self.h = terra.zeros(3)
    net = Net()
    def f(x, n):
        for t in range(n):
            net.h = (net.h + x[t]).tanh()
        return net.h * 2
    return f, lambda i: (ones(i, 20, 3), count(i)), net


@program(calls=14, captures=10, recordings=3)
def gradients():
    w = (ones(1, 3, 3) * 0.4).requires_grad_()
    def f(x, n):
        h = terra.zeros(2, 3)
        for t in range(n):
            h = (x[t] @ w + h).tanh()
        loss = (h * h).mean()
        loss.backward()
        return loss.detach()
    def args(i):
        w.grad = None
        return ones(i, 20, 2, 3), count(i)
    return f, args, [w]


@program(calls=14, captures=10, recordings=3)
def gradients_outside():
    w = (ones(1, 3, 3) * 0.4).requires_grad_()
    def g(x, n):
        h = terra.zeros(2, 3)
        outs = []
        for t in range(n):
            h = (x[t] @ w + h).tanh()
            outs.append(h)
        return terra.stack(outs).sum()
    def f(x, n):
        w.grad = None
        y = g(x, n)
        (y * y).backward()
        return y.detach(), w.grad.clone()
    f.target = g
    return f, lambda i: (ones(i, 20, 2, 3), count(i)), None


@program(calls=14, captures=8, recordings=6)
def train_step():
    class Cell(terra.nn.Module):
        def __init__(self):
            super().__init__()
            self.input, self.hidden = terra.nn.Linear(3, 4), terra.nn.Linear(4, 4)
        def forward(self, x, h):
            return (self.input(x) + self.hidden(h)).tanh()
    cell = Cell()
    with terra.no_grad():
        for k, p in enumerate(cell.parameters()):
            p.copy_(ones(k, *p.shape) * 0.3)
    optimizer = terra.optim.SGD(cell.parameters(), lr=0.1)
    def f(x, n):
        optimizer.zero_grad()
        h = terra.zeros(2, 4)
        for t in range(n):
            h = cell(x[t], h)
        loss = h.pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return f, lambda i: (ones(i, 20, 2, 3), count(i)), list(cell.parameters())


@program(calls=14, captures=10, recordings=3)
def a_number_of_another_kind_in_the_loop():
    def f(x, n):
        for t in range(n):
            scale = (t + 1) / n
            x = x * scale + t % 3
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def rounds_that_alternate():
    def f(x, n):
        for t in range(n):
            x = x * 0.9 if t % 2 else x + t
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def effects_in_each_round():
    log = []
    def f(x, n):
        for t in range(n):
            x = x * 0.9 + t
            log.append(t)
        return x
    return f, lambda i: (ones(i, 3), count(i)), log


@program(calls=14, captures=0)
def a_fact_that_counts():
    state = {"a": 0}
    def f(x, n):
        k = []
        for t in range(n):
            x = x * 0.9 + len(k)
            k.append(1)
            if len(k) == 6:
                x = x * 2
        return x
    return f, lambda i: (ones(i, 3), count(i)), state


@program(calls=14, captures=0)
def a_list_that_is_asked():
    def f(x, n):
        outs = []
        for t in range(n):
            outs.append(x * t)
            if len(outs) > 5:
                x = x + outs[0]
        return outs[-1], len(outs)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_list_that_is_returned():
    def f(x, n):
        return [x * t for t in range(n)]
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def numbers_of_a_list():
    weights = [0.5, 0.25, 2.0, 1.5] * 6
    def f(x, n):
        for t in range(n):
            x = x * weights[t] + t
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_shape_that_grows():
    def f(x, n):
        for t in range(min(n, 6)):
            x = terra.cat([x, x * t])
        return x.sum(), x.shape[0]
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def branch_on_a_tensor_in_each_round():
    def f(x, n):
        for t in range(n):
            if x.sum() > 1:
                x = x * 0.5
            else:
                x = x + 1
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def closures_made_in_rounds():
    def f(x, n):
        fs = []
        for t in range(n):
            fs.append(lambda y: y * t)
        return fs[0](x) + fs[-1](x)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def an_exception_in_a_round():
    def f(x, n):
        try:
            for t in range(n):
                x = x + x[0:3] * t
                if t == 7:
                    raise ValueError(t)
        except ValueError as error:
            return x, error.args
        return x, None
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def rows_beyond_the_end():
    def f(x, n):
        h = terra.zeros(3)
        for t in range(n):
            h = h + x[t]
        return h
    return f, lambda i: (ones(i, 10, 3), count(i)), None


@program(calls=26, captures=18, recordings=6)
def number_skipped_on_the_way():
    """What the first of the rounds behind begins with was made by those before."""
    class Kept:
        pass
    kept = Kept()
    def f(n, x, o):
        for j in range(1, n):
            if j == 4:
                continue
            o.t = x
            x = x + 1
        return j, x
    return f, lambda i: ([3, 6, 2, 5, 4, 3, 7, 2, 3, 9, 2, 4, 8, 5][i % 14] + 2, ones(i, 2), kept), kept


if __name__ == "__main__":
    main()
