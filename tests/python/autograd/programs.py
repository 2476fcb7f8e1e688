# run: --torch
# run: --torch --capture=off
# run: --torch --capture=frame
"""What people do with gradients: attacks, explanations, adversaries, quantisation, meta learning, as PyTorch computes it."""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []


def show(name, *values):
    items.append((name, [v.detach().double().sum().item() if isinstance(v, torch.Tensor) else v for v in values]))


def filled(module, scale=0.5):
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(torch.sin(torch.arange(float(p.numel())) * 0.7 + i).view_as(p) * scale)
    return module


def waves(*sizes, at=0):
    count = 1
    for size in sizes:
        count *= size
    return torch.cos(torch.arange(float(count)).view(sizes) * (at + 1) / 3 + at)


def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class SwishFunction(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * (s * (1 + x * (1 - s)))


class Swish(nn.Module):
    def forward(self, x):
        return SwishFunction.apply(x)


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g, None


class Quantise(Function):
    """Learned step size: the gradient goes to the weight and to the step."""

    @staticmethod
    def forward(ctx, x, size, low, high):
        ctx.save_for_backward(x, size)
        ctx.bounds = low, high
        return (x / size).round().clamp(low, high) * size

    @staticmethod
    def backward(ctx, g):
        x, size = ctx.saved_tensors
        low, high = ctx.bounds
        q = x / size
        below, above = (q < low).float(), (q > high).float()
        inside = 1 - below - above
        change = below * low + above * high + inside * (q.round() - q)
        return g * inside, (change * g).sum().view_as(size) / (x.numel() * high) ** 0.5, None, None


class Affine(Function):
    @staticmethod
    def forward(x, w, b):
        return x.mm(w.t()) + b

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, _ = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return g.mm(w) if needs[0] else None, g.t().mm(x) if needs[1] else None, g.sum(0) if needs[2] else None


class Split(Function):
    @staticmethod
    def forward(ctx, x, n):
        return x[:n].clone(), x[n:].clone()

    @staticmethod
    def backward(ctx, a, b):
        return torch.cat([a, b]), None


def activation_of_their_own():
    net = filled(nn.Sequential(nn.Linear(4, 8), Swish(), nn.Linear(8, 8), Swish(), nn.Linear(8, 2)))
    optimizer = torch.optim.RMSprop(net.parameters(), 1e-2)
    for i in range(12):
        loss = net(waves(3, 4, at=i)).square().mean()
        step(optimizer, loss)
        show("swish", loss)
    return net


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution, self.linear = nn.Conv2d(1, 3, 3, padding=1), nn.Linear(3, 2)

    def forward(self, x):
        activation = F.relu(self.convolution(x))
        return activation, self.linear(activation.mean((2, 3)))


def class_activation_maps():
    net = filled(Classifier())
    for i in range(9):
        activation, logits = net(waves(2, 1, 4, 4, at=i))
        score = logits[:, 1].sum()
        if i % 3 == 0:
            activation.retain_grad()
            score.backward()
            gradient = activation.grad
        elif i % 3 == 1:
            (gradient,) = torch.autograd.grad(score, activation)
        else:
            seen = []
            activation.register_hook(seen.append)
            score.backward()
            (gradient,) = seen
        show("map", gradient, (gradient.mean((2, 3), keepdim=True) * activation).sum(1).relu())


def integrated_gradients(net, x, steps=4):
    total = torch.zeros_like(x)
    for k in range(1, steps + 1):
        point = (x * k / steps).requires_grad_()
        total += torch.autograd.grad(net(point).sum(), point)[0]
    return x * total / steps


def attack(net, x, y, size, steps):
    change = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        F.cross_entropy(net(x + change), y).backward()
        change.data = (change + size / 2 * change.grad.detach().sign()).clamp(-size, size)
        change.grad.zero_()
    return change.detach()


class Adversary(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.label, self.domain = nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, x, strength):
        h = self.features(x)
        return self.label(h), self.domain(Reverse.apply(h, strength)).squeeze(-1)


def domains():
    net = filled(Adversary())
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    for i in range(12):
        label, domain = net(waves(8, 4, at=i), i / 12)
        loss = F.cross_entropy(label, torch.arange(8) % 2)
        loss = loss + F.binary_cross_entropy_with_logits(domain, (torch.arange(8) > 3).float())
        step(optimizer, loss)
        show("domains", loss)


def penalty(critic, real, fake, weights):
    between = (weights * real + (1 - weights) * fake).requires_grad_(True)
    out = critic(between)
    (g,) = torch.autograd.grad(out, between, torch.ones_like(out), create_graph=True, retain_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


def wasserstein():
    critic = filled(nn.Sequential(nn.Linear(5, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(critic.parameters(), 1e-2, betas=(0.5, 0.9))
    for i in range(10):
        real, fake = waves(6, 5, at=i), waves(6, 5, at=i + 7)
        weights = (torch.arange(6.0).view(6, 1) + 0.5) / 6
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake, weights)
        step(optimizer, loss)
        show("critic", loss)


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.size = nn.Linear(4, 4), nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        return F.linear(x, Quantise.apply(self.linear.weight, self.size, -8, 7), self.linear.bias)


def quantisation():
    net = filled(nn.Sequential(Quantised(), nn.ReLU(), Quantised()))
    with torch.no_grad():
        net[0].size.fill_(0.1)
        net[2].size.fill_(0.12)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for i in range(10):
        loss = (net(waves(2, 4, at=i)) - 1).square().mean()
        step(optimizer, loss)
        show("quantised", loss, net[0].size, net[2].size)


def affine():
    w, b = torch.linspace(-1, 1, 6).view(2, 3).requires_grad_(), torch.zeros(2, requires_grad=True)

    def f(x):
        return Affine.apply(torch.tanh(Affine.apply(x, w, b)) @ w, w, b).sum()

    for i in range(9):
        w.grad = b.grad = None
        b.requires_grad_(i % 3 != 0)
        f(waves(2, 3, at=i)).backward()
        show("affine", w.grad, b.grad)


def halves():
    def one(x):
        a, b = Split.apply(x * 2, 2)
        return a.sum() ** 2

    def both(x):
        a, b = Split.apply(x * 2, 2)
        return a.sum() ** 2 + b.prod()

    for i in range(10):
        x = (torch.arange(5.0) + i).requires_grad_()
        (one if i % 2 else both)(x).backward()
        items.append(("halves", x.grad))


def hooks():
    log = []

    def f(x, w, bound):
        h = x @ w
        h.register_hook(lambda g: log.append(g.sum().item()))
        k = torch.tanh(h)
        k.register_hook(lambda g: g.clamp(-bound, bound))
        return (k * h).sum()

    for i in range(10):
        w = torch.linspace(-1, 1, 6).view(3, 2).requires_grad_()
        f(waves(2, 3, at=i), w, 0.1 * i).backward()
        show("hooks", w.grad)
    items.append(("log", log))


def meta_learning():
    sizes = ((4, 2), (4,), (1, 4), (1,))
    parameters = [waves(*s).mul(0.4).requires_grad_() for s in sizes]
    optimizer = torch.optim.Adam(parameters, 1e-2)

    def net(x, p):
        return F.linear(torch.tanh(F.linear(x, p[0], p[1])), p[2], p[3])

    def adapted(p, x, y, steps, rate):
        for _ in range(steps):
            gradients = torch.autograd.grad(F.mse_loss(net(x, p), y), p, create_graph=True)
            p = [q - rate * g for q, g in zip(p, gradients)]
        return p

    for i in range(8):
        optimizer.zero_grad()
        for task in range(2):
            x = waves(4, 2, at=task + i)
            y = x.sum(1, keepdim=True) * (task + 1)
            loss = F.mse_loss(net(x[2:], adapted(parameters, x[:2], y[:2], 2, 0.1)), y[2:])
            loss.backward()
            show("meta", loss)
        optimizer.step()


def curvature():
    def product(f, x, v):
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        return torch.autograd.grad((g * v).sum(), x)[0]

    for i in range(8):
        x = torch.linspace(0, 1, 4).requires_grad_()
        items.append(("hessian", product(lambda x: (x**3).sum() * (i + 1) + x.prod(), x, torch.ones(4))))


net = activation_of_their_own()
for i in range(6):
    show("integrated", integrated_gradients(net, waves(3, 4, at=i)))
    show("attack", attack(net, waves(3, 4, at=i), torch.arange(3) % 2, 0.1, 3))
for part in (class_activation_maps, domains, wasserstein, quantisation, affine, halves, hooks, meta_learning, curvature):
    part()
check(items, __file__)
