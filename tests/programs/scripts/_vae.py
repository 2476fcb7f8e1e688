"""A variational autoencoder with the reparametrisation trick."""
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)


class VAE(nn.Module):

    def __init__(s):
        super().__init__()
        s.e1 = nn.Linear(20, 16)
        s.mu = nn.Linear(16, 4)
        s.lv = nn.Linear(16, 4)
        s.d1 = nn.Linear(4, 16)
        s.d2 = nn.Linear(16, 20)

    def encode(s, x):
        h = F.relu(s.e1(x))
        return (s.mu(h), s.lv(h))

    def reparam(s, mu, lv):
        std = torch.exp(0.5 * lv)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(s, x):
        mu, lv = s.encode(x.view(-1, 20))
        z = s.reparam(mu, lv)
        return (torch.sigmoid(s.d2(F.relu(s.d1(z)))), mu, lv)


def loss_fn(r, x, mu, lv):
    bce = F.binary_cross_entropy(r, x.view(-1, 20), reduction='sum')
    kld = -0.5 * torch.sum(1 + lv - mu.pow(2) - lv.exp())
    return bce + kld


m = VAE()
opt = torch.optim.Adam(m.parameters(), lr=0.01)
data = torch.rand(64, 20)
for ep in range(8):
    m.train()
    tot = 0
    for b in range(0, 64, 16):
        x = data[b:b + 16]
        opt.zero_grad()
        r, mu, lv = m(x)
        l = loss_fn(r, x, mu, lv)
        l.backward()
        tot += l.item()
        opt.step()
    m.eval()
    with torch.no_grad():
        r, mu, lv = m(data)
        print(f'{ep} {tot / 64:.4f} {loss_fn(r, data, mu, lv).item() / 64:.4f}')
