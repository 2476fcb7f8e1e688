"""Encoder and decoder with attention, ragged lengths, teacher forcing by chance."""
import random, torch, torch.nn as nn, torch.nn.functional as F
random.seed(3)
torch.manual_seed(3)


class GRUCell(nn.Module):

    def __init__(s, i, h):
        super().__init__()
        s.x = nn.Linear(i, 3 * h)
        s.h = nn.Linear(h, 3 * h)

    def forward(s, x, h):
        gx, gh = (s.x(x).chunk(3, -1), s.h(h).chunk(3, -1))
        r = torch.sigmoid(gx[0] + gh[0])
        z = torch.sigmoid(gx[1] + gh[1])
        n = torch.tanh(gx[2] + r * gh[2])
        return (1 - z) * n + z * h


class S2S(nn.Module):

    def __init__(s, V, h):
        super().__init__()
        s.e = nn.Embedding(V, h)
        s.enc = GRUCell(h, h)
        s.dec = GRUCell(2 * h, h)
        s.att = nn.Linear(2 * h, 1)
        s.o = nn.Linear(h, V)
        s.hs = h

    def forward(s, src, tgt, tf):
        h = torch.zeros(src.size(1), s.hs)
        encs = []
        for t in range(src.size(0)):
            h = s.enc(s.e(src[t]), h)
            encs.append(h)
        E = torch.stack(encs)
        x = torch.zeros_like(src[0])
        outs = []
        for t in range(tgt.size(0)):
            a = s.att(torch.cat([E, h.expand(E.size(0), -1, -1)], -1)).squeeze(-1)
            a = F.softmax(a, 0)
            ctx = (a.unsqueeze(-1) * E).sum(0)
            h = s.dec(torch.cat([s.e(x), ctx], -1), h)
            o = s.o(h)
            outs.append(o)
            x = tgt[t] if random.random() < tf else o.argmax(-1)
        return torch.stack(outs)


m = S2S(8, 12)
opt = torch.optim.Adam(m.parameters(), lr=0.01)
for it in range(24):
    L = random.choice([3, 4, 5])
    src = torch.randint(0, 8, (L, 4))
    tgt = src.flip(0)
    o = m(src, tgt, tf=0.5 if it < 18 else 0.0)
    l = F.cross_entropy(o.reshape(-1, 8), tgt.reshape(-1))
    opt.zero_grad()
    l.backward()
    n = nn.utils.clip_grad_norm_(m.parameters(), 1.0)
    opt.step()
    if it % 4 == 0:
        print(it, L, f'{l.item():.4f} {float(n):.4f}')
