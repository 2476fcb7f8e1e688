"""Residual blocks with batch normalisation, a smaller last batch, evaluation between epochs."""
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(5)


class B(nn.Module):

    def __init__(s, i, o, st=1):
        super().__init__()
        s.c1 = nn.Conv2d(i, o, 3, st, 1, bias=False)
        s.b1 = nn.BatchNorm2d(o)
        s.c2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        s.b2 = nn.BatchNorm2d(o)
        s.sc = nn.Sequential()
        if st != 1 or i != o:
            s.sc = nn.Sequential(nn.Conv2d(i, o, 1, st, bias=False), nn.BatchNorm2d(o))

    def forward(s, x):
        o = F.relu(s.b1(s.c1(x)))
        o = s.b2(s.c2(o))
        o += s.sc(x)
        return F.relu(o)


class N(nn.Module):

    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(3, 8, 3, 1, 1)
        s.l = nn.Sequential(B(8, 8), B(8, 16, 2))
        s.f = nn.Linear(16, 5)

    def forward(s, x):
        o = s.l(F.relu(s.c(x)))
        o = F.avg_pool2d(o, 4)
        return s.f(o.view(o.size(0), -1))


net = N()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.0005)
sch = torch.optim.lr_scheduler.StepLR(opt, 3, 0.5)
crit = nn.CrossEntropyLoss()
X = torch.randn(44, 3, 8, 8)
Y = torch.randint(0, 5, (44,))
for ep in range(8):
    net.train()
    tot = cor = n = 0
    for b in range(0, 44, 8):
        x, y = (X[b:b + 8], Y[b:b + 8])
        opt.zero_grad()
        o = net(x)
        l = crit(o, y)
        l.backward()
        opt.step()
        tot += l.item()
        _, p = o.max(1)
        n += y.size(0)
        cor += p.eq(y).sum().item()
    sch.step()
    net.eval()
    with torch.no_grad():
        v = crit(net(X), Y).item()
    norm = net.l[0].b1
    print(ep, f'{tot:.4f} {cor}/{n} {v:.4f} {norm.running_mean.sum().item():.4f}', end=' ')
    print(norm.num_batches_tracked.item(), opt.param_groups[0]['lr'])
