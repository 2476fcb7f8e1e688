"""Attention with several heads."""

import _terra_C as C

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


def _as_bias(mask, dtype):
    """A mask as numbers that are added to scores: booleans say what is left out."""
    if mask is None or mask.dtype != C.bool:
        return mask
    return C.zeros(mask.shape, dtype=dtype).masked_fill(mask, float("-inf"))


class MultiheadAttention(Module):
    """softmax(q k^T / sqrt(d) + mask) v for each head of embed_dim / num_heads, joined and projected."""

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        apart = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(C.empty((3 * embed_dim, embed_dim), dtype=dtype))
            for name in apart:
                self.register_parameter(name, None)
        else:
            for name, width in apart.items():
                setattr(self, name, Parameter(C.empty((embed_dim, width), dtype=dtype)))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(C.empty(3 * embed_dim, dtype=dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, Parameter(C.empty((1, 1, embed_dim), dtype=dtype)) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        if query.dim() not in (2, 3):
            raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )
        batched = query.dim() == 3
        if not batched:
            query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        if query.size(-1) != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {query.size(-1)}")
        if self._qkv_same_embed_dim and key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        output, weights = self._attend(*self._project(query, key, value), self._mask(attn_mask, key_padding_mask, query, key))
        output = self.out_proj(output)
        if batched and self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, weights = output.squeeze(1), weights.squeeze(0)
        if not need_weights:
            return output, None
        return output, weights.mean(-3) if average_attn_weights else weights

    def _project(self, query, key, value):
        packed = self.in_proj_weight
        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight) if packed is None else packed.chunk(3)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _mask(self, attn_mask, key_padding_mask, query, key):
        """What is added to scores of (batch, heads, targets, sources), or None."""
        targets, batch, sources = query.size(0), query.size(1), key.size(0)
        mask = _as_bias(attn_mask, query.dtype)
        if mask is not None:
            expected = {2: (targets, sources), 3: (batch * self.num_heads, targets, sources)}.get(mask.dim())
            if expected is None:
                raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
            if tuple(mask.shape) != expected:
                raise RuntimeError(
                    f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
                )
            mask = mask.view(-1, self.num_heads, targets, sources) if mask.dim() == 3 else mask
        if key_padding_mask is not None:
            padding = _as_bias(key_padding_mask, query.dtype).view(batch, 1, 1, sources)
            mask = padding if mask is None else mask + padding
        return mask

    def _attend(self, q, k, v, mask):
        targets, batch, _ = q.shape
        added = 0
        if self.bias_k is not None:
            k, v = C.cat([k, self.bias_k.repeat(1, batch, 1)]), C.cat([v, self.bias_v.repeat(1, batch, 1)])
            added += 1
        q, k, v = (x.reshape(x.size(0), batch, self.num_heads, self.head_dim).permute(1, 2, 0, 3) for x in (q, k, v))
        if self.add_zero_attn:
            zeros = C.zeros(batch, self.num_heads, 1, self.head_dim, dtype=k.dtype)
            k, v = C.cat([k, zeros], 2), C.cat([v, zeros], 2)
            added += 1
        scores = C.matmul(q * self.head_dim**-0.5, k.transpose(-2, -1))
        if mask is not None:
            scores = scores + (F.pad(mask, (0, added)) if added else mask)
        weights = C.softmax(scores, -1)
        if self.dropout > 0.0 and self.training:
            weights = F.dropout(weights, self.dropout)
        output = C.matmul(weights, v).permute(2, 0, 1, 3).reshape(targets, batch, self.embed_dim)
        return output, weights
