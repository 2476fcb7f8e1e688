# run: --torch
# run: --torch --capture=off
"""Parameters of subclasses of Tensor: they stay of their class, modules and optimizers count them, results are no parameters."""

import pathlib
import sys

import torch
import torch.nn as nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


class Plain(torch.Tensor):
    pass


class Labelled(torch.Tensor):
    """Carries a label from operand to result."""

    @staticmethod
    def __new__(cls, data, label=None):
        return torch.as_tensor(data).as_subclass(cls)

    def __init__(self, data, label=None):
        self.label = label

    def __repr__(self):
        return f"Labelled({self.label})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, cls):
            result.label = next((a.label for a in args if isinstance(a, cls)), None)
        return result


class Own(nn.Parameter):
    pass


items = []
for data in (torch.ones(2).as_subclass(Plain), Labelled(torch.ones(2), "weights")):
    kind = type(data)
    p = nn.Parameter(data)
    m = nn.Module()
    m.p = p
    items.append((kind.__name__, [type(p).__name__, isinstance(p, nn.Parameter), isinstance(p, kind), p.requires_grad, p.is_leaf, repr(p)]))
    items.append(("in a module", [[n for n, _ in m.named_parameters()], type(m.p).__name__, type(m.state_dict()["p"]).__name__]))
    optimizer = torch.optim.SGD(m.parameters(), 0.1)
    for _ in range(16):
        optimizer.zero_grad()
        loss = (m.p * torch.tensor([1.0, 2.0])).sum()
        loss.backward()
        optimizer.step()
    items.append(("learned", [type(loss).__name__, isinstance(loss, nn.Parameter), loss.item(), p.tolist(), getattr(loss, "label", None)]))
    m.double()
    items.append(("converted", [str(m.p.dtype), type(m.p).__name__, m.p is p]))
    q = nn.Parameter(p, requires_grad=False)
    items.append(("again", [type(q).__name__, isinstance(q, nn.Parameter), q.requires_grad, q.data_ptr() == p.data_ptr()]))
layer = nn.Linear(2, 2, bias=False)
layer.weight = nn.Parameter(torch.eye(2).as_subclass(Plain))
y = layer(torch.ones(1, 2))
y.sum().backward()
items.append(("in a layer", [type(y).__name__, y.tolist(), layer.weight.grad.tolist()]))
own = Own(torch.ones(2))
items.append(("own", [type(own).__name__, isinstance(own, nn.Parameter), repr(own), str(own)]))
try:
    nn.Parameter(own)
except RuntimeError as error:
    items.append(("of own", str(error)))

check(items, __file__)
