# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""What __torch_function__ of a subclass is given for each operator: the function's name, and the types of its arguments in
order; and what the default makes of it."""

import operator
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results, log = [], []


class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        log.append((function.__name__, [type(a).__name__ for a in args], [t.__name__ for t in types if t is not torch.Tensor]))
        return super().__torch_function__(function, types, args, kwargs or {})


def of(values):
    return torch.tensor(values).as_subclass(Sub)


def said(function, *args):
    log.clear()
    try:
        result = function(*args)
    except Exception as error:
        return [*log], type(error).__name__
    calls = [*log]
    return calls, type(result).__name__, result.as_subclass(torch.Tensor) if isinstance(result, torch.Tensor) else result


for name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le eq ne gt ge".split():
    function = getattr(operator, name)
    bits = name in ("and_", "or_", "xor", "lshift", "rshift")
    sub, tensor = (of([1, 2, 3]), torch.arange(3)) if bits else (of([1.0, 2.0, 3.0]), torch.ones(3) * 1.5)
    pairs = {"sub and number": (sub, 2), "number and sub": (2, sub), "sub and tensor": (sub, tensor), "tensor and sub": (tensor, sub), "both": (sub, sub)}
    for kind, (a, b) in pairs.items():
        if name == "matmul" and "number" in kind:
            continue
        for _ in range(6):
            found = said(function, a, b)
        results.append((f"{name}, {kind}", found))

for name in "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split():
    bits = name in ("iand", "ior", "ixor", "ilshift", "irshift")
    results.append((name, said(getattr(operator, name), of([1, 2, 3]) if bits else of([1.0, 2.0, 3.0]), 2)))

ONES = {
    "neg": lambda a: -a,
    "invert": lambda a: ~of([1, 2]),
    "abs": abs,
    "float": lambda a: float(a[0]),
    "int": lambda a: int(a[0]),
    "bool": lambda a: bool(a[0]),
    "len": len,
    "getitem": lambda a: a[1],
    "item": lambda a: a[0].item(),
}
for name, function in ONES.items():
    results.append((name, said(function, of([1.0, 2.0, 3.0]))))
check(results, __file__)
