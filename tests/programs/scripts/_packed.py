"""Padded sequences of changing lengths through a recurrent cell, with masks."""
import math

from torch import nn
from torch.nn.utils.rnn import pad_sequence
import torch
import torch.nn.functional as F


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


class Enc(nn.Module):

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 4, padding_idx=0)
        self.cell = nn.GRUCell(4, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, ids, lens):
        h = torch.zeros(len(lens), 5)
        x = self.emb(ids)
        for t in range(ids.size(1)):
            nh = self.cell(x[:, t], h)
            m = (t < lens).float().unsqueeze(1)
            h = m * nh + (1 - m) * h
        return self.out(h)


m = init(Enc())
opt = torch.optim.Adam(m.parameters(), 0.02)
with torch.no_grad():
    m.emb.weight[0] = 0


for i in range(16):
    seqs = [torch.arange(1 + (i + k) % 4) % 8 + 1 for k in range(3)]
    lens = torch.tensor([len(s) for s in seqs])
    ids = pad_sequence(seqs, batch_first=True)
    l = F.cross_entropy(m(ids, lens), torch.tensor([0, 1, 2]))
    opt.zero_grad()
    l.backward()
    opt.step()
    show(f'{i} {tuple(ids.shape)}', l)


print(m.emb.weight[0].abs().sum().item(), m.emb.weight.grad[0].abs().sum().item())


def masked(x, lens):
    mask = torch.arange(x.size(1))[None, :] < lens[:, None]
    return ((x * mask).sum(1) / lens, x.masked_fill(~mask, -1000000000.0).softmax(1), torch.where(mask, x, torch.zeros_like(x)).max(1)[0])


for i in range(12):
    a, b, c = masked(data(i, 3, 4 + i % 2), torch.tensor([1, 2 + i % 2, 4]))
    show(f'm{i}', torch.cat([a, b.flatten(), c]))
