# run: --torch
"""torch.testing.assert_close: what it says of each kind of difference, and where; make_tensor's values at a seed."""

import pathlib
import sys

import numpy as np
import torch
from torch import tensor as t
from torch.testing import assert_close, make_tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

nan, inf = float("nan"), float("inf")
PAIRS = """
1, 2 | 1.0, 1.1 | 1, 1.0 | True, False | 1j, 2j | nan, nan | nan, nan, equal_nan=True | 1.0, 1.1, rtol=0, atol=0.01 | 1.0, 1.1, rtol=0.01
1.0, 1.1, rtol=0.01, atol=0.0 | 0.0, 0.1 | 1.0, 0.0 | inf, 1.0 | None, None | None, 1 | "a", "a" | object, 1 | 3, 5, rtol=0, atol=1
t([1.0, 2]), t([1.0, 3]) | t([1, 2]), t([1, 3]) | t([1, 2]), t([1.0, 3]) | t([1, 2]), t([1.0, 3]), check_dtype=False
t([True, False]), t([True, True]) | t([1.0, 2]), t([1.0, 2, 3]) | t(1.0), t(2.0) | t([1.0]), t([2.0]) | t([1 + 1j]), t([1 + 2j])
t([[1.0, 2], [3, 4]]), t([[1.0, 2], [3, 5]]) | t([nan]), t([nan]) | t([inf, 1]), t([1.0, 1]) | t([[nan, 2.0]]), t([[1.0, 2]]), equal_nan=True
[t(1.0), t(2.0)], [t(1.0), t(3.0)] | [1, 2], [1, 2, 3] | {"a": 1}, {"b": 1} | {"a": 1, "c": 3}, {"b": 1} | {"a": t(1.0)}, {"a": t(2.0)}
[[t(1.0)], {"k": [t(2.0)]}], [[t(1.0)], {"k": [t(2.5)]}] | (1, 2), [1, 2] | [1], {"a": 1} | [1.0, 2.0], [1.0, 2.5] | [], [] | {}, {} | [], ()
{"a": {"b": [1, 2, 3]}}, {"a": {"b": [1, 2, 4]}} | {2: t(1.0), 1: t(3.0)}, {1: t(2.0), 2: t(2.0)} | [1, [2, 3]], [2, [2]]
np.array([1.0, 2]), np.array([1.0, 3]) | np.array([1.0]), t([1.0]) | t([1.0]), [1.0] | t([1.0]), 1.0 | np.float32(1), np.float32(2) | np.float32(1), 1.0
t([1.0]), torch.nn.Parameter(t([1.0])) | torch.ones(2, 3), torch.ones(3, 2).T, check_stride=True | torch.ones(2), torch.ones(2).double()
torch.ones(2).int(), torch.ones(2).long() | t([1.0, 2]), t([1.0, 3]), msg="mine" | t([1.0, 2]), t([1.0, 3]), msg=lambda m: "before " + m
t([[1.0, 2.1], [3, 4.2]]), t([[1.0, 2], [3, 4]]), rtol=0.01, atol=0.001 | t([0.0, 0]), t([0.0, 1]) | t([0.0, 1e-3]), t([0.0, 0])
torch.ones(2).to_sparse(), torch.ones(2) | torch.ones(2).to_sparse(), torch.zeros(2).to_sparse() | t([1.0, 2]).to_sparse(), t([1.0, 3]).to_sparse()
torch.eye(2).to_sparse_csr(), (2 * torch.eye(2)).to_sparse_csr() | torch.empty(0), torch.empty(0) | t([1], dtype=torch.uint8), t([255], dtype=torch.uint8)
torch.ones(2).bfloat16(), torch.ones(2).bfloat16() * 1.1 | torch.ones(2).half(), torch.ones(2).half() * 1.1 | t([1, 2]), t([1, 3]), rtol=0.0, atol=1.0
t([1, 2]), t([5, 3]), rtol=0.0, atol=1.0 | t([1.0, 2], requires_grad=True), t([1.0, 3])
"""
MADE = """
(2,), low=3, high=1 | (2, 3) | 2, 3, low=0, high=5, exclude_zero=True | (2, 3), noncontiguous=True | (2, 3), requires_grad=True
(2, 2, 2, 2), memory_format=torch.channels_last | (2, 3), low=nan | (2, 3), noncontiguous=True, memory_format=torch.channels_last
"""
items = []
calls = "\n".join(" | ".join(f"assert_close({pair})" for pair in line.split(" | ")) for line in PAIRS.strip().split("\n"))
items += outcomes(calls, globals())
torch.manual_seed(0)
for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.bfloat16, torch.int8):
    if dtype != torch.bool:
        made = " | ".join(MADE.strip().split("\n"))
        items += outcomes(" | ".join(f"make_tensor({call}, dtype=dtype, device='cpu')" for call in made.split(" | ")), globals())
    items += outcomes("make_tensor((2, 3), dtype=dtype, device='cpu') | make_tensor((2,), dtype=dtype, device='cpu', low=0, high=1)", globals())
check(items, __file__)
