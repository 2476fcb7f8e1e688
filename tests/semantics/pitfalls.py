"""Facts that a capture forgets easily: each program changes one of them between calls. Without tensors."""
from _harness import main, program


class Bag:
    k = 1

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def fwd(self, x):
        return x * 2


@program(calls=8, captures=2)
def getattr_builtin():
    o = Bag(count=0)
    def f(o, x):
        return x * getattr(o, "count")
    def args(i):
        o.count = i // 2
        return o, 3
    return f, args, o


@program(calls=8, captures=2)
def pure_builtin_reads_container():
    o = Bag(sizes=[1, 2])
    def f(o, x):
        return x * sum(o.sizes) + max(o.sizes)
    def args(i):
        o.sizes[1] = i // 2
        return o, 3
    return f, args, o


@program(calls=8, captures=4)
def dict_order():
    def f(d):
        return [v * 2 for v in d.values()], list(d)
    return f, lambda i: ({"a": 1, "b": 2} if i % 2 else {"b": 2, "a": 1},), None


@program(calls=8, captures=2)
def class_attribute_changes():
    class K:
        k = 1
    def f(x):
        return x * K.k
    def args(i):
        K.k = i // 2
        return 3,
    return f, args, None


@program(calls=8, captures=2)
def class_attribute_through_instance():
    class K:
        k = 1
    o = K()
    def f(o, x):
        return x * o.k
    def args(i):
        K.k = i // 2
        return o, 3
    return f, args, None


@program(calls=8, captures=3)
def instance_attribute_shadows_method():
    o = Bag()
    def f(o, x):
        return o.fwd(x)
    def args(i):
        if i == 3:
            o.fwd = lambda x: x * 7
        return o, 3
    return f, args, None


@program(calls=8, captures=3)
def getattr_hook_then_set():
    class G:
        def __getattr__(self, name):
            return 5
    o = G()
    def f(o, x):
        return x * o.zz
    def args(i):
        if i == 4:
            o.zz = 9
        return o, 3
    return f, args, None


@program(calls=8, captures=3)
def method_defaults_change():
    class K:
        def m(self, x, a=2):
            return x * a
    o = K()
    def f(o, x):
        return o.m(x)
    def args(i):
        if i == 4:
            K.m.__defaults__ = (11,)
        return o, 3
    return f, args, None


@program(calls=8, captures=3)
def method_code_changes():
    class K:
        def m(self, x):
            return x * 2
    o = K()
    def f(o, x):
        return o.m(x)
    def args(i):
        if i == 4:
            K.m.__code__ = (lambda s, x: x * 13).__code__
        return o, 3
    return f, args, None


@program(calls=8, captures=2)
def alias_lists():
    def f(xs, ys, x):
        xs.append(1)
        return x * len(ys)
    def args(i):
        l = [0, 0]
        return l, (l if i % 2 else [0, 0]), 3
    return f, args, None


@program(calls=12, captures=4)
def alias_objects():
    def f(p, q, x):
        p.v = x * 2
        return q.v + x
    def args(i):
        p = Bag(v=1)
        return p, (p if i > 5 else Bag(v=2)), 3
    return f, args, None


@program(calls=12, captures=4)
def equal_small_ints():
    def g(p, q, x):
        return x * p - q
    def f(a, b, x):
        return g(a, b, x) + g(b, a, x)
    return f, lambda i: (i % 3, i // 2, 7), None


@program(calls=8, captures=2)
def class_swapped():
    class A:
        def m(self, x):
            return x * 2
    class B:
        def m(self, x):
            return x * 3
    o = A()
    def f(o, x):
        return o.m(x)
    def args(i):
        o.__class__ = B if i >= 3 else A
        return o, 5
    return f, args, None


@program(calls=8, captures=2)
def builtin_shadowed_by_global():
    g = {}
    exec("def f(x, l): return x * len(l)", g)
    def args(i):
        if i == 3:
            g["len"] = lambda l: 10
        return 3, [1, 2]
    return g["f"], args, None


@program(captures=None)
def generator_escapes():
    def f(xs):
        return (x * 2 for x in xs)
    def h(xs):
        return list(f(xs))
    h.target = f
    return h, lambda i: ([3],), None


@program(calls=8, captures=2)
def raises_sometimes():
    def f(x, l):
        return x * l[1]
    return f, lambda i: (3, [1, 2] if i % 2 else [1]), None


@program(calls=10, captures=0)
def minus_zero_and_true():
    def f(x, s):
        return x * s, s
    return f, lambda i: (3, [0.0, -0.0, True, 1, 1.0, 0.0, True, 1, -0.0, False][i]), None


@program(captures=3)
def append_while_iterating():
    def f(x, l):
        for q in l:
            if len(l) < 4:
                l.append(x)
        return len(l)
    return f, lambda i: (3, [1, 2]), None


@program(captures=0)
def mutable_default():
    def f(x, acc=[]):
        acc.append(x)
        return x * len(acc)
    f.__defaults__[0].clear()
    return f, lambda i: (3,), None


@program(calls=8, captures=0)
def closures_share_code():
    def make(k):
        def inner(x):
            return x * k
        return inner
    fs = [make(1), make(2)]
    def call(x):
        call.i += 1
        return fs[call.i % 2](x)
    call.i = 0
    return call, lambda i: (3,), None


@program(captures=3)
def identity_results():
    def f(x):
        l = [x]
        return [l, l], x
    def h(x):
        r, y = f(x)
        return r[0] is r[1], y is x
    return h, lambda i: ([3],), None


@program(calls=8, captures=3)
def is_between_arguments():
    def f(a, b):
        return 2 if a is b else 3
    def args(i):
        x = [1]
        return x, (x if i % 3 == 0 else [1])
    return f, args, None


@program(calls=8, captures=4)
def slots_and_property_setter():
    class S:
        __slots__ = ("v", "_p")
        @property
        def p(self):
            return self._p
        @p.setter
        def p(self, v):
            self._p = v * 2
    s = S()
    s.v = 0
    s._p = 1
    def f(s, x):
        s.v += 1
        s.p = x
        return s.p * s.v
    return f, lambda i: (s, 3), s


@program(captures=None)
def destructor_order():
    log = []
    class D:
        def __del__(self):
            log.append("del")
    def f(x):
        d = D()
        d = None
        log.append("after")
        return x * 2
    return f, lambda i: (3,), log


@program(calls=10, captures=1)
def nested_fresh_and_outer():
    o = Bag(cache={})
    def f(o, x, i):
        if "k" in o.cache:
            y = o.cache["k"] + x
        else:
            y = x
        o.cache["k"] = y
        o.last = [y, {"i": i}]
        return y
    return f, lambda i: (o, 3, i), o


@program(calls=8, captures=2)
def comprehension_condition():
    def f(x, l):
        return x * sum([q for q in l if q > 1])
    return f, lambda i: (3, [1, 2, i // 2]), None


@program(calls=8, captures=0)
def length_of_changed_list():
    o = Bag(l=[])
    def f(o, x):
        o.l.append(x)
        return x * len(o.l)
    return f, lambda i: (o, 3), o


@program(calls=8, captures=0)
def exception_through_frames():
    def g(x, n):
        if n > 2:
            raise KeyError(n)
        return x
    def f(x, n):
        try:
            return g(x, n)
        except KeyError as e:
            return x * e.args[0]
    return f, lambda i: (3, i), None


@program(captures=None)
def outer_generator():
    def gen():
        k = 0
        while True:
            yield k
            k += 1
    it = gen()
    def f(x):
        return x * next(it)
    return f, lambda i: (3,), None


@program(captures=3)
def random_numbers():
    import random
    o = Bag(r=random.Random(3))
    def f(o, x):
        return x * o.r.random()
    return f, lambda i: (o, 3), None


@program(calls=10, captures=4)
def default_equals_argument():
    def meth(x, m=1, *r, z=3):
        return x * z + m
    def f(x, n):
        return meth(x, n)
    return f, lambda i: (7, [1, 3, 4, 5, 3, 7, 3, 1, 3, 2][i]), None


@program(captures=None)
def finalizer_of_old_value():
    log = []
    class D:
        def __del__(self):
            log.append("del")
    o = Bag(d=None)
    def f(o, x):
        o.d = None
        y = x * 2
        log.append("after")
        return y
    def args(i):
        o.d = D()
        return o, 3
    return f, args, log


@program(captures=0)
def collector_runs_finalizer():
    n = [0]
    class D:
        def __init__(self):
            self.me = self
        def __del__(self):
            n[0] += 0
    def f(x):
        l = []
        for i in range(3):
            l.append([x, i])
        return l[0][0] * 2
    def args(i):
        D()
        return 3,
    return f, args, None


@program(captures=0)
def user_setattr():
    class M:
        def __init__(self):
            object.__setattr__(self, "log", [])
            self.v = 0
        def __setattr__(self, k, v):
            self.log.append(k)
            object.__setattr__(self, k, v)
    m = M()
    def f(m, x):
        m.v = x * 2
        return m.v + x
    return f, lambda i: (m, 3), m


@program(captures=None)
def eq_inside_dict_lookup():
    class K:
        def __init__(self, n):
            self.n = n
        def __hash__(self):
            return 1
        def __eq__(self, o):
            return self.n == o.n
    d = {K(1): True, K(2): False}
    def f(x, k):
        return x * 2 if d[k] else x
    return f, lambda i: (3, K(1 + i % 2)), None


@program(captures=None)
def set_of_objects():
    def f(x, y):
        return len([t for t in {x, y}])
    return f, lambda i: (Bag(), Bag()), None


@program(captures=None)
def locals_and_getframe():
    import sys
    def f(x):
        y = x * 2
        q = dict(locals())
        return y, sorted(q), sys._getframe().f_code.co_name
    return f, lambda i: (3,), None


@program(captures=3)
def unpack_generator():
    def g(xs):
        for x in xs:
            yield x
    def f(xs):
        a, *b = g(xs)
        c, d, e = xs
        return a + c, len(b)
    return f, lambda i: ([1, 2, 3],), None


@program(captures=0)
def finally_and_nested_raise():
    def g(x):
        try:
            raise ValueError("a")
        except ValueError as e:
            try:
                raise KeyError("b") from e
            except KeyError:
                return x * 2
            finally:
                x = x + 1
    def f(x):
        return g(x) + 1
    return f, lambda i: (3,), None


@program(calls=8, captures=4)
def string_building():
    def f(x, n):
        return {f"k{n}": x * n, "n" + str(n): n}
    return f, lambda i: (3, i // 3), None


@program(calls=8, captures=3)
def absent_then_present():
    o = Bag()
    def f(o, x):
        return x + (o.extra if hasattr(o, "extra") else 1) + getattr(o, "more", 2)
    def args(i):
        if i == 3:
            o.extra = 10
        if i == 5:
            o.more = 20
        return o, 3
    return f, args, o


@program(calls=8, captures=3)
def dict_replaced():
    o = Bag(v=1)
    def f(o, x):
        return o.v + x
    def args(i):
        if i == 4:
            o.__dict__ = {"v": 50}
        return o, 3
    return f, args, o


@program(calls=8, captures=3)
def missing_key_appears():
    d = {"a": 1}
    def f(d, x):
        return d.get("b", 5) + x
    def args(i):
        if i == 4:
            d["b"] = 7
        return d, 3
    return f, args, d


@program(calls=8, captures=3)
def order_of_new_keys():
    def f(o, x):
        o.a = x
        o.b = x + 1
        o.a = x + 2
        return x
    return f, lambda i: (Bag(), 3), None


@program(calls=8, captures=3)
def same_object_on_two_paths():
    def f(o, x):
        return o.p.v + o.q.v + x
    def args(i):
        p = Bag(v=1)
        return Bag(p=p, q=p if i < 4 else Bag(v=5)), 3
    return f, args, None


@program(calls=8, captures=3)
def old_value_returned():
    o = Bag(last=[0])
    def f(o, x):
        before = o.last
        o.last = [x]
        return before
    return f, lambda i: (o, i), o


@program(calls=8, captures=3)
def enumerate_of_dict_views():
    def f(d):
        return [(i, k, v) for i, (k, v) in enumerate(d.items())], sum(d.values()), [k for k in d]
    return f, lambda i: ({"a": 1, "b": i // 4},), None


@program(calls=8, captures=3)
def iterator_from_outside_at_its_end():
    def f(x, it):
        return [x * v for v in it], [v for v in it]
    return f, lambda i: (1, iter([2, 3] if i > 4 else [])), None


if __name__ == "__main__":
    main()
