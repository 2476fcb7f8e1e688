# run: --torch
# run: --torch --capture=off
"""MaskedTensor: what is printed, ops of elements, reductions, shapes and gradients."""

import pathlib
import sys

import torch
from torch.masked import as_masked_tensor, is_masked_tensor, masked_tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

data, mask = torch.arange(6.0).view(2, 3), torch.tensor([[True, False, True], [False, True, True]])
m = masked_tensor(data, mask)
EXPRESSIONS = """
m | m.sum() | m.sum(0) | m.sum(1) | m.mean() | m.mean(1) | m.prod() | m.amax() | m.amin(1) | m.amax(dim=0) | m.argmax() | m.argmin(1) | m.sum(1, keepdim=True)
m + 1 | 1 + m | m * m | m - m | m / 2 | m.add(m) | torch.add(m, m) | m + data | m == m | m > 1 | m.sqrt() | -m | m.abs() | m.pow(2) | m ** 2 | m.clamp(1, 3)
m.get_data() | m.get_mask() | m.to_tensor(7) | m.shape | m.dtype | m.size(0) | m.numel() | len(m) | is_masked_tensor(m) | is_masked_tensor(data) | isinstance(m, torch.Tensor)
m[0] | m[:, 1] | m.view(3, 2) | m.t() | m.reshape(-1) | m.unsqueeze(0).shape | m.transpose(0, 1) | m.contiguous() | m.clone() | torch.cat([m, m]) | torch.ones_like(m)
m.to(torch.float64).dtype | m.softmax(-1) | torch.nn.functional.softmax(m, -1) | torch.sum(m) | torch.amax(m, 1) | torch.mean(m) | m.amax(0).get_mask()
masked_tensor(data.long(), mask) | masked_tensor(data > 2, mask) | masked_tensor(data[0], mask[0]) | masked_tensor(torch.tensor(3.0), torch.tensor(False))
masked_tensor(data, mask[0]) | masked_tensor(data, data) | m + masked_tensor(data, ~mask) | as_masked_tensor(data, mask) | masked_tensor(torch.full((2, 2), -1.0), mask[:, 1:]).sum(0)
"""
results = list(outcomes(EXPRESSIONS, globals()))
m.add_(1)
results.append(("written", m))
leaf = masked_tensor(wave(3).float(), torch.tensor([True, False, True]), requires_grad=True)
(leaf * leaf).sum().backward()
results.append(("gradient", [leaf.requires_grad, repr(leaf.grad)]))
x = wave(2, 3).float().requires_grad_()
as_masked_tensor(x * 2, mask).mean().backward()
results.append(("through", torch.where(mask, getattr(x.grad, "get_data", lambda: x.grad)(), 0.0)))

check([(name, repr(value) if is_masked_tensor(value) else value) for name, value in results], __file__)
