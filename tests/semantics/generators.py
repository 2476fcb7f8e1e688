# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Generators and iterators made, drained, dropped and passed around inside the recorded frame."""
import terra
from _harness import main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


def doubled(xs, n=2):
    for x in xs:
        yield x * n


@program(calls=12, captures=9)
def builtins_over_generator_expressions():
    def f(xs, n):
        total = sum(x * n for x in xs)
        rank = max(x.dim() * 3 for x in xs) + min(x.dim() for x in xs)
        flags = any(x.dim() > 5 for x in xs), all(x.dim() == 2 for x in xs)
        return total * rank, flags
    return f, lambda i: ([t(i), t(1)], 2.0 + i % 2), None


@program(calls=12, captures=7)
def containers_of_generator_expressions():
    def f(xs, n):
        a = list(x + n for x in xs)
        b = tuple(x * n for x in xs)
        d = {f"k{j}": x for j, x in enumerate(xs)}
        s = sorted((j * n for j in range(3)), reverse=True)
        text = ",".join(str(j) for j in range(n))
        return a, b, d, s, text
    return f, lambda i: ([t(i), t(1)], 1 + i % 2), None


@program(calls=12, captures=10)
def user_generator_drained():
    def f(xs, n):
        out = []
        for y in doubled(xs, n):
            out.append(y + 1)
        return out
    return f, lambda i: ([t(i), t(i + 1), t(2)], 3.0), None


@program(calls=12, captures=9)
def yield_from_generator():
    def both(xs, n):
        got = yield from doubled(xs, n)
        yield from xs
        yield from (x - 1 for x in xs)
        assert got is None
    def f(xs, n):
        return [y * 2 for y in both(xs, n)]
    return f, lambda i: ([t(i), t(1)], 1 + i % 2), None


@program(calls=12, captures=10)
def value_of_yield_from():
    def inner(x):
        yield x
        yield x * 2
        return x * 10
    def outer(x, log):
        value = yield from inner(x)
        log.append("inner done")
        yield value + 1
    def f(x):
        log = []
        return list(outer(x, log)), log
    return f, lambda i: (t(i),), None


@program(calls=12, captures=10)
def early_break_runs_finally():
    log = []
    def gen(xs):
        try:
            for x in xs:
                yield x
        finally:
            log.append("closed")
    def f(xs):
        for y in gen(xs):
            break
        log.append("after")
        return y * 3
    def args(i):
        return [t(i), t(1)],
    return f, args, log


@program(calls=12, captures=10)
def closed_by_hand():
    def gen(x, log):
        try:
            yield x
            yield x + 1
        finally:
            log.append("closed")
    def f(x, log):
        g = gen(x, log)
        first = next(g)
        g.close()
        log.append("after")
        return first * 2
    log = []
    return f, lambda i: (t(i), log), None


@program(calls=12, captures=10)
def next_with_and_without_default():
    def f(xs):
        g = doubled(xs)
        a = next(g)
        b = next(g)
        c = next(g, None)
        d = next(g, 7)
        it = iter(xs)
        e = next(it) + next(it)
        return a + b + e, c, d, next(it, "none")
    return f, lambda i: ([t(i), t(1)],), None


@program(calls=12, captures=10)
def send_values():
    def acc(x):
        total = x
        while True:
            got = yield total
            if got is None:
                return
            total = total + got
    def f(x, y):
        g = acc(x)
        next(g)
        a = g.send(y)
        b = g.send(a * 2)
        g.close()
        return a, b
    return f, lambda i: (t(i), t(1)), None


@program(calls=12, captures=9)
def stop_iteration_caught():
    def f(xs):
        g = doubled(xs)
        n, out = 0, xs[0]
        while True:
            try:
                out = out + next(g)
            except StopIteration:
                break
            n += 1
        return out, n
    return f, lambda i: ([t(i), t(1)],), None


@program(calls=12, captures=9)
def nested_generators():
    def evens(xs):
        for j, x in enumerate(xs):
            if j % 2 == 0:
                yield j, x
    def scaled(pairs, k):
        for j, x in pairs:
            yield x * (j + k)
    def f(xs, k):
        return sum(scaled(evens(doubled(xs)), k))
    return f, lambda i: ([t(i), t(1), t(2)], 1 + i % 2), None


@program(calls=12, captures=10)
def comprehension_in_comprehension():
    def f(rows, n):
        a = [[x * n for x in row] for row in rows]
        b = {j: [x + j for x in row] for j, row in enumerate(rows)}
        c = [x for row in rows for x in row if x.dim() == 2]
        return a, b, c
    return f, lambda i: ([[t(i), t(1)], [t(2)]], 2), None


@program(calls=12, captures=10)
def iterators_passed_around():
    def take(it, n):
        return [next(it) for _ in range(n)]
    def f(xs, n):
        z = zip(xs, range(10))
        a = take(z, 1)
        b = [x * k for x, k in z]
        m = map(lambda x: x * n, xs)
        c = next(m)
        d = list(m)
        e = [x + j for j, x in enumerate(xs, 5)]
        g = [x for x in filter(lambda x: x.dim() == 2, xs)]
        h = list(reversed(xs))
        return a, b, c, d, e, g, h
    return f, lambda i: ([t(i), t(1), t(2)], 3.0), None


@program(calls=12, captures=9)
def generator_with_state():
    class Box:
        pass
    box = Box()
    box.n = 0
    def count(box, xs):
        for x in xs:
            box.n += 1
            yield x * box.n
    def f(box, xs):
        return list(count(box, xs))
    return f, lambda i: (box, [t(i), t(1)]), box


@program(calls=12, captures=9)
def star_and_unpacking_of_generators():
    def show(*args):
        return sum(args)
    def f(xs):
        a, *b = doubled(xs)
        c, d, e = doubled(xs, 3)
        *g, h = (x + 1 for x in xs)
        return show(*list(doubled(xs))), a + c * d, b, e, [*doubled(xs), *xs], (*g, h)
    return f, lambda i: ([t(i), t(1), t(2)],), None


@program(calls=12, captures=9)
def lists_grown_from_generators():
    def f(xs):
        out = []
        out.extend(doubled(xs))
        out += [x for x in doubled(xs)]
        out.extend(x + 1 for x in xs)
        d = {}
        d.update({str(j): x for j, x in enumerate(xs)})
        return out, d
    return f, lambda i: ([t(i), t(1)],), None


@program(calls=12, captures=9)
def iterator_class():
    class Steps:
        def __init__(self, x, n):
            self.x, self.n = x, n
        def __iter__(self):
            return self
        def __next__(self):
            if self.n <= 0:
                raise StopIteration
            self.n -= 1
            self.x = self.x + 1
            return self.x
    class Bag:
        def __init__(self, xs):
            self.xs = xs
        def __iter__(self):
            for x in self.xs:
                yield x * 2
    def f(x, n):
        return [y for y in Steps(x, n)], [y + 1 for y in Bag([x, x * 3])], sum(Bag([x]))
    return f, lambda i: (t(i), 2), None


@program(calls=12, captures=None, reason=13)
def escaping_generator():
    def f(x):
        return (x * k for k in range(2))
    return f, lambda i: (t(i),), None


@program(calls=12, captures=None, reason=14)
def generator_from_outside():
    def forever():
        k = 0
        while True:
            yield k
            k += 1
    it = forever()
    def f(x):
        return x * next(it)
    return f, lambda i: (t(i),), None


def places_in(change):
    """A program whose function gives an iterator, or leaves one in `o.kept`, over a container that `change` changes."""
    def drained(iterator):
        items = []
        try:
            for item in iterator:
                items.append(item)
                if len(items) > 9:
                    break
        except RuntimeError as error:
            items.append(str(error))
        return items

    def make():
        class Box:
            kept = None

        def call(x, box, table, items):
            y, iterator = change(x, box, table, items)
            return y, drained(iterator)
        call.target = change
        return call, lambda i: (t(i), Box(), {1: 2, 3: 4}, [1, 2]), None
    make.__name__ = change.__name__
    return program(calls=12, captures=0)(make)


@places_in
def over_a_dict_with_a_key_moved_to_its_end(x, box, table, items):
    it = iter(table)
    next(it)
    table[1] = table.pop(1)
    return x * 2, it


@places_in
def over_a_dict_made_inside_with_a_key_moved(x, box, table, items):
    made = {1: 2, 3: 4}
    it = iter(made.items())
    next(it)
    made[1] = made.pop(1)
    return x * 2, it


@places_in
def over_a_dict_that_lost_its_last_key(x, box, table, items):
    it = iter(table)
    next(it)
    del table[3]
    return x * 2, it


@places_in
def numbered_over_a_dict_with_a_key_moved(x, box, table, items):
    it = enumerate(table)
    next(it)
    table[1] = table.pop(1)
    return x * 2, it


@places_in
def over_a_dict_with_new_values(x, box, table, items):
    it = iter(table.items())
    next(it)
    table[1] = 7
    table[3] = 8
    return x * 2, it


@places_in
def kept_where_a_store_was_before_the_dict_grew(x, box, table, items):
    box.kept = None
    table[5] = 1
    box.kept = iter(table)
    return x * 2, box.kept


@places_in
def kept_before_the_list_grew(x, box, table, items):
    it = iter(items)
    box.kept = it
    next(it), next(it)
    items.append(5)
    next(it)
    items.append(6)
    return x * 2, it


@places_in
def reversed_where_a_store_was_before_the_list_grew(x, box, table, items):
    box.kept = None
    items.append(5)
    box.kept = reversed(items)
    return x * 2, box.kept


@program(calls=12, captures=8)
def view_of_a_dict_that_grows():
    def f(x, table):
        values = table.values()
        table["b"] = x * 3
        return list(values), sum(values)
    return f, lambda i: (t(i), {"a": t(1)}), None


@program(calls=12, captures=0)
def values_of_a_dict_with_a_key_moved():
    """One tensor under both keys in the calls that are recorded."""
    def f(x, table):
        it = iter(table.values())
        next(it)
        table[1] = table.pop(1)
        return x * next(it)
    def args(i):
        both = t(1)
        return t(i), {1: both, 3: both if i < 6 else t(2)}
    return f, args, None


if __name__ == "__main__":
    main()
