# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Python as training scripts have it: registries, meters, schedules, wrappers, small classes round few tensor ops."""
import abc
import collections
import dataclasses
import functools
import io
import itertools
import math
import types
import typing

import terra
from _harness import Bag, main, program
from terra import nn


def t(i, n=3):
    return terra.arange(float(n)) + i


def filled(net):
    with terra.no_grad():
        for p in net.parameters():
            p.copy_(terra.arange(float(p.numel())).view_as(p) * 0.1)
    return net


@program(calls=12, captures=8)
def cached_property_that_is_replaced():
    class Scaled:
        def __init__(self):
            self.base = 2.0

        @functools.cached_property
        def scale(self):
            return self.base * 2
    o = Scaled()
    o.scale
    def f(x):
        return x * o.scale
    def args(i):
        if i == 6:
            o.scale = 7.0
        return t(i),
    return f, args, o


@program(calls=14, captures=8)
def meter():
    class Meter:
        def __init__(self):
            self.total, self.count = 0.0, 0

        def update(self, value, n=1):
            self.total += value * n
            self.count += n

        @property
        def average(self):
            return self.total / max(1, self.count)
    m = Meter()
    def f(x, n):
        m.update(float(n) * 0.5, n)
        return x * m.average, f"{m.average:.2f}"
    return f, lambda i: (t(i), i % 4 + 1), m


@program(calls=16, captures=8)
def registry_of_lists():
    table = collections.defaultdict(list)
    def f(x, n):
        table["odd" if n % 2 else "even"].append(n)
        return x * len(table["odd"]) + len(table["even"])
    return f, lambda i: (t(i), i), table


@program(calls=14, captures=10)
def class_attribute_counts():
    class Counted:
        calls = 0

        def step(self, x):
            type(self).calls += 1
            return x * Counted.calls
    o = Counted()
    def args(i):
        o.seen = Counted.calls
        return t(i),
    return lambda x: o.step(x), args, o


@program(calls=14, captures=7)
def wrapped_with_arguments():
    seen = []
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            seen.append(len(args) + len(kwargs))
            return function(*args, **kwargs) * 2
        return wrapper
    @logged
    def scaled(x, n=1, *, shift=2):
        return x * n + shift
    def f(x, n):
        return scaled(x, n, shift=n) + scaled(x)
    return f, lambda i: (t(i), i), seen


@program(calls=14, captures=8)
def descriptor_keeps_twice():
    class Twice:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, owner, kind=None):
            return getattr(owner, self.name)

        def __set__(self, owner, value):
            setattr(owner, self.name, value * 2)

    class Holder:
        rate = Twice()

        def __init__(self):
            self.rate = 1
    o = Holder()
    def f(x, n):
        o.rate = n
        return x * o.rate
    return f, lambda i: (t(i), i), o


@program(calls=14, captures=8)
def fallback_to_inner():
    class Wrapper:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            if name == "inner":
                raise AttributeError(name)
            return getattr(self.inner, name)
    o = Wrapper(Bag(scale=2.0))
    def f(x):
        return x * o.scale + getattr(o, "absent", 3)
    def args(i):
        o.inner.scale = i * 0.5
        if i == 9:
            o.inner.absent = 5
        return t(i),
    return f, args, o


@program(calls=12, captures=6)
def abstract_bases_and_mixins():
    class Base(abc.ABC):
        @abc.abstractmethod
        def run(self, x):
            ...

        def __call__(self, x):
            return self.run(x)

    class Doubled:
        def run(self, x):
            return super().run(x) * 2

    class Shift(Base):
        def __init__(self, by):
            self.by = by

        def run(self, x):
            return x + self.by

    class Both(Doubled, Shift):
        pass
    def f(x, n):
        return Both(n)(x) if n % 2 else Shift(n)(x)
    return f, lambda i: (t(i), i), None


class Sample(typing.NamedTuple):
    x: typing.Any
    n: int = 2


@dataclasses.dataclass
class Stats:
    x: typing.Any
    n: int = 1
    scaled: typing.Any = dataclasses.field(init=False)

    def __post_init__(self):
        self.scaled = self.x * self.n


@program(calls=12, captures=8)
def records():
    def f(x, n):
        s, d = Sample(x, n), Stats(x, n)
        return s._replace(n=3), s.x * s.n + Sample(x).n, d, d.scaled, s._asdict()
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=8)
def iteration_tools():
    def f(xs, n):
        return (list(itertools.accumulate(xs)), [a * b for a, b in itertools.pairwise(xs)],
                sum(itertools.islice(xs, 2)), [a + b for a, b in itertools.combinations(xs, 2)],
                list(itertools.starmap(lambda a, b: a * b, zip(xs, (n, 2)))),
                [x * k for x, k in zip(xs, itertools.cycle([1, 3]))], [x + k for x, k in zip(xs, itertools.count())])
    return f, lambda i: ([t(i), t(1), t(2)], 2), None


@program(calls=14, captures=9)
def text_of_steps():
    out, o = io.StringIO(), Bag()
    def f(x, n):
        y = x * n
        print(f"step {n:>3}", "lr %.3f" % (n * 0.1), "-".join(["a", "b"]), file=out)
        return y, "{}/{}".format(n, 10)
    def args(i):
        o.text = out.getvalue()
        return t(i), i
    return f, args, o


@program(calls=16, captures=6)
def reraised_from():
    def risky(x, n):
        try:
            if n % 4 == 3:
                raise ValueError(n)
            return x * n
        except ValueError as e:
            raise RuntimeError("again") from e
    def f(x, n):
        try:
            return risky(x, n)
        except RuntimeError as e:
            return x * 0, str(e), repr(e.__cause__)
    return f, lambda i: (t(i), i), None


@program(calls=14, captures=8)
def early_stopping():
    o = Bag(best=float("inf"), bad=0)
    def f(x, loss):
        if loss < o.best:
            o.best, o.bad = loss, 0
        else:
            o.bad += 1
        return x * o.best, o.bad > 2
    return f, lambda i: (t(i), abs(5.0 - i)), o


@program(calls=14, captures=8)
def options_merged():
    def layer(x, **options):
        options.setdefault("k", 2)
        merged = {**dict(a=1), **options}
        return x * merged.pop("k") + merged["a"]
    def f(x, n):
        return layer(x) + layer(x, k=n, a=3)
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=8)
def namespaces():
    def f(x, n):
        c = types.SimpleNamespace(n=n, x=x)
        c.total = c.n * math.sqrt(n + 1)
        return c.x * c.total, c
    return f, lambda i: (t(i), i), None


@program(calls=14, captures=8)
def exponential_average_of_parameters():
    net = filled(nn.Linear(3, 2))
    shadow = {name: p.detach().clone() for name, p in net.named_parameters()}
    o = Bag(decay=0.9)
    def f(x):
        with terra.no_grad():
            for name, p in net.named_parameters():
                shadow[name].mul_(o.decay).add_(p, alpha=1 - o.decay)
        return net(x)
    def args(i):
        o.decay = 0.9 - i * 0.01
        return t(i),
    return f, args, shadow


@program(calls=14, captures=6)
def gradients_gathered_over_steps():
    net = filled(nn.Linear(3, 1))
    o = Bag(step=0)
    def f(x):
        o.step += 1
        loss = net(x).pow(2).mean() / 3
        loss.backward()
        if o.step % 3 == 0:
            with terra.no_grad():
                for p in net.parameters():
                    p -= 0.01 * p.grad
                    p.grad = None
        return loss.detach()
    return f, lambda i: (t(i),), net


@program(calls=14, captures=8)
def iterators_of_classes():
    class Batches:
        def __init__(self, xs):
            self.xs = xs

        def __iter__(self):
            for x in self.xs:
                yield x * 2

    class Rows:
        def __init__(self, xs):
            self.xs = xs

        def __iter__(self):
            return iter(self.xs)
    o = Bag(batches=Batches([t(1), t(2)]), rows=Rows([t(3), t(4)]))
    def f(x):
        it, rows = iter(o.batches), iter(o.rows)
        return next(it) + x, next(rows) * next(rows), next(it), next(it, None), next(rows, 5)
    def args(i):
        o.rows.xs[0] = t(i)
        if i == 7:
            o.batches = Rows([t(7), t(8)])
        return t(i),
    return f, args, o


@program(calls=14, captures=8)
def operators_of_a_class():
    class Vector:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return Vector(self.x + (other.x if isinstance(other, Vector) else other))
        __radd__ = __add__

        def __mul__(self, k):
            return Vector(self.x * k)
    def f(x, n):
        return (sum([Vector(x), Vector(x) * n]) + 1).x
    return f, lambda i: (t(i), i), None


class Meter:
    """As the training scripts of the ImageNet example have it."""

    def __init__(self, name, spec=":f"):
        self.name, self.spec = name, spec
        self.value = self.sum = self.count = self.average = 0

    def update(self, value, n=1):
        self.value = value
        self.sum += value * n
        self.count += n
        self.average = self.sum / self.count

    def __str__(self):
        return ("{name} {value" + self.spec + "} ({average" + self.spec + "})").format(**self.__dict__)


@program(calls=16, captures=8)
def meter_as_text():
    m = Meter("loss", ":6.2f")
    def f(x, n):
        m.update(n * 0.5, 2)
        return x * m.average, str(m), f"[{m}]"
    return f, lambda i: (t(i), i), m


@program(calls=16, captures=4)
def meter_that_gets_a_name_later():
    m = Meter("loss", ":6.2f")
    def f(x, n):
        m.update(n * 0.5, 2)
        m.extra = n
        return x * m.average, "{name} {extra}".format(**vars(m)), list(vars(m))
    return f, lambda i: (t(i), i), m


@program(calls=16, captures=8)
def texts_that_are_joined():
    shown = []
    def f(x, n):
        values = {"step": n, "loss": n * 0.25}
        shown.append(", ".join(f"{k}={v}" for k, v in values.items()))
        shown.append("-".join([str(n), "of", f"{n * 2}"]))
        return x * 2, "".join(("a", "b"))
    return f, lambda i: (t(i), i), shown


@program(calls=16, captures=8, recordings=6)
def schedule_with_powers():
    o = Bag(step=0)
    def f(x):
        o.step += 1
        rate = 0.5 * min(o.step ** -0.5, o.step * 4 ** -1.5)
        return x * rate, o.step ** 2 + o.step ** 3, round(rate, ndigits=3)
    return f, lambda i: (t(i),), o


@program(calls=16, captures=8)
def counters_made_inside():
    def f(x, words):
        seen = collections.Counter(words)
        for word in words:
            seen[word] += 1
        seen.update(words)
        return x * seen["a"], seen, seen["missing"], len(seen)
    return f, lambda i: (t(i), ["a", "b", "a"]), None


@program(calls=16, captures=8)
def dicts_of_a_class_made_inside():
    class Output(dict):
        made = 0

        def __init__(self, *args, **fields):
            super().__init__(*args, **fields)
            self.size = len(self)

        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError as error:
                raise AttributeError(name) from error
    class Plain(dict):
        pass
    def f(x, n):
        out = Output({"loss": x.sum()}, logits=x * n)
        out["again"] = out.logits + 1
        same = Plain(a=n, b=out)
        return out, out.loss * 2, same, same
    return f, lambda i: (t(i), i), None


@program(calls=16, captures=8)
def sentinel():
    def f(x, table):
        missing = object()
        found = table.get("scale", missing)
        return x * (1.0 if found is missing else found)
    return f, lambda i: (t(i), {"scale": 2.0} if i % 2 else {}), None


@program(calls=14, captures=8)
def losses_as_text():
    lines = []
    def f(x, n):
        loss = (x * n).mean()
        if n % 3 == 0:
            lines.append(f"[{n:02d}] loss {loss:.3f} of {(x > 2).sum()} at {x[0]}")
        return loss * 2
    return f, lambda i: (t(i), i), lines


@program(calls=14, captures=9)
def sums_of_products():
    def f(x, y, how):
        return terra.einsum(how, x, y), terra.einsum("ij->j", x) * len(how)
    return f, lambda i: (t(i, 6).view(2, 3), t(i, 12).view(3, 4), ("ij,jk->ik", "ij,jk->k", "ij,jk->ikj")[i // 5]), None


@program(calls=12, captures=7)
def letters_and_keys():
    def f(x, text, names):
        table = dict.fromkeys(names, x * 2)
        counts = dict.fromkeys(text, 0)
        for letter in text:
            counts[letter] += 1
        table["more"] = x.sum()
        known = set(text).union("az")
        return table, counts, "z" in known, "c" in known, len(set(text)), dict.fromkeys(counts)
    return f, lambda i: (t(i), ("abca", "bb")[i // 6], [f"n{i // 4}", "n0"]), None


@program(calls=12, captures=8)
def asked_what_tensors_have():
    def f(x):
        scale = getattr(x, "scale", 2.0)
        if hasattr(x, "detach") and not hasattr(x, "nothing_of_this_name") and hasattr(x, "mT"):
            x = x.detach() * scale
        return x, hasattr(x, "scale"), [hasattr(y, "shape") for y in (x, 2.0, "a")]
    def args(i):
        x = t(i, 4).view(2, 2)
        if i == 8:
            x.scale = 5.0
        return x,
    return f, args, None


@program(calls=12, captures=6)
def resized_by_factors():
    def f(x, factor):
        return nn.functional.interpolate(x, scale_factor=factor) + 1
    return f, lambda i: (t(i, 12).view(1, 2, 3 * (1 + i % 2), -1), 1.5 if i < 8 else 2), None


@program(calls=8, captures=None, reason=19)
def threads_are_set_inside():
    terra.set_num_threads(2)  # whatever the run began with
    def f(x, n):
        terra.set_num_threads(n)
        return x * 2
    def args(i):
        asked = terra.get_num_threads()
        terra.set_num_threads(1)
        return t(i) + asked, 1 + i % 2
    return f, args, None


@program(calls=16, captures=6)
def classes_of_tensors():
    class Own(terra.Tensor):
        pass
    kinds = [t(0), nn.Parameter(t(1)), t(2).as_subclass(Own)]
    def f(x):
        y = x * 2 if x.__class__ is terra.Tensor else x * 3
        return y.detach(), x.__class__.__name__, y.__class__ is x.__class__
    return f, lambda i: (kinds[0 if i < 8 else i % 3],), None


@program(calls=16, captures=8)
def limits_and_devices():
    def f(x, kind, place):
        device = terra.device(place)
        ones = terra.ones(3, dtype=terra.get_default_dtype(), device=device)
        masked = x.masked_fill(x > 1, terra.finfo(x.dtype).min)
        return masked * ones, terra.finfo().eps, terra.iinfo(kind).max, terra.promote_types(kind, x.dtype), str(device)
    def args(i):
        terra.set_default_dtype(terra.float64 if i in (6, 7) else terra.float32)
        return t(i).to(terra.float64 if i > 11 else terra.float32), terra.int32 if i % 8 else terra.int8, "cpu"
    return f, args, None


if __name__ == "__main__":
    main()
