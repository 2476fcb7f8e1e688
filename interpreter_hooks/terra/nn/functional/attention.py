"""Attention, and attention with several heads."""

import warnings

import _terra_C as C

from .dropout import dropout
from .linear import linear

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

scaled_dot_product_attention = C._functional.scaled_dot_product_attention


def canonical_mask(mask, name, other_dtype, other_name, target_dtype, check_other=True):
    """A mask as numbers that are added to scores: booleans say what is left out."""
    if mask is None:
        return None
    if mask.dtype != C.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other_dtype is not None and mask.dtype != other_dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=4,
        )
    if mask.is_floating_point():
        return mask
    return C.zeros(mask.shape, device=mask.device, dtype=target_dtype).masked_fill(mask, float("-inf"))


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether there is a dimension of batches, of which everything agrees."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    n = query.dim()
    form = f"For {'batched' if n == 3 else 'unbatched'} ({n}-D) `query`, expected"
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"{form} `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(
            f"{form} `key_padding_mask` to be `None` or {n - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{form} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        if n == 2 and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != expected:
                raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return n == 3


def _check_attention_mask(mask, targets, sources, batch, num_heads):
    expected = {2: (targets, sources), 3: (batch * num_heads, targets, sources)}.get(mask.dim())
    if expected is None:
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
    if tuple(mask.shape) != expected:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}.")


def _check_separate(query, key, value, q_weight, k_weight, v_weight):
    width = query.size(-1)
    for name, x, weight in (("query", query, q_weight), ("key", key, k_weight), ("value", value, v_weight)):
        if tuple(weight.shape) != (width, x.size(-1)):
            raise AssertionError(
                f"expecting {name} weights shape of {(width, x.size(-1))}, but got {weight.shape}"
            )


def _projected(query, key, value, packed, separate, bias):
    """What queries, keys and values are projected to: in one product where they are one tensor."""
    if packed is not None and query is key and key is value:
        return linear(query, packed, bias).chunk(3, -1)
    weights = separate if packed is None else packed.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _static(given, name, batch, num_heads, head_dim):
    """Keys or values that come projected: [batch * heads, sources, head_dim]."""
    if given.size(0) != batch * num_heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch * num_heads}, but got {given.size(0)}")
    if given.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {given.size(2)}")
    return given.view(batch, num_heads, given.size(1), head_dim)


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """(attention, weights) of query [targets, batch, width] over key and value [sources, batch, width], any of them
    without the dimension of batches."""
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        one = query.unsqueeze(1)
        key, value = (one if x is query else x.unsqueeze(1) for x in (key, value))
        query = one
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    targets, batch, width = query.shape
    sources = key.size(0)
    mask_dtype = None if attn_mask is None else attn_mask.dtype
    key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", mask_dtype, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # what is_causal says is all there is
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = False
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head_dim = width // num_heads
    if head_dim * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        for name, weight in (("q", q_proj_weight), ("k", k_proj_weight), ("v", v_proj_weight)):
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        _check_separate(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight)
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    packed = None if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(query, key, value, packed, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)

    if attn_mask is not None:
        _check_attention_mask(attn_mask, targets, sources, batch, num_heads)
        if attn_mask.dim() == 3:
            attn_mask = attn_mask.view(batch, num_heads, targets, sources)
    added = 0  # keys that no mask knows of
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"bias cannot be added to static {'value' if static_k is None else 'key'}.")
        k, v = C.cat([k, bias_k.repeat(1, batch, 1)]), C.cat([v, bias_v.repeat(1, batch, 1)])
        added += 1
    q = q.reshape(targets, batch, num_heads, head_dim).permute(1, 2, 0, 3)
    if static_k is None:
        k = k.reshape(k.size(0), batch, num_heads, head_dim).permute(1, 2, 0, 3)
    else:
        k = _static(static_k, "static_k", batch, num_heads, head_dim)
    if static_v is None:
        v = v.reshape(v.size(0), batch, num_heads, head_dim).permute(1, 2, 0, 3)
    else:
        v = _static(static_v, "static_v", batch, num_heads, head_dim)
    if add_zero_attn:
        zeros = C.zeros(batch, num_heads, 1, head_dim, device=k.device, dtype=k.dtype)
        k, v = C.cat([k, zeros], 2), C.cat([v, zeros], 2)
        added += 1
    if key_padding_mask is not None:
        if key_padding_mask.size(0) != batch:
            raise AssertionError(f"Expected key_padded_mask.shape[0] to be {batch}, but got {key_padding_mask.size(0)}")
        if key_padding_mask.size(1) != sources:
            raise AssertionError(
                f"Expected key_padded_mask.shape[1] to be {sources}, but got {key_padding_mask.size(1)}"
            )
        padding = key_padding_mask.view(batch, 1, 1, sources)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if attn_mask is not None and added:
        attn_mask = C._functional.pad(attn_mask, (0, added))

    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        scores = C.matmul(q * (1.0 / head_dim) ** 0.5 if head_dim else q, k.transpose(-2, -1))
        weights = C.softmax(scores if attn_mask is None else scores + attn_mask, -1)
        if dropout_p > 0.0:
            weights = dropout(weights, dropout_p)
        attended = C.matmul(weights, v)
        if average_attn_weights:
            weights = weights.mean(1)
    else:
        attended = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    output = linear(attended.permute(2, 0, 1, 3).reshape(targets, batch, width), out_proj_weight, out_proj_bias)
    if not batched:
        return output.squeeze(1), None if weights is None else weights.squeeze(0)
    return output, weights
