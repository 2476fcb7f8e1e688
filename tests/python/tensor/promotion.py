# run: --torch --capture=off
"""The dtype of every result: functions of one tensor in every dtype, of two in every pair of dtypes, with numbers and
0-d tensors beside tensors with dimensions, as PyTorch's. `!` stands for an exception."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

CODES = {
    torch.bool: "b", torch.uint8: "u", torch.int8: "c", torch.int16: "s", torch.int32: "i", torch.int64: "l",
    torch.float16: "h", torch.bfloat16: "g", torch.float32: "f", torch.float64: "d",
}  # fmt: skip

ONE = """abs acos all amax amin any argmax argmin argsort asin atan ceil clone cos cosh count_nonzero deg2rad diag
diag_embed erf erfc exp expm1 floor frac isfinite isinf isnan log log10 log1p log2 logical_not max mean median min
nansum neg norm ones_like positive prod rad2deg ravel reciprocal round rsqrt sgn sigmoid sign sin sinh sort sqrt square
std sum tan tanh tril triu trunc unique var zeros_like bincount diff""".split()
TWO = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_xor div eq floor_divide fmax fmin fmod ge gt
hypot isclose logaddexp logical_and logical_or maximum minimum mul ne pow remainder true_divide where xlogy cat
outer dot""".split()
ALONG = ["cumsum", "cumprod", "sum", "prod", "mean", "amax", "all", "any", "logsumexp", "softmax", "log_softmax", "std"]
IN = ["cumsum", "cumprod", "sum", "prod", "softmax", "log_softmax"]
LOSSES = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cosine_similarity", "pairwise_distance"]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def code(call):
    try:
        result = call()
    except Exception:
        return "!"
    while isinstance(result, (tuple, list)):
        result = result[0]
    return CODES[result.dtype]


def vector(dtype):
    return torch.tensor([2, 1]).to(dtype)


def two(name):
    if name == "where":
        return lambda x, y: torch.where(torch.tensor([True, False]), x, y)
    if name == "cat":
        return lambda x, y: torch.cat([x, y])
    return getattr(F if name in LOSSES else torch, name)


def table(function, others, dtypes=CODES):
    return " ".join("".join(code(lambda: function(vector(a), o)) for o in others) for a in dtypes)


items = []
for name in ONE:
    function = getattr(torch, name)
    items.append((name, "".join(code(lambda: function(vector(a))) for a in CODES)))
for name in ALONG:
    function = getattr(torch, name)
    items.append((name + " along", "".join(code(lambda: function(vector(a), 0)) for a in CODES)))
for name in IN:
    function = getattr(torch, name)
    items.append((name + " in", table(lambda x, t: function(x, 0, dtype=t), CODES)))
for name in TWO:
    items.append((name, table(two(name), [vector(b) for b in CODES])))
for name in LOSSES:
    items.append((name, table(two(name), [vector(b) for b in FLOATS], FLOATS)))
for name in ["add", "mul", "div", "pow", "where", "maximum", "xlogy", "fmod", "hypot"]:
    items.append((name + " 0-d", table(two(name), [vector(b)[0] for b in CODES])))
    if name == "maximum":
        continue  # PyTorch takes no numbers
    items.append((name + " number", table(two(name), [2, 2.5])))
    items.append((name + " number first", table(lambda x, n: two(name)(n, x), [2, 2.5])))
for name in ["add_", "mul_", "div_", "pow_", "copy_", "fmod_", "clamp_min_", "masked_fill_"]:
    function = getattr(torch.Tensor, name)
    if name == "masked_fill_":
        items.append((name, table(lambda x, y: x.masked_fill_(x > 0, y[0]), [vector(b) for b in CODES])))
    else:
        items.append((name, table(function, [vector(b) for b in CODES])))
check(items, __file__)
