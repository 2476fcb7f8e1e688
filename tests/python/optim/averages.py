# run: --torch --capture=off
# run: --torch
"""Averaged weights: AveragedModel by each way of averaging, SWALR, update_bn; GradScaler's scale over steps."""

import pathlib
import sys
import warnings

import torch
import torch.nn as nn
from torch.optim import swa_utils

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
items = []
x = torch.arange(24.0).view(8, 3).sin()
WAYS = {
    "swa": {}, "ema": {"avg_fn": swa_utils.get_ema_avg_fn(0.9)}, "multi": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.8)},
    "mean": {"avg_fn": swa_utils.get_swa_avg_fn()}, "buffers": {"avg_fn": swa_utils.get_ema_avg_fn(0.7), "use_buffers": True},
}  # fmt: skip
for name, options in WAYS.items():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    averaged = swa_utils.AveragedModel(net, **options)
    for _ in range(4):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
        averaged.update_parameters(net)
    for key, value in averaged.state_dict().items():
        items.append((f"{name} {key}", value))
    swa_utils.update_bn([x[:4], [x[4:]]], averaged)
    items.append((f"{name} after update_bn", (averaged.module[1].running_mean, averaged.module[1].momentum, averaged.eval()(x).sum())))

for strategy, epochs in (("cos", 4), ("linear", 4), ("cos", 0)):
    optimizer = torch.optim.SGD([{"params": [nn.Parameter(torch.ones(1))]}, {"params": [nn.Parameter(torch.ones(1))], "lr": 0.2}], 0.5)
    scheduler = swa_utils.SWALR(optimizer, 0.05, anneal_epochs=epochs, anneal_strategy=strategy)
    rates = [scheduler.get_last_lr()]
    for _ in range(6):
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr())
    items.append((f"SWALR {strategy} {epochs}", rates))

w = nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([w], 0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
for factor in (1.0, 2.0, float("inf"), 1.0):
    optimizer.zero_grad()
    scaler.scale((w * factor).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    items.append((f"scaler {factor}", (scaler.get_scale(), w)))
items.append(("state", sorted(scaler.state_dict().items())))
items.append(("off", (torch.cuda.amp.GradScaler().is_enabled(), torch.amp.GradScaler("cuda").get_scale())))


def error(run):
    try:
        run()
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:50]}"


items.append(("both", error(lambda: swa_utils.AveragedModel(w, avg_fn=len, multi_avg_fn=len))))
items.append(("decay", error(lambda: swa_utils.get_ema_avg_fn(2))))
items.append(("strategy", error(lambda: swa_utils.SWALR(optimizer, 0.1, anneal_strategy="no"))))
items.append(("no inf checks", error(lambda: scaler.update())))
check(items, __file__)
