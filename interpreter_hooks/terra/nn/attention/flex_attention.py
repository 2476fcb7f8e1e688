"""Attention whose scores a function of the program changes, and whose keys another one chooses.

The functions are called once with all places, as tensors that broadcast to [batches, heads, queries, keys], or for one
place after the other under vmap where what they return is not of that shape."""

import inspect
import math
import operator
from typing import Callable, NamedTuple

import _terra_C as C

from .. import functional as F

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask",
    "or_masks",
]  # fmt: skip

_score_mod_signature = Callable[[C.Tensor, C.Tensor, C.Tensor, C.Tensor, C.Tensor], C.Tensor]
_mask_mod_signature = Callable[[C.Tensor, C.Tensor, C.Tensor, C.Tensor], C.Tensor]
DEFAULT_BLOCK_SIZE = 128
_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_BLOCK_SIZE  # by this name transformers takes it
_WHOLE = 1 << 30  # the block size of masks without blocks


class AuxRequest(NamedTuple):
    """What else flex_attention returns."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for [B, H, L], or None: logarithms of sums of exponentials, and largest scores."""

    lse: C.Tensor | None = None
    max_scores: C.Tensor | None = None


def _places(sizes):
    """The indices along each of four dimensions, in a shape that broadcasts to all."""
    return [C.arange(n).view([n if d == axis else 1 for d in range(4)]) for axis, n in enumerate(sizes)]


def _fits(shape, sizes):
    return len(shape) <= 4 and all(n in (1, size) for n, size in zip(reversed(shape), reversed(sizes)))


def _at_all_places(function, sizes, scores=None):
    """function(scores if given, b, h, q, k) at each place."""
    first = () if scores is None else (scores,)
    try:
        result = function(*first, *_places(sizes))
        if _fits(result.shape, sizes):
            return result.expand(sizes)
    except (IndexError, RuntimeError):
        pass  # it asks for numbers: an index of one dimension, say
    from ...func import vmap

    own = (0,) * len(first)
    for dims in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = vmap(function, in_dims=own + dims)
    return function(*first, *(C.arange(n) for n in sizes))


def _takes_scores(function):
    """True for (score, b, h, q, k) -> score, False for (b, h, q, k) -> bool."""
    if callable(function):
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is inspect.Parameter.empty]
        if len(needed) in (4, 5):
            return len(needed) == 5
    raise AssertionError(f"a function of (b, h, q_idx, kv_idx), or of a score and these, was expected, not {function}")


def noop_mask(batch, head, token_q, token_kv):
    """The mask that keeps everything."""
    return batch.new_ones((), dtype=C.bool)


def _joined(mask_mods, join, start):
    """The mask that joins what masks keep, beginning with `start`."""
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def joined(b, h, q_idx, kv_idx):
        result = b.new_full((), start, dtype=C.bool)
        for mask in mask_mods:
            result = join(result, mask(b, h, q_idx, kv_idx))
        return result

    return joined


def or_masks(*mask_mods):
    """What one of the masks keeps."""
    return _joined(mask_mods, operator.or_, False)


def and_masks(*mask_mods):
    """What all masks keep."""
    return _joined(mask_mods, operator.and_, True)


def _columns_first(dense):
    """How many blocks of each row are there, and which: those first, in order."""
    dense = dense.to(C.int32)
    return dense.sum(-1).to(C.int32), C.argsort(dense, dim=-1, descending=True, stable=True).to(C.int32)


def _dense(counts, indices, columns):
    """The opposite: 1 for each block that is there."""
    there = C.arange(indices.shape[-1]) < counts.unsqueeze(-1)
    places = C.where(there, indices.long(), columns)  # what isn't there goes into a column of its own
    return C.zeros(*indices.shape[:-1], columns + 1, dtype=C.int32).scatter(-1, places, 1)[..., :columns]


class BlockMask:
    """Which blocks of [queries, keys] a mask keeps: wholly (full_) or in part; and the mask itself.

    kv_num_blocks [B, H, rows] says how many blocks of a row are kept in part, kv_indices [B, H, rows, columns] which; the
    same of columns in q_num_blocks and q_indices."""

    def __init__(
        self, seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks, q_indices,
        full_q_num_blocks, full_q_indices, BLOCK_SIZE, mask_mod,
    ):  # fmt: skip
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=DEFAULT_BLOCK_SIZE,
        mask_mod=None, seq_lengths=None, compute_q_blocks=True,
    ):  # fmt: skip
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        rows, columns = kv_indices.shape[-2:]
        q = full_q = (None, None)
        if compute_q_blocks:
            q = _columns_first(_dense(kv_num_blocks, kv_indices, columns).transpose(-2, -1))
            if full_kv_num_blocks is not None:
                full_q = _columns_first(_dense(full_kv_num_blocks, full_kv_indices, columns).transpose(-2, -1))
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else seq_lengths
        full_kv = full_kv_num_blocks, full_kv_indices
        return cls(lengths, kv_num_blocks, kv_indices, *full_kv, *q, *full_q, size, mask_mod or noop_mask)

    def as_tuple(self, flatten=True):
        blocks = (
            self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices, self.q_num_blocks,
            self.q_indices, self.full_q_num_blocks, self.full_q_indices,
        )  # fmt: skip
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *blocks, *sizes, self.mask_mod)

    @property
    def shape(self):
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self):
        return math.prod(self.shape)

    def to_dense(self):
        """1 for each block that is kept, wholly or in part [B, H, rows, columns]."""
        columns = self.kv_indices.shape[-1]
        dense = _dense(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None:
            return dense
        return dense | _dense(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def sparsity(self):
        """The share of blocks that are left out, in percent."""
        dense = self.to_dense()
        return 100 * (1 - dense.sum().item() / dense.numel())

    def __getitem__(self, index):
        """The mask of some batches and heads."""
        index = index if isinstance(index, tuple) else (index,)
        index = (*(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index[:2]), *index[2:])
        if len(index) > 2:
            raise NotImplementedError("BlockMask: rows of blocks can't be taken in Terra; index batches and heads only")
        parts = [None if t is None else t[index] for t in self.as_tuple()[2:-3]]
        return BlockMask(self.seq_lengths, *parts, self.BLOCK_SIZE, _no_longer_known)

    def to(self, device):
        parts = [None if t is None else t.to(device) for t in self.as_tuple()[2:-3]]
        return BlockMask(self.seq_lengths, *parts, self.BLOCK_SIZE, self.mask_mod)

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, BLOCK_SIZE={self.BLOCK_SIZE})"


def _no_longer_known(batch, head, token_q, token_kv):
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """What a function keeps, as bools [B, H, Q_LEN, KV_LEN]; of one that changes scores: what it doesn't make -inf."""
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if _takes_scores(mod_fn):
        return ~C.isneginf(_at_all_places(mod_fn, sizes, C.zeros(sizes)))
    return _at_all_places(mod_fn, sizes).contiguous()


def create_block_mask(
    mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=DEFAULT_BLOCK_SIZE, _compile=False, separate_full_blocks=True
):
    """The BlockMask of a function (b, h, q_idx, kv_idx) -> bool."""
    if _takes_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN).to(C.int32)
    mask = F.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    b, h, q, k = mask.shape
    kept = mask.view(b, h, q // rows, rows, k // columns, columns).sum((3, 5))
    if not separate_full_blocks:
        partial, full = _columns_first(kept > 0), (None, None)
    else:
        partial, full = _columns_first((kept > 0) & (kept < rows * columns)), _columns_first(kept == rows * columns)
    return BlockMask.from_kv_blocks(*partial, *full, (rows, columns), mask_mod, (Q_LEN, KV_LEN))


def _check(query, key, value, block_mask, enable_gqa):
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"Expect query and key/value to have the same embedding dimension but got E={query.size(-1)} and E={key.size(-1)}."
        )
    heads, kv_heads = query.size(1), key.size(1)
    if not enable_gqa and heads != kv_heads:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={kv_heads}. "
            "Try setting enable_gqa=True for GQA."
        )
    if heads % kv_heads != 0:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={kv_heads}."
        )
    batches, kv_batches = query.size(0), key.size(0)
    if batches != kv_batches and block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but got block_mask=None, "
            f"Bq={batches}, and Bkv={kv_batches}."
        )
    if batches != kv_batches and kv_batches != 1:
        raise RuntimeError(f"Bq and Bkv must broadcast. Got Bq={batches} and Bkv={kv_batches}")
    if block_mask is None or block_mask.BLOCK_SIZE[0] == _WHOLE:
        return
    for name, mask_length, length in zip("qk", block_mask.shape[-2:], (query.size(-2), key.size(-2))):
        if mask_length != length:
            raise RuntimeError(
                f"block_mask was created for block_mask.shape={block_mask.shape} but got {name}_len={length}. Create a new "
                "block mask, of the lengths that it is used for."
            )


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
    kernel_options=None, *, return_aux=None,
):  # fmt: skip
    """softmax(score_mod(query key^T scale)) value over the keys that the mask keeps; zeros where it keeps none.

    query [B, Hq, L, E], key [B, Hkv, S, E], value [B, Hkv, S, Ev] -> [B, Hq, L, Ev]. Scores are float32, of float64
    tensors float64. With enable_gqa several heads of the query share one of key and value. return_lse, return_aux: see
    AuxOutput."""
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    group = query.size(1) // key.size(1)
    key = key.repeat_interleave(group, 1).expand(query.size(0), -1, -1, -1)
    value = value.repeat_interleave(group, 1).expand(query.size(0), -1, -1, -1)
    precise = C.float64 if query.dtype == C.float64 else C.float32
    scores = query.to(precise) @ key.to(precise).transpose(-2, -1)
    scores = scores * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    sizes = tuple(scores.shape)
    if score_mod is not None:
        scores = _at_all_places(score_mod, sizes, scores).to(precise)
    if block_mask is not None and block_mask.mask_mod is not noop_mask:
        scores = scores.masked_fill(~_at_all_places(block_mask.mask_mod, sizes), -math.inf)
    nothing = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(nothing, 0.0)
    result = weights.to(query.dtype) @ value.to(query.dtype)
    if return_aux is None and not return_lse:
        return result
    lse = scores.logsumexp(-1)
    if return_aux is None:
        return result, lse
    return result, AuxOutput(lse if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
