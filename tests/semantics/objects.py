# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Objects: made inside the frame, changed, compared, escaping, with the special methods that classes define."""
import copy
import enum
import sys
import weakref
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


def apart():
    """Ends the recording of its caller: what it calls is recorded on its own."""
    return sys._getframe().f_lineno > 0


class Base:
    kind = "base"

    def __init__(self, value):
        self.value = value

    def scaled(self, k=2):
        return self.value * k


class Child(Base):
    kind = "child"

    def __init__(self, value, extra):
        super().__init__(value)
        self.extra = extra

    def scaled(self, k=3):
        return super().scaled(k) + self.extra


@program(calls=12, captures=8)
def made_inside():
    def f(x, n):
        c = Child(x, n)
        d = Base(c)
        return c, d.value is c, d.value.scaled(), c.kind, isinstance(c, Base)
    return f, lambda i: (t(i), i % 4), None


@dataclass
class State:
    h: object
    c: object = None
    step: int = 0
    log: list = field(default_factory=list)

    def __post_init__(self):
        if self.c is None:
            self.c = self.h * 0


@dataclass(frozen=True)
class Frozen:
    x: object
    k: float = 2.0


@dataclass(slots=True)
class Slotted:
    x: object
    n: int = 1


@program(calls=12, captures=8)
def dataclasses():
    def f(x, s):
        a = State(x)
        a.step += 1
        a.log.append(x * 2)
        b = State(x, a.h + 1, log=[x])
        s.step += 1
        s.h = s.h + b.c
        return a, b, s.h * 2, a.log is b.log
    s = State(t(0))
    return f, lambda i: (t(i), s), s


@program(calls=12, captures=8)
def frozen_and_slotted():
    def f(x, p):
        a = Frozen(x, 3.0)
        b = Slotted(x)
        b.n += 1
        b.x = b.x * a.k
        p.n = p.n + 1
        return a, b, p.x + b.x
    p = Slotted(t(3), 0)
    return f, lambda i: (t(i), p), p


@program(calls=12, captures=0)
def dataclass_replace():
    def f(x, s):
        r = replace(s, h=x, step=7)
        return r, s.step
    s = State(t(0))
    return f, lambda i: (t(i), s), s


class Mode(enum.Enum):
    SUM = 1
    MEAN = "mean"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@program(calls=12, captures=6)
def enums():
    def f(x, mode, level):
        if mode is Mode.SUM:
            x = x * 2
        elif mode == Mode.MEAN:
            x = x - 1
        return x, mode.name, mode.value, level is Level.HIGH, Mode.SUM
    return f, lambda i: (t(i), Mode.SUM if i < 6 else Mode.MEAN, Level.LOW if i % 2 else Level.HIGH), None


@program(calls=12, captures=8)
def namespaces():
    o = SimpleNamespace(a=t(1), n=0)
    def f(o, x):
        o.n += 1
        o.a = o.a + x
        o.fresh = x
        mine = SimpleNamespace(x=x, n=3)
        mine.n += 1
        return o.a * o.n, mine.x * mine.n
    return f, lambda i: (o, t(i)), o


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, i):
        return self.parts[i]

    def __setitem__(self, i, v):
        self.parts[i] = v

    def __delitem__(self, i):
        del self.parts[i]

    def __contains__(self, n):
        return n < len(self.parts)

    def __iter__(self):
        return iter(self.parts)

    def __add__(self, other):
        return Vector(*[a + b for a, b in zip(self.parts, other.parts)])

    def __mul__(self, k):
        return Vector(*[a * k for a in self.parts])

    def __neg__(self):
        return self * -1

    def __eq__(self, other):
        return isinstance(other, Vector) and len(self) == len(other)

    def __call__(self, k):
        return self.parts[0] * k

    def __bool__(self):
        return len(self.parts) > 1


@program(calls=12, captures=8)
def special_methods():
    def f(v, x, n):
        w = Vector(x, x + 1)
        u = -(v + w) * n
        u[0] = u[0] + 1
        total = sum(e for e in u)
        for e in v:
            total = total + e
        return u, total, len(w), 1 in w, 5 in w, w == v, w != v, w(2), bool(w), not v, u[1]
    return f, lambda i: (Vector(t(i), t(i + 1)), t(i), 1 + i // 6), None


class Temperature:
    """A descriptor."""
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return getattr(obj, self.name) * 2

    def __set__(self, obj, value):
        setattr(obj, self.name, value + 1)


class Room:
    temperature = Temperature()

    def __init__(self, value):
        self.temperature = value
        self._cache = {}

    @property
    def doubled(self):
        return self.temperature * 2

    @doubled.setter
    def doubled(self, value):
        self.temperature = value / 2

    @classmethod
    def warm(cls, x):
        return cls(x * 30)

    @staticmethod
    def freeze(x):
        return x * 0

    def __getattr__(self, name):
        if name.startswith("get_"):
            return len(name)
        raise AttributeError(name)


@program(calls=12, captures=8)
def properties_and_descriptors():
    room = Room(t(1))
    def f(room, x):
        room.temperature = x
        a = room.temperature
        room.doubled = a
        mine = Room.warm(x)
        return a + mine.doubled, room.get_lost, Room.freeze(x), room.doubled
    return f, lambda i: (room, t(i)), room


@program(calls=12, captures=8)
def getattr_and_friends():
    o = Bag(a=1, b=t(2))
    def f(o, x, name):
        setattr(o, name, x)
        y = getattr(o, name) * 2
        z = getattr(o, "missing", 5)
        there = hasattr(o, "later"), hasattr(o, name)
        o.later = x
        delattr(o, "later")
        return y, z, there, hasattr(o, "later")
    return f, lambda i: (o, t(i), "pq"[i // 6]), o


@program(calls=12, captures=8)
def class_attributes():
    class Config:
        scale = 2.0
        names = ["a"]
        total = 0
    def f(x, o):
        Config.total = Config.total + 1
        o.scale = o.scale + 1
        Config.names.append("b")
        return x * o.scale * Config.scale
    def args(i):
        if i == 7:
            Config.scale = 5.0
        return t(i), Config()
    return f, args, [Config.names]


@program(calls=12, captures=8)
def cells_and_globals():
    count, seen = 0, []
    def f(x):
        nonlocal count
        global last
        count += 1
        last = x * count
        def bump(k):
            nonlocal count
            count += k
            return x * count
        y = bump(2)
        seen.append(count)
        return y + last, count
    return f, lambda i: (t(i),), seen


@program(calls=12, captures=6)
def closures_escape():
    def f(x, n):
        def scale(y, k=3, *, bias=x):
            return y * k + bias + n
        add = lambda y: scale(y) + x
        return scale, add
    def run(x, n):
        scale, add = f(x, n)
        return scale(x), scale(x, 2, bias=1), add(x), scale.__name__, scale.__defaults__
    run.target = f
    return run, lambda i: (t(i), i % 3), None


@program(calls=12, captures=7)
def recursive_closure_escapes():
    def f(x):
        def power(n):
            return x * power(n - 1) if n else x
        return power
    def run(x):
        return apart() and f(x)(3)
    run.target = f
    return run, lambda i: (t(i),), None


@program(calls=12, captures=7)
def circles():
    def f(x):
        a, b = Bag(), Bag()
        a.other, b.other, a.x = b, a, x * 2
        loop = [x]
        loop.append(loop)
        d = {"l": loop}
        d["self"] = d
        return a, loop, d
    def run(x):
        a, loop, d = apart() and f(x)
        return a.other.other is a, loop[1] is loop, d["self"] is d, d["l"] is loop, a.x, a
    run.target = f
    return run, lambda i: (t(i),), None


@program(calls=12, captures=8)
def identity_of_what_escapes():
    o = Bag(last=None)
    def f(o, x):
        shared = [x]
        o.last = shared
        o.again = (shared, x)
        return {"s": shared, "x": x}, shared
    def run(o, x):
        d, shared = f(o, x)
        return d["s"] is shared is o.last is o.again[0], d["x"] is x is o.again[1], weakref.ref(d["s"][0])() is x
    run.target = f
    return run, lambda i: (o, t(i)), o


@program(calls=12, captures=8)
def weak_references_to_escaping_objects():
    class Thing:
        def __init__(self, x):
            self.x = x
    def f(x):
        return Thing(x * 2)
    def run(x):
        thing = f(x)
        ref = weakref.ref(thing)
        alive = ref() is thing
        y = thing.x
        del thing
        return alive, ref() is None, y
    run.target = f
    return run, lambda i: (t(i),), None


@program(calls=12, captures=8)
def shallow_copies():
    def f(x, xs, d):
        a = copy.copy(xs)
        b = copy.copy(d)
        a.append(x)
        b["k"] = x
        return a, b, len(xs), len(d)
    return f, lambda i: (t(i), [t(i), 1], {"a": t(i)}), None


@program(calls=12, captures=6)
def is_and_is_not():
    none = None
    a, b = Bag(v=1), Bag(v=1)
    def f(p, q, x, flag):
        r = p if flag is not None else q
        if r is q:
            return x * 2
        if p is not q and type(p) is Bag:
            return x + 1
        return x
    return f, lambda i: (a, a if i % 4 == 0 else b, t(i), none if i < 6 else i), None


@program(calls=12, captures=8)
def instance_dict():
    o = Bag(a=1, b=2)
    def f(o, x):
        n = len(vars(o))
        o.__dict__["c"] = x
        return x * n, o.c + o.__dict__["a"], "b" in o.__dict__
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8)
def subclass_of_dict_and_list():
    class Config(dict):
        def __getattr__(self, name):
            return self[name]
    c = Config(k=2, w=t(1))
    def f(c, x):
        c["n"] = c.k + 1
        return x * c.k + c.w, c["n"], len(c), "k" in c
    return f, lambda i: (c, t(i)), c


@program(calls=10, captures=3)
def names_that_have_no_encoding():
    class Box:
        pass
    box, odd = Box(), "\ud800"
    setattr(box, odd, 1)
    vars(box)[odd + "2"] = 0

    def f(x):
        setattr(box, odd, getattr(box, odd) + 1)
        return x * getattr(box, odd), hasattr(box, odd + "3")
    return f, lambda i: (t(i),), None


@program(calls=12, captures=4)
def unions_of_types():
    def f(v, x):
        if isinstance(v, (int, float)):
            return x * v
        if isinstance(v, str) or v is None:
            return x
        if callable(v):
            return v(x)
        if issubclass(type(v), list):
            return x * len(v)
        return x + v
    values = [2, 3.5, "s", None, lambda y: y * 5, [1, 2], t(4)]
    return f, lambda i: (values[i // 2], t(i)), None


@program(calls=16, captures=4)
def descriptors_of_classes():
    """What a class gives for a name whose descriptor is written in Python, while all that this follows from changes."""
    class Lazy:
        """A descriptor that classes give as it is: `Shape.area` is the Lazy."""

        def __init__(self, function):
            self.function = function
            self.kept = True

        def __get__(self, instance, owner=None):
            return self if instance is None else self.function(instance)

    class Shape:
        side = 2.0
        area = Lazy(lambda self: self.side * 3)

    def f(x, s):
        if isinstance(getattr(type(s), "area"), Lazy) and Shape.area.kept:
            return x * s.area
        return x - 1, getattr(Shape, "area", None) is None

    def between(i):
        if i == 4:
            Shape.__dict__["area"].kept = False
        elif i == 6:
            Shape.__dict__["area"].kept = True
        elif i == 8:
            Shape.area = Lazy(lambda self: self.side * 5)
        elif i == 10:
            Lazy.__get__ = lambda self, instance, owner=None: self if instance is None else 7.0
        elif i == 12:
            Shape.area = 4.0
        elif i == 14:
            Shape.area = Lazy(lambda self: self.side)
        return t(i), s
    s = Shape()
    return f, between, None


if __name__ == "__main__":
    main()
