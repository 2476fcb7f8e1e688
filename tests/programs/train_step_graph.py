# run: --torch TERRA_EXACT=1
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=assert=*@2
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=op=*@5
# run: --torch TERRA_EXACT=1 --capture=verify
"""A train_step function with everything that changes state: running statistics, dropout, a counter in forward, weight
decay, momentum, eval and train between epochs, a smaller last batch, saving and loading."""

import io
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _compare import bits, check  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.drop = nn.Dropout(0.25)
        self.second = nn.Linear(16, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = F.relu(self.norm(self.first(x)))
        return self.second(self.drop(x))


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    return loss


def training(make_optimizer):
    def program():
        torch.manual_seed(3)
        model = Net()
        opt = make_optimizer(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
        x, lines = torch.randn(44, 6), []
        y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
        for epoch in range(4):
            model.train()
            for start in range(0, 44, 8):
                loss = train_step(model, opt, x[start : start + 8], y[start : start + 8])
                lines.append(f"{epoch} {start} {bits(loss)} {model.calls} {int(model.norm.num_batches_tracked)}")
            scheduler.step()
            model.eval()
            with torch.no_grad():
                lines.append(f"eval {epoch} {bits(model(x[:10]))}")
        for name, value in model.state_dict().items():
            lines.append(f"{name} {bits(value)}")
        file = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": opt.state_dict()}, file)
        file.seek(0)
        saved = torch.load(file)
        again = Net()
        again.load_state_dict(saved["model"])
        again.eval()
        lines.append(f"loaded {bits(again(x[:4]))} {bits(torch.rand(2))}")
        return lines

    program.__name__ = make_optimizer.__name__
    return program


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.01, weight_decay=0.01)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=0.01)


for optimizer in (sgd, adam, adamw):
    check(training(optimizer), replays=12)
print("3 passed")
