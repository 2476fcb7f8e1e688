# run: --torch --capture=off
"""Tensors made of tensors, sizes and numbers, the old constructors included, as PyTorch's."""

import pathlib
import sys
import warnings

import torch
from torch.autograd import Variable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

a, b, s = torch.tensor([1.0]), torch.tensor([[2.0]]), torch.tensor(3)
z, e, m, o = torch.ones(2), torch.empty(0), torch.ones(2, 2), torch.ones(1, 2)

LISTS = """
[a, a] | [b, b] | [s, a] | [a, 1] | [1, a] | [1.5, s] | [s, 1.5] | [s, True] | [[a, s], [s, a]] | [[a], [a]] | [[s], [s]] | [[[a], [a]]]
[z, z] | [e, e] | [e] | [z[0], z[1]] | [a.double(), a] | (a,) | [torch.tensor([True])] | [o, o] | [m] | [[z], [z]] | [1, z] | [z, 1]
[[1, 2], z] | [z, [1, 2]] | [[1], a] | [[1.0], b] | [e, 1] | [] | [[]] | [[], []] | [[1, 2], [3]] | [1, [2]]
"""
OLD = """
torch.Tensor([1, 2]) | torch.Tensor([True]) | torch.Tensor([a, a]) | torch.Tensor(s) | torch.Tensor(z) | torch.FloatTensor([1, 2])
torch.LongTensor([1, 2]) | s.new([1.5]) | z.type('torch.Tensor') | torch.as_tensor([a, a]) | z.new_tensor([a, a])
"""
SIZES = """
torch.Tensor(2) | torch.Tensor(2, 3) | torch.Tensor() | torch.Tensor(torch.Size([2])) | torch.FloatTensor(2) | z.new(3) | torch.DoubleTensor(2, 1)
"""


def cases(text):
    return [part.strip() for line in text.strip().split("\n") for part in line.split("|")]


def outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


items = [(text, outcome(lambda: torch.tensor(eval(text)))) for text in cases(LISTS)]
for dtype in (torch.float32, torch.float64):
    torch.set_default_dtype(dtype)
    items += [(f"{text} by {dtype}", outcome(lambda: eval(text))) for text in cases(OLD)]
    for text in cases(SIZES):
        made = eval(text)
        items.append((f"{text} by {dtype}", (made.dtype, list(made.shape))))
torch.set_default_dtype(torch.float32)

leaf = torch.ones(3, requires_grad=True)
inner = leaf * 2
for name, of in (("leaf", leaf), ("inner", inner)):
    v = Variable(of)
    items.append((f"Variable({name})", (v is of, v.requires_grad, v.is_leaf, v.data_ptr() == of.data_ptr())))
plain = torch.ones(2)
wanting = Variable(plain, requires_grad=True)
(wanting * 3).sum().backward()
items.append(("Variable(plain, requires_grad=True)", (plain.requires_grad, plain.grad, wanting.grad)))
check(items, __file__)
