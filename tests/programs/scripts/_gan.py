"""A generator and a discriminator with an optimizer each; the fake batch is used twice, once detached."""
import torch, torch.nn as nn
torch.manual_seed(1)
G = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1), nn.Sigmoid())
og = torch.optim.Adam(G.parameters(), lr=0.002, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=0.002, betas=(0.5, 0.999))
bce = nn.BCELoss()
for it in range(30):
    real = torch.randn(16, 2) * 0.5 + torch.tensor([1.0, -1.0])
    z = torch.randn(16, 4)
    fake = G(z)
    D.zero_grad()
    lr_ = bce(D(real).view(-1), torch.full((16,), 1.0))
    lr_.backward()
    lf = bce(D(fake.detach()).view(-1), torch.zeros(16))
    lf.backward()
    od.step()
    G.zero_grad()
    lg = bce(D(fake).view(-1), torch.ones(16))
    lg.backward()
    og.step()
    if it % 3 == 0:
        print(it, f'{lr_.item():.4f} {lf.item():.4f} {lg.item():.4f} {fake.mean().item():.4f}')
