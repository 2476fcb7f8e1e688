"""A spatial transformer: a network that turns images upright before it tells them apart."""
import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
SHAPES = torch.zeros(3, 1, 12, 12)
SHAPES[0, 0, 2:10, 5:7] = 1
SHAPES[1, 0, 2:10, 5:7] = 1
SHAPES[1, 0, 2:4, 3:9] = 1
SHAPES[2, 0, 2:10, 3:5] = 1
SHAPES[2, 0, 8:10, 3:9] = 1


def turned(images, angles):
    cos, sin, zero = angles.cos(), angles.sin(), torch.zeros_like(angles)
    theta = torch.stack([torch.stack([cos, -sin, zero], 1), torch.stack([sin, cos, zero], 1)], 1)
    return F.grid_sample(images, F.affine_grid(theta, images.shape, align_corners=False), align_corners=False)


def batch(size):
    y = torch.randint(0, 3, (size,))
    return turned(SHAPES[y], (torch.rand(size) - 0.5) * math.pi), y


class Straightener(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Sequential(nn.Conv2d(1, 4, 5), nn.AdaptiveMaxPool2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(36, 6))
        self.place[-1].weight.data.zero_()
        self.place[-1].bias.data.copy_(torch.tensor([1.0, 0, 0, 0, 1, 0]))
        self.tell = nn.Sequential(nn.Unfold(4, stride=2), nn.Linear(25, 8), nn.Tanh(), nn.Flatten(), nn.Linear(128, 3))

    def forward(self, x):
        theta = self.place(x).view(-1, 2, 3)
        x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), padding_mode="border", align_corners=False)
        return self.tell(x)


model = Straightener()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(40):
    x, y = batch(16)
    loss = F.multi_margin_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step} loss {loss.item():.4f}")
small = F.interpolate(SHAPES, (5, 7), mode="bicubic", antialias=True)
large = F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=True)
print("sizes", tuple(small.shape), tuple(large.shape), f"{large.sum().item():.3f}")
