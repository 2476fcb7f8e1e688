"""torch._foreach_*: an op over lists of tensors, one tensor after another."""

import _terra_C as C

from ._names import FOREACH


def _numbers_for(tensors, other):
    """What goes with each tensor: an element of a list, or the same for all."""
    if isinstance(other, (list, tuple)):
        if len(other) != len(tensors):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}"
            )
        return other
    return [other] * len(tensors)


# Methods that take numbers, too, and have a form that changes the tensor.
_METHODS = {"maximum": "clamp_min", "maximum_": "clamp_min_", "minimum": "clamp_max", "minimum_": "clamp_max_"}


def _each(name):
    """The function for an op; one whose name ends in _ changes the tensors and gives them."""
    op = name.removeprefix("_foreach_")

    def function(self, *others, scalars=None, **options):
        method = getattr(C.Tensor, _METHODS.get(op, op))
        columns = [_numbers_for(self, other) for other in others]
        named = {"value": _numbers_for(self, scalars)} if scalars is not None else {}
        named |= {key: [value] * len(self) for key, value in options.items()}
        results = []
        for i, tensor in enumerate(self):
            arguments = [column[i] for column in columns]
            chosen = {key: values[i] for key, values in named.items()}
            if "value" not in chosen and op.rstrip("_") in ("addcmul", "addcdiv") and len(arguments) == 3:
                chosen["value"] = arguments.pop()
                if isinstance(chosen["value"], C.Tensor):
                    chosen["value"] = chosen["value"].item()
            results.append(method(tensor, *arguments, **chosen))
        return self if op.endswith("_") else tuple(results)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{op} of each tensor of a list."
    return function


for _name in FOREACH:
    globals()[_name] = _each(_name)


def _foreach_pow(self, exponent):
    """Each tensor to a power; or a number to the power of each."""
    if isinstance(self, (int, float)):
        return tuple(C.pow(self, tensor) for tensor in exponent)
    return tuple(C.pow(tensor, e) for tensor, e in zip(self, _numbers_for(self, exponent)))


def _foreach_max(self):
    return tuple(tensor.max() for tensor in self)


def _foreach_norm(self, ord=2, dtype=None):
    return tuple(tensor.norm(ord, dtype=dtype) for tensor in self)


def _foreach_mm(self, other):
    return tuple(C.mm(a, b) for a, b in zip(self, _numbers_for(self, other)))
