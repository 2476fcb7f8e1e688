# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Weights of a class of wrappers with a __torch_dispatch__: parameters, copies, states, files and conversions."""

import copy
import io
import pathlib
import pickle
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass, return_and_correct_aliasing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

aten, results = torch.ops.aten, []


class Int8Weight(torch.Tensor):
    """A weight as 8-bit integers with a scale for each row."""

    @staticmethod
    def __new__(cls, values, scale, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(cls, values.shape, dtype=scale.dtype, device=values.device, requires_grad=requires_grad)

    def __init__(self, values, scale, requires_grad=False):
        self.values_of_rows, self.scale = values, scale

    def __tensor_flatten__(self):
        return ["values_of_rows", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, tensors, meta, outer_size, outer_stride):
        return cls(tensors["values_of_rows"], tensors["scale"])

    @classmethod
    def of(cls, weight):
        scale = weight.abs().amax(1) / 127
        return cls((weight / scale[:, None]).round().to(torch.int8), scale)

    def __repr__(self):
        return f"Int8Weight({tuple(self.shape)})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is F.linear:
            x, w, bias = args
            y = (x @ w.values_of_rows.to(x.dtype).t()) * w.scale
            return y if bias is None else y + bias
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        self, kwargs = args[0], kwargs or {}
        if func in (aten.detach.default, aten.clone.default, aten.alias.default):
            return return_and_correct_aliasing(func, args, kwargs, cls(func(self.values_of_rows), func(self.scale)))
        if func is aten._to_copy.default:
            return cls(self.values_of_rows.clone(), self.scale.to(kwargs.get("dtype", self.scale.dtype)))
        if func is aten.t.default:
            return (self.values_of_rows.to(self.scale.dtype) * self.scale[:, None]).t()
        raise NotImplementedError(func)


def made():
    model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(wave(*p.shape) / (i + 2))
    return model


model, x = made(), wave(3, 16).float()
plain = model(x)
for layer in (model[0], model[2]):
    layer.weight = nn.Parameter(Int8Weight.of(layer.weight.detach()), requires_grad=False)
weight = model[0].weight
results.append(("close", (model(x) - plain).abs().max().item() < 0.05))
results.append(("weight", [type(weight).__name__, isinstance(weight, nn.Parameter), isinstance(weight, Int8Weight), weight.requires_grad]))
results.append(("looks like", [weight.shape, weight.dtype, weight.numel(), is_traceable_wrapper_subclass(weight), repr(weight)]))
results.append(("state", [(name, type(value).__name__) for name, value in sorted(model.state_dict().items())]))
results.append(("turned", weight.t()))
copied = copy.deepcopy(model)
results.append(("copied", [torch.equal(copied(x), model(x)), type(copied[0].weight).__name__, isinstance(copied[0].weight, nn.Parameter)]))
copied[0].weight.values_of_rows.zero_()
results.append(("apart", model[0].weight.values_of_rows.abs().sum() > 0))
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
state = torch.load(file, weights_only=False)
results.append(("loaded", [type(value).__name__ for value in state.values()]))
other = made()
other.load_state_dict(state, assign=True)
results.append(("assigned", torch.equal(other(x), model(x))))
again = pickle.loads(pickle.dumps(model[0].weight.detach()))
results.append(("pickled", [type(again).__name__, torch.equal(again.values_of_rows, weight.values_of_rows), again.dtype]))
results.append(("converted", [copied.to(torch.float64)[0].weight.dtype, copied(x.double()).dtype]))
served = [other(x) for _ in range(12)]
results.append(("served", all(torch.equal(y, served[0]) for y in served)))

check(results, __file__)
