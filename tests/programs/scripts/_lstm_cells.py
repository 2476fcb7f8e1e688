"""Stacked recurrent cells over sequences of two lengths, the state carried on and detached."""
import math

from torch import nn
import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def init(m, s=0.9):
    with torch.no_grad():
        for p in m.parameters():
            p.copy_((torch.cos(torch.arange(float(p.numel())) * s) * 0.3).reshape(p.shape))
    return m


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


class LSTM(nn.Module):

    def __init__(self, i, h, n):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(i if k == 0 else h, h) for k in range(n)])
        self.h = h

    def forward(self, xs, state=None):
        state = state or [(torch.zeros(xs.size(1), self.h), torch.zeros(xs.size(1), self.h)) for _ in self.cells]
        outs = []
        for x in xs.unbind(0):
            new = []
            for cell, (h, c) in zip(self.cells, state):
                h, c = cell(x, (h, c))
                new.append((h, c))
                x = h
            state = new
            outs.append(x)
        return (torch.stack(outs), state)


m = init(LSTM(3, 4, 2))
opt = torch.optim.SGD(m.parameters(), lr=0.5)
state = None
for i in range(16):
    if i % 6 == 0:
        state = None
    out, state = m(data(i, 3 + i % 2, 2, 3), state)
    loss = out.pow(2).mean() - out.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = [(h.detach(), c.detach()) for h, c in state]
    show(str(i), loss)


show('s', state[1][0])
