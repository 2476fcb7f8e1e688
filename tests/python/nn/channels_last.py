# run: --torch
# run: --torch --capture=off
"""Models over images that lie channels last: strides of results, parameters, gradients and optimizer state as PyTorch's,
numbers as those of the same model over rows."""

import copy
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")
last, last3d = torch.channels_last, torch.channels_last_3d

LAYERS = {
    "conv": nn.Conv2d(4, 6, 3, padding=1), "strided": nn.Conv2d(4, 2, 3, stride=2, bias=False), "pointwise": nn.Conv2d(4, 6, 1),
    "grouped": nn.Conv2d(4, 8, 3, groups=2, dilation=2, padding=2), "depthwise": nn.Conv2d(4, 4, 3, groups=4), "transposed": nn.ConvTranspose2d(4, 3, 2, stride=2),
    "to one channel": nn.Conv2d(4, 1, 1), "batch norm": nn.BatchNorm2d(4), "batch norm, tested": nn.BatchNorm2d(4).eval(), "group norm": nn.GroupNorm(2, 4),
    "instance norm": nn.InstanceNorm2d(4), "relu": nn.ReLU(), "relu in place": nn.Sequential(nn.Hardswish(), nn.ReLU(inplace=True)), "gelu": nn.GELU(), "prelu": nn.PReLU(4),
    "max pool": nn.MaxPool2d(3, 2, 1), "average pool": nn.AvgPool2d(2), "adaptive": nn.AdaptiveAvgPool2d((3, 2)), "to a pixel": nn.AdaptiveAvgPool2d(1),
    "adaptive max": nn.AdaptiveMaxPool2d(2), "nearest": nn.Upsample(scale_factor=2), "bilinear": nn.Upsample(size=(5, 7), mode="bilinear"),
    "bicubic": nn.Upsample(size=(9, 4), mode="bicubic", align_corners=True), "padded": nn.ZeroPad2d(1), "dropout": nn.Dropout(0.5).eval(),
    "dropout of channels": nn.Dropout2d(0.5), "flattened": nn.Flatten(), "shuffled": nn.PixelShuffle(2), "softmax": nn.Softmax(1), "identity": nn.Identity(),
}  # fmt: skip
FUNCTIONS = {
    "scaled": lambda x: x * 2 + 1, "residual": lambda x: F.relu(x + x), "scaled by channel": lambda x: x * torch.arange(4.0).view(4, 1, 1),
    "attention": lambda x: x * torch.sigmoid(F.adaptive_avg_pool2d(x, 1)), "joined": lambda x: torch.cat([x, x * 2], 1),
    "split": lambda x: torch.cat(x.chunk(2, 1)[::-1], 1), "normalized": lambda x: F.normalize(x), "biggest": lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
    "head": lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1), "as rows": lambda x: x.contiguous(), "turned": lambda x: x.flip(3), "of bytes": lambda x: x.to(torch.uint8),
}  # fmt: skip


def images(*size):
    return wave(*size).float()


def strides_of_layers():
    x = images(2, 4, 6, 5)
    for name, layer in LAYERS.items():
        plain, other = copy.deepcopy(layer), layer.to(memory_format=last)
        results = []
        for weights, input in ((plain, x), (other, x), (plain, x.to(memory_format=last)), (other, x.to(memory_format=last))):
            torch.manual_seed(2)
            input = input.clone().requires_grad_()
            result = copy.deepcopy(weights)(input)
            shifted = result * 1
            shifted.backward(torch.ones_like(shifted))
            results.append((result, input.grad))
        yield name, [result.stride() for result, _ in results]
        yield "  gradients", [gradient.stride() for _, gradient in results]
        if name == "dropout of channels":
            continue
        for result, gradient in results[1:]:
            assert torch.allclose(result, results[0][0], atol=1e-5), name
            assert torch.allclose(gradient, results[0][1], atol=1e-4), name
    for name, function in FUNCTIONS.items():
        result = function(x.to(memory_format=last))
        assert torch.equal(result, function(x)) or torch.allclose(result, function(x), atol=1e-5), name
        yield name, result.stride()


def small():
    torch.manual_seed(4)
    block = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
            self.block, self.pool, self.head = block, nn.AdaptiveAvgPool2d(1), nn.Linear(4, 3)

        def forward(self, x, seen=None):
            x = self.stem(x)
            y = F.relu(self.block(x) + x)
            z = self.pool(y)
            if seen is not None:
                seen += [t.stride() for t in (x, y, z)]
            return self.head(torch.flatten(z, 1))

    return Net()


def training():
    """The same steps in both layouts."""
    nets = [small(), small().to(memory_format=last)]
    losses = [[], []]
    for kind in (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.optim.Adam):
        optimizers = [kind(net.parameters()) for net in nets]
        for step in range(8):
            for i, (net, optimizer) in enumerate(zip(nets, optimizers)):
                x = images(2, 3, 16, 16) * (step + 1) * 0.3
                optimizer.zero_grad()
                loss = F.cross_entropy(net(x.to(memory_format=last) if i else x), torch.tensor([1, 2]))
                loss.backward()
                optimizer.step()
                losses[i].append(loss.item())
        weight = nets[1].stem[0].weight
        state = optimizers[1].state[weight]
        yield "strides of weight, gradient and state", [
            t.stride() for t in (weight, weight.grad, *[v for v in state.values() if isinstance(v, torch.Tensor) and v.dim() > 0])
        ]
    assert all(abs(a - b) < 1e-3 for a, b in zip(*losses)), losses
    yield "losses", [round(loss, 3) for loss in losses[0]]
    for net in nets:
        seen = []
        net.eval()(images(2, 3, 16, 16).to(memory_format=last if net is nets[1] else torch.contiguous_format), seen)
        yield "inside", seen


def weights():
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Conv2d(4, 2, (3, 2)), nn.Linear(2, 2))
    for format in (last, torch.preserve_format, torch.contiguous_format, last):
        model.to(memory_format=format)
        yield "weights", [(name, t.stride()) for name, t in model.state_dict().items()]
    model.to(torch.float64)
    yield "of float64", model[0].weight.stride()
    model.load_state_dict(nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Conv2d(4, 2, (3, 2)), nn.Linear(2, 2)).double().state_dict())
    yield "loaded", model[2].weight.stride()
    yield "copied", copy.deepcopy(model)[2].weight.stride()
    converted = nn.utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.Conv2d(2, 2, 2), nn.Conv3d(2, 2, 2)), last)
    yield "converted", [p.stride() for p in converted.parameters()]
    try:
        nn.Conv3d(1, 1, 1).to(memory_format=last)
    except RuntimeError as error:
        yield "of volumes", error


def volumes():
    x = images(2, 4, 4, 6, 5)
    for name, layer in {"conv": nn.Conv3d(4, 3, 2), "norm": nn.BatchNorm3d(4), "max": nn.MaxPool3d(2), "mean": nn.AvgPool3d(2), "pixel": nn.AdaptiveAvgPool3d(1)}.items():
        expected = layer(x)
        result = layer(x.to(memory_format=last3d))
        assert torch.allclose(result, expected, atol=1e-5), name
        yield f"volume, {name}", [expected.stride(), result.stride()]


check([*strides_of_layers(), *training(), *weights(), *volumes()], __file__)
