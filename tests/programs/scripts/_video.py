"""A small network of volumes that tells which way a block moves through a clip, and an autoencoder that unpools."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def clips(size):
    x = torch.zeros(size, 1, 4, 8, 8)
    y = torch.randint(0, 2, (size,))
    for i, direction in enumerate(y.tolist()):
        row = int(torch.randint(0, 6, ()))
        for t in range(4):
            column = t + 1 if direction else 5 - t
            x[i, 0, t, row : row + 2, column : column + 2] = 1.0
    return x + 0.1 * torch.randn(x.shape), y


class Watcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv3d(1, 4, 3, padding=1, bias=False), nn.BatchNorm3d(4), nn.ReLU(inplace=True),
            nn.MaxPool3d((1, 2, 2)), nn.Conv3d(4, 8, (3, 2, 2), padding="same"), nn.ReLU(), nn.Dropout3d(0.1),
            nn.AdaptiveAvgPool3d((2, 2, 2)),
        )  # fmt: skip
        self.classes = nn.LazyLinear(2)

    def forward(self, x):
        return self.classes(self.features(x).flatten(1))


class Copier(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Conv3d(1, 3, 3, padding=1)
        self.pool = nn.MaxPool3d(2, return_indices=True)
        self.unpool = nn.MaxUnpool3d(2)
        self.wide = nn.ConvTranspose3d(3, 1, 3, padding=1)

    def forward(self, x):
        y, places = self.pool(F.elu(self.narrow(x)))
        return self.wide(self.unpool(y, places, output_size=x.shape[2:]))


watcher = Watcher()
watcher(clips(2)[0])
optimizer = torch.optim.SGD(watcher.parameters(), lr=0.05, momentum=0.9)
for step in range(24):
    x, y = clips(8)
    loss = F.cross_entropy(watcher(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 6 == 5:
        print(f"step {step} loss {loss.item():.4f}")
watcher.eval()
x, y = clips(16)
with torch.no_grad():
    print("right", int((watcher(x).argmax(1) == y).sum()), "of", len(y), type(watcher.classes).__name__)

copier = Copier()
optimizer = torch.optim.Adam(copier.parameters(), lr=0.02)
for step in range(16):
    x, _ = clips(4)
    loss = F.mse_loss(copier(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"copied {loss.item():.4f}")
