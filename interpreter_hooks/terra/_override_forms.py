"""How functions that PyTorch has in Python hand their arguments on to __torch_function__: those without a default by position,
the others by keyword, with their defaults where they aren't given. Loaded when a call is first taken over."""

import functools
import inspect
import sys

import _terra_C as C

from . import _einsum

# Written in Python here, and built into PyTorch: arguments go on as they come.
BUILT_IN = frozenset((
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "conv1d", "conv2d", "conv3d", "conv_tbc", "elu_", "hardtanh_",
    "leaky_relu_", "one_hot", "pairwise_distance", "pdist", "relu_", "rrelu_", "selu_", "threshold_",
))  # fmt: skip

# Parameters of functions that are ops here, or have others than PyTorch's.
OF_LAYERS = {
    "glu": "input, dim=-1", "pad": "input, pad, mode='constant', value=None", "relu": "input, inplace=False",
    "softsign": "input", "tanhshrink": "input",
}  # fmt: skip
OF_TENSORS = {
    "atleast_1d": "*tensors", "atleast_2d": "*tensors", "atleast_3d": "*tensors", "block_diag": "*tensors",
    "broadcast_tensors": "*tensors", "cartesian_prod": "*tensors",
    "cdist": "x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'", "chain_matmul": "*matrices",
    "einsum": "*args", "lu": "A, pivot=True, get_infos=False, out=None", "meshgrid": "*tensors, indexing=None",
    "norm": "input, p='fro', dim=None, keepdim=False, **given",
    "pca_lowrank": "A, q=None, center=True, niter=2", "split": "tensor, split_size_or_sections, dim=0",
    "svd_lowrank": "A, q=6, niter=2, M=None", "tensordot": "a, b, dims=2, out=None",
    "unique": "input, sorted=True, return_inverse=False, return_counts=False, dim=None",
    "unique_consecutive": "input, return_inverse=False, return_counts=False, dim=None", "unravel_index": "indices, shape=None",
    "stft": "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, "
    "onesided=None, return_complex=None, align_to_window=None",
    "istft": "input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, "
    "length=None, return_complex=False",
}  # fmt: skip
SPREAD = {"einsum": _einsum.spread}
OF_METHODS = {
    "__array__": "self, dtype=None", "__deepcopy__": "self, memo", "__format__": "self, format_spec", "__len__": "self",
    "__rdiv__": "self, other", "__rfloordiv__": "self, other", "__rlshift__": "self, other", "__rmatmul__": "self, other",
    "__rmod__": "self, other", "__rpow__": "self, other", "__rrshift__": "self, other", "__rsub__": "self, other",
    "backward": "self, gradient=None, retain_graph=None, create_graph=False, inputs=None",
    "norm": "self, p='fro', dim=None, keepdim=False, **given", "register_hook": "self, hook",
    "split": "self, split_size, dim=0", "unique": "self, sorted=True, return_inverse=False, return_counts=False, dim=None",
    "unique_consecutive": "self, return_inverse=False, return_counts=False, dim=None",
}  # fmt: skip
OF_INITIALISERS = ("constant_", "kaiming_uniform_", "normal_", "uniform_")


class Form:
    """`place`: where PyTorch has the function. `parameters`: as in a lambda, else those of the function. `named`: all go by
    keyword. `spread`: brings the arguments to the form in which they are handed on."""

    def __init__(self, function, place, parameters=None, named=False, spread=None):
        self.function, self.place, self.parameters, self.named, self.spread = function, place, parameters, named, spread

    @functools.cached_property
    def signature(self):
        return inspect.signature(self.function if self.parameters is None else eval(f"lambda {self.parameters}: None"))


def arranged(form, args, kwargs):
    """(args, kwargs) as they are handed on; None where the function doesn't take them."""
    try:
        bound = form.signature.bind(*(form.spread(*args) if form.spread else args), **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    by_position, by_name = [], {}
    for name, parameter in form.signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            by_position += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            by_name |= value
        elif form.named or parameter.default is not parameter.empty:
            by_name[name] = value
        else:
            by_position.append(value)
    return tuple(by_position), by_name


def _found(module, name, function):
    """Whether a module of the package, if it has been loaded, has the function under that name."""
    loaded = sys.modules.get(__name__.rpartition(".")[0] + module)
    return loaded is not None and vars(loaded).get(name) is function


def form_of(function):
    """The form of a function, None for one that hands its arguments on as they come."""
    name = getattr(function, "__name__", "")
    if name in OF_METHODS and vars(C.Tensor).get(name) is function:
        return Form(function, "torch._tensor", OF_METHODS[name])
    if name in OF_TENSORS and _found("", name, function):
        return Form(function, "torch.functional", OF_TENSORS[name], spread=SPREAD.get(name))
    if name in OF_INITIALISERS and _found(".nn.init", name, function):
        return Form(function, "torch.nn.init", named=True)
    if name in BUILT_IN or not (name in OF_LAYERS or isinstance(function, C.Overridable)):
        return None
    return Form(function, "torch.nn.functional", OF_LAYERS.get(name)) if _found(".nn.functional", name, function) else None


FORMS = {}  # {function: form, or None}
