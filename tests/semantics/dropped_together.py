# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What a frame drops in several places may be the last of an object only together; what runs then is seen at once."""
import collections
import weakref

import terra
from _harness import main, program


class Loud:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")


class Quiet:
    def __init__(self, log):
        pass


class Holder:
    pass


X = terra.arange(4.0).view(2, 2)


def drops(fill, calls=12, captures=3):
    """body(held, x, log) drops what fill(made) has put into `held`. From the ninth call on it is a Loud object, whose
    finalizer the body sees at work."""
    def register(body):
        def make():
            log, held = [], Holder()
            body.__globals__["log"] = log

            def args(i):
                made = (Loud if i >= 8 else Quiet)(log)
                held.places = fill(made)
                if i == 9:
                    log.append(made)  # it lives on
                return held.places, X + i, log
            return body, args, log
        make.__name__ = body.__name__
        return program(calls=calls, captures=captures)(make)
    return register


def attributes(made):
    holder = Holder()
    holder.a = holder.b = made
    return holder


@drops(attributes)
def two_attributes(held, x, log):
    held.a = None
    held.b = None
    return x * len(log)


@drops(attributes)
def an_attribute_deleted_and_one_replaced(held, x, log):
    del held.a
    held.b = x
    return x + len(log)


@drops(lambda made: [made, [made]])
def an_item_and_what_holds_it(held, x, log):
    held[1] = 0
    held[0] = 0
    return x * len(log)


@drops(lambda made: [1, made, made])
def two_pops(held, x, log):
    held.pop()
    held.pop()
    return x * len(log)


@drops(lambda made: [1, made, 3])
def the_second_of_two_pops(held, x, log):
    held.pop()
    held.pop()
    return x * len(log)


@drops(lambda made: collections.deque([made, 1, 2, made]))
def both_ends(held, x, log):
    held.pop()
    held.popleft()
    return x * len(log)


@drops(lambda made: collections.deque([1, made, 3], maxlen=3))
def pushed_out(held, x, log):
    held.append(x)
    held.append(x)
    return x * len(log)


@drops(lambda made: [1, made, 3], captures=0)
def the_same_place_twice(held, x, log):
    del held[0]
    del held[0]
    return x * len(log)


@drops(lambda made: {"a": made, "b": (made,)})
def two_values(held, x, log):
    held["a"] = 1
    held["b"] = 2
    return x * len(log)


@drops(lambda made: {made: 1, "other": 2}, captures=0)
def a_key(held, x, log):
    for key in list(held):
        del held[key]
    key = None
    return x * len(log)


@drops(lambda made: [made] * 40)
def very_many_references(held, x, log):
    held.clear()
    return x * len(log)


@drops(lambda made: (attributes(made), [made]), captures=0)
def in_three_containers(held, x, log):
    held[0].a = None
    held[1].pop()
    held[0].b = None
    return x * len(log)


@program(calls=12, captures=2)
def a_watched_gradient():
    """The callback frees what the frame computes with behind the graph."""
    w = terra.ones(2, requires_grad=True)
    box = Holder()
    log = []

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad.sum().item() * box.scale + len(log)

    def called(_):
        box.scale = 0.25 * (len(log) + 3)
        log.append("gone")

    def args(i):
        box.scale = 1.5 + i / 7
        if i >= 8 and i % 2:
            box.reference = weakref.ref(w.grad, called)
        return (terra.arange(2.0) + i,)
    return f, args, (log, vars(box))


class Trap:
    """Stores to it drop what the frame has only borrowed."""

    def __init__(self, table):
        object.__setattr__(self, "table", table)

    def __setattr__(self, name, value):
        self.table.clear()
        object.__setattr__(self, name, value)


@program(calls=10, captures=0)
def a_store_that_empties_what_was_read():
    table = {}
    trap = Trap(table)

    def f(x):
        y = x * table["scale"]
        name = table["name"]
        trap.seen = y
        return name, len(table), y

    def args(i):
        table.update(scale=1000.5 + i, name="n" * (i + 2))
        return (X,)
    return f, args, (table, trap)


if __name__ == "__main__":
    main()
