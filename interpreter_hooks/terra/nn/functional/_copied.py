"""Parts of PyTorch's torch.nn.functional that copies of its code import: checks, and the projections of attention."""

import warnings

from ..._jit_internal import (  # noqa: F401
    BroadcastingList1, BroadcastingList2, BroadcastingList3, boolean_dispatch,
)  # fmt: skip
from ...overrides import handle_torch_function, has_torch_function, has_torch_function_unary, has_torch_function_variadic  # noqa: F401
from .attention import _check_shapes, _projected, canonical_mask
from .linear import linear
from .normalization import _check_more_than_one as _verify_batch_size  # noqa: F401

_mha_shape_check = _check_shapes


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    return canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other)


def _none_or_dtype(input):
    return None if input is None else input.dtype


def _in_projection_packed(q, k, v, w, b=None):
    """Queries, keys and values by one weight of three parts."""
    return list(_projected(q, k, v, w, None, b))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Queries, keys and values by a weight each, whose widths are those of what they are given."""
    width, of_key, of_value = q.size(-1), k.size(-1), v.size(-1)
    expected = (("query", w_q, width), ("key", w_k, of_key), ("value", w_v, of_value))
    for name, weight, columns in expected:
        if tuple(weight.shape) != (width, columns):
            raise AssertionError(f"expecting {name} weights shape of {(width, columns)}, but got {weight.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _get_softmax_dim(name, ndim, stacklevel):
    """The dimension of a softmax that was called without one."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1
