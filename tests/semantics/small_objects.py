# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Getters of the operator module, attributes through code of the program, unions, weak references, text, metaclasses."""
import operator
import weakref

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=12, captures=8)
def items():
    one, two = operator.itemgetter(1), operator.itemgetter("a", "b")
    def f(x, n):
        a, b = two({"a": x, "b": n, "c": 1})
        return one([1, x, 2]) * n + a * b, one((4, n))
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=6)
def getter_is_replaced():
    getters = operator.itemgetter(0), operator.itemgetter(1)
    o = Bag(get=getters[0])
    def f(x, n):
        return x * o.get([n, 5]), operator.itemgetter(1)([x, n])
    def args(i):
        o.get = getters[i // 6]
        return t(i), i
    return f, args, None


@program(calls=12, captures=8)
def item_of_what_changes():
    get = operator.itemgetter("k")
    d = {"k": 1.0}
    def f(x):
        return x * get(d)
    def args(i):
        d["k"] = i / 2
        return t(i),
    return f, args, d


@program(calls=12, captures=6, cut=True)
def attributes_and_methods():
    weight, double = operator.attrgetter("w"), operator.methodcaller("times", 2)
    class Thing:
        def __init__(self):
            self.w, self.calls = t(1), 0

        def times(self, n):
            self.calls += 1
            return self.w * n * self.k

        @property
        def v(self):
            return self.k + 1
    thing = Thing()
    def f(x, n):
        thing.k = n
        return x * weight(thing) + double(thing) + operator.attrgetter("v")(thing)
    def args(i):
        if i == 6:
            Thing.times = lambda self, n: self.w * 100
        return t(i), i
    return f, args, thing


@program(calls=12, captures=6)
def asked_through_python():
    class Lazy:
        def __init__(self):
            self.table, self.asked = {"w": t(1), "k": 2}, 0

        def __getattr__(self, name):
            table = self.__dict__["table"]
            if name in table:
                return table[name]
            raise AttributeError(name)

        @property
        def broken(self):
            self.asked += 1
            raise AttributeError("broken")

        @property
        def sound(self):
            return self.k
    lazy = Lazy()
    def f(x):
        found = hasattr(lazy, "w"), hasattr(lazy, "zz"), hasattr(lazy, "sound")
        return x * lazy.w + getattr(lazy, "yy", 3) + getattr(lazy, "k", 9), found
    def args(i):
        if i == 4:
            lazy.table["k"] = 9
        if i == 6:
            lazy.table["zz"] = 1
        if i == 9:
            lazy.yy = 7
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def a_property_that_fails():
    class Odd:
        asked = 0

        @property
        def value(self):
            self.asked += 1
            if self.asked % 3:
                raise AttributeError("not now")
            return 5
    odd = Odd()
    def f(x):
        return x * getattr(odd, "value", 2), hasattr(odd, "value"), odd.asked
    return f, lambda i: (t(i),), odd


@program(calls=12, captures=6)
def unions():
    o = Bag(kinds=int | float)
    def f(x, v):
        if isinstance(v, int | str):
            x = x * 2
        if isinstance(v, o.kinds):
            x = x + 1
        return x, isinstance(x, terra.Tensor | None), isinstance(None, str | None)
    def args(i):
        if i == 6:
            o.kinds = str | None
        return t(i), [1, "a"][i // 3 % 2]
    return f, args, None


@program(calls=12, captures=6)
def weak_reference():
    class Node:
        pass
    o = Bag(node=Node())
    o.node.w = t(1)
    o.ref = weakref.ref(o.node)
    def f(x):
        node = o.ref()
        return x * 3 if node is None else x * node.w
    def args(i):
        if i == 4:
            o.node.w = t(5)
        if i == 6:
            o.node = Node()
            o.node.w = t(2)
            o.ref = weakref.ref(o.node)
        if i == 9:
            o.node = None
        return t(i),
    return f, args, None


@program(calls=12, captures=8, recordings=3)
def texts_of_changing_numbers():
    def f(x, n, name):
        return x * n, "%s-%d|%5.2f" % (name, n, n / 3), "%03d" % n, "{}:{:>4}".format(n, name), f"{n:04d}{n * 0.5:.3e}"
    return f, lambda i: (t(i), i, "ab"), None


@program(calls=12, captures=6)
def text_of_a_number_of_a_tensor():
    log = []
    def f(x):
        log.append("%s %.1f" % ("sum", x.sum().item()))
        return x * 2
    return f, lambda i: (t(i),), log


@program(calls=12, captures=6)
def sorted_pairs():
    def f(x, d):
        for k, v in sorted(d.items()):
            x = x * v + len(k)
        return x, sorted(d.items(), key=lambda pair: -pair[1]), sorted(zip([2, 1], [x, x]), key=lambda p: p[0])[0][0]
    return f, lambda i: (t(i), {"bb": 1 + i % 2, "a": 2}), None


@program(calls=12, captures=8)
def metaclass_that_counts():
    made = []
    class Meta(type):
        def __call__(cls, *args, **named):
            thing = super().__call__(*args, **named)
            made.append(cls.__name__)
            thing.name = cls.__name__
            return thing

    class Thing(metaclass=Meta):
        def __init__(self, w, k=1):
            self.w, self.k = w, k
    def f(x, n):
        a, b = Thing(x), Thing(x, k=n)
        return a.w * b.k, a.name, b
    return f, lambda i: (t(i), i), made


@program(calls=12, captures=6)
def metaclass_with_one_instance():
    class One(type):
        instances = {}

        def __call__(cls, *args):
            if cls not in One.instances:
                One.instances[cls] = super().__call__(*args)
            return One.instances[cls]

    class Settings(metaclass=One):
        def __init__(self, k):
            self.k = k
    One.instances.clear()
    def f(x, n):
        settings = Settings(n)
        settings.k += 1
        return x * settings.k, Settings(7) is settings
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=6)
def metaclass_changes():
    class Meta(type):
        def __call__(cls, w):
            return super().__call__(w)

    class Thing(metaclass=Meta):
        def __init__(self, w):
            self.w = w
    def f(x):
        return Thing(x).w
    def args(i):
        if i == 4:
            Meta.__call__ = lambda cls, w: type.__call__(cls, w * 2)
        if i == 8:
            Thing.__init__ = lambda self, w: setattr(self, "w", w * 10)
        return t(i),
    return f, args, None


if __name__ == "__main__":
    main()
