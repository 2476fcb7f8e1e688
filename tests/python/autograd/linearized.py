# run: --torch
"""torch.func.linearize against jvp, and the functions of torch.func that prepare modules and functions."""

import torch
from torch.func import debug_unwrap, functionalize, jvp, linearize, replace_all_batch_norm_modules_

x, y = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([1.0, 3.0, -2.0])


def function(a, b):
    return a * b.sin(), a.sum()


value, along = linearize(function, x, y)
for tangents in ((y, x), (x, x)):
    wanted, derivative = jvp(function, (x, y), tangents)
    got = along(*tangents)
    assert all(map(torch.equal, value, wanted)) and all(map(torch.allclose, got, derivative)), (value, got, derivative)
    assert not got[0].requires_grad
for tangents, part in (((x[:2], y), "tangent:0 with shape"), ((x, y.double()), "tangent:1 with dtype"), ((x,), "same argspec")):
    try:
        along(*tangents)
    except RuntimeError as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"no error for {tangents}")

norms = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Sequential(torch.nn.BatchNorm2d(2)))
assert replace_all_batch_norm_modules_(norms) is norms
assert list(norms.state_dict()) == ["0.weight", "0.bias", "1.0.weight", "1.0.bias"], list(norms.state_dict())
rows = torch.arange(6.0).view(2, 3)
assert torch.equal(norms[0](rows), norms.eval()[0](rows)), "the statistics are those of the batch in both modes"

assert torch.equal(functionalize(lambda a: a.clone().view(-1).add_(1))(rows), rows.view(-1) + 1)
try:
    functionalize(torch.sin, remove="all")
except RuntimeError as error:
    assert "remove=all" in str(error), error
else:
    raise AssertionError("no error for remove=all")
assert debug_unwrap(rows) is rows
