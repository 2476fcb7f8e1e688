"""A recurrent network over characters, one character a step, updated by hand through .data."""
import torch, torch.nn as nn
torch.manual_seed(3)
text = 'hello world, this is a tiny recurrent network. ' * 3
chars = sorted(set(text))
st = {c: i for i, c in enumerate(chars)}


class RNN(nn.Module):

    def __init__(s, V, H):
        super().__init__()
        s.H = H
        s.i2h = nn.Linear(V + H, H)
        s.i2o = nn.Linear(V + H, V)

    def forward(s, x, h):
        c = torch.cat((x, h), 1)
        return (torch.log_softmax(s.i2o(c), dim=1), torch.tanh(s.i2h(c)))

    def init(s):
        return torch.zeros(1, s.H)


V = len(chars)
net = RNN(V, 24)
crit = nn.NLLLoss()
lr = 0.02


def onehot(c):
    t = torch.zeros(1, V)
    t[0][st[c]] = 1
    return t


import random
random.seed(0)
tot = 0
for it in range(60):
    n = random.randint(5, 14)
    s = random.randint(0, len(text) - n - 2)
    chunk = text[s:s + n + 1]
    h = net.init()
    net.zero_grad()
    loss = 0
    for a, b in zip(chunk[:-1], chunk[1:]):
        o, h = net(onehot(a), h)
        loss = loss + crit(o, torch.tensor([st[b]]))
    loss.backward()
    for p in net.parameters():
        p.data.add_(p.grad.data, alpha=-lr)
    tot += loss.item() / n
    if it % 10 == 9:
        print(it, f'{tot / 10:.4f}')
        tot = 0
