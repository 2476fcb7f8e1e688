# run: --torch
"""Lazy layers: before and after their first call, state dicts both ways, copies, conversions; buffers by assignment."""

import copy
import pathlib
import pickle
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")

LAYERS = [
    (nn.LazyLinear, (3,), {}, (2, 4)), (nn.LazyLinear, (3,), {"bias": False}, (4,)),
    (nn.LazyConv1d, (2, 3), {"padding": 1}, (1, 2, 4)), (nn.LazyConv2d, (4, 2), {"groups": 2}, (2, 3, 3)),
    (nn.LazyConv3d, (2, 2), {"bias": False, "padding_mode": "circular", "padding": 1}, (1, 1, 2, 2, 2)),
    (nn.LazyConvTranspose1d, (2, 3), {"stride": 2, "output_padding": 1}, (1, 2, 3)),
    (nn.LazyConvTranspose2d, (2, 2), {"bias": False}, (1, 3, 2, 2)), (nn.LazyConvTranspose3d, (2, 2), {}, (2, 2, 2, 2)),
    (nn.LazyBatchNorm1d, (), {}, (3, 2)), (nn.LazyBatchNorm2d, (), {"affine": False}, (2, 3, 2, 2)),
    (nn.LazyBatchNorm3d, (), {"track_running_stats": False, "momentum": None}, (2, 1, 2, 2, 2)),
    (nn.LazyInstanceNorm1d, (), {"affine": True}, (2, 2, 3)), (nn.LazyInstanceNorm2d, (), {"bias": False}, (1, 3, 2, 2)),
    (nn.LazyInstanceNorm3d, (), {"affine": False, "track_running_stats": False}, (1, 2, 2, 2, 2)),
]  # fmt: skip


def called():
    for kind, args, kwargs, sizes in LAYERS:
        layer = kind(*args, **kwargs)
        yield repr(layer), [list(layer.state_dict()), layer.has_uninitialized_params(), [type(p).__name__ for p in layer.parameters()]]
        torch.manual_seed(1)
        output = layer(torch.linspace(-1, 1, torch.Size(sizes).numel()).view(sizes))
        yield "  called", [repr(layer), type(layer).__name__, output, list(layer.state_dict().values()), torch.rand(1)]


def saved():
    lazy, plain = nn.LazyLinear(2), nn.Linear(3, 2)
    yield "from a plain one", [str(lazy.load_state_dict(plain.state_dict())), lazy.weight.shape, lazy.has_uninitialized_params()]
    lazy(torch.ones(1, 3))
    yield "  called", [type(lazy).__name__, lazy.in_features, bool((lazy.weight == plain.weight).all())]
    yield "from a lazy one", str(nn.LazyLinear(2).load_state_dict(nn.LazyLinear(2).state_dict()))
    norm = nn.LazyBatchNorm1d()
    norm.load_state_dict(nn.BatchNorm1d(3).state_dict())
    yield "statistics", [norm.running_var, norm(torch.ones(2, 3))]
    model = nn.Sequential(nn.LazyLinear(2), nn.ReLU(), nn.LazyLinear(1))
    other = copy.deepcopy(model)
    other(torch.ones(2, 3))
    yield "copied", [repr(other), repr(model)]
    again = pickle.loads(pickle.dumps(nn.Sequential(nn.LazyLinear(2), nn.LazyBatchNorm1d())))
    yield "pickled", [repr(again), again(torch.ones(2, 3)).shape, repr(again)]
    yield "converted", nn.LazyLinear(2).double()(torch.ones(1, 2, dtype=torch.float64)).dtype
    norm = nn.LazyBatchNorm1d().double()
    yield "statistics converted", [list(norm.state_dict()), norm.has_uninitialized_params(), norm(torch.eye(2).double()), norm.running_mean]
    hooks = []
    lazy = nn.LazyLinear(2)
    lazy.register_forward_pre_hook(lambda module, args: hooks.append(type(module).__name__))
    lazy(torch.ones(1, 2)), lazy(torch.ones(1, 2))
    yield "other hooks stay", hooks


def assigned():
    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.Buffer(torch.ones(2))
            self.passing = nn.Buffer(torch.zeros(1), persistent=False)
            self.plain = torch.ones(1)

    holder = Holder()
    yield "buffers", [dict(holder.named_buffers()), list(holder.state_dict()), isinstance(holder.kept, nn.Buffer), isinstance(holder.plain, nn.Buffer)]
    holder.kept = torch.full((2,), 3.0)
    yield "  again", holder.state_dict()
    for name in ("plain", "passing"):
        try:
            setattr(holder, name, nn.Buffer(torch.ones(1)))
            yield name, [list(holder.state_dict()), sorted(holder._non_persistent_buffers_set)]
        except KeyError as error:
            yield name, str(error)
    empty = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to_empty(device="cpu")
    yield "to_empty", [f"{k} {tuple(v.shape)} {v.dtype}" for k, v in empty.state_dict().items()]


class Unfinished(nn.modules.lazy.LazyModuleMixin, nn.Linear):
    def __init__(self):
        super().__init__(1, 1)
        self.weight = nn.UninitializedParameter()

    def initialize_parameters(self, input):
        pass


ERRORS = """
nn.LazyLinear(3).weight.shape | nn.LazyLinear(3).share_memory()
nn.LazyConv2d(3, 2)(torch.ones(2, 2)) | nn.LazyConv2d(3, 2)(torch.ones(1, 1, 2, 4, 4)) | nn.LazyBatchNorm2d()(torch.ones(1, 2))
nn.LazyConv2d(4, 2, groups=2)(torch.ones(1, 3, 4, 4)) | nn.Linear(3, 2).load_state_dict(nn.LazyLinear(2).state_dict())
Unfinished()(torch.ones(1)) | nn.parameter.is_lazy(nn.LazyLinear(1).weight) | nn.UninitializedParameter(dtype=torch.float64).dtype
isinstance(nn.UninitializedBuffer(), nn.Buffer) | nn.UninitializedParameter(requires_grad=False).requires_grad
"""


def errors():
    yield from outcomes(ERRORS, globals())
    for use in (lambda w: w + 1, lambda w: w.sum(), lambda w: w.numel(), torch.relu):
        try:
            use(nn.LazyLinear(3).weight)
        except ValueError as error:
            text = str(error)
            yield "use", text[: text.index(" in ")] + text[text.index(". This") :]


check([*called(), *saved(), *assigned(), *errors()], __file__)
