"""The samples of the op records as calls: `samples()` yields every one in every dtype it is meant for."""

import dataclasses
import math
import random

import _terra_C as C
import terra

FLOATS = {"float32": terra.float32, "float64": terra.float64}
COMPLEX = {terra.float32: terra.complex64, terra.float64: terra.complex128}


class Source:
    """The names that samples call. Values come from a seeded generator, so that two runs see the same numbers; with a
    `log`, every tensor made is appended to it."""

    def __init__(self, seed, dtype, log=None):
        self.random = random.Random(seed)
        self.dtype = dtype
        self.log = log

    def _made(self, size, draw, dtype):
        if len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = tuple(size[0])
        values = [draw() for _ in range(math.prod(size))]
        if self.log is not None:
            self.log.append((size, values, str(dtype).split(".")[-1]))
        return terra.tensor(values, dtype=dtype).reshape(size)

    def randn(self, *size):
        return self._made(size, lambda: self.random.gauss(0, 1), self.dtype)

    def crandn(self, *size):
        return self._made(size, lambda: complex(self.random.gauss(0, 1), self.random.gauss(0, 1)), COMPLEX[self.dtype])

    def rand(self, *size):
        return self._made(size, self.random.random, self.dtype)

    def zeros(self, *size):
        return self._made(size, lambda: 0.0, self.dtype)

    def ones(self, *size):
        return self._made(size, lambda: 1.0, self.dtype)

    def randint(self, low, high, size):
        return self._made((size,), lambda: self.random.randrange(low, high), terra.int64)

    def fixed(self, *values):
        """A vector of constants, a number if there is one: gradients by it aren't looked at."""
        t = terra.tensor(values if len(values) > 1 else values[0], dtype=self.dtype)
        t.is_fixed = True
        return t

    def arguments(self, text):
        names = {n: getattr(self, n) for n in ("randn", "crandn", "rand", "zeros", "ones", "randint", "fixed")}
        return eval(f"call({text})", names | {"terra": terra, "call": lambda *a, **k: (list(a), k)})


@dataclasses.dataclass
class Call:
    """One sample of one op in one dtype. `arguments()` makes fresh, equal arguments each time."""

    record: dict
    text: str
    dtype: object
    differentiable: bool
    seed: int

    def __str__(self):
        return f"{self.record['name']}({self.text}) in {str(self.dtype).split('.')[-1]}"

    def arguments(self, log=None, dtype=None):
        return Source(self.seed, dtype or self.dtype, log).arguments(self.text)

    def run(self, args, kwargs):
        return getattr(C._ops, self.record["name"])(*args, **kwargs)


def samples(dtypes=("float32", "float64")):
    for record in C.op_records():
        for number, sample in enumerate(record["samples"]):
            kinds = dtypes if sample["dtypes"] in ("float", "complex") else dtypes[:1]
            for name in kinds:
                yield Call(
                    record, sample["args"], FLOATS[name], sample["differentiable"] and record["differentiable"], number + 1
                )


def tensors_in(value):
    """All tensors among arguments or results, in order."""
    if isinstance(value, terra.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") and not isinstance(value, str):
        return [t for v in value for t in tensors_in(v)]
    return []


def is_inexact(t):
    return t.is_floating_point() or t.is_complex()


def parts_of(t):
    """Complex numbers as pairs of real ones, in the same memory."""
    return terra.view_as_real(t) if t.is_complex() else t


def numbers_of(t):
    """The elements as a flat list."""
    return t.detach().reshape(-1).tolist()


def close(a, b, relative, absolute):
    return a == b or (a != a and b != b) or abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def all_close(a, b, relative, absolute):
    return len(a) == len(b) and all(close(x, y, relative, absolute) for x, y in zip(a, b))


def source_of(value, tensors):
    """The argument as it stands in the function's source: tensors become parameters."""
    if isinstance(value, terra.Tensor):
        tensors.append(value)
        return f"t{len(tensors) - 1}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(source_of(v, tensors) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, terra.dtype):
        return "terra." + str(value).split(".")[-1]
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)
