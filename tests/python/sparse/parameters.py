# run: --torch
# run: --torch --capture=stress
"""Parameters that are sparse tensors: in modules, under optimizers, copied and saved; as PyTorch has them."""

import copy
import io
import pathlib
import pickle
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


def matrix(scale=1.0):
    return torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]).mul(scale).to_sparse()


def module(scale=1.0):
    made = torch.nn.Module()
    made.weight = torch.nn.Parameter(matrix(scale))
    return made


def facts():
    p = torch.nn.Parameter(matrix())
    doubled = p * 2
    return (
        isinstance(p, torch.nn.Parameter), p.is_sparse, p.layout, p.requires_grad, p.is_leaf, isinstance(doubled, torch.nn.Parameter),
        doubled.requires_grad, isinstance(p.detach(), torch.nn.Parameter), torch.nn.Parameter(matrix(), requires_grad=False).requires_grad,
    )  # fmt: skip


def registered():
    m = module()
    return [name for name, _ in m.named_parameters()], list(m.parameters())[0] is m.weight, list(m.state_dict())


def gradient(p):
    (torch.sparse.mm(p, torch.arange(6.0).reshape(3, 2)) * torch.arange(4.0).reshape(2, 2)).sum().backward()
    return p.grad.is_sparse, p.grad.to_dense()


def trained():
    m, losses = module(), []
    optimizer = torch.optim.SGD(m.parameters(), 0.01)
    for _ in range(6):
        optimizer.zero_grad()
        loss = torch.sparse.mm(m.weight, torch.ones(3, 2)).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, m.weight.to_dense(), isinstance(m.weight, torch.nn.Parameter)


def loaded():
    file = io.BytesIO()
    torch.save(module(2.0).state_dict(), file)
    file.seek(0)
    m = module()
    m.load_state_dict(torch.load(file))
    return isinstance(m.weight, torch.nn.Parameter), m.weight.to_dense(), m.weight.requires_grad


CALLS = {
    "facts": facts, "text": lambda: torch.nn.Parameter(matrix()), "frozen": lambda: torch.nn.Parameter(matrix(), requires_grad=False),
    "csr": lambda: torch.nn.Parameter(matrix().to_sparse_csr()), "registered": registered,
    "gradient": lambda: gradient(torch.nn.Parameter(matrix())), "trained": trained, "loaded": loaded,
    "of a parameter": lambda: torch.nn.Parameter(torch.nn.Parameter(matrix())).to_dense(),
}  # fmt: skip

check([(name, str(call()) if name in ("text", "frozen", "csr") else call()) for name, call in CALLS.items()], __file__)

# Copies, which PyTorch refuses to make of sparse parameters, and pickles.
if not sys.argv[1:]:
    for m in (copy.deepcopy(module()), pickle.loads(pickle.dumps(module().weight))):
        p = m if isinstance(m, torch.Tensor) else m.weight
        assert isinstance(p, torch.nn.Parameter) and p.requires_grad and p.is_sparse, p
        assert torch.equal(p.to_dense(), matrix().to_dense())
    try:
        module().double()
    except NotImplementedError as error:
        assert "float64" in str(error), error
    else:
        raise AssertionError("a sparse parameter doesn't change its dtype")
