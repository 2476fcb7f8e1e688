"""The half of torch_oracle.py that runs where PyTorch is: evaluates the same samples on the same numbers and compares."""

import math
import pickle
import sys
import warnings

import torch
import torch.nn.functional as F

aten = torch.ops.aten


def cond(x, p=None):
    """PyTorch's own has no gradient unless it is by singular values."""
    if p in (None, 2, -2):
        return torch.linalg.cond(x, p)
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


def vander(x, N=None, increasing=False):
    """PyTorch's own has no gradient."""
    powers = range(len(x) if N is None else N)
    columns = [x**n for n in (powers if increasing else reversed(powers))]
    return torch.stack(columns, -1) if columns else x.new_zeros(len(x), 0)


def index_of(indices):
    return tuple(slice(None) if i is None else i for i in indices)


def put(x, indices, values):
    x = x.clone()
    x[index_of(indices)] = values
    return x


def slice_of(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * dim + (slice(start, end, step),)]


def slice_backward(grad, sizes, dim, start, step):
    end = start + (grad.shape[dim] - 1) * step + 1
    return aten.slice_backward(grad, sizes, dim, start, end, step)


def in_place(name):
    return lambda x, *args: getattr(x.clone(), name)(*args)


# Where an op of ours is something else in PyTorch. None: PyTorch has nothing to compare with, or other signs of vectors.
MEANING = {
    "T": lambda x: x.permute(*reversed(range(x.dim()))),
    "adam_update": None,
    "adaptive_avg_pool2d_backward": None,
    "adaptive_max_pool2d_with_indices": lambda x, s: F.adaptive_max_pool2d(x, s, return_indices=True),
    "adaptive_max_pool3d_with_indices": lambda x, s: F.adaptive_max_pool3d(x, s, return_indices=True),
    "advanced_index": lambda x, i: x[index_of(i)],
    "advanced_index_put": put,
    "alias": lambda x: x.view(x.shape),
    "arange_to": torch.arange,
    "as_strided": torch.as_strided,
    "as_strided_scatter": None,  # its gradient keeps what was overwritten (2.15)
    "avg_pool2d_backward": lambda g, s, k, st, p, c, i, d=None: torch.autograd.functional.vjp(
        lambda x: F.avg_pool2d(x, k, st, p, c, i, d), torch.zeros(s, dtype=g.dtype), g, create_graph=True
    )[1],
    "batch_norm": F.batch_norm,
    "batch_norm_apply": lambda x, m, s, w, b, training, eps: F.batch_norm(x, m, s**-2 - eps, w, b, False, 0.1, eps),
    "batch_norm_backward": None,
    "batch_norm_stats": lambda x, eps: (
        x.mean((0, 2, 3)),
        (x.var((0, 2, 3), correction=0) + eps).rsqrt(),
        x.var((0, 2, 3), correction=0),
    ),
    "bernoulli": in_place("bernoulli_"),
    "bernoulli_each": torch.bernoulli,
    "binary_cross_entropy": lambda x, t, w=None, r="mean": F.binary_cross_entropy(x, t, w, reduction=r),
    "binary_cross_entropy_with_logits": lambda x, t, w=None, r="mean", p=None: F.binary_cross_entropy_with_logits(
        x, t, w, reduction=r, pos_weight=p
    ),
    "bucketize_number": torch.bucketize,
    "broadcast_tensors": lambda tensors: torch.broadcast_tensors(*tensors),
    "cauchy": in_place("cauchy_"),
    "cholesky": lambda x, upper=False: torch.linalg.cholesky(x, upper=upper),
    "cholesky_inverse_lower": torch.cholesky_inverse,
    "clamp_between": torch.clamp,
    "cofactors": lambda x: torch.linalg.det(x)[..., None, None] * torch.linalg.inv(x).mT,
    "clamp_tensor": torch.clamp,
    "col2im": F.fold,
    "constant_pad": lambda x, pad, value=0: F.pad(x, pad, value=value),
    "contiguous": torch.Tensor.contiguous,
    "conv2d_backward_input": lambda g, w, s, *a: torch.nn.grad.conv2d_input(s, w, g, *a),
    "conv2d_backward_weight": lambda g, x, s, *a: torch.nn.grad.conv2d_weight(x, s, g, *a),
    "conv2d_batched": F.conv2d,
    "conv3d_backward_input": lambda g, w, s, *a: torch.nn.grad.conv3d_input(s, w, g, *a),
    "conv3d_backward_weight": lambda g, x, s, *a: torch.nn.grad.conv3d_weight(x, s, g, *a),
    "conv3d_batched": F.conv3d,
    "copy": in_place("copy_"),
    "cross_entropy": lambda x, t, w=None, reduction="mean", ignore_index=-100, label_smoothing=0.0: F.cross_entropy(
        x, t, w, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
    ),
    "cross_entropy_backward": None,
    "cumulative_trapezoid_x": torch.cumulative_trapezoid,
    "ctc_loss_backward": None,
    "ctc_loss_each": lambda x, t, i, n, blank=0, zero=False: F.ctc_loss(x, t, i, n, blank, "none", zero),
    "cumprod_dtype": torch.cumprod,
    "cumsum_dtype": torch.cumsum,
    "diagonal_backward": aten.diagonal_backward,
    "dropout": F.dropout,
    "dsplit_at": torch.dsplit,
    "dropout_mask": lambda x, p: F.dropout(torch.ones_like(x), p),
    "eigenvalues": torch.linalg.eigvalsh,
    "elu": F.elu,
    "embedding": lambda w, i, p=None: F.embedding(i, w, p),
    "embedding_backward": lambda g, i, n, p: aten.embedding_dense_backward(g, i, n, p, False),
    "embedding_forward": lambda w, i, p: F.embedding(i, w),
    "empty": torch.zeros,
    "empty_like": torch.zeros_like,
    "exponential": in_place("exponential_"),
    "fill": torch.full_like,
    "fill_diagonal": in_place("fill_diagonal_"),
    "float_power_here": in_place("float_power_"),
    "frexp_parts": torch.frexp,
    "fill_tensor": in_place("fill_"),
    "geometric": in_place("geometric_"),
    "group_norm": F.group_norm,
    "histogram": lambda x, bins, ends=None, w=None, d=False: torch.histogram(
        x, bins, range=None if ends is None else ends.tolist(), weight=w, density=d
    ),
    "histogram_edges": lambda x, edges: torch.histogram(x, edges),
    "hsplit_at": torch.hsplit,
    "huber_loss": lambda x, t, reduction="mean", delta=1.0: F.huber_loss(x, t, reduction=reduction, delta=delta),
    "im2col": F.unfold,
    "index": lambda x, i: x[index_of(i)],
    "index_put": lambda x, i, v, a=False: put(x, i, v) if not a else torch.index_put(x, i, v, a),
    "interpolate_nearest2d": lambda x, size: F.interpolate(x, size=size, mode="nearest"),
    "kl_div": lambda x, t, r="mean", log_target=False: F.kl_div(x, t, reduction=r, log_target=log_target),
    "l1_loss": lambda x, t, reduction="mean": F.l1_loss(x, t, reduction=reduction),
    "layer_norm": F.layer_norm,
    "layer_norm_backward": None,
    "linalg_cond": cond,
    "linalg_cond_named": cond,
    "log_normal": in_place("log_normal_"),
    "log_softmax_backward": lambda g, y, d: aten._log_softmax_backward_data(g, y, d, y.dtype),
    "log_softmax_dtype": lambda x, dim, dtype: F.log_softmax(x, dim, dtype=dtype),
    "mT": lambda x: x.mT,
    "masked_fill_tensor": torch.masked_fill,
    "linspace_tensors": torch.linspace,
    "logspace_tensors": torch.logspace,
    "lyapunov": None,
    "max_all": torch.max,
    "max_pool2d": F.max_pool2d,
    "max_pool2d_backward": None,
    "max_pool2d_with_indices": lambda *a: F.max_pool2d(*a, return_indices=True),
    "max_pool3d": F.max_pool3d,
    "max_pool3d_with_indices": lambda *a: F.max_pool3d(*a, return_indices=True),
    "max_with_index": torch.max,
    "median_all": torch.median,
    "median_with_index": torch.median,
    "min_all": torch.min,
    "min_with_index": torch.min,
    "mse_loss": lambda x, t, reduction="mean": F.mse_loss(x, t, reduction=reduction),
    "new_empty": torch.Tensor.new_zeros,
    "nanmedian_all": torch.nanmedian,
    "narrow_tensor": torch.narrow,
    "nanmedian_with_index": torch.nanmedian,
    "nll_loss": lambda x, t, w=None, r="mean", i=-100: F.nll_loss(x, t, w, reduction=r, ignore_index=i),
    "nll_loss_backward": lambda g, t, w, total, s, r, i: aten.nll_loss_backward(
        g, torch.zeros(s, dtype=g.dtype), t, w, ["none", "mean", "sum"].index(r), i, total
    ),
    "nll_loss_forward": lambda x, t, w, r, i: F.nll_loss(x, t, w, reduction=r, ignore_index=i),
    "index_fill_tensor": torch.index_fill,
    "index_put_masked": torch.index_put,
    "rrelu_noise": None,
    "std_mean_dim_unbiased": torch.std_mean,
    "std_mean_unbiased": torch.std_mean,
    "tensor_split_at": torch.tensor_split,
    "tensor_split_tensor": torch.tensor_split,
    "var_mean_dim_unbiased": torch.var_mean,
    "var_mean_unbiased": torch.var_mean,
    "where_true": torch.where,
    "nonzero_tuple": lambda x, as_tuple: torch.nonzero(x, as_tuple=as_tuple),
    "norm_named": torch.norm,
    "normal": in_place("normal_"),
    "normal_sized": torch.normal,
    "normal_tensors": torch.normal,
    "one_hot": F.one_hot,
    "pad_slice": slice_backward,
    "pivots_permutation": None,
    "places_among": lambda line, x, right, int32: torch.searchsorted(line, x, right=right, out_int32=int32),
    "polygamma_method": lambda x, n: torch.polygamma(n, x),
    "prod_dtype": torch.prod,
    "pseudoinverse": lambda x, atol, rtol, hermitian: torch.linalg.pinv(x, atol=atol, rtol=rtol, hermitian=hermitian),
    "qr": lambda x, some=True: torch.linalg.qr(x, "reduced" if some else "complete"),
    "randint_to": torch.randint,
    "random_any": in_place("random_"),
    "random_range": in_place("random_"),
    "random_to": in_place("random_"),
    "repeat_index": torch.repeat_interleave,
    "repeat_interleave_tensor": torch.repeat_interleave,
    "repeat_interleave_counts": torch.repeat_interleave,
    "round_decimals": torch.round,
    "scatter_combine": torch.scatter_reduce,
    "scatter_named": torch.scatter,
    "scatter_reduce": lambda x, dim, i, src, how, include_self=True: torch.scatter_reduce(
        x, dim, i, src[tuple(slice(n) for n in i.shape)], how, include_self=include_self
    ),
    "scatter_value": torch.scatter,
    "scatter_value_named": torch.scatter,
    "searchsorted_number": torch.searchsorted,
    "sgd_update": None,
    "sigmoid_backward": aten.sigmoid_backward,
    "singular_values": torch.linalg.svdvals,
    "slice": slice_of,
    "smooth_l1_loss": lambda x, t, reduction="mean", beta=1.0: F.smooth_l1_loss(x, t, reduction=reduction, beta=beta),
    "softmax_backward": lambda g, y, d: aten._softmax_backward_data(g, y, d, y.dtype),
    "softmax_dtype": lambda x, dim, dtype: F.softmax(x, dim, dtype=dtype),
    "softplus": F.softplus,
    "split_sizes": torch.split,
    "std_dim_unbiased": torch.std,
    "std_unbiased": torch.std,
    "sum_dtype": torch.sum,
    "svd": None,
    "tanh_backward": aten.tanh_backward,
    "threshold_backward": aten.threshold_backward,
    "to_dtype": torch.Tensor.to,
    "trapezoid_x": torch.trapezoid,
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "uniform": in_place("uniform_"),
    "unfold": torch.Tensor.unfold,
    "unique_rows": None,
    "unique_consecutive_counts": torch.unique_consecutive,
    "unique_consecutive_inverse": torch.unique_consecutive,
    "unique_consecutive_inverse_counts": torch.unique_consecutive,
    "unique_counts": torch.unique,
    "unique_inverse": torch.unique,
    "unique_inverse_counts": torch.unique,
    "vander": vander,
    "var_dim_unbiased": torch.var,
    "var_unbiased": torch.var,
    "view": torch.Tensor.reshape,
    "view_dtype": torch.Tensor.view,
    "vsplit_at": torch.vsplit,
    "where_method": torch.Tensor.where,
    "zero": torch.zeros_like,
}
# Parts of other ops, which are compared as wholes.
MEANING |= dict.fromkeys((
    "bessel_function", "clone_strided", "conj_elements", "coo_mm", "distances", "distances_backward", "fft_c2c", "fft_c2r", "fft_r2c",
    "free_of_phases", "general_eigenvalues", "kinked", "matrix_exponential", "orthogonal_polynomial",
))  # fmt: skip


def meaning(name):
    if name in MEANING:
        return MEANING[name]
    if name.endswith("_columns"):  # factors that lie as LAPACK leaves them
        return None
    if name.startswith("linalg_"):
        for ending in ("_named", "_rcond", "_tol"):
            name = name.removesuffix(ending)
        return getattr(torch.linalg, name.removeprefix("linalg_"))
    if name.startswith("special_"):
        return getattr(torch.special, name.removeprefix("special_"))
    for place in (torch, F, torch.Tensor):
        if hasattr(place, name):
            return getattr(place, name)
    if name.startswith("special_"):
        return getattr(torch.special, name.removeprefix("special_"))
    raise LookupError(f"no meaning for {name} in PyTorch")


def arguments(case):
    """The arguments of a case, from the numbers that were drawn for it."""
    log = iter(case["log"])

    def made(*_):
        size, values, dtype = next(log)
        if len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = tuple(size[0])
        return torch.tensor(values, dtype=getattr(torch, dtype)).reshape(size)

    def fixed(*values):
        t = torch.tensor(values if len(values) > 1 else values[0], dtype=getattr(torch, case["dtype"]))
        t.is_fixed = True
        return t

    names = dict.fromkeys(("randn", "crandn", "rand", "zeros", "ones", "randint"), made)
    names |= {"fixed": fixed, "terra": torch, "call": lambda *a, **k: (list(a), k)}
    return eval(f"call({case['args']})", names)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") and not isinstance(value, str):
        return [t for v in value for t in tensors_in(v)]
    return []


def complaint(ours, theirs, tolerance):
    if ours is None and theirs is None:
        return ""
    if ours is None or theirs is None:
        # An unused input may have no gradient or one of zeros.
        values = ours[2] if ours is not None else theirs.reshape(-1).tolist()
        return "" if not any(values) else f"ours {ours}, PyTorch's {theirs}"
    dtype, shape, values = ours
    if (dtype, shape) != (str(theirs.dtype).split(".")[-1], tuple(theirs.shape)):
        return f"ours is {dtype} {shape}, PyTorch's {theirs.dtype} {tuple(theirs.shape)}"
    for a, b in zip(values, theirs.detach().reshape(-1).tolist()):
        if not (a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1, abs(b))):
            return f"ours {values}\n    PyTorch's {theirs.detach().reshape(-1).tolist()}"
    return ""


def judge(case):
    function = meaning(case["op"])
    args, kwargs = arguments(case)
    torch.manual_seed(7)
    if "results" in case:
        theirs = tensors_in(function(*args, **kwargs))
        ours = case["results"]
        tolerance = {"float32": 2e-5, "float64": 1e-11}[case["dtype"]]
    else:
        inputs = tensors_in(args) + tensors_in(kwargs)
        inputs = [t for t in inputs if t.is_floating_point() and not hasattr(t, "is_fixed")]
        for t in inputs:
            t.requires_grad_(True)
        loss = torch.zeros((), dtype=torch.float64)
        for t in tensors_in(function(*args, **kwargs)):
            if t.is_floating_point():
                weights = torch.tensor([math.sin(i + 1) for i in range(t.numel())], dtype=torch.float64)
                loss = loss + (t * weights.reshape(t.shape)).sum()
        theirs = torch.autograd.grad(loss, inputs, allow_unused=True) if loss.requires_grad else [None] * len(inputs)
        ours = case["gradients"]
        tolerance = 1e-7  # PyTorch rounds some constants to float32
    if len(ours) != len(theirs):
        return f"{len(ours)} tensors, PyTorch has {len(theirs)}"
    return next(filter(None, (complaint(a, b, tolerance) for a, b in zip(ours, theirs))), "")


# What PyTorch has no opinion on: numbers in some tensors' places, derivatives that it leaves out.
NO_OPINION = ("must be Tensor, not", "is not implemented")

warnings.simplefilter("ignore")
passed, failed = 0, 0
for case in pickle.load(open(sys.argv[1], "rb")):
    if meaning(case["op"]) is None:
        continue
    try:
        wrong = judge(case)
    except Exception as error:
        if any(text in str(error) for text in NO_OPINION):
            continue
        wrong = f"PyTorch raised {type(error).__name__}: {error}"
    passed += not wrong
    failed += bool(wrong)
    if wrong:
        what = "results" if "results" in case else "gradients"
        print(f"{case['op']}({case['args']}) in {case['dtype']}, {what}: {wrong}", file=sys.stderr)
print(f"{passed} passed, {failed} failed" if failed else f"{passed} passed")
sys.exit(bool(failed))
