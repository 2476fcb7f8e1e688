# run: --torch
# run: --torch --capture=stress
"""A truth in memory of others may be any byte but 0: whoever counts or seeks them counts what it finds."""

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
    "where": lambda m: torch.where(m, x, -x),
    "masked_fill": lambda m: x.masked_fill(m, 7),
    "any": lambda m: m.view(9, -1).any(1),
    "all": lambda m: m.view(9, -1).all(1),
}
for _ in range(3):
    for name, call in CALLS.items():
        found, expected = call(given), call(same)
        assert found.shape == expected.shape and torch.equal(found, expected), name
