"""One object that a frame meets in two ways, as a constant of the program and as something that a call was given: in
another call they are two. And constants whose contents change: attributes of classes, defaults."""
import array
import operator
import types

import terra
from _harness import main, program


class Bag:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    def get(self):
        return self.k


def t(i):
    return terra.arange(3.0) + i


# ---- a constant that is also an argument ----

@program(calls=12, captures=2)
def default_and_argument():
    own = Bag(k=1.0)
    others = [own, Bag(k=2.0), own, Bag(k=3.0)]
    def g(x, o=own):
        return x * o.k
    def f(x, o):
        y = x + o.k
        return g(x) + y
    return f, lambda i: (t(i), others[i % 4]), None


@program(calls=12, captures=2)
def default_list_and_argument():
    own = [1.0]
    others = [own, [2.0], own, [3.0]]
    def g(x, o=own):
        o.append(x.sum())
        return x * o[0]
    def f(x, o):
        y = x + o[0]
        return g(x) + y
    def args(i):
        del own[1:]
        return t(i), others[i % 4]
    return f, args, (own, others)


@program(calls=12, captures=2)
def class_attribute_and_argument():
    class C:
        o = Bag(k=1.0)
    others = [C.o, Bag(k=2.0), C.o, Bag(k=3.0)]
    def f(x, p):
        o = C.o
        y = x + p.k
        return x * o.k + y
    return f, lambda i: (t(i), others[i % 4]), None


@program(calls=12, captures=2)
def list_whose_append_is_kept():
    xs, ys = [], []
    o = Bag(push=xs.append)
    def f(x, l):
        n = len(l)
        o.push(x)
        return x * n
    def args(i):
        xs.clear()
        ys.clear()
        return t(i), [xs, ys][i % 2]
    return f, args, (xs, ys)


@program(calls=12, captures=2)
def dict_whose_get_is_kept():
    d, e = {"a": 1.0}, {"a": 2.0}
    o = Bag(get=d.get)
    def f(x, q):
        y = x * q["a"]
        return y * o.get("a")
    return f, lambda i: (t(i), [d, e][i % 2]), None


@program(calls=12, captures=2)
def method_and_function():
    def m1(self, x):
        return x * 2
    def m2(self, x):
        return x * 3
    class C:
        m = m1
    c = C()
    def f(x, fn):
        y = c.m(x)
        return fn(None, x) + y
    return f, lambda i: (t(i), [m1, m2][i % 2]), None


@program(calls=12, captures=2)
def functions_by_other_ways():
    def make(k):
        def method(self, x):
            return x * k
        return method
    ways = [make(2.0), make(3.0)]
    class A:
        __call__ = __mul__ = method = ways[0]
        kind = classmethod(ways[0])
        plain = staticmethod(ways[0])
    class B(A):
        def method(self, x):
            return super().method(x) + 1
    b = B()
    def f(x, fn):
        y = fn(None, x)
        return y, b * x, b(x), b.method(x), b.kind(x), b.plain(None, x), A.plain(None, x)
    return f, lambda i: (t(i), ways[i % 2]), None


@program(calls=12, captures=2)
def getter_of_a_property():
    def make(k):
        def get(self):
            return k
        return get
    ways = [make(2.0), make(3.0)]
    class A:
        k = property(ways[0])
    a = A()
    def f(x, fn):
        return x * fn(None) + a.k
    return f, lambda i: (t(i), ways[i % 2]), None


@program(calls=12, captures=6, recordings=4)
def functions_that_are_given():
    """Called by C code, and another one each time."""
    def f(x, fn, key):
        return [x * k for k in map(fn, [1, 2])], sorted([1, 2, 3], key=key)
    return f, lambda i: (t(i), lambda k: k + 1, lambda k: -k), None


@program(calls=16, captures=2)
def functions_that_share_a_variable():
    def make(k):
        def a(x):
            nonlocal k
            k = k + x
            return k
        def b(x):
            return x + k
        return a, b
    pairs = [make(t(2)), make(t(3))]
    def f(a, b, x):
        y = a(x)
        return y, b(x)
    return f, lambda i: (pairs[i % 2][0], pairs[i // 3 % 2][1], t(i)), None


# ---- constants whose contents change ----

@program(calls=16, captures=4)
def truth_of_a_default():
    found = []
    def g(x, found=found):
        return x * 2 if found else x * 3
    def f(x):
        return g(x)
    def args(i):
        if i % 5 == 4:
            found.append(1)
        if i % 5 == 1:
            found.clear()
        return t(i),
    return f, args, None


@program(calls=16, captures=4)
def truth_of_class_attributes():
    class C:
        found, table, names = [], {}, set()
    def f(x):
        y = x * 2 if C.found else x * 3
        if not C.table:
            y = y + 1
        return y, 1 if C.names else 2
    def args(i):
        if i % 5 == 4:
            C.found.append(1)
            C.table[1] = 2
            C.names.add(i)
        if i % 5 == 1:
            for each in C.found, C.table, C.names:
                each.clear()
        return t(i),
    return f, args, None


@program(calls=12, captures=2)
def class_of_a_class_attribute():
    class A:
        k = 1
    class B:
        k = 2
    class C:
        inst = A()
    def f(x):
        return x * C.inst.k, isinstance(C.inst, A), type(C.inst).__name__
    def args(i):
        C.inst.__class__ = [A, B][i // 3 % 2]
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def items_of_arrays():
    class C:
        table = array.array("i", [1, 2, 3])
        view = types.MappingProxyType(names := {"a": 1})
        names = names
    def g(x, table=C.table):
        return x * table[0]
    def f(x):
        return g(x) + C.view["a"]
    def args(i):
        C.table[0] = i // 4
        C.names["a"] = i // 3
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def sum_of_an_array():
    class C:
        table = array.array("i", [1, 2, 3])
    def f(x):
        return x * sum(C.table)
    def args(i):
        C.table[0] = i // 4
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def truth_of_an_array():
    class C:
        table = array.array("i")
    def f(x):
        return x * 2 if C.table else x * 3
    def args(i):
        if i == 6:
            C.table.append(1)
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def getter_that_is_a_default():
    objects = [Bag(n=1, v=t(1)), Bag(n=2, v=t(2)), Bag(n=3, v=t(3))]
    def g(x, objects, key=operator.attrgetter("n")):
        return x + sorted(objects, key=key)[0].v
    def f(x, objects):
        return g(x, objects)
    def args(i):
        objects[i % 3].n = i * 7 % 5
        return t(i), objects
    return f, args, None


@program(calls=12, captures=0)
def length_of_a_view():
    d = {1: 2}
    o = Bag(keys=d.keys(), items=d.items())
    def f(x):
        return x * len(o.keys), len(o.items)
    def args(i):
        d[i // 3] = 1
        return t(i),
    return f, args, None


@program(calls=12, captures=0)
def state_of_the_engine():
    own = terra.Generator()
    def f(x):
        return x * 2, own.initial_seed(), terra.initial_seed()
    def g(x):
        return x * terra.get_num_threads()
    def both(x):
        return f(x), g(x)
    def args(i):
        own.manual_seed(i // 3)
        terra.manual_seed(i // 2)
        terra.set_num_threads(1 + i // 4 % 2)
        return t(i),
    return both, args, None


# ---- what can be assigned of functions and classes ----

@program(calls=12, captures=4)
def names_of_functions():
    def make(name):
        def wrapper(x):
            return x * 2
        wrapper.__name__, wrapper.__doc__ = name, "about " + name
        return wrapper
    functions = [make("a"), make("b")]
    def f(fn, x):
        return fn(x), fn.__name__, fn.__doc__
    return f, lambda i: (functions[i % 2], t(i)), None


@program(calls=12, captures=4)
def name_of_a_class():
    class A:
        pass
    o = A()
    def f(x):
        return x * 2, type(o).__name__, A.__qualname__
    def args(i):
        if i == 4:
            A.__name__ = "B"
        if i == 8:
            A.__qualname__ = "C"
        return t(i),
    return f, args, None


@program(calls=12, captures=4)
def bases_of_a_class():
    class A:
        pass
    class B:
        pass
    class C(A):
        pass
    o = C()
    def f(x):
        return x * (2 if isinstance(o, A) else 3), issubclass(C, A)
    def args(i):
        if i == 6:
            C.__bases__ = B,
        return t(i),
    return f, args, None


@program(calls=12, captures=4)
def class_of_a_descriptor():
    class D:
        def __get__(self, o, kind):
            return o._a * 2
        def __set__(self, o, value):
            o._a = value + 1
    class P:
        a = D()
    p = P()
    p.a = t(0)
    def f(x):
        p.a = x
        return p.a + 1
    def args(i):
        if i == 5:
            D.__get__ = lambda self, o, kind: o._a * 3
        if i == 8:
            D.__set__ = lambda self, o, value: setattr(o, "_a", value + 2)
        return t(i),
    return f, args, p


def becoming_a_descriptor(frame):
    """A program around one that reads or writes `a` of an object, of whose class it is an attribute, or of that class;
    the own class of that attribute learns to be a descriptor later."""
    def make():
        class D:
            k = 2
        class Meta(type):
            m = D()
        class P(metaclass=Meta):
            a = D()
            b = D()
        p = P()
        p.b = 5
        P.m = 3
        def args(i):
            if i == 5:
                D.__get__ = lambda self, o, kind: 7
            if i == 8:
                D.__set__ = lambda self, o, value: o.__dict__.update(set=value)
            if i == 11:
                del D.__get__
            if i == 13:
                del D.__set__
            if i == 15:
                D.__delete__ = lambda self, o: None
            return t(i), p, P
        return frame, args, p
    make.__name__ = frame.__name__
    return program(calls=18, captures=4)(make)


@becoming_a_descriptor
def becomes_a_descriptor(x, p, P):
    return x * (2 if type(p.a) is not int else p.a)


@becoming_a_descriptor
def becomes_one_that_hides_what_an_instance_has(x, p, P):
    return x * (p.b if type(p.b) is int else 11)


@becoming_a_descriptor
def becomes_one_that_is_asked_through_the_class(x, p, P):
    return x * (2 if type(P.a) is not int else P.a)


@becoming_a_descriptor
def becomes_one_of_a_metaclass(x, p, P):
    return x * (P.m if type(P.m) is int else 13)


@becoming_a_descriptor
def becomes_one_that_getattr_finds(x, p, P):
    return x * (2 if type(getattr(p, "a", 4)) is not int else 3) if hasattr(p, "b") else x


@becoming_a_descriptor
def becomes_one_that_is_stored_to(x, p, P):
    try:
        p.b = x
    except AttributeError:
        return x * 3
    return x * 2


@program(calls=9, captures=0)
def attribute_of_a_base_that_a_class_hides():
    class A:
        n = 0
    class B(A):
        n = 5
    b = B()
    def f(x, k):
        A.n = k
        return x * b.n, x + B.n
    return f, lambda i: (t(i), [6, 5, 5, 7, 5, 8, 5, 5, 9][i]), None


# ---- equal, and not the same ----

@program(calls=12, captures=0)
def equal_numbers_and_strings():
    o = Bag(mode="alpha beta", number=1000)
    mode = o.mode
    def f(x, m, n):
        return x * 2 if m is o.mode else x * 3, n is o.number
    def args(i):
        return t(i), mode if i % 3 else "".join(["alpha", " beta"]), o.number if i % 4 else int("1000")
    return f, args, None


@program(calls=12, captures=0)
def equal_ranges_and_complex_numbers():
    ranges = [range(0, 3, 2), range(0, 4, 2), range(0), range(5, 5)]
    numbers = [complex(0, 0.0), complex(0, -0.0), complex(-0.0, 0.0)]
    def f(x, r, c):
        return x * len(r), str(r), str(c)
    return f, lambda i: (t(i), ranges[i % 4], numbers[i % 3]), None


@program(calls=12, captures=4)
def identity_of_small_numbers():
    o = Bag(k=3)
    def f(x, n):
        return x * 2 if n is o.k else x * 3, n is None, n is True
    return f, lambda i: (t(i), [3, 4, True, None][i % 4]), None


@program(calls=12, captures=0)
def class_that_is_stored_to_and_read_below():
    class A:
        k = 1
    class B(A):
        pass
    class C(A):
        pass
    class D(B, C):
        pass
    d = D()
    def f(x, n):
        A.k = n
        return x * d.k, C.k
    def args(i):
        if i == 8:
            C.k = 50
        return t(i), i // 4
    return f, args, None


# ---- special methods that a class is given between calls ----

@program(calls=12, captures=3)
def methods_given_later():
    class Meta(type):
        pass
    class K:
        pass
    class M(metaclass=Meta):
        k = 1
    class D(dict):
        pass
    a, b, d = K(), K(), D(n=1)
    def f(x):
        return x * 2, callable(a), a != b, M.k, isinstance(a, M), bool(d), "n" in d, d["n"]
    def args(i):
        if i == 5:
            K.__call__ = lambda self: 1
        if i == 6:
            K.__ne__ = lambda self, other: False
        if i == 7:
            Meta.k = property(lambda cls: 9)
        if i == 8:
            Meta.__instancecheck__ = lambda cls, o: True
        if i == 9:
            D.__bool__ = lambda self: False
        return t(i),
    return f, args, None


@program(calls=12, captures=4)
def operators_given_later_to_a_kind_of_int():
    class Kind(int):
        pass
    def f(x, n):
        return x * 2, n + 1, n < 9, abs(n)
    def args(i):
        if i == 8:
            Kind.__add__ = lambda self, other: 77
            Kind.__lt__ = lambda self, other: False
        return t(i), Kind(7)
    return f, args, None


@program(calls=8, captures=0)
def slot_of_two_names():
    class S:
        __slots__ = "b",
    S.a = S.b
    s = S()
    s.b = 0
    def f(x, n):
        s.a = n
        return x * s.b
    return f, lambda i: (t(i), i // 2), None


# ---- what a frame has by itself, given to it as well ----

K = 1


def times(x, *, k=1):
    return x * k


@program(calls=16, captures=4)
def globals_given_first():
    def f(x, d, n):
        d["K"] = n
        return x * K
    def args(i):
        globals()["K"] = 1
        return t(i), globals() if i < 8 else {}, i
    return f, args, None


@program(calls=16, captures=4)
def keyword_defaults_given_first():
    def f(x, d, n):
        d["k"] = n
        return times(x)
    def args(i):
        times.__kwdefaults__["k"] = 1
        return t(i), times.__kwdefaults__ if i < 8 else {}, i
    return f, args, None


@program(calls=16, captures=4)
def buffers_given_first():
    module = terra.nn.Module()
    module.register_buffer("b", t(0))
    def f(x, d):
        d["b"] = x
        return module.b * 1
    return f, lambda i: (t(i), module._buffers if i < 8 else {}), module._buffers


@program(calls=12, captures=5)
def method_of_tensors_replaced():
    plain = terra.Tensor.relu
    def f(x):
        return (x - 2).relu() + 1
    def args(i):
        if i in (6, 9):
            terra.Tensor.relu = plain if i == 9 else lambda self: self * 5
        return t(i),
    return f, args, None


if __name__ == "__main__":
    main()
