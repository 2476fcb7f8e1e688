# run: --torch
# run: --torch --capture=off
"""Nested tensors: batches of tensors of different sizes, strided and jagged."""

import pathlib
import re
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

a, b = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(4, 3) + 10
n, j = torch.nested.nested_tensor([a, b]), torch.nested.nested_tensor([a, b], layout=torch.jagged)
linear = nn.Linear(3, 2)
with torch.no_grad():
    for p in linear.parameters():
        p.copy_(torch.arange(p.numel()).view(p.shape) / 5)
values, offsets = torch.arange(10.0).view(5, 2), torch.tensor([0, 2, 5])
EXPRESSIONS = """
n | n.is_nested | a.is_nested | n.dim() | n.size(0) | n.size(2) | n.numel() | n.unbind() | n[0] | n[1] | n.layout | n.dtype | n.to_padded_tensor(0.0) | torch.nested.to_padded_tensor(n, -1.0)
n * 2 | n + n | n.sin() | linear(n).unbind() | F.relu(n) | n.softmax(-1) | n.transpose(1, 2) | n.contiguous() | n.clone() | n.detach() | n.to(torch.float64) | torch.nested.as_nested_tensor([a, b])
n.reshape(2, -1, 3, 1) | n.unsqueeze(-1) | n @ n.transpose(1, 2) | torch.bmm(n, n.transpose(1, 2)) | F.dropout(n, 0.5, False) | n.chunk(3, -1) | torch.nested.nested_tensor([[1, 2], [3]])
torch.nested.nested_tensor([a, b], requires_grad=True).requires_grad | n.is_contiguous() | isinstance(n, torch.Tensor) | n._nested_tensor_size() | torch.nested.nested_tensor([])
n.cos() | n / 2 | n.neg() | n.abs() | torch.nested.nested_tensor([a, torch.ones(4, 5)]) | F.layer_norm(n, (3,), torch.ones(3), torch.zeros(3)) | n.to_padded_tensor(1.0, (2, 5, 4))
n.size(1) | n.size() | n.shape | len(n)
j | j.shape | j.size(0) | j.dim() | j.values() | j.offsets() | j.lengths() | j.unbind() | (j * 2).values() | (j + j).values() | j.sin() | linear(j).shape | linear(j).values() | j.to_padded_tensor(0.0)
F.relu(j).values() | F.softmax(j, -1).values() | j.layout | j.is_nested | torch.nested.nested_tensor_from_jagged(values, offsets) | torch.nested.nested_tensor_from_jagged(values, offsets).unbind()
torch.nested.nested_tensor_from_jagged(values, lengths=torch.tensor([2, 3])).offsets() | j.sum(-1).values() | j.mean(-1).values() | j.sum(1) | j.mean(dim=1) | j.amax(1) | F.layer_norm(j, (3,)).values()
j.unsqueeze(-1).shape | j.transpose(1, 2).shape | j.clone().values() | j.requires_grad | torch.nested.masked_select(a, a > 1).unbind() | j._max_seqlen | j._min_seqlen | j[0] | len(j) | j.numel()
torch.nested.narrow(torch.arange(24.0).view(2, 4, 3), 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=torch.jagged).unbind() | torch.cat([j, j], -1).shape | j.to(torch.float64).dtype
torch.zeros_like(j).values() | j.unflatten(-1, [3, 1]).shape | j.view(2, -1, 3, 1).shape | (j == j).values() | torch.nested.as_nested_tensor([a, b], layout=torch.jagged).values() | (j > 3).values()
F.scaled_dot_product_attention(*(j.unflatten(-1, [1, 3]).transpose(1, 2),) * 3).transpose(1, 2).flatten(-2).values() | F.gelu(j).values() | (j * torch.ones(1, 1, 3)).values()
"""


def shown(value):
    return re.sub(r"\bj\d+\b", "j", repr(value)) if getattr(value, "is_nested", False) or "Size" in type(value).__name__ else value


results = [(text, [shown(v) for v in value] if isinstance(value, tuple) and "chunk" in text else shown(value)) for text, value in outcomes(EXPRESSIONS, globals())]
x, y = torch.ones(2, 3, requires_grad=True), torch.ones(1, 3, requires_grad=True)
batch = torch.nested.as_nested_tensor([x, y])
(linear(batch).unbind()[0].sum() + torch.nested.to_padded_tensor(batch, 0.0).sum() * 2).backward()
results.append(("gradients", [x.grad, y.grad, linear.weight.grad]))
rows = torch.ones(5, 3, requires_grad=True)
(linear(torch.nested.nested_tensor_from_jagged(rows, offsets)) * 2).values().sum().backward()
results.append(("of rows", rows.grad))
network = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Dropout(0.1), nn.Linear(4, 2)).eval()
alone = [network(part) for part in (a, b)]
results.append(("layers", [torch.allclose(p, q) for batch in (n, j) for p, q in zip(network(batch).unbind(), alone)]))

check(results, __file__)
