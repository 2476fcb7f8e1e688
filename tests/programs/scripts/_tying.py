"""A language model with a shared embedding, which is replaced in the middle, by a recurrent cell."""
import copy

from torch import nn
import torch
import torch.nn.functional as F


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def init(m, s=0.9):
    with torch.no_grad():
        for p in m.parameters():
            p.copy_((torch.cos(torch.arange(float(p.numel())) * s) * 0.3).reshape(p.shape))
    return m


class LM(nn.Module):

    def __init__(self, v, d, tie):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.rnn = nn.RNNCell(d, d)
        self.dec = nn.Linear(d, v)
        if tie:
            self.dec.weight = self.emb.weight

    def forward(self, ids):
        h = torch.zeros(ids.shape[1], self.emb.embedding_dim)
        out = []
        for row in ids:
            h = self.rnn(self.emb(row), h)
            out.append(self.dec(h))
        return torch.stack(out)


m = init(LM(7, 4, True))
opt = torch.optim.SGD(m.parameters(), lr=0.3)
print([n for n, _ in m.named_parameters()], m.dec.weight is m.emb.weight, len(list(m.parameters())), sorted(m.state_dict()))
for i in range(14):
    ids = (torch.arange(6).reshape(3, 2) + i) % 7
    loss = F.cross_entropy(m(ids).reshape(-1, 7), ((ids + 1) % 7).reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i == 8:
        m.dec.weight = nn.Parameter(m.emb.weight.detach().clone())
        opt.add_param_group({'params': [m.dec.weight], 'lr': 0.1})
    show(f'{i} {m.dec.weight is m.emb.weight}', loss)


m2 = copy.deepcopy(m)
print(m2.dec.weight is m2.emb.weight, torch.equal(m2.dec.weight, m.dec.weight))
