"""Causal masks by name: of which corner of [queries, keys] the diagonal starts from."""

from enum import IntEnum

import _terra_C as C

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    UPPER_LEFT = 1
    LOWER_RIGHT = 2


def CausalBias(variant, seq_len_q, seq_len_kv):
    """Bools [seq_len_q, seq_len_kv]: the keys that each query sees, for the attn_mask of attention."""
    if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
        import warnings

        warnings.warn(
            "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=2
        )
    shift = 0 if variant == CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
    return C.ones(seq_len_q, seq_len_kv, dtype=C.bool).tril(shift)


def causal_upper_left(*size):
    """Query i sees the keys up to i."""
    if len(size) != 2:
        raise RuntimeError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """The last query sees all keys, the one before all but the last, ..."""
    if len(size) != 2:
        raise RuntimeError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
