"""A recursive network over trees of Python objects."""
import torch, torch.nn as nn
torch.manual_seed(5)


class Node:

    def __init__(s, w=None, l=None, r=None):
        s.w, s.l, s.r = (w, l, r)

    @property
    def leaf(s):
        return s.l is None


def parse(d, i=[0]):
    i[0] += 1
    if d == 0 or i[0] * 7 % 5 == 0:
        return Node(w=i[0] % 9)
    return Node(l=parse(d - 1, i), r=parse(d - 1, i))


trees = [parse(3) for _ in range(10)]


class M(nn.Module):

    def __init__(s, h):
        super().__init__()
        s.e = nn.Embedding(9, h)
        s.c = nn.Linear(2 * h, h)
        s.o = nn.Linear(h, 2)
        s.seen = 0

    def enc(s, n):
        s.seen += 1
        return s.e(torch.tensor([n.w])) if n.leaf else torch.tanh(s.c(torch.cat([s.enc(n.l), s.enc(n.r)], 1)))

    def forward(s, t):
        return s.o(s.enc(t))


m = M(8)
opt = torch.optim.Adam(m.parameters(), lr=0.01)


def size(n):
    return 1 if n.leaf else 1 + size(n.l) + size(n.r)


for ep in range(4):
    tot = 0
    for k, t in enumerate(trees):
        y = torch.tensor([size(t) % 2])
        l = nn.functional.cross_entropy(m(t), y)
        opt.zero_grad()
        l.backward()
        opt.step()
        tot += l.item()
    print(ep, f'{tot:.4f}', m.seen)
