"""A small GPT: causal attention, parameter groups, a learning rate that warms up, sampling from the top five."""
import math, torch, torch.nn as nn
from torch.nn import functional as F
torch.manual_seed(2)


class Attn(nn.Module):

    def __init__(s, n, h, T):
        super().__init__()
        s.h = h
        s.qkv = nn.Linear(n, 3 * n)
        s.proj = nn.Linear(n, n)
        s.drop = nn.Dropout(0.0)
        s.register_buffer('mask', torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(s, x):
        B, T, C = x.size()
        q, k, v = s.qkv(x).split(C, dim=2)
        q, k, v = [t.view(B, T, s.h, C // s.h).transpose(1, 2) for t in (q, k, v)]
        a = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        a = a.masked_fill(s.mask[:, :, :T, :T] == 0, float('-inf'))
        a = s.drop(F.softmax(a, dim=-1))
        return s.proj((a @ v).transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):

    def __init__(s, n, h, T):
        super().__init__()
        s.l1 = nn.LayerNorm(n)
        s.a = Attn(n, h, T)
        s.l2 = nn.LayerNorm(n)
        s.m = nn.ModuleDict(dict(fc=nn.Linear(n, 4 * n), pr=nn.Linear(4 * n, n)))

    def forward(s, x):
        x = x + s.a(s.l1(x))
        return x + s.m.pr(F.gelu(s.m.fc(s.l2(x))))


class GPT(nn.Module):

    def __init__(s, V=20, n=16, h=2, T=12, L=2):
        super().__init__()
        s.T = T
        s.tok = nn.Embedding(V, n)
        s.pos = nn.Embedding(T, n)
        s.b = nn.ModuleList([Block(n, h, T) for _ in range(L)])
        s.ln = nn.LayerNorm(n)
        s.head = nn.Linear(n, V, bias=False)
        s.apply(s._init)

    def _init(s, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(m.weight, mean=0.0, std=0.05)

    def forward(s, idx, tg=None):
        B, T = idx.shape
        assert T <= s.T
        x = s.tok(idx) + s.pos(torch.arange(T, device=idx.device))
        for b in s.b:
            x = b(x)
        lo = s.head(s.ln(x))
        loss = None
        if tg is not None:
            loss = F.cross_entropy(lo.view(-1, lo.size(-1)), tg.view(-1), ignore_index=-1)
        return (lo, loss)

    @torch.no_grad()
    def generate(s, idx, n):
        for _ in range(n):
            lo, _ = s(idx[:, -s.T:])
            lo = lo[:, -1, :] / 1.0
            v, _ = torch.topk(lo, 5)
            lo[lo < v[:, [-1]]] = -float('Inf')
            idx = torch.cat((idx, torch.multinomial(F.softmax(lo, dim=-1), num_samples=1)), dim=1)
        return idx


m = GPT()
decay = [p for n, p in m.named_parameters() if p.dim() >= 2]
nd = [p for n, p in m.named_parameters() if p.dim() < 2]
groups = [{'params': decay, 'weight_decay': 0.1}, {'params': nd, 'weight_decay': 0.0}]
opt = torch.optim.AdamW(groups, lr=0.003, betas=(0.9, 0.95))
data = torch.arange(400) * 7 % 20
for it in range(25):
    lr = 0.003 * min(1, (it + 1) / 5)
    for g in opt.param_groups:
        g['lr'] = lr
    ix = torch.randint(len(data) - 13, (4,))
    x = torch.stack([data[i:i + 12] for i in ix])
    y = torch.stack([data[i + 1:i + 13] for i in ix])
    _, loss = m(x, y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
    opt.step()
    if it % 4 == 0:
        m.eval()
        print(it, f'{loss.item():.4f}', m.generate(torch.zeros(1, 1, dtype=torch.long), 15)[0].tolist())
        m.train()
