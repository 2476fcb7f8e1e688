# run: --torch --capture=off
# run: --torch --capture=stress
"""Which of equal elements topk, kthvalue, median, min, max and their kin pick: as PyTorch does, element for element."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


def tied(n, kinds, seed):
    """Numbers 0 to kinds - 1 that are the same everywhere."""
    i = torch.arange(n, dtype=torch.int64)
    return ((i * i * 7919 + i * (104729 + seed) + seed * 31) % 1009) % kinds


results = []
for n in (1, 2, 3, 5, 8, 13, 40, 200, 700):
    for kinds in (1, 2, 3, 7):
        for seed in range(3):
            whole = tied(n, kinds, seed)
            x = whole.float()
            if seed == 2 and n > 3:
                x[n // 2 :: 5] = float("nan")
            ks = sorted({1, min(2, n), min(3, n), (n + 1) // 2, n})
            found = []
            for k in ks:
                for largest in (True, False):
                    for in_order in (True, False):
                        found.append(torch.topk(x, k, largest=largest, sorted=in_order)[1])
                found += [torch.topk(whole, k)[1], torch.topk(x.double(), k)[1], torch.topk(x.half(), k)[1]]
                found.append(x.kthvalue(k)[1])
            found += [x.median(0)[1], x.min(0)[1], x.max(0)[1], x.argmin(), x.argmax(), x.argsort(stable=True)]
            digest = sum((torch.arange(1, t.numel() + 1) * (t.flatten() + 1)).sum().item() * (j + 1) for j, t in enumerate(found))
            results.append((f"{n} of {kinds}, {seed}", [digest, found[0], found[-7]]))
rows = tied(60, 3, 1).float().view(5, 12)
results.append(("rows", [rows.topk(4)[1], rows.topk(3, 0)[1], rows.kthvalue(4)[1], rows.kthvalue(2, 0)[1], rows.median(1)[1]]))
results.append(("equal scores", [torch.zeros(6).topk(3)[1], torch.zeros(2, 300).topk(2)[1], torch.ones(5).topk(5)[1]]))
check(results, __file__)
