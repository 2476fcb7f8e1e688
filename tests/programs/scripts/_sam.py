"""Sharpness-aware minimisation: an optimizer around an optimizer, label smoothing, mixup, frozen running statistics."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, adaptive=False, **kwargs):
        assert rho >= 0.0, f"Invalid rho, should be non-negative: {rho}"
        super().__init__(params, dict(rho=rho, adaptive=adaptive, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = self._grad_norm()
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                climb = (torch.pow(p, 2) if group["adaptive"] else 1.0) * p.grad * scale.to(p)
                p.add_(climb)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        assert closure is not None, "Sharpness Aware Minimization requires closure, but it was not provided"
        closure = torch.enable_grad()(closure)
        self.first_step(zero_grad=True)
        closure()
        self.second_step()

    def _grad_norm(self):
        return torch.norm(
            torch.stack([
                ((torch.abs(p) if group["adaptive"] else 1.0) * p.grad).norm(p=2)
                for group in self.param_groups for p in group["params"] if p.grad is not None
            ]), p=2,
        )  # fmt: skip

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        self.base_optimizer.param_groups = self.param_groups


def disable_running_stats(model):
    def _disable(module):
        if isinstance(module, nn.BatchNorm2d):
            module.backup_momentum = module.momentum
            module.momentum = 0

    model.apply(_disable)


def enable_running_stats(model):
    def _enable(module):
        if isinstance(module, nn.BatchNorm2d) and hasattr(module, "backup_momentum"):
            module.momentum = module.backup_momentum

    model.apply(_enable)


class BasicUnit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.block = nn.Sequential(
            nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.Conv2d(channels, channels, 3, padding=1, bias=False),
        )  # fmt: skip

    def forward(self, x):
        return x + self.block(x)


class WideNet(nn.Module):
    def __init__(self, classes, width=8):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False), BasicUnit(width), nn.AvgPool2d(2), BasicUnit(width),
            nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(width, classes),
        )  # fmt: skip
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_in", nonlinearity="relu")
            elif isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.f(x)


def smooth_crossentropy(pred, gold, smoothing=0.1):
    classes = pred.size(1)
    one_hot = torch.full_like(pred, fill_value=smoothing / (classes - 1))
    one_hot.scatter_(dim=1, index=gold.unsqueeze(1), value=1.0 - smoothing)
    return F.kl_div(input=F.log_softmax(pred, dim=1), target=one_hot, reduction="none").sum(-1)


def mixup(x, y, alpha=0.2):
    lam = np.random.beta(alpha, alpha) if alpha > 0 else 1
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index, :], y, y[index], lam


class StepLR:
    def __init__(self, optimizer, learning_rate, total_epochs):
        self.optimizer, self.total_epochs, self.base = optimizer, total_epochs, learning_rate

    def __call__(self, epoch):
        lr = self.base * (1 if epoch < self.total_epochs * 0.5 else 0.2)
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    def lr(self):
        return self.optimizer.param_groups[0]["lr"]


def stripes(count):
    """Class k: stripes of period k + 2 in a random channel."""
    labels = torch.randint(0, 4, (count,))
    wave = torch.sin(torch.arange(10.0) * 2 * np.pi / (labels[:, None] + 2))
    images = 0.3 * torch.randn(count, 3, 10, 10)
    images[torch.arange(count), torch.randint(0, 3, (count,))] += wave[:, None, :]
    return images, labels


def main():
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    train, test = stripes(128), stripes(48)
    for adaptive in (False, True):
        model = WideNet(4)
        optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.5 if adaptive else 0.05, adaptive=adaptive,
                        lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)  # fmt: skip
        scheduler = StepLR(optimizer, 0.05, 4)
        for epoch in range(4):
            model.train()
            total = correct = 0
            for x, y in zip(train[0].split(32), train[1].split(32)):
                mixed, a, b, lam = mixup(x, y)
                criterion = lambda p: lam * smooth_crossentropy(p, a) + (1 - lam) * smooth_crossentropy(p, b)
                enable_running_stats(model)
                predictions = model(mixed)
                loss = criterion(predictions)
                loss.mean().backward()
                optimizer.first_step(zero_grad=True)
                disable_running_stats(model)
                criterion(model(mixed)).mean().backward()
                optimizer.second_step(zero_grad=True)
                with torch.no_grad():
                    correct += (torch.argmax(predictions.data, 1) == y).sum().item()
                    total += loss.sum().item()
            scheduler(epoch + 1)
            model.eval()
            with torch.no_grad():
                wrong = smooth_crossentropy(model(test[0]), test[1]).mean().item()
            print(f"{'adaptive' if adaptive else 'plain'} {epoch} loss {total / 128:.4f} right {correct} "
                  f"test {wrong:.4f} lr {scheduler.lr():.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
