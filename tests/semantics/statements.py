# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Python's statements and displays, each round a little tensor work."""
import terra
from _harness import Bag, main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


@program(calls=12, captures=4)
def nested_loops_with_else():
    def f(x, n):
        for j in range(3):
            for k in range(3):
                if j * k == n:
                    break
                x = x + k
            else:
                x = x * 2
                continue
            if j == 2:
                break
        else:
            x = x - 100
        return x, j, k
    return f, lambda i: (t(i), i % 5), None


@program(calls=12, captures=5)
def while_true_with_counter():
    def f(x, o, n):
        k = 0
        while True:
            o.steps += 1
            k += 1
            if k > n:
                break
            if k == 2:
                continue
            x = x + k
        while k:
            k -= 1
        else:
            x = x * 2
        return x, k
    o = Bag(steps=0)
    return f, lambda i: (t(i), o, i % 3), o


@program(calls=12, captures=8)
def walrus_and_ternary():
    def f(x, n, xs):
        y = x * (m if (m := n + 1) > 2 else -m)
        z = [w * 2 for v in xs if (w := v + m).dim() == 2]
        return y, m, z, "big" if n > 1 else "small"
    return f, lambda i: (t(i), i % 4, [t(1), t(2)]), None


@program(calls=12, captures=4)
def match_values():
    def f(x, command):
        match command:
            case 0 | 1:
                return x + 1
            case "double":
                return x * 2
            case None:
                return x
            case True:
                return x * 7
            case int(n) if n > 5:
                return x * n
            case float() as s:
                return x * s
            case _:
                return x - 1
    return f, lambda i: (t(i), [0, "double", None, 9, 2.5, "other"][i % 6]), None


@program(calls=14, captures=8)
def match_sequences():
    def f(x, shape):
        match shape:
            case []:
                return x
            case [n]:
                return x * n
            case [a, b]:
                return x * a + b
            case (first, *rest):
                return x * first, rest
    return f, lambda i: (t(i), [[], [3.0], (2.0, 1.0), [1.0, 2, 3]][i % 4]), None


@program(calls=14, captures=8)
def match_mappings():
    def f(x, config):
        match config:
            case {"op": "add", "by": k}:
                return x + k
            case {"op": "mul", **rest}:
                return x * rest.get("by", 2.0), sorted(rest)
            case {}:
                return x
    return f, lambda i: (t(i), [{"op": "add", "by": 3.0}, {"op": "mul", "z": 1}, {"none": 0}][i % 3]), None


@program(calls=14, captures=6)
def match_classes():
    class Point:
        __match_args__ = ("x", "y")
        def __init__(self, x, y):
            self.x, self.y = x, y
    class Size:
        def __init__(self, n):
            self.n = n
    points = [Point(1.0, 2.0), Point(0, 5.0), Size(3.0), Size(0)]
    def f(x, p):
        match p:
            case Point(0, y):
                return x + y
            case Point(a, y=b):
                return x * a + b
            case Size(n=0):
                return x
            case Size(n=k):
                return x * k
    return f, lambda i: (t(i), points[i % 4]), None


@program(calls=12, captures=6)
def chained_comparison():
    def f(x, a, b, c):
        if a < b < c:
            x = x + 1
        if a <= b == c != 0:
            x = x * 2
        return x, a < b < c, not a < b
    return f, lambda i: (t(i), 1, i % 3, 2), None


@program(calls=12, captures=9)
def star_unpacking():
    def f(x, items, nested):
        first, *middle, last = items
        *head, tail = (x, x + 1)
        (a, [b, *c]), d = nested
        return first * last, middle, head, tail, a + b, c, d
    return f, lambda i: (t(i), [t(1), 2, 3, t(2)], ((1, [2, 3, 4]), "d")), None


@program(calls=12, captures=9)
def displays_with_stars():
    def f(x, xs, d, n=2):
        a = [0, *xs, x, *range(2)]
        b = (*xs, *a)
        c = {"a": 1, **d, "z": x}
        e = {**c, "a": 2}
        g = {1, n}
        return a, b, c, e, len(g), dict(**d, w=x)
    return f, lambda i: (t(i), [t(1), t(2)], {"a": t(3), "b": i % 2}), None


@program(calls=12, captures=9)
def deletions():
    def f(x, o, d, l):
        y = x * 2
        z = y + 1
        del y
        del o.temp
        del d["k"]
        try:
            y
        except NameError as e:
            return z, type(e).__name__
    o = Bag(keep=1)
    def args(i):
        o.temp = i
        return t(i), o, {"k": 1, "l": t(1)}, [1, 2]
    return f, args, o


@program(calls=12, captures=8)
def formatted_strings():
    def f(x, n, s, w):
        text = f"{n:>4}|{s!r}|{s:.2f}|{n:{w}d}|{n + 1=}|{'a' 'b'}|{x.shape[0]}"
        return x * len(text), text, "%d" % n, "{} {k}".format(n, k=s)
    return f, lambda i: (t(i), 5 + i % 2, 0.5, 6), None


@program(calls=12, captures=9)
def closures_and_nonlocal():
    def f(x, n):
        total = 0
        def add(k, scale=n):
            nonlocal total
            total += k
            def inner():
                return total * scale
            return inner()
        a = add(1)
        b = add(2, scale=10)
        return x * total, a, b, (lambda y, *, z=total: y * z)(x)
    return f, lambda i: (t(i), 2 + i % 2), None


@program(calls=12, captures=9)
def decorators_inside():
    def f(x, n):
        def times(k):
            def wrap(g):
                def call(*args, **kwargs):
                    return g(*args, **kwargs) * k
                return call
            return wrap
        @times(n)
        @times(2)
        def g(y, z=1):
            return y + z
        return g(x), g(x, z=5), g(z=2, y=x)
    return f, lambda i: (t(i), 3.0), None


@program(calls=12, captures=None, reason=31)
def recursion():
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * 0.5 + n
    def f(x, n):
        def walk(tree):
            if isinstance(tree, list):
                return sum(walk(child) for child in tree)
            return tree * x
        return power(x, n), walk([1, [2, [3.0]], 4])
    return f, lambda i: (t(i), 4), None


@program(calls=12, captures=None, reason=5)
def class_body():
    def f(x):
        class Local:
            k = 3
            def go(self, y):
                return y * self.k
        return Local().go(x)
    return f, lambda i: (t(i),), None


counter, gone = 0, 1


@program(calls=12, captures=8)
def global_statement():
    def f(x, n):
        global counter, fresh
        counter += n
        fresh = counter * 2
        y = x * fresh
        del fresh
        return y
    class Seen:
        @property
        def __dict__(self):
            return {"counter": counter, "fresh": "fresh" in globals()}
    global counter
    counter = 0
    return f, lambda i: (t(i), 1), Seen()


@program(calls=12, captures=9)
def imports_of_loaded_modules():
    def f(x, n):
        import math
        import os.path
        from math import floor, sqrt as root
        import terra.nn.functional as F
        return F.relu(x) * math.pi + floor(2.5) + root(n), os.path.sep
    return f, lambda i: (t(i), 4.0), None


@program(calls=12, captures=8)
def module_replaced_between_calls():
    import sys
    import types
    first, second = types.ModuleType("terra_test_plug"), types.ModuleType("terra_test_plug")
    first.k, second.k = 2.0, 5.0
    def f(x):
        import terra_test_plug
        from terra_test_plug import k
        return x * terra_test_plug.k + k
    def args(i):
        sys.modules["terra_test_plug"] = second if 4 <= i < 8 else first
        if i == 10:
            first.k = 7.0
        return t(i),
    return f, args, None


@program(calls=12, captures=6)
def boolean_operators():
    def f(x, a, b, o):
        c = a and b or "none"
        d = not a or b
        e = o and o.k
        g = a or b or x
        return x * (2 if c == "none" else 3), c, d, e, g
    o = Bag(k=2)
    return f, lambda i: (t(i), i % 2, [], o if i % 4 else None), o


@program(calls=12, captures=9)
def augmented_assignments():
    def f(x, o, d, l, n):
        o.v += x
        o.n -= n
        d["k"] *= 2
        l[0] += 1
        l[1] = l[1] @ x
        n **= 2
        n //= 3
        y = x
        y = y - n
        return y, n
    o = Bag(v=t(0), n=0)
    return f, lambda i: (t(i), o, {"k": t(1)}, [1, t(2)], 3), o


@program(calls=12, captures=7)
def slices_and_indices():
    def f(x, l, n):
        a, b, c = l[1:], l[::-1], l[-n:]
        return x[0], x[:, 1], x[..., -1], x[None].shape[0], a, b, c, x[n - 1, :n], (1, 2, 3)[n]
    return f, lambda i: (t(i), [t(1), t(2), 3], 1 + i % 2), None


@program(calls=12, captures=9)
def default_arguments_made_inside():
    def f(x, n):
        def g(y, acc=[], *, scale={"k": n}):
            acc.append(y)
            return len(acc) * scale["k"]
        return x * g(1), g(2), g(3, []), g(4, scale={"k": 0})
    return f, lambda i: (t(i), 2 + i % 2), None


@program(calls=12, captures=None)
def coroutine_runs_plainly():
    async def work(x):
        return x * 2
    async def f(x):
        return await work(x) + 1
    def drive(x):
        c = f(x)
        try:
            c.send(None)
        except StopIteration as e:
            return e.value
    return drive, lambda i: (t(i),), None


@program(calls=12, captures=5)
def return_from_nested_blocks():
    def f(x, n):
        for j in range(3):
            while True:
                try:
                    if j == n:
                        return x * j
                finally:
                    x = x + 1
                break
        return x
    return f, lambda i: (t(i), i % 4), None


if __name__ == "__main__":
    main()
