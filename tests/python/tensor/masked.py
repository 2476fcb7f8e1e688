# run: --torch
"""torch.masked: reductions and normalizations of the elements that a mask keeps, as PyTorch's."""

import pathlib
import sys

import torch
from torch import masked

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
I = torch.tensor([[3, 1, 2], [5, 6, 4]])  # noqa: E741
MASK = torch.tensor([[True, False, True], [False, False, False]])


def reductions():
    for name in ("sum", "prod", "amax", "amin", "mean", "var", "std", "logsumexp", "norm"):
        of_norm = (2,) if name == "norm" else ()
        for values in (X, I) if name in ("sum", "prod", "amax", "amin") else (X,):
            for options in ({}, {"dim": 1}, {"dim": 1, "keepdim": True}, {"dim": (0, 1)}, {"dim": 0}):
                for mask in (None, MASK, MASK[:1]):
                    try:
                        result = getattr(masked, name)(values, *of_norm, **options, mask=mask)
                    except Exception as error:  # noqa: BLE001
                        result = type(error).__name__
                    yield f"{name} {options}", result


def along():
    for name in ("softmax", "log_softmax", "softmin", "cumsum", "cumprod", "median"):
        for mask in (None, MASK, MASK[:, :1]):
            yield name, getattr(masked, name)(X, 1, mask=mask)
    yield "argmax", [masked.argmax(X, 1, mask=MASK).long(), masked.argmin(X, 1, mask=MASK[:1]).long()]
    yield "normalize", masked.normalize(X, 2, 1, mask=MASK)
    yield "logaddexp", masked.logaddexp(X, X, input_mask=MASK)
    yield "dtype", masked.sum(I, dtype=torch.float64, mask=MASK)
    x = X.clone().requires_grad_()
    masked.mean(x, mask=MASK).backward()
    yield "gradient", x.grad


check([*reductions(), *along()], __file__)
