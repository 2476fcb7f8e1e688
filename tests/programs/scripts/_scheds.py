"""Every schedule of the learning rate, stepped inside the training function."""
import math

import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


S = torch.optim.lr_scheduler
makers = dict(
    step=lambda o: S.StepLR(o, 3, 0.5),
    multi=lambda o: S.MultiStepLR(o, [2, 5, 9]),
    exp=lambda o: S.ExponentialLR(o, 0.9),
    cos=lambda o: S.CosineAnnealingLR(o, 10, 0.01),
    lin=lambda o: S.LinearLR(o, 0.3, 1.0, 5),
    const=lambda o: S.ConstantLR(o, 0.5, 4),
    one=lambda o: S.OneCycleLR(o, 0.5, total_steps=20),
    cyc=lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=3, cycle_momentum=False),
    warm=lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2),
    poly=lambda o: S.PolynomialLR(o, 10, 2.0),
    seq=lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 4), S.ExponentialLR(o, 0.8)], [4]),
    chain=lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9)]),
    mult=lambda o: S.MultiplicativeLR(o, lambda e: 0.95),
)
for name, make in makers.items():
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1, momentum=0.5)
    s = make(opt)

    def f(x):
        loss = ((w * x) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        s.step()
        return loss
    lrs = []
    for i in range(14):
        f(data(i, 2))
        lrs.append(f'{s.get_last_lr()[0]:.4g}')
    print(name, lrs)
    show('w', w)
