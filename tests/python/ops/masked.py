# run: --torch
# run: --torch --capture=stress
"""torch.masked over every kind of number, with and without masks, as PyTorch has it; and calls whose dtypes, layouts and
errors are rarely seen."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

M, F = torch.masked, torch.nn.functional
DTYPES = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64)
FUNCTIONS = {
    "sum": (1,), "prod": (1,), "mean": (1,), "amax": (1,), "amin": (1,), "argmax": (1,), "argmin": (1,), "logsumexp": (1,), "var": (1,),
    "std": (1,), "median": (1,), "cumsum": (1,), "cumprod": (1,), "softmax": (1,), "log_softmax": (1,), "softmin": (1,), "norm": (2, 1),
    "normalize": (2.0, 1),
}  # fmt: skip
NUMBERS, MASK = torch.tensor([[1, 0, 3], [2, 2, 1]]), torch.tensor([[True, False, True], [True, True, False]])


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__} {error}"


def masked():
    for name, arguments in FUNCTIONS.items():
        for dtype in DTYPES:
            if dtype == torch.bool and name in ("var", "std", "norm", "normalize"):
                continue  # PyTorch's errors are about what it computes with
            for mask in (None, MASK):
                call = getattr(M, name)
                yield f"{name} {dtype} {mask is not None}", said(lambda: call(NUMBERS.to(dtype), *arguments, mask=mask))


EMPTY_ROW = torch.tensor([[True, False, True], [False, False, False]])
CALLS = """
M.median(NUMBERS, 1, mask=EMPTY_ROW) | M.median(NUMBERS.float(), 1, mask=EMPTY_ROW) | M.amax(NUMBERS, 1, mask=EMPTY_ROW)
M.argmax(NUMBERS, 1, dtype=torch.float32, mask=MASK) | M.cumsum(NUMBERS.int(), 1, dtype=torch.float32, mask=MASK)
M.logsumexp(NUMBERS.int(), 1, mask=MASK, dtype=torch.float32) | M.prod(torch.tensor(3, dtype=torch.int32)) | M.sum(torch.tensor(True))
M.std(NUMBERS.half(), 1, mask=MASK, correction=0.5).dtype | M.var(NUMBERS.bfloat16(), (0, 1), mask=MASK).dtype
M.logaddexp(NUMBERS.bool(), NUMBERS.bool(), input_mask=MASK) | M.logaddexp(NUMBERS, NUMBERS, input_mask=MASK)
F.avg_pool3d(torch.arange(128).reshape(2, 1, 4, 4, 4) - 50, 2) | F.avg_pool3d(torch.arange(60).reshape(1, 3, 4, 5), 2, 2, 1, True, False)
F.avg_pool3d(torch.arange(60).reshape(1, 3, 4, 5) - 30, (3, 2, 3), 2, 1, True) | F.avg_pool3d(torch.arange(24).reshape(1, 2, 3, 4), 2, divisor_override=3)
F.avg_pool3d(torch.ones(1, 4, 4, 4, dtype=torch.int32), 2) | F.adaptive_avg_pool1d(torch.ones(1, 2, 3), ())
F.adaptive_avg_pool2d(torch.ones(2, 2), (2, 2)) | F.adaptive_avg_pool2d(torch.ones(2, 2, 2), (2, 2, 2)) | F.adaptive_avg_pool3d(torch.ones(2, 2, 2), (2, 2, 2))
F.adaptive_max_pool1d(torch.ones(1, 2, 3), (2, 2)) | F.adaptive_max_pool2d(torch.ones(2, 2), (2, 2)) | F.adaptive_max_pool3d(torch.ones(2, 2, 2), (2, 2, 2))
F.linear_cross_entropy(torch.ones(2, 3), torch.ones(3), torch.tensor([0, 1])) | F.multi_margin_loss(torch.ones(5, 4), torch.ones(5), reduction="abc")
F.multi_margin_loss(torch.ones(5, 4), torch.ones(5), weight=torch.ones(5, 4)) | F.multilabel_margin_loss(torch.ones(5, 4), torch.ones(5, 4), reduction="abc")
torch.hstack([torch.ones(2), torch.ones(2, 2)]) | torch.hstack([]) | torch.vstack([]) | torch.unbind(torch.tensor(1)) | torch.unbind_copy(torch.tensor(1))
torch.amax(torch.empty(5, 0, 5)) | torch.amin(torch.empty(0)) | torch.aminmax(torch.empty(5, 0)) | torch.amax(torch.empty(2, 0), 1)
torch._chunk_cat([torch.ones(2, 2), torch.ones(2)], 1, 2) | torch._chunk_cat([torch.ones(2)], 0, 0) | torch._chunk_cat([], 0, 1)
torch._chunk_cat([torch.ones(2, 2), torch.ones(3, 3)], 1, 2) | torch._chunk_cat([torch.ones(2, 2), torch.ones(2, 2).int()], 0, 2)
torch.special.chebyshev_polynomial_t(torch.tensor([0.5, nan, inf]), torch.tensor([inf, -inf, nan])) | torch.special.legendre_polynomial_p(torch.tensor([nan, 2.0]), 2)
[torch.stack([last] * 2, dim).stride() for dim in range(5)] | [torch.stack([last3] * 2, dim).stride() for dim in range(6)]
torch.tensor([-1.0, 0.2, 2.0]).hardshrink() | torch.ones(2).__rdiv__(3.0) | torch.stack([last, last.contiguous()]).stride() | torch.stack([last[0], last[1]]).stride() | torch.stack([wave(2, 3).t()] * 2, 1) | torch.stack([last] * 2, 1).sum((0, 3, 4))
"""
NAMES = {
    **globals(), "nan": float("nan"), "inf": float("inf"), "last": wave(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "last3": wave(2, 3, 2, 2, 3).to(memory_format=torch.channels_last_3d),
}  # fmt: skip

check([*masked(), *outcomes(CALLS, NAMES)], __file__)
