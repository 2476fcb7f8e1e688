# run: --torch
"""Attention with functions of scores and masks: results, statistics, blocks and errors as PyTorch's."""

import math
import pathlib
import sys
import warnings

import torch
from torch.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")

q, k, v = (wave(2, 2, 6, 4) * f for f in (0.7, 1.3, 2.1))
SCALES = torch.tensor([0.5, -1.0], dtype=torch.float64)
TABLE = torch.tensor([[0.1, 0.2], [0.3, -0.4]], dtype=torch.float64)
DOCUMENT = torch.tensor([0, 0, 1, 1, 1, 2])


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def same_document(b, h, q_idx, kv_idx):
    return DOCUMENT[q_idx] == DOCUMENT[kv_idx]


SCORES = {
    "none": None,
    "relative": lambda s, b, h, q_idx, kv_idx: s + (q_idx - kv_idx) * 0.1,
    "heads": lambda s, b, h, q_idx, kv_idx: s * SCALES[h],
    "nested": lambda s, b, h, q_idx, kv_idx: s + TABLE[b][h],  # one index after the other: not by broadcasting
    "capped": lambda s, b, h, q_idx, kv_idx: 2 * torch.tanh(s / 2),
}
MASKS = {
    "none": None,
    "causal": causal,
    "documents": same_document,
    "both": and_masks(causal, same_document),
    "either": or_masks(causal, same_document),
    "later": lambda b, h, q_idx, kv_idx: q_idx < kv_idx,  # the last query sees nothing
}


def blocks(mask, rows=6, columns=6, size=2):
    return create_block_mask(mask, None, None, rows, columns, device="cpu", BLOCK_SIZE=size)


def cases():
    for score in SCORES:
        for mask in MASKS if score == "none" else ("none", "both"):
            block = None if mask == "none" else blocks(MASKS[mask])
            yield f"{score}, {mask}", flex_attention(q, k, v, SCORES[score], block)
    out, aux = flex_attention(
        q, k, v, SCORES["relative"], blocks(causal), scale=0.3, return_aux=AuxRequest(lse=True)
    )
    yield "with sums", (out, aux.lse, aux.max_scores)
    yield "shared keys", flex_attention(q, k[:, :1], v[:, :1], enable_gqa=True)
    yield "half", flex_attention(q.half(), k.half(), v.half()).dtype
    mask = blocks(causal, 10, 8, (4, 2))
    yield "blocks", (mask.shape, mask.BLOCK_SIZE, mask.to_dense(), mask.sparsity(), mask.numel())
    for name in ("kv", "full_kv", "q", "full_q"):
        counts, indices = getattr(mask, name + "_num_blocks"), getattr(mask, name + "_indices")
        yield name, (counts, [row[:n] for row, n in zip(indices[0, 0].tolist(), counts[0, 0].tolist())])
    yield "from blocks", BlockMask.from_kv_blocks(mask.kv_num_blocks, mask.kv_indices).shape
    yield "of scores", create_mask(lambda s, b, h, i, j: torch.where(i > j, s, -math.inf), 1, 1, 3, 3, device="cpu")
    for name, call in (
        ("three dimensions", lambda: flex_attention(q[0], k, v)),
        ("heads", lambda: flex_attention(q, k[:, :1], v[:, :1])),
        ("dtypes", lambda: flex_attention(q, k, v.float())),
        ("sizes", lambda: flex_attention(q, k[..., :2], v)),
        ("small mask", lambda: flex_attention(q, k, v, block_mask=blocks(causal, 4, 4))),
        ("scores as mask", lambda: blocks(SCORES["heads"])),
    ):
        try:
            call()
            yield name, "accepted"
        except Exception as error:
            yield name, type(error).__name__


check(list(cases()), __file__)
