# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
"""Variable(tensor), as old programs wrap what they compute with: what it takes and gives, and functions full of it, which
are captured whole."""

import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.autograd import Variable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


def outcome(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function()
        except Exception as e:
            result = f"{type(e).__name__}: {e}"
    return [result, *[f"{w.category.__name__} {w.message}" for w in caught]]


class Named(torch.Tensor):
    pass


base = torch.arange(3.0)
parameter = nn.Parameter(torch.ones(2))
CASES = {
    "nothing": lambda: Variable(),
    "none": lambda: Variable(None),
    "tensor": lambda: Variable(base),
    "by name": lambda: Variable(data=base, requires_grad=True).requires_grad,
    "parameter": lambda: [Variable(parameter).requires_grad, type(Variable(parameter)).__name__],
    "computed": lambda: [Variable(parameter * 2).grad_fn, Variable(parameter * 2, True).is_leaf],
    "subclass": lambda: type(Variable(base.as_subclass(Named))).__name__,
    "integers": lambda: Variable(torch.ones(2, dtype=torch.int64), requires_grad=True),
    "complex": lambda: Variable(torch.ones(1, dtype=torch.complex64), requires_grad=True).requires_grad,
    "volatile": lambda: Variable(base, volatile=True),
    "not volatile": lambda: Variable(base, volatile=False),
    "list": lambda: Variable([1, 2]),
    "number": lambda: Variable(3.0),
    "own object": lambda: [Variable(base) is base, Variable(base).data_ptr() == base.data_ptr()],
    "instances": lambda: [isinstance(base, Variable), isinstance(3, Variable), isinstance(parameter, Variable)],
}
items = [(name, outcome(function)) for name, function in CASES.items()]


def cell(x, w):
    state = Variable(torch.zeros(2, 3))
    for part in x.split(2):
        state = torch.tanh(Variable(part) @ w + state)
    return (state * Variable(w.data.new(2, 3).fill_(0.5))).sum()


weight = nn.Parameter(torch.linspace(-1, 1, 9).view(3, 3))
for i in range(40):
    loss = cell(torch.linspace(0, 1, 18).view(6, 3) + i / 40, weight)
    loss.backward()
    if i % 8 == 0:
        items.append((f"loss {i}", [loss, weight.grad.norm()]))
        weight.grad = None
if hasattr(torch, "capture"):
    assert "where CPython goes on" not in torch.capture.explain(cell), torch.capture.explain(cell)
check(items, __file__)
