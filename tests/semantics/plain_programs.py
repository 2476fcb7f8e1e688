"""Ordinary constructs, without tensors: each must be captured and give what plain Python gives."""
import functools

from _harness import main, program


class Bag:
    k = 2

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def scaled(self, x, a=2):
        return x * a

    @property
    def twice(self):
        return self.v * 2

    def __call__(self, x):
        return x + self.v


@program(captures=3)
def straight_line():
    def f(a, b):
        c = a + b
        return c * c - a
    return f, lambda i: (i, i + 1), None


@program(captures=3)
def float_line():
    def f(x):
        y = x * 2.0
        return -y + x / 3, y > x
    return f, lambda i: (i * 0.5,), None


@program(captures=4)
def for_list():
    def f(xs):
        t = 0
        for x in xs:
            t = t + x
        return t
    return f, lambda i: ([1, 2, 3],), None


@program(captures=3)
def enumerate_zip():
    def f(xs, ys):
        out = []
        for i, (x, y) in enumerate(zip(xs, ys)):
            out.append(x * i + y)
        return out
    return f, lambda i: ([1, 2, i], [4, 5, 6]), None


@program(calls=8, captures=4)
def while_counter():
    def f(x, n):
        i = 0
        while i < n:
            x = x + x * i
            i += 1
        return x
    return f, lambda i: (i, 3 + i // 4), None


@program(calls=8, captures=5)
def branch_on_flag():
    o = Bag(training=True)
    def f(o, x):
        if o.training:
            return x * 2
        return x - 1
    def args(i):
        o.training = i % 4 < 2
        return o, 5
    return f, args, o


@program(captures=4)
def closure_and_defaults():
    k, n = 5, 2
    def inner(x, s=3, *, t=4):
        return x * s + k * n * t
    def f(x):
        return inner(x) + inner(x, 5, t=n)
    return f, lambda i: (3,), None


@program(captures=3)
def local_closure():
    def f(x, n):
        t = x
        def add(y):
            nonlocal t
            t = t + y
            return n
        a = add(x) + add(x * 2)
        return t, a, (lambda q: q * 2)(x)
    return f, lambda i: (2, i), None


@program(captures=4)
def small_dicts():
    def f(d):
        o = {k: v * 2 for k, v in d.items()}
        o["sum"] = d["a"] + d.get("b", 0) + d.get("zz", 7)
        return o
    return f, lambda i: ({"a": 3, "b": 1},), None


@program(calls=8, captures=5)
def counter():
    o = Bag(count=0, state=1)
    def f(o, x):
        o.count += 1
        o.state = o.state * 2 + x
        return o.state * o.count
    return f, lambda i: (o, 3), o


@program(calls=8, captures=5)
def class_counter():
    class Calls:
        calls = 0
        def __call__(self, x):
            Calls.calls += 1
            self.last = x
            return x * self.scale + self.calls
    a = Calls()
    a.scale = 2
    def f(c, x):
        return c(x)
    return f, lambda i: (a, 3), a


@program(captures=4)
def try_except():
    d = {}
    def f(x):
        try:
            y = x + d["missing"]
        except KeyError:
            y = x * 2
        finally:
            y = y + x
        return y
    return f, lambda i: (3,), None


@program(captures=4)
def append_outer():
    o = Bag(log=[], n=3)
    def f(o, x):
        o.log.append(x * 2)
        o.log.append(o.n)
        return x
    return f, lambda i: (o, 4), o


@program(calls=8, captures=5)
def early_return():
    def f(x, mode):
        if mode == "a":
            return x
        for k in range(5):
            if k == 2:
                return x * k
    return f, lambda i: (4, "ab"[i % 2]), None


@program(captures=None, reason=31)
def recursion_over_tree():
    class Tree:
        def __init__(s, l=None, r=None, v=None):
            s.l, s.r, s.v = l, r, v
    def build(d, i):
        return Tree(v=i + d) if d == 0 else Tree(build(d - 1, i), build(d - 1, i + 1))
    def walk(t):
        if t.l is None:
            return t.v + 1
        return walk(t.l) + walk(t.r) * 2
    def f(t):
        return walk(t)
    return f, lambda i: (build(2, i),), None


@program(captures=4)
def sorted_sum_partial():
    def sc(k, x):
        return x * k
    double = functools.partial(sc, 2)
    def f(xs):
        ys = [double(x) for x in xs]
        o = sorted([3, 1, 2], key=lambda q: -q)
        return ys, o, sum(ys), [a * b for a, b in zip(xs, o)]
    return f, lambda i: ([5, 6],), None


@program(captures=4)
def descriptors():
    class P:
        k = 4
        def __init__(self, v):
            self.v = v
        @property
        def prop(self):
            return self.v * 2
        def __getattr__(self, n):
            return self.v if n == "dynamic" else 1
        def __add__(self, o):
            return P(self.v + o.v)
        def __len__(self):
            return 3
        def __getitem__(self, i):
            return self.v * i
    def f(p):
        q = p + p
        return q.prop + p.dynamic * p.k, q[2], len(p) if p else 0
    return f, lambda i: (P(3),), None


@program(captures=4)
def fresh_objects():
    class Box:
        def __init__(self, v):
            self.v = v
    def f(x):
        q = Box(v=x * 3)
        q.extra = 5
        return q, [x, (x, q)], f"{q.extra}"
    return f, lambda i: (2,), None


@program(captures=3)
def star_arguments():
    def g(a, *r, k=1, **kw):
        return a * k + r[0] * kw["z"]
    def h(x, *xs, **kw):
        return g(x, *xs, k=2, **kw)
    def f(x, y, n):
        return h(x, y, z=n) + h(*[x, y], **{"z": 3})
    return f, lambda i: (2, 1, i), None


@program(calls=8, captures=5)
def int_argument():
    def f(x, n):
        return x * n + (n * 2 - 1), max(n, 3), f"k{n}"
    return f, lambda i: (2, i), None


@program(calls=8, captures=5)
def with_context():
    class Ctx:
        def __init__(s):
            s.n = 0
        def __enter__(s):
            s.n += 1
            return s
        def __exit__(s, *a):
            s.n -= 1
    c = Ctx()
    def f(x):
        with c as q:
            y = x * q.n
        return y
    return f, lambda i: (3,), c


@program(calls=8, captures=5)
def global_counter():
    space = {}
    exec("GC = 0\ndef f(x):\n  global GC\n  GC += 1\n  return x * GC\n", space)
    return space["f"], lambda i: (3,), None


@program(calls=8, captures=4)
def replaced_part():
    o = Bag(head=Bag(v=1))
    def f(o, x):
        return o.head(x)
    def args(i):
        if i == 4:
            o.head.v = 9
        if i == 6:
            o.head = Bag(v=7)
        return o, 2
    return f, args, o


@program(calls=8, captures=3)
def aliased_items():
    def f(a, b, xs):
        xs[0] = a * 2
        return xs[0] + b + xs[1]
    def args(i):
        l = [i, 3]
        return 2, 5, l
    return f, args, None


@program(captures=None, reason=4)
def unknown_call():
    import os
    def f(x):
        return x * (os.getpid() * 0 + 2)
    return f, lambda i: (3,), None


@program(captures=None, reason=4)
def printing():
    def f(x):
        print(end="")
        return x + x
    return f, lambda i: (3,), None


@program(captures=4)
def super_and_inheritance():
    class A:
        def __init__(self, v):
            self.v = v
        def go(self, x):
            return x + self.v
    class B(A):
        def __init__(self, v):
            super().__init__(v)
            self.w = 2
        def go(self, x):
            return super().go(x) * self.w
    def f(x):
        return B(x).go(x)
    return f, lambda i: (3,), None


@program(captures=4)
def methods_and_bound():
    o = Bag(v=4)
    o.act = o.scaled
    def f(o, x):
        m = o.scaled
        return m(x) + o.act(x, a=3) + o.twice
    return f, lambda i: (o, 3), o


@program(captures=3)
def generators_inside():
    def pairs(xs, n):
        for x in xs:
            yield x * n
        yield n
    def f(xs, n):
        total = 0
        for y in pairs(xs, n):
            total += y
        return total, sum(x + n for x in xs), list(pairs(xs, 2))
    return f, lambda i: ([1, 2, 4], 3), None


@program(captures=4)
def list_methods():
    def f(x, out):
        l = [1, 2, 3]
        l.insert(1, x)
        l.extend((4, 5))
        y = l.pop(0)
        l.reverse()
        l += [x, x]
        out.insert(0, x)
        out.pop()
        del_me = {"a": x, "b": 2}
        del del_me["a"]
        del_me.update(c=3)
        return l, y, del_me, l[1:3], len(out)
    return f, lambda i: (7, [1, 2]), None


if __name__ == "__main__":
    main()
