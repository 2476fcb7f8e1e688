"""An object, and the dict that keeps its attributes: a store to one changes the other. In one call a frame is given
both, in another two that have nothing to do with each other. Two objects can have one dict, too."""
import terra
from terra import nn
from _harness import Bag, main, program


class Other(Bag):
    pass


def t(i):
    return terra.arange(3.0) + i


def two_then_the_last(i):
    """Which of three: the first two in turn, then the last, then all in turn."""
    return i % 2 if i < 8 else 2 if i < 12 else i % 3


def holder(**fields):
    module = nn.Module()
    module.register_buffer("mean", t(0))
    for name, value in fields.items():
        setattr(module, name, value)
    return module


@program(calls=16, captures=4)
def attribute_stored_item_read():
    o = Bag(n=1)
    others = [{"n": 7}, {"n": 8}, o.__dict__]
    def f(x, o, d):
        o.n += 1
        return x * d["n"]
    return f, lambda i: (t(i), o, others[two_then_the_last(i)]), (o, others)


@program(calls=16, captures=4)
def item_stored_attribute_read():
    o = Bag(n=1)
    others = [{"n": 7}, o.__dict__, {"n": 8}]
    def f(x, o, d):
        d["n"] = d["n"] + 1
        return x * o.n
    return f, lambda i: (t(i), o, others[i % 3]), (o, others)


@program(calls=16, captures=0)
def met_as_one_first():
    o = Bag(n=1)
    others = [o.__dict__, {"n": 7}]
    def f(x, o, d):
        o.n += 1
        return x * d["n"]
    return f, lambda i: (t(i), o, others[i >= 8]), (o, others)


@program(calls=16, captures=4)
def both_stored():
    o = Bag(n=1)
    others = [{"n": 7}, {"n": 8}, o.__dict__]
    def f(x, o, d):
        o.n = 1
        d["n"] = 2
        o.n = 3
        return x + 1
    return f, lambda i: (t(i), o, others[two_then_the_last(i)]), (o, others)


@program(calls=16, captures=4)
def deleted():
    o = Bag(n=1)
    others = [{"n": 7}, {"n": 8}, o.__dict__]
    def f(x, o, d):
        del o.n
        return x * (2 if "n" in d else 3)
    def args(i):
        o.n = 1
        return t(i), o, others[two_then_the_last(i)]
    return f, args, (o, others)


@program(calls=16, captures=4)
def new_attribute_while_keys_are_known():
    others = [{"a": 7}, {"a": 8}]
    def f(x, o, d):
        o.n = 1
        return x * len(list(d))
    def args(i):
        o = Bag(a=i)
        return t(i), o, others[i % 2] if i < 8 or i % 3 else o.__dict__
    return f, args, others


@program(calls=16, captures=4)
def stored_under_keys_that_vary():
    o = Bag(a=1, b=2, c=3)
    others = [{"a": 7}, {"a": 8}, o.__dict__]
    def f(x, o, d, k):
        d[k] = 5
        return x * o.a
    def args(i):
        o.a = 1
        return t(i), o, others[two_then_the_last(i)], "abc"[i % 3]
    return f, args, (o, others)


def with_one_dict(kind):
    a, b, c = Bag(n=1), kind(n=10), kind()
    c.__dict__ = a.__dict__
    others = [b, b, c]
    def f(x, a, b):
        a.n += 1
        return x * b.n
    return f, lambda i: (t(i), a, others[two_then_the_last(i)]), (a, b)


@program(calls=16, captures=4)
def two_objects_with_one_dict():
    return with_one_dict(Other)


@program(calls=16, captures=4)
def two_of_a_class_with_one_dict():
    return with_one_dict(Bag)


@program(calls=16, captures=4)
def dict_of_one_given_to_another_between_calls():
    a, b = Bag(n=1), Bag(n=10)
    def f(x, k):
        a.n += k
        return x * b.n
    def args(i):
        if i == 8:
            b.__dict__ = a.__dict__
        if i == 12:
            b.__dict__ = {"n": 3}
        return t(i), i
    return f, args, (a, b)


@program(calls=16, captures=4)
def buffer_stored_item_read():
    module = holder()
    others = [{"mean": t(5)}, {"mean": t(6)}, module._buffers]
    def f(x, module, d):
        module.mean = module.mean + x
        return d["mean"] + 1
    return f, lambda i: (t(i), module, others[two_then_the_last(i)]), (module._buffers, others)


@program(calls=16, captures=4)
def module_stored_item_read():
    module = holder(scale=1)
    others = [{"scale": 5}, {"scale": 6}, module.__dict__]
    def f(x, module, d):
        module.scale += 1
        return x * d["scale"]
    return f, lambda i: (t(i), module, others[two_then_the_last(i)]), (others[:2],)


@program(calls=16, captures=0)
def module_met_as_one_first():
    module = holder(scale=1)
    others = [module.__dict__, {"scale": 6}]
    def f(x, module, d):
        d["scale"] += 1
        return x * module.scale
    return f, lambda i: (t(i), module, others[i >= 8]), (others[1:],)


@program(calls=16, captures=4)
def two_modules_with_one_dict():
    a, b, c = holder(scale=1), holder(scale=10), holder()
    c.__dict__ = a.__dict__
    others = [b, b, c]
    def f(x, a, b):
        a.scale += 1
        return x * b.scale
    return f, lambda i: (t(i), a, others[two_then_the_last(i)]), None


@program(calls=16, captures=8)
def objects_whose_counters_are_their_own():
    steps = [Bag(n=i) for i in range(3)]
    def f(x, d):
        for step in steps:
            step.n += 1
        return x * steps[0].n + d["n"]
    return f, lambda i: (t(i), {"n": i}), steps


@program(calls=16, captures=4)
def cleared():
    o = Bag(n=1)
    others = [{"n": 7}, {"n": 8}, o.__dict__]
    def f(x, o, d):
        d.clear()
        return x * getattr(o, "n", 5)
    def args(i):
        o.n = 1 + i
        return t(i), o, others[two_then_the_last(i)]
    return f, args, (o, others)


if __name__ == "__main__":
    main()
