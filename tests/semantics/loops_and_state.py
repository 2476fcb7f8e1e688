# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Loops with a changing number of rounds and what they do to the world: what a round leaves behind decides whether the
next one is like it, and what is there afterwards is what the last one left."""
import collections

import terra
from _harness import Bag, main, program

COUNTS = [4, 7, 3, 5, 12, 2, 9, 6, 17, 8, 11, 3, 20, 5, 4, 14]
LAST = None


def count(i):
    return COUNTS[i % len(COUNTS)]


def ones(i, *shape):
    n = 1
    for size in shape:
        n *= size
    return (terra.arange(n).float() + i).sin().reshape(shape)


@program(calls=14, captures=9, recordings=4)
def a_window_of_three():
    def f(x, n):
        window = collections.deque(maxlen=3)
        h = terra.zeros(3)
        for t in range(n + 3):
            window.append(h)
            h = (h + x[t] + window[0]).tanh()
        return h, window[0], len(window)
    return f, lambda i: (ones(i, 30, 3), count(i)), None


@program(calls=14, captures=6, recordings=8)
def a_global_that_each_round_sets():
    def f(x, n):
        global LAST
        for t in range(n):
            x = x * 0.9 + t
            LAST = t
        return x, LAST
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=6, recordings=8)
def attributes_that_each_round_sets():
    bag = Bag(h=None, pair=None, t=None)
    def f(x, n):
        for t in range(n):
            x = (x + t).tanh()
            bag.h = x
            bag.pair = x, t
        return x
    def args(i):
        if i % 5 == 4:
            bag.h, bag.pair = None, ()
        return ones(i, 3), count(i)
    return f, args, bag


@program(calls=14, captures=0)
def a_count_kept_on_an_object():
    bag = Bag(n=0)
    def f(x, n):
        for _ in range(n):
            x = x * 0.9 + bag.n
            bag.n += 1
        return x
    return f, lambda i: (ones(i, 3), count(i)), bag


@program(calls=14, captures=0)
def a_number_of_an_outer_function():
    def make():
        k = 0
        def step(x):
            nonlocal k
            k += 1
            return x * 0.9 if k % 7 else x + 1
        return step
    def f(x, n):
        step = make()
        for _ in range(n):
            x = step(x)
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def text_that_grows():
    def f(x, n):
        s = ""
        for _ in range(n):
            s += "a"
            x = x * 0.9 + (3 if s == "aaaaaa" else 1)
        return x, s
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_set_that_grows():
    def f(x, n):
        seen = set()
        for t in range(n):
            x = x * 0.9 + len(seen)
            seen.add(t % 4)
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def an_iterator_beside_the_loop():
    weights = [0.5, 0.25, 2.0, 1.5] * 6
    def f(x, n):
        it = iter(weights)
        for _ in range(n):
            x = x * next(it) + 1
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_generator_beside_the_loop():
    def numbers():
        k = 1
        while True:
            yield k
            k += 1
    def f(x, n):
        it = numbers()
        for _ in range(n):
            x = x * 0.9 + next(it)
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_list_whose_first_item_changes():
    def f(x, n):
        outs = [x]
        for t in range(n):
            outs.append(x * t)
            if t == 5:
                outs[0] = x * 100
        return terra.stack(outs).sum(0)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_list_that_loses_items():
    def f(x, n):
        outs = []
        for t in range(n):
            outs.append(x * t)
            if len(outs) == 4:
                outs.pop(0)
        return terra.stack(outs).sum(0)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_list_under_two_names():
    def f(x, n):
        outs = []
        other = outs
        for t in range(n):
            outs.append(x * t)
            other.append(x + t)
        return terra.stack(other).sum(0), len(outs)
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def the_list_is_kept():
    bag = Bag(outs=None)
    def f(x, n):
        outs = []
        for t in range(n):
            outs.append(x * t)
        bag.outs = outs
        return terra.stack(outs).sum(0)
    return f, lambda i: (ones(i, 3), count(i)), bag


@program(calls=14, captures=0)
def two_loops_fill_one_list():
    def f(x, n, m):
        outs = []
        for t in range(n):
            outs.append(x * t)
        for t in range(m):
            outs.append(x - t)
        return terra.stack(outs)
    return f, lambda i: (ones(i, 3), count(i), count(i + 3)), None


@program(calls=14, captures=0)
def a_list_for_each_round():
    def f(x, n, m):
        total = terra.zeros(3)
        for k in range(n):
            outs = []
            for t in range(m):
                outs.append(x * t + k)
            total = total + terra.stack(outs).sum(0)
        return total
    return f, lambda i: (ones(i, 3), count(i), count(i + 3)), None


@program(calls=14, captures=5)
def halving_a_tensor():
    def f(x):
        steps = 0
        while x.shape[0] > 1:
            x = x[::2] * 0.5 + x.shape[0]
            steps += 1
        return x, steps
    return f, lambda i: (ones(i, 3 + 7 * count(i), 2),), None


@program(calls=14, captures=8, recordings=6)
def gradients_summed_over_rounds():
    w = (ones(1, 3) * 0.4).requires_grad_()
    def f(x, n):
        w.grad = None
        for t in range(n):
            ((x[t] * w).tanh().sum() * (t + 1)).backward()
        return w.grad.clone()
    return f, lambda i: (ones(i, 20, 3), count(i)), [w]


@program(calls=14, captures=0)
def steps_in_each_round():
    w = terra.nn.Parameter(ones(1, 3) * 0.4)
    optimizer = terra.optim.SGD([w], lr=0.1)
    def f(x, n):
        for t in range(n):
            optimizer.zero_grad()
            loss = (x[t] * w).tanh().pow(2).sum()
            loss.backward()
            optimizer.step()
        return loss.detach()
    return f, lambda i: (ones(i, 20, 3), count(i)), [w]


@program(calls=14, captures=0)
def momentum_in_each_round():
    w = terra.nn.Parameter(ones(1, 3) * 0.4)
    optimizer = terra.optim.Adam([w], lr=0.1)
    def f(x, n):
        for t in range(n):
            optimizer.zero_grad()
            (x[t] * w).tanh().pow(2).sum().backward()
            optimizer.step()
        return w.detach().clone()
    return f, lambda i: (ones(i, 20, 3), count(i)), [w]


@program(calls=14, captures=10, recordings=3)
def no_gradients_in_rounds():
    w = (ones(1, 3) * 0.4).requires_grad_()
    def f(x, n):
        h = terra.zeros(3)
        for t in range(n):
            with terra.no_grad():
                scale = (w * x[t]).sum()
            h = (h + w * scale).tanh()
        return h.detach(), h.requires_grad
    return f, lambda i: (ones(i, 20, 3), count(i)), [w]


@program(calls=14, captures=10, recordings=3)
def a_row_written_through_a_view():
    def f(x, n):
        y = x.clone()
        for t in range(n):
            row = y[t]
            row += t
            row.mul_(2)
        return y, row
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=0)
def a_size_that_follows_the_rounds():
    def f(x, n):
        parts = [x[:t + 1].sum(0) for t in range(n)]
        y = x[:n] * 2
        return terra.stack(parts), y.shape[0], y.sum(0) / len(y)
    return f, lambda i: (ones(i, 20, 3), count(i)), None


@program(calls=14, captures=0)
def dropout_in_rounds():
    def f(x, n):
        for _ in range(n):
            x = terra.nn.functional.dropout(x, 0.5) + 0.1
        return x
    def args(i):
        terra.manual_seed(i)
        return ones(i, 8), count(i)
    return f, args, None


@program(calls=14, captures=0)
def numbers_drawn_in_rounds():
    import random
    source = random.Random(3)
    def f(x, n):
        for _ in range(n):
            x = x * source.random()
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def printed_in_rounds():
    def f(x, n):
        for t in range(n):
            x = x * 0.9 + t
            print("round", t)
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_tensor_that_is_asked_for_its_value():
    def f(x, n):
        for _ in range(n):
            x = x * 0.9 + int(x.sum().item() * 10) % 3
        return x
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def hooks_in_rounds():
    w = (ones(1, 3) * 0.4).requires_grad_()
    def f(x, n):
        h = w * 1
        for t in range(n):
            h = (h + x[t]).tanh()
            h.register_hook(lambda g: g * 0.9)
        w.grad = None
        h.sum().backward()
        return w.grad.clone()
    return f, lambda i: (ones(i, 20, 3), count(i)), [w]


@program(calls=14, captures=0)
def the_version_of_a_tensor():
    def f(x, n):
        y = x.clone()
        for _ in range(n):
            y.add_(1)
        return y, y._version
    return f, lambda i: (ones(i, 3), count(i)), None


@program(calls=14, captures=0)
def a_list_taken_in_the_rounds_that_fill_it():
    def f(x, n):
        outs = [x]
        for t in range(0, n, 2):
            outs.append(x)
            x = terra.stack(outs).sum(0) * 0.1
        return x
    return f, lambda i: (ones(i, 3), [3, 4, 3, 1, 7, 2, 9, 5, 12, 6][i % 10]), None


@program(calls=14, captures=0)
def an_inner_loop_whose_variable_is_kept():
    def f(x, y, n):
        k = 1
        for t in range(0, n, 2):
            for s in range(0, n, 2):
                x, y = y, x * 0.5
            k = s
        return x, y, k
    return f, lambda i: (ones(i, 3), ones(i + 1, 3), [1, 2, 6, 4, 7, 0, 3, 5, 9, 12][i % 10]), None


@program(calls=14, captures=9, recordings=5)
def a_loop_that_sets_the_next_ones_rounds():
    def f(x, n):
        m = 0
        for t in range(n):
            x = x * 0.9 + t
            m += 2
        for t in range(m):
            x = x - 0.1 * t
        return x, m
    return f, lambda i: (ones(i, 3), count(i)), None


if __name__ == "__main__":
    main()
