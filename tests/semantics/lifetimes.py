# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Entries keep nothing alive that they only compare with: classes and functions of the program die when they do plainly."""
import collections
import gc
import weakref

import terra
from _harness import main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


class Base:
    pass


def dying(captures=4):
    """body(x, a, b): the tensor and two arguments from fresh(i), which makes something new for every fourth call. The
    transcript says of all of those but the last two whether they are gone."""
    def register(case):
        def make():
            body, fresh = case()
            made, gone = [], []
            now = []

            def args(i):
                if i % 4 == 0:
                    now[:] = fresh(i)
                    made.append(weakref.ref(now[0] if isinstance(now[0], type) or callable(now[0]) else type(now[0])))
                gc.collect()
                gone.append([reference() is None for reference in made[:-2]])
                return t(i), *now

            return body, args, gone
        make.__name__ = case.__name__
        return program(calls=20, captures=captures)(make)
    return register


def made_class(i):
    return type("Made", (Base,), {"scale": i % 3 + 1, "scaled": lambda self, x: x * self.scale + i % 5})


@dying()
def class_of_an_argument():
    def f(x, a, b):
        return x * a.scale
    return f, lambda i: (made_class(i)(), 0)


@dying()
def method_of_an_argument():
    def f(x, a, b):
        return a.scaled(x)
    return f, lambda i: (made_class(i)(), 0)


@dying()
def a_class():
    def f(x, a, b):
        return x * a.scale
    return f, lambda i: (made_class(i), 0)


@dying()
def asked_for_its_class():
    def f(x, a, b):
        return x * 2 if isinstance(b, a) else x * 3

    def fresh(i):
        made = made_class(i)
        return made, made() if i % 8 else 0
    return f, fresh


@dying()
def classes_in_lists():
    def f(x, a, b):
        return x * 2 if [a, Base] == b else x * 3

    def fresh(i):
        made = made_class(i)
        return made, [made if i % 8 else Base, Base]
    return f, fresh


@dying()
def enumeration():
    import enum

    def f(x, a, b):
        return x * 2 if a is b.RED else x * 3

    def fresh(i):
        made = enum.Enum("Made", ["RED", "BLUE"])
        return made.RED if i % 8 else made.BLUE, made
    return f, fresh


@dying()
def function():
    def f(x, a, b):
        return a(x)

    def fresh(i):
        return (lambda x: x * (i % 3 + 1)), 0
    return f, fresh


@dying()
def builtin_method():
    def f(x, a, b):
        return x * 2 if a is b else x * 3

    def fresh(i):
        append = collections.deque([i]).append
        return append, append if i % 8 else len
    return f, fresh


@program(calls=16, captures=4)
def dies_during_the_run():
    """The only class of an argument goes while effects are applied; the next one may lie where it lay."""
    holder = {}

    def f(x, h):
        y = x * h["a"].scale
        h["a"] = None
        return y

    def args(i):
        holder["a"] = made_class(i // 4)() if i % 4 == 0 or "kept" not in holder else holder["kept"]()
        holder["kept"] = type(holder["a"])
        return t(i), holder
    return f, args, None


@program(calls=16, captures=2)
def dies_while_another_path_is_recorded():
    """What the guards of one entry speak of dies in the frame that records the next one: they are not compared."""
    def f(x, o):
        y = x * 2 if o.now is len else x * 3
        if x.sum() > 0:
            y = y + 1
        o.before = None
        return y

    def args(i):
        if i % 4 == 1:
            o.before, o.now = o.now, collections.deque([i]).append
        return t(i) if i % 2 else t(i) - 100, o

    o = Base()
    o.now = o.before = collections.deque([0]).append
    return f, args, None


class Held:
    pass


@program(calls=8, captures=0)
def referent_that_the_frame_lets_go():
    box = Held()
    def f(x):
        before = box.weak() is None
        box.strong = None
        return x * 2, before, box.weak() is None
    def args(i):
        box.strong = Held()
        box.weak = weakref.ref(box.strong)
        return terra.ones(2) * i,
    return f, args, None


@program(calls=8, captures=0)
def referent_that_a_list_lets_go():
    def f(x, weak, items):
        items.pop()
        return x * 2, weak() is None
    def args(i):
        held = Held()
        return terra.ones(2) * i, weakref.ref(held), [held]
    return f, args, None


class Told:
    """Tells when it goes, and changes what the frame reads afterwards."""
    def __init__(self, owner, log):
        self.owner, self.log = owner, log

    def __del__(self):
        self.log.append(("gone", self.owner.count))
        self.owner.count += 100


def with_told_inside(kind, owner, log):
    told, held = Told(owner, log), Held()
    if kind == "itself":
        return told
    if kind == "list":
        return [told]
    if kind == "tuple of lists":
        return [1, told], 2
    if kind == "key":
        return {told: 1}
    if kind == "deque":
        return collections.deque([told])
    if kind == "closure":
        return lambda: told
    if kind == "met twice":
        return [told, (told,)]
    if kind == "tensor":
        x = terra.zeros(1)
        x.told = told
        return x
    if kind == "callback":
        def gone(_):
            owner.count += 10
        owner.reference = weakref.ref(held, gone)
        return [held]
    if kind == "generator":
        def paused(owner):
            try:
                yield 1
            finally:
                owner.count += 10
        generator = paused(owner)
        next(generator)
        return [generator]
    held.told = told
    return held.__init__ if kind == "method" else held


KINDS = ("itself", "list", "instance", "tuple of lists", "key", "deque", "method", "closure", "met twice", "tensor",
         "callback", "generator")


def dropping(holding):
    """body(held) drops what `holding` has put into it: lists and tensors while it is recorded, and in every second call
    afterwards; in the others something that tells when it goes."""
    def register(body):
        def make():
            owner, log = Held(), []

            def f(held, x, n):
                owner.count = n
                body(held)
                seen = owner.count
                owner.count = seen + 1
                return x * 2, seen
            f.__code__ = f.__code__.replace(co_name=body.__name__)  # entries of its own

            def args(i):
                owner.count = owner.reference = 0
                quiet = i < 4 or i % 2
                value = [terra.ones(2), (1, "a")] if quiet else with_told_inside(KINDS[(i - 4) // 2], owner, log)
                return holding(value), t(i), i
            return f, args, (owner.__dict__, log)
        make.__name__ = body.__name__
        return program(calls=4 + 2 * len(KINDS), captures=10)(make)
    return register


def in_an_attribute(value):
    held = Held()
    held.place = value
    return held


@dropping(in_an_attribute)
def replaced_attribute(held):
    held.place = None


class Slotted:
    __slots__ = "place",


def in_a_slot(value):
    held = Slotted()
    held.place = value
    return held


@dropping(in_a_slot)
def replaced_slot(held):
    held.place = None


@dropping(lambda value: [1, value])
def replaced_item(held):
    held[1] = None


@dropping(lambda value: {"k": value})
def replaced_value(held):
    held["k"] = None


if __name__ == "__main__":
    main()
