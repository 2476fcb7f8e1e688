"""Contrastive self-supervision: two views per image, NT-Xent, a momentum queue, LARS by hand, then a linear probe."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TwoViews:
    """Random crop, flip, brightness, noise: each call draws two."""

    def __init__(self, size=12):
        self.size = size

    def view(self, image):
        top, left = (torch.randint(0, image.size(i) - self.size + 1, (1,)).item() for i in (1, 2))
        image = image[:, top : top + self.size, left : left + self.size]
        if torch.rand(1) < 0.5:
            image = image.flip(-1)
        return image * torch.empty(1).uniform_(0.7, 1.3) + 0.05 * torch.randn_like(image)

    def __call__(self, image):
        return self.view(image), self.view(image)


class Textures(Dataset):
    def __init__(self, count, transform=None):
        self.labels = torch.arange(count) % 4
        grid = torch.arange(14.0)
        horizontal, vertical = torch.sin(grid * 1.2)[:, None], torch.sin(grid * 2.4)[None]
        kinds = [horizontal.expand(14, 14), vertical.expand(14, 14), horizontal * vertical, horizontal + vertical]
        self.images = torch.stack(kinds)[self.labels].unsqueeze(1) + 0.3 * torch.randn(count, 1, 14, 14)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        return (self.transform(image) if self.transform else image), self.labels[i]


class SimCLR(nn.Module):
    def __init__(self, width=12, out=8):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1),
            nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(),
        )  # fmt: skip
        self.projector = nn.Sequential(nn.Linear(4 * width, 24), nn.ReLU(), nn.Linear(24, out))

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


class LARS(torch.optim.Optimizer):
    """Momentum, with a rate per tensor: the norm of the weights over that of the gradient."""

    def __init__(self, params, lr, momentum=0.9, weight_decay=1e-4, trust=0.02):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, trust=trust))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                update = p.grad
                if p.ndim > 1:
                    update = update.add(p, alpha=group["weight_decay"])
                    weight_norm, update_norm = p.norm(), update.norm()
                    one = torch.ones_like(weight_norm)
                    ratio = torch.where(update_norm > 0, group["trust"] * weight_norm / update_norm, one)
                    update = update.mul(torch.where(weight_norm > 0, ratio, one))
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                state["mu"].mul_(group["momentum"]).add_(update)
                p.add_(state["mu"], alpha=-group["lr"])


def nt_xent(a, b, temperature=0.5):
    features = torch.cat([a, b])
    similarity = features @ features.T / temperature
    similarity.fill_diagonal_(-math.inf)
    n = a.size(0)
    target = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(similarity, target)


class Queue(nn.Module):
    def __init__(self, dim, length=64):
        super().__init__()
        self.register_buffer("keys", F.normalize(torch.randn(dim, length), dim=0))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def push(self, keys):
        at = int(self.pointer)
        self.keys[:, at : at + keys.shape[0]] = keys.T
        self.pointer[0] = (at + keys.shape[0]) % self.keys.shape[1]

    def loss(self, query, key, temperature=0.2):
        positive = torch.einsum("nc,nc->n", [query, key]).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", [query, self.keys.clone().detach()])
        logits = torch.cat([positive, negative], dim=1) / temperature
        return F.cross_entropy(logits, torch.zeros(logits.shape[0], dtype=torch.long))


@torch.no_grad()
def momentum_update(slow, fast, m):
    for p_slow, p_fast in zip(slow.parameters(), fast.parameters()):
        p_slow.data = p_slow.data * m + p_fast.data * (1.0 - m)


def cosine(step, total, base, warm_up=4):
    if step < warm_up:
        return base * (step + 1) / warm_up
    return base * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (total - warm_up)))


def linear_probe(model, data):
    model.eval()
    with torch.no_grad():
        features = model.backbone(data.images[:, :, 1:13, 1:13])
    probe = nn.Linear(features.size(1), 4)
    nn.init.zeros_(probe.weight)
    optimizer = torch.optim.LBFGS(probe.parameters(), lr=0.5, max_iter=8)
    half = len(features) // 2

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(probe(features[:half]), data.labels[:half]) + 1e-3 * probe.weight.pow(2).sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    right = (probe(features[half:]).argmax(1) == data.labels[half:]).float().mean()
    return loss.item(), closure().item(), right.item()


def main():
    torch.manual_seed(12)
    data = Textures(96, TwoViews())
    loader = DataLoader(data, batch_size=16, shuffle=True, drop_last=True)
    model = SimCLR()
    slow = copy.deepcopy(model).requires_grad_(False)
    queue = Queue(8)
    optimizer = LARS(model.parameters(), lr=1.0)
    epochs, step = 5, 0
    for epoch in range(epochs):
        model.train()
        total = memory = 0.0
        for (a, b), _ in loader:
            for group in optimizer.param_groups:
                group["lr"] = cosine(step, epochs * len(loader), 1.0)
            query, other = model(a), model(b)
            with torch.no_grad():
                momentum_update(slow, model, 0.9)
                key = slow(b)
            contrast, queued = nt_xent(query, other), queue.loss(query, key)
            optimizer.zero_grad(set_to_none=True)
            (contrast + 0.5 * queued).backward()
            optimizer.step()
            queue.push(key)
            total, memory, step = total + contrast.item(), memory + queued.item(), step + 1
        total, memory = total / len(loader), memory / len(loader)
        print(f"epoch {epoch} nt-xent {total:.4f} queue {memory:.4f} at {queue.pointer.item()}")
    print("probe: loss before %.4f after %.4f accuracy %.3f" % linear_probe(model, data))


if __name__ == "__main__":
    main()
