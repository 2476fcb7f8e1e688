# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Lists that grow between the calls, membership and sums of numbers that change, arguments that a path leaves alone."""
import io

import terra
from _harness import Bag, main, program
from terra import nn


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=20, captures=14)
def every_fourth():
    o = Bag(hist=[])
    def f(x):
        o.hist.append(0.5)
        return x * 2 if len(o.hist) % 4 == 0 else x + 3
    return f, lambda i: (t(i),), o


@program(calls=16, captures=12)
def last_item():
    o = Bag(hist=[0.25])
    def f(x, v):
        change = v - o.hist[-1]
        o.hist.append(v)
        return x * change, o.hist[-1], o.hist[-2], len(o.hist)
    return f, lambda i: (t(i), 0.5 * i * i), o


@program(calls=16, captures=8)
def moving_average():
    o = Bag(hist=[])
    def f(x, v):
        o.hist.append(v)
        recent = o.hist[-3:]
        return x * (sum(recent) / len(recent)), recent, min(recent), max(o.hist[-2:])
    return f, lambda i: (t(i), float(i * i % 7)), o


@program(calls=40, captures=24)
def history_of_losses():
    out = io.StringIO()
    o = Bag(losses=[], rates=[0.5], best=None)
    net = nn.Linear(3, 1)
    with terra.no_grad():
        for p in net.parameters():
            p.fill_(0.25)
    sgd = terra.optim.SGD(net.parameters(), lr=0.125)
    def f(x):
        sgd.zero_grad()
        loss = (net(x) - 1).pow(2).mean()
        loss.backward()
        sgd.step()
        o.losses.append(loss.item())
        if len(o.losses) % 5 == 0:
            print(f"{len(o.losses)}: {sum(o.losses[-5:]) / 5:.4f} {o.losses[-1]:.4f} {min(o.losses[-3:]):.3f}", file=out)
        o.rates.append(o.rates[-1] * 0.99)
        sgd.param_groups[0]["lr"] = o.rates[-1]
        return loss.detach(), o.losses[-2] if len(o.losses) > 1 else None
    def args(i):
        o.text = out.getvalue()
        return t(i) * 0.01,
    return f, args, o


@program(calls=14, captures=6)
def tail_becomes_too_short():
    o = Bag(hist=[1.0] * 8)
    def f(x):
        return x * sum(o.hist[-3:]), o.hist[-3:]
    def args(i):
        o.hist.append(float(i))
        if i in (5, 9):
            del o.hist[2:]
        return t(i),
    return f, args, o


@program(calls=14, captures=8)
def best_so_far_when_there_is_one():
    o = Bag(best=[])
    def f(x, v):
        if not o.best or v > o.best[-1]:
            o.best.append(v)
        return x * o.best[-1], o.best[0]
    return f, lambda i: (t(i), float(i * 5 % 11)), o


@program(calls=16, captures=10)
def items_of_other_kinds():
    o = Bag(log=[1])
    def f(x):
        last = o.log[-1]
        return x * 2 if last is None else x * last
    def args(i):
        o.log.append([3, None, 2.5, 4][i // 4])
        return t(i),
    return f, args, o


@program(calls=14, captures=8)
def tensors_at_the_end():
    o = Bag(seen=[t(0)])
    def f(x):
        y = x + o.seen[-1]
        o.seen.append(y * 0.5)
        return y, o.seen[-1] is y, len(o.seen)
    return f, lambda i: (t(i),), o


@program(calls=14, captures=7)
def two_lists_or_one():
    lists = [[1.0], [2.0]]
    def f(x, a, b):
        a.append(3.0)
        return x * len(b), a[-1], b[-1], a is b
    return f, lambda i: (t(i), lists[0], lists[i % 2]), lists


@program(calls=14, captures=8)
def length_and_items():
    o = Bag(hist=[])
    def f(x, xs):
        y = x * len(xs)
        for item in xs:
            y = y + item
        return y, bool(xs)
    return f, lambda i: (t(i), [t(k) for k in range(1 + i % 3)]), o


@program(calls=14, captures=8)
def index_from_the_start():
    o = Bag(hist=[2.0, 3.0])
    def f(x):
        o.hist.append(1.0)
        return x * o.hist[0] + len(o.hist), o.hist[1]
    def args(i):
        o.hist[0] = float(i)
        return t(i),
    return f, args, o


@program(calls=14, captures=6)
def index_out_of_range_later():
    o = Bag(hist=[1.0] * 9)
    def f(x):
        try:
            return x * o.hist[-4], len(o.hist)
        except IndexError:
            return x
    def args(i):
        o.hist.pop() if i % 2 or i > 6 else o.hist.append(2.0)
        return t(i),
    return f, args, o


@program(calls=24, captures=12)
def milestones():
    o = Bag(step=0, at=(5, 9), others={3, 11}, table={4: 2.0, 13: 3.0})
    def f(x):
        o.step += 1
        k = 2 if o.step in o.at else 1
        if o.step in o.others:
            k += 4
        if o.step not in {6, 7}:
            k += 8
        if o.step in o.table:
            k *= o.table[o.step]
        return x * k, [7, 8, 9].count(o.step)
    return f, lambda i: (t(i),), o


@program(calls=16, captures=8)
def set_changes_too():
    o = Bag(step=0, at={3, 5})
    def f(x):
        o.step += 1
        return x * 2 if o.step in o.at else x
    def args(i):
        if i == 7:
            o.at = {10, 11}
        if i == 12:
            o.at.add(14)
        return t(i),
    return f, args, o


@program(calls=16, captures=6)
def where_keys_of_sets_lie():
    o = Bag(s={1, 5}, n=0)
    def f(x, k):
        o.n += 1
        before = [*o.s]
        o.s ^= {1, 8, k}
        o.s |= {9, k + 1}
        o.s &= {1, 9, k}
        o.s -= {9}
        return x * len(o.s), before
    return f, lambda i: (t(i), [0, 3, 0, 16][i // 4]), o


@program(calls=12, captures=2)
def sums_of_themselves():
    def f(x, n, k):
        total = n
        for i in range(k):
            total = total + total
            if total > i:
                x = x + i
        for i in range(total % 3):
            x = x * 2
        return x, total
    return f, lambda i: (t(i), i * 7 % 5 + 1, 40 + i % 2), None


@program(calls=16, captures=0)
def order_after_deletions():
    o = Bag(s={1, 5})
    def f(x, k):
        o.s ^= {1, k}
        return x * 2, [*o.s]
    return f, lambda i: (t(i), [0, 0, 3, 0, 0][i % 5]), o


@program(calls=14, captures=4)
def membership_after_a_store():
    o = Bag(step=0)
    def f(x, seen):
        o.step += 1
        seen.add(2)
        seen.add(o.step // 5)
        return x * (1 + (o.step // 5 + 1 in seen)), seen
    return f, lambda i: (t(i), {1, 20}), o


@program(calls=14, captures=9)
def reductions():
    o = Bag(ws=[0.5, 2, 0.25])
    def f(x, n):
        ws = [n, 2, *o.ws]
        return x * sum(ws) + min(n, 3), max(ws), min(ws), any([n, 0]), all((n, 1)), sum([n, 1], 0.5)
    def args(i):
        o.ws[0] = i * 0.5
        return t(i), i % 5
    return f, args, o


@program(calls=14, captures=7)
def type_of_the_largest():
    def f(x, n):
        k = max(n, 2.5)
        m = min([n, 1.5])
        return x.long() * k, x.long() * m, k, m
    return f, lambda i: (t(i), i % 5), None


@program(calls=12, captures=4)
def nan_in_a_list():
    nan = float("nan")
    values = [nan, 1.0, nan, 2.0, 1.0, 3.0]
    def f(x, v, w):
        return x * (1 + (v in [w, 5.0])), v in [1.0], [v] == [w], [v, w].count(1.0)
    return f, lambda i: (t(i), values[i % 6], values[i % 6] if i % 4 else values[i * 5 % 6]), None


@program(calls=14, captures=5)
def orders_of_pairs():
    def f(x, n):
        return x * 2 if (n, 1) < (3, 0) else x, [n, 2] == [3, 2], [1, n] >= [1, 2]
    return f, lambda i: (t(i), i * 3 % 7), None


@program(calls=14, captures=8)
def keys_of_two_dicts():
    def f(x, a, b):
        b["k"] = x
        return x * (2 if a.keys() == b.keys() else 3), a.keys() != {"k": 1}.keys()
    return f, lambda i: (t(i), {"k": 1} if i % 2 else {"k": 1, "j": 2}, {"j": 1} if i % 3 else {}), None


@program(calls=12, captures=9, recordings=3)
def argument_that_nobody_uses():
    def f(x, tag, extra, *rest, **named):
        return x * 2
    return f, lambda i: (t(i), object() if i % 2 else None, [x for x in range(i)]), None


@program(calls=12, captures=7)
def argument_of_one_path():
    def f(x, k, scale, other):
        if k:
            return x * scale
        return other + 1
    return f, lambda i: (t(i), i % 2, i if i % 2 else "a", t(i) if i % 2 == 0 else None), None


@program(calls=12, captures=8)
def argument_in_a_loop():
    def f(x, n, y, other):
        while n > 0:
            x = x + y
            n -= 1
            if n == 7:
                x = x * other
        return x
    return f, lambda i: (t(i), i % 6 + 1, t(1), "unused"), None


@program(calls=12, captures=7)
def arguments_deleted_and_replaced():
    def f(x, a, b):
        b = a
        del a
        a = x * b
        return a, b
    return f, lambda i: (t(i), 1 + i % 3, object()), None


@program(calls=14, captures=9)
def other_object_of_the_class():
    p, q = Bag(n=1, m=2.0), Bag(n=5, m=3.0)
    def f(x, a, b):
        a.n = a.n + 1
        return x * a.n * b.m
    return f, lambda i: (t(i), p, p if i % 3 == 0 else q), [p, q]


@program(calls=14, captures=6)
def same_attribute_of_both():
    p, q = Bag(n=1), Bag(n=5)
    def f(x, a, b):
        a.n = a.n + 1
        b.n = b.n * 2 % 17
        return x * a.n + b.n
    return f, lambda i: (t(i), p, p if i % 3 == 0 else q), [p, q]


@program(calls=14, captures=6)
def names_of_one_and_values_of_the_other():
    p, q = Bag(n=1), Bag(n=5)
    def f(x, a, b):
        a.n = 3
        if len(vars(b)) == 1:
            a.extra = 1
        return x * 2, sorted(vars(b))
    def args(i):
        for o in (p, q):
            vars(o).pop("extra", None)
        return t(i), p, p if i % 3 == 0 else q
    return f, args, [p, q]


if __name__ == "__main__":
    main()
