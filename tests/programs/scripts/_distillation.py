"""Knowledge distillation: soft targets, features matched through hooks, attention transfer; the teacher is an EMA."""

import argparse
import logging
import sys
from contextlib import ExitStack

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")


class FeatureHook:
    """Keeps what a module returned last; a context that removes itself."""

    def __init__(self, module):
        self.handle = module.register_forward_hook(self.hook)
        self.output = None

    def hook(self, module, inputs, output):
        self.output = output

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.handle.remove()


def convnet(widths, classes):
    net, inputs = nn.Sequential(), 1
    for i, width in enumerate(widths, start=1):
        net.add_module(f"conv{i}", nn.Conv2d(inputs, width, 3, stride=1 if i == 1 else 2, padding=1, bias=False))
        net.add_module(f"norm{i}", nn.BatchNorm2d(width))
        net.add_module(f"act{i}", nn.Hardswish())
        inputs = width
    net.add_module("pool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("flatten", nn.Flatten())
    net.add_module("fc", nn.Linear(inputs, classes))
    return net


class DistillationLoss(nn.Module):
    def __init__(self, temperature=4.0, alpha=0.7):
        super().__init__()
        self.temperature, self.alpha = temperature, alpha
        self.kl = nn.KLDivLoss(reduction="batchmean", log_target=True)

    def forward(self, student, teacher, labels):
        T = self.temperature
        soft = self.kl(F.log_softmax(student / T, 1), F.log_softmax(teacher / T, 1)) * (T * T)
        hard = F.cross_entropy(student, labels)
        return self.alpha * soft + (1.0 - self.alpha) * hard, soft.item(), hard.item()


def attention(feature):
    return F.normalize(feature.pow(2).mean(1).flatten(1))


def draw(count, generator):
    """Stripes, as far apart as the class says."""
    labels = torch.randint(0, 5, (count,), generator=generator)
    images = 0.4 * torch.randn(count, 1, 10, 10, generator=generator)
    for image, label in zip(images, labels.tolist()):
        image[0, label % 2 :: label // 2 + 2] += 1.0
        image[0, :, :: label + 1] -= 0.5
    return TensorDataset(images, labels)


def evaluate(model, loader):
    model.eval()
    with torch.inference_mode():
        hits = [(model(x).argmax(dim=1) == y).float().mean() for x, y in loader]
    return torch.stack(hits).mean().item()


def pretrain(teacher, loader, epochs):
    averaged = AveragedModel(teacher, multi_avg_fn=get_ema_multi_avg_fn(0.8), use_buffers=True)
    optimizer = torch.optim.SGD(teacher.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for _ in range(epochs):
        teacher.train()
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(teacher(x), y, label_smoothing=0.1).backward()
            optimizer.step()
            averaged.update_parameters(teacher)
    return averaged.module


def distill(student, teacher, loader, test, args):
    criterion = DistillationLoss(args.temperature)
    adapt = nn.Conv2d(12, 12, 1)
    optimizer = torch.optim.NAdam([*student.parameters(), *adapt.parameters()], lr=args.lr, eps=1e-5)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=0)
    teacher.eval().requires_grad_(False)
    with ExitStack() as stack:
        taught, learned = (stack.enter_context(FeatureHook(net.act2)) for net in (teacher, student))
        for epoch in range(args.epochs):
            student.train()
            sums = [0.0] * 4
            for x, y in loader:
                with torch.no_grad():
                    wanted = teacher(x)
                loss, soft, hard = criterion(student(x), wanted, y)
                hint = F.mse_loss(adapt(learned.output), taught.output)
                transfer = (attention(learned.output) - attention(taught.output)).pow(2).mean()
                loss = loss + args.beta * hint + args.gamma * transfer
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                sums = [total + value for total, value in zip(sums, (loss.item(), soft, hard, hint.item()))]
            score = evaluate(student, test)
            plateau.step(score)
            numbers = " ".join(f"{s / len(loader):.4f}" for s in sums)
            log.info("epoch %d: %s accuracy %.3f lr %g", epoch, numbers, score, optimizer.param_groups[0]["lr"])
    log.info("hooks left: %d %d", len(teacher.act2._forward_hooks), len(student.act2._forward_hooks))


def main():
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--temperature", "-T", type=float, default=4.0)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--gamma", type=float, default=5.0)
    args = parser.parse_args()
    torch.manual_seed(8)
    generator = torch.Generator()
    generator.manual_seed(80)
    loader = DataLoader(draw(160, generator), batch_size=32, shuffle=True, generator=generator)
    test = DataLoader(draw(64, generator), batch_size=32)
    teacher = pretrain(convnet((12, 12, 24), 5), loader, 4)
    log.info("teacher %.3f", evaluate(teacher, test))
    distill(convnet((6, 12), 5), teacher, loader, test, args)


if __name__ == "__main__":
    main()
