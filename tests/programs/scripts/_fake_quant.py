"""Quantisation-aware training in Python: straight-through rounding, observers, folded batch norms, an integer check."""

import copy
from enum import Enum

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class Mode(Enum):
    FLOAT = "float"
    CALIBRATE = "calibrate"
    QUANTISE = "quantise"


class Round(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class FakeQuantise(Function):
    """Learned step size: gradients for the input inside the range, and for the scale everywhere."""

    @staticmethod
    def forward(ctx, x, scale, low, high):
        q = (x / scale).round().clamp(low, high)
        ctx.save_for_backward(x, scale)
        ctx.range = low, high
        return q * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        low, high = ctx.range
        v = x / scale
        inside = (v >= low) & (v <= high)
        for_scale = torch.where(inside, v.round() - v, v.clamp(low, high))
        factor = 1.0 / (x.numel() * high) ** 0.5
        return grad * inside, (grad * for_scale * factor).sum().reshape(scale.shape), None, None


class Observer(nn.Module):
    def __init__(self, bits=8, momentum=0.2):
        super().__init__()
        self.bits, self.momentum, self.mode = bits, momentum, Mode.FLOAT
        self.register_buffer("range", torch.tensor([0.0, 0.0]))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.mode is Mode.CALIBRATE:
            now = torch.stack(torch.aminmax(x.detach()))
            self.range = now if self.seen == 0 else torch.lerp(self.range, now, self.momentum)
            self.seen += 1
        if self.mode is Mode.QUANTISE:
            scale, zero = self.parameters_of()
            q = torch.clamp(Round.apply(x / scale) + zero, 0, 2**self.bits - 1)
            return (q - zero) * scale
        return x

    def parameters_of(self):
        low, high = self.range.clamp(max=0)[0], self.range.clamp(min=0)[1]
        scale = (high - low).clamp(min=1e-8) / (2**self.bits - 1)
        return scale, torch.round(-low / scale)


class QuantConvBN(nn.Module):
    def __init__(self, inputs, outputs, bits=4):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.observer, self.bits, self.mode = Observer(), bits, Mode.FLOAT

    def folded(self):
        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        return self.conv.weight * factor.view(-1, 1, 1, 1), self.bn.bias - self.bn.running_mean * factor

    def forward(self, x):
        if self.mode is not Mode.QUANTISE:
            return self.observer(F.relu(self.bn(self.conv(x))))
        weight, bias = self.folded()
        top = 2 ** (self.bits - 1)
        weight = FakeQuantise.apply(weight, self.scale, -top, top - 1)
        return self.observer(F.relu(F.conv2d(x, weight, bias, padding=1)))

    @torch.no_grad()
    def prepare(self):
        weight, _ = self.folded()
        self.scale.copy_(2 * weight.abs().mean() / (2 ** (self.bits - 1) - 1) ** 0.5)


class Net(nn.Module):
    def __init__(self, classes=4, bits=4):
        super().__init__()
        self.block1, self.block2 = QuantConvBN(1, 8, bits), QuantConvBN(8, 12, bits)
        self.fc = nn.Linear(12, classes)

    def forward(self, x):
        x = F.avg_pool2d(self.block1(x), 2)
        return self.fc(F.adaptive_avg_pool2d(self.block2(x), 1).flatten(1))

    def switch(self, mode):
        for module in self.modules():
            if hasattr(module, "mode"):
                module.mode = mode
        return self


def gratings(count):
    labels = torch.randint(0, 4, (count,))
    angle = labels * torch.pi / 4
    grid = torch.arange(10.0) - 4.5
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    phase = x * angle.cos().view(-1, 1, 1) + y * angle.sin().view(-1, 1, 1)
    return torch.sin(1.3 * phase).unsqueeze(1) + 0.4 * torch.randn(count, 1, 10, 10), labels


def epoch(model, data, optimizer):
    model.train()
    total = 0.0
    for x, y in zip(*(t.split(24) for t in data)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(data[0])


@torch.no_grad()
def test(model, data):
    logits = model.eval()(data[0])
    return f"{F.cross_entropy(logits, data[1]).item():.3f} {(logits.argmax(1) == data[1]).float().mean().item():.3f}"


def integer_block(block, x):
    """The same block with integers only, and one multiplication at the end."""
    weight, bias = block.folded()
    top = 2 ** (block.bits - 1)
    q = (weight / block.scale).round().clamp(-top, top - 1).to(torch.int8)
    step = x.abs().max() / 127
    xq = (x / step).round().to(torch.int8)
    sums = F.conv2d(xq.double(), q.double(), padding=1).to(torch.int32)
    out = F.relu(sums * (step * block.scale) + bias.view(-1, 1, 1))
    scale, zero = block.observer.parameters_of()
    return (torch.clamp((out / scale).round() + zero, 0, 255).to(torch.uint8).float() - zero) * scale


def main():
    torch.manual_seed(101)
    train, held_out = gratings(144), gratings(64)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, eps=1e-5)
    for i in range(4):
        print(f"float {i} loss {epoch(model, train, optimizer):.4f} test {test(model, held_out)}")
    model.switch(Mode.CALIBRATE)
    with torch.no_grad():
        for x in train[0].split(48):
            model.eval()(x)
    print("ranges", [[round(v, 2) for v in m.range.tolist()] for m in model.modules() if isinstance(m, Observer)])
    for block in (model.block1, model.block2):
        block.prepare()
    after = copy.deepcopy(model).switch(Mode.QUANTISE)
    print("rounded afterwards", test(after, held_out))
    model.switch(Mode.QUANTISE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for i in range(3):
        print(f"aware {i} loss {epoch(model, train, optimizer):.4f} test {test(model, held_out)}")
    with torch.no_grad():
        exact, whole = model.block1(held_out[0][:4]), integer_block(model.block1, held_out[0][:4])
    scales = [round(block.scale.item(), 3) for block in (model.block1, model.block2)]
    print(f"integers off by {(exact - whole).abs().mean().item():.2f}, scales {scales}")


if __name__ == "__main__":
    main()
