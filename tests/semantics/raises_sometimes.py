# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What an instruction raises depends on something that changes between calls: nothing of it may stay as recorded."""
import types

import terra
from _harness import Bag, main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


def phase(i):
    """0 in calls 0-4, 1 in calls 5-8, 0 again."""
    return int(5 <= i < 9)


def sometimes(name, f, args, captures=4):
    """`f` catches what the call's arguments make it raise; `args(i, phase)` gives them."""
    def make():
        return f, lambda i: args(i, phase(i)), None
    make.__name__ = name
    program(calls=13, captures=captures)(make)


def attempt(body):
    """A function that returns what body(x, a) does, or the class of its exception."""
    def f(x, a):
        try:
            y = body(x, a)
        except Exception as e:
            y = type(e).__name__
        return x * 2, y
    return f


class WithGetattr:
    def __getattr__(self, name):
        if self.there:
            return 5
        raise AttributeError(name)


class WithProperty:
    @property
    def p(self):
        if self.bad:
            raise KeyError("p")
        return 3


class WithBool:
    def __bool__(self):
        if self.bad:
            raise ValueError("bool")
        return True


class WithItems:
    def __getitem__(self, key):
        if self.bad:
            raise IndexError(key)
        return 7

    def __add__(self, other):
        if self.bad:
            raise TypeError("add")
        return 8

    def __len__(self):
        if self.bad:
            raise OverflowError("len")
        return 2

    def __iter__(self):
        if self.bad:
            raise RuntimeError("iter")
        return iter([1, 2])


class Entering:
    def __enter__(self):
        if self.bad:
            raise OSError("enter")
        return 9

    def __exit__(self, *exc):
        return False


def made(cls, **fields):
    result = cls()
    result.__dict__.update(fields)
    return result


def entered(x, a):
    with a as value:
        return value


def unpacked(x, a):
    p, q = a
    return p + q


def deleted(x, a):
    del a["k"]
    return len(a)


def drawn(a):
    for v in a:
        if v > 2:
            raise LookupError(v)
        yield v


def looped(x, a):
    total = 0
    for v in drawn(a):
        total += v
    return total


def local_name(x, a):
    if a:
        y = 1
    return y


def cell_name(x, a):
    def inner():
        return y
    if a:
        y = 4
    return inner()


module = types.ModuleType("raises_sometimes_plug")


def with_module(i, on):
    module.__dict__.pop("k", None)
    if on:
        module.k = i
    return t(i), module


class Shared:
    pass


def with_class(i, on):
    if on and not hasattr(Shared, "late"):
        Shared.late = 11
    if not on and hasattr(Shared, "late"):
        del Shared.late
    return t(i), Shared()


sometimes("missing_key", attempt(lambda x, a: a["k"]), lambda i, on: (t(i), {"k": i} if on else {"j": 1}), 3)
sometimes("missing_key_popped", attempt(lambda x, a: a.pop("k")), lambda i, on: (t(i), {"k": 1} if on else {}), 3)
sometimes("missing_key_deleted", attempt(deleted), lambda i, on: (t(i), {"k": 1} if on else {}))
sometimes("missing_attribute", attempt(lambda x, a: a.k), lambda i, on: (t(i), Bag(k=1) if on else Bag(j=1)))
sometimes("missing_method", attempt(lambda x, a: a.go()), lambda i, on: (t(i), Bag(go=len) if on else Bag()), 0)
sometimes("missing_on_class", attempt(lambda x, a: a.late), with_class)
sometimes("missing_in_module", attempt(lambda x, a: a.k), with_module, 3)
sometimes("getattr_raises", attempt(lambda x, a: a.zz), lambda i, on: (t(i), made(WithGetattr, there=on)))
sometimes("property_raises", attempt(lambda x, a: a.p), lambda i, on: (t(i), made(WithProperty, bad=on)))
sometimes("bool_raises", attempt(lambda x, a: 1 if a else 2), lambda i, on: (t(i), made(WithBool, bad=on)))
sometimes("item_raises", attempt(lambda x, a: a[1]), lambda i, on: (t(i), made(WithItems, bad=on)))
sometimes("operator_raises", attempt(lambda x, a: a + 1), lambda i, on: (t(i), made(WithItems, bad=on)))
sometimes("length_raises", attempt(lambda x, a: len(a)), lambda i, on: (t(i), made(WithItems, bad=on)), 3)
sometimes("iteration_raises", attempt(lambda x, a: [v for v in a]), lambda i, on: (t(i), made(WithItems, bad=on)), 3)
sometimes("enter_raises", attempt(entered), lambda i, on: (t(i), made(Entering, bad=on)))
sometimes("index_out_of_range", attempt(lambda x, a: a[1]), lambda i, on: (t(i), [1] * (1 + on)))
sometimes("index_of_constants", attempt(lambda x, a: (1, 2)[a]), lambda i, on: (t(i), 1 + on))
sometimes("store_out_of_range", attempt(lambda x, a: a.__setitem__(1, 5)), lambda i, on: (t(i), [1] * (1 + on)), 0)
sometimes("popped_from_empty", attempt(lambda x, a: a.pop()), lambda i, on: (t(i), [1] * on), 0)
sometimes("division_by_zero", attempt(lambda x, a: 6 // a), lambda i, on: (t(i), on))
sometimes("operand_of_another_type", attempt(lambda x, a: a + 1), lambda i, on: (t(i), 3 if on else "s"))
sometimes("comparison_of_types", attempt(lambda x, a: a < 1), lambda i, on: (t(i), 0 if on else "s"))
sometimes("text_of_number", attempt(lambda x, a: int(a)), lambda i, on: (t(i), "12" if on else "q"))
sometimes("format_of_type", attempt(lambda x, a: f"{a:d}"), lambda i, on: (t(i), 12 if on else "q"))
sometimes("unpacking_of_length", attempt(unpacked), lambda i, on: (t(i), [1, 2] if on else [1, 2, 3]))
sometimes("iteration_over_type", attempt(lambda x, a: [v for v in a]), lambda i, on: (t(i), [1] if on else 5))
sometimes("call_of_another_shape", attempt(lambda x, a: a(1)), lambda i, on: (t(i), (lambda p: p) if on else (lambda: 0)))
sometimes("generator_raises_in_for", attempt(looped), lambda i, on: (t(i), [1, 2, 3] if on else [1, 2, 2]))
sometimes("generator_raises_in_sum", attempt(lambda x, a: sum(drawn(a))), lambda i, on: (t(i), [1, 3] if on else [1, 2]))
sometimes("generator_raises_in_list", attempt(lambda x, a: list(drawn(a))), lambda i, on: (t(i), [1, 3] if on else [1, 2]), 3)
sometimes("key_function_raises", attempt(lambda x, a: sorted(a, key=lambda v: 1 // v)), lambda i, on: (t(i), [1, 2 * on]), 3)
sometimes("next_of_shorter", attempt(lambda x, a: (n := iter(a)) and [next(n), next(n)]), lambda i, on: (t(i), [1] * (1 + on)))
sometimes("local_not_bound", attempt(local_name), lambda i, on: (t(i), on))
sometimes("cell_not_bound", attempt(cell_name), lambda i, on: (t(i), on))
sometimes("assertion", attempt(lambda x, a: a.check()), lambda i, on: (t(i), Bag(check=[lambda: 1, lambda: [][0]][on])), 3)


if __name__ == "__main__":
    main()
