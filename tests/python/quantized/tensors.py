# run: --torch
# run: --torch --capture=off
"""Quantized tensors: what becomes of numbers, what is printed, and what ops give."""

import copy
import io
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

x = torch.tensor([[-1.0, 0.0, 0.5], [1.0, 2.0, 3.3]])
q = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
c = torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8)
image = torch.quantize_per_tensor(wave(1, 2, 4, 4).float(), 0.02, 100, torch.quint8)
many = wave(200).float() * 40
results = []
EXPRESSIONS = """
q | repr(c) | q.int_repr() | q.q_scale() | q.q_zero_point() | q.qscheme() | q.dtype | q.is_quantized | x.is_quantized | q.dequantize() | torch.dequantize(c)
c.int_repr() | c.q_per_channel_scales() | c.q_per_channel_zero_points() | c.q_per_channel_axis() | c.qscheme() | c[1] | c.t() | c.permute(1, 0).q_per_channel_axis()
torch.quantize_per_tensor(many, 0.3, 5, torch.qint8).int_repr() | torch.quantize_per_tensor(many, 0.013, 250, torch.quint8).int_repr()
torch.quantize_per_tensor(many, 1e-7, 3, torch.qint32).int_repr() | torch.quantize_per_tensor_dynamic(x, torch.quint8, False)
torch.quantize_per_tensor_dynamic(many, torch.qint8, True) | torch.quantize_per_tensor_dynamic(torch.zeros(2), torch.quint8, False).q_scale()
torch.quantize_per_channel(x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1.5, 2.0, 0.0]), 1, torch.quint8).int_repr()
q.shape | q.size(0) | q.numel() | q.dim() | q.stride() | q.is_contiguous() | len(q) | q.view(3, 2) | q.t() | q[0] | q[:, 1:] | q.reshape(-1) | q.flatten() | q.unsqueeze(0)
torch.relu(q) | F.relu(q) | F.relu6(q) | torch.clamp(q, 0.0, 1.0) | torch.sigmoid(q) | torch.tanh(q) | F.leaky_relu(q, 0.1) | torch.cat([q, q]) | torch.cat([q, q], 1)
q.max() | q.min() | q.mean() | q.sort()[0] | q.topk(2)[1] | q == q | q > 1.0 | torch.equal(q, q) | torch.equal(q, c) | q.clone() | q.detach() | q.permute(1, 0)
F.max_pool2d(image, 2) | F.avg_pool2d(image, 2) | F.adaptive_avg_pool2d(image, 1) | image.mean((2, 3)) | F.interpolate(image, scale_factor=2).shape
torch._make_per_tensor_quantized_tensor(torch.tensor([1, 2], dtype=torch.int8), 0.5, 1) | torch._empty_affine_quantized([2, 3], scale=0.1, zero_point=2, dtype=torch.qint8).shape
torch.quint8 | torch.per_channel_symmetric | torch.qscheme | isinstance(q, torch.Tensor) | isinstance(torch.qint8, torch.dtype) | copy.deepcopy(q) | x.dequantize()
torch.fake_quantize_per_tensor_affine(many[:10], 0.3, 5, -128, 127) | torch.quantize_per_tensor([x, x], torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), torch.quint8)[1]
"""
results.extend(outcomes(EXPRESSIONS, globals()))
REFUSED = """
q + q | torch.quantize_per_tensor(x, 0.1, 300, torch.quint8) | x.q_scale() | q.q_per_channel_scales() | c.q_scale() | torch.quantize_per_tensor(x.double(), 0.1, 3, torch.quint8)
torch.quantize_per_channel(x, torch.tensor([0.1]), torch.tensor([0]), 0, torch.qint8) | torch.sin(q)
"""
results.extend((text, str(error).split(" ")[0]) for text, error in outcomes(REFUSED, globals()))
buffer = io.BytesIO()
torch.save({"q": q, "c": c}, buffer)
buffer.seek(0)
results.append(("loaded", list(torch.load(buffer, weights_only=False).values())))
target = torch.quantize_per_tensor(torch.zeros(2, 3), 0.05, 3, torch.quint8)
target.copy_(x)
results.append(("copied", target))

leaf = wave(3, 4).float().requires_grad_()
for zero_point in (0, 3):
    y = torch.fake_quantize_per_tensor_affine(leaf, 0.2, zero_point, -3, 4)
    results.append(("rounded", [y, torch.autograd.grad((y * y).sum(), leaf)]))
scale, zero = torch.tensor([0.1, 0.2, 0.05]), torch.tensor([0, 1, 2], dtype=torch.int32)
y = torch.fake_quantize_per_channel_affine(leaf, scale, zero, 0, -8, 7)
results.append(("rounded by channel", [y, torch.autograd.grad((y * y).sum(), leaf)]))
for per_channel, symmetric in ((False, False), (False, True), (True, True), (True, False)):
    count = 3 if per_channel else 1
    low, high = torch.full((count,), float("inf")), torch.full((count,), float("-inf"))
    scale, zero = torch.ones(count), torch.zeros(count, dtype=torch.int32)
    on = torch.tensor([1])
    for i in range(3):
        y = torch.fused_moving_avg_obs_fake_quant(leaf * (i + 1), on, on, low, high, scale, zero, 0.1, -128, 127, 0, per_channel, symmetric)
    results.append(("fused", [y, low, high, scale, zero, torch.autograd.grad(y.sum(), leaf)]))



def shown(value):
    if isinstance(value, torch.Tensor) and value.is_quantized:
        return [repr(value), value.int_repr()]
    return type(value)(map(shown, value)) if type(value) in (list, tuple) else value


check([(name, shown(value)) for name, value in results], __file__)
