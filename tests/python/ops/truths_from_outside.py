# run: --torch
# run: --torch --capture=stress
"""A truth in memory of others may be any byte but 0: whoever counts, seeks or computes with them takes it so."""

import torch

raw = bytearray([2, 0, 255, 1, 0, 0, 128, 0, 3] * 64)
given, same = torch.frombuffer(raw, dtype=torch.bool), torch.tensor([byte != 0 for byte in raw])
x = torch.arange(given.numel(), dtype=torch.float32)
CALLS = {
    "nonzero": lambda m: m.nonzero(),
    "nonzero of rows": lambda m: m.view(9, -1).nonzero(),
    "nonzero of columns": lambda m: m.view(9, -1).t().nonzero(),
    "nonzero of many": lambda m: torch.cat([m] * 9).nonzero(),
    "count": lambda m: m.count_nonzero(),
    "index": lambda m: x[m],
    "masked_select": lambda m: x.masked_select(m),
    "put": lambda m: x.clone().index_put_((m,), torch.tensor(3.0)),
    "scatter": lambda m: x.clone().masked_scatter_(m, -x),
    "where": lambda m: torch.where(m, x, -x),
    "masked_fill": lambda m: x.masked_fill(m, 7),
    "any": lambda m: m.view(9, -1).any(1),
    "all": lambda m: m.view(9, -1).all(1),
    "not": lambda m: ~m,
    "and": lambda m: m & same,
    "or": lambda m: m | same.view(64, 9).flip(1).reshape(-1),
    "xor": lambda m: m ^ same,
    "and of columns": lambda m: m.view(9, -1).t() & same.view(-1, 9),
    "equal": lambda m: m == same,
    "equal to one": lambda m: m == m[0],
    "logical_or": lambda m: m.logical_or(~same),
    "float": lambda m: m.float(),
    "int8": lambda m: m.to(torch.int8),
    "complex": lambda m: m.to(torch.complex64),
    "half": lambda m: m.half(),
    "product": lambda m: m * x,
    "sum": lambda m: m.sum(),
    "sums": lambda m: m.view(64, 9).sum(0),
    "prods": lambda m: m.view(64, 9).prod(1),
    "mean": lambda m: m.float().mean(),
    "cumsum": lambda m: m.cumsum(0),
    "largest": lambda m: m.max(),
    "sort": lambda m: m.sort()[0],
    "unique": lambda m: m.unique(),
    "bincount": lambda m: m.int().bincount(),
    "list": lambda m: torch.tensor(m.tolist()),
}
for _ in range(3):
    for name, call in CALLS.items():
        found, expected = call(given), call(same)
        assert found.shape == expected.shape and torch.equal(found, expected), (name, found, expected)
