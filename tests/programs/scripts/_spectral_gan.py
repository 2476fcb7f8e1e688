"""A conditional GAN: spectral norm, projection discriminator, conditional batch norm, hinge loss, two time scales."""

import functools

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm

conv3x3 = functools.partial(nn.Conv2d, kernel_size=3, padding=1)


class ConditionalBatchNorm2d(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.bn = nn.BatchNorm2d(features, affine=False)
        self.embed = nn.Embedding(classes, features * 2)
        self.embed.weight.data[:, :features].normal_(1, 0.02)
        self.embed.weight.data[:, features:].zero_()

    def forward(self, x, y):
        gamma, beta = self.embed(y).chunk(2, 1)
        return gamma[:, :, None, None] * self.bn(x) + beta[:, :, None, None]


class GenBlock(nn.Module):
    def __init__(self, inputs, outputs, classes):
        super().__init__()
        self.b1, self.b2 = ConditionalBatchNorm2d(inputs, classes), ConditionalBatchNorm2d(outputs, classes)
        self.c1, self.c2, self.skip = conv3x3(inputs, outputs), conv3x3(outputs, outputs), nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, y):
        upsample = functools.partial(F.interpolate, scale_factor=2, mode="nearest")
        h = self.c1(upsample(F.relu(self.b1(x, y))))
        return self.c2(F.relu(self.b2(h, y))) + self.skip(upsample(x))


class Generator(nn.Module):
    def __init__(self, dim_z=8, classes=3, width=12):
        super().__init__()
        self.dim_z, self.width = dim_z, width
        self.l1 = nn.Linear(dim_z, width * 2 * 2)
        self.blocks = nn.ModuleList([GenBlock(width, width, classes) for _ in range(2)])
        self.last = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), conv3x3(width, 1), nn.Tanh())

    def forward(self, z, y):
        h = self.l1(z).view(z.size(0), self.width, 2, 2)
        for block in self.blocks:
            h = block(h, y)
        return self.last(h)


class Discriminator(nn.Module):
    def __init__(self, classes=3, width=12):
        super().__init__()
        sn = spectral_norm
        self.features = nn.Sequential(
            sn(conv3x3(1, width)), nn.LeakyReLU(0.1), nn.AvgPool2d(2), sn(conv3x3(width, width)), nn.LeakyReLU(0.1),
        )  # fmt: skip
        self.linear = sn(nn.Linear(width, 1))
        self.embed = sn(nn.Embedding(classes, width))

    def forward(self, x, y):
        h = self.features(x).sum(dim=(2, 3))
        return self.linear(h) + (self.embed(y) * h).sum(1, keepdim=True)


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv2d") != -1 and hasattr(m, "weight") and not hasattr(m, "weight_orig"):
        nn.init.normal_(m.weight.data, 0.0, 0.05)


def loss_hinge_dis(fake, real):
    return F.relu(1.0 - real).mean() + F.relu(1.0 + fake).mean()


def loss_hinge_gen(fake):
    return -fake.mean()


def real_batch(size):
    y = torch.randint(0, 3, (size,))
    ramp = torch.linspace(-1, 1, 8)
    patterns = torch.stack([ramp.expand(8, 8), ramp[:, None].expand(8, 8), -ramp.expand(8, 8)])
    return (patterns[y].unsqueeze(1) + 0.1 * torch.randn(size, 1, 8, 8)).clamp_(-1, 1), y


def sample(generator, size):
    return torch.randn(size, generator.dim_z), torch.randint(low=0, high=3, size=(size,))


torch.manual_seed(999)
netG, netD = Generator(), Discriminator()
netG.apply(weights_init), netD.apply(weights_init)
print([name for name, _ in netD.named_parameters()][:3], [name for name, _ in netD.named_buffers()][:2])
optG = torch.optim.Adam(netG.parameters(), lr=5e-4, betas=(0.0, 0.9), eps=1e-3)
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.0, 0.9), eps=1e-3)
for iteration in range(24):
    for _ in range(2):
        x, y = real_batch(16)
        with torch.no_grad():
            z, fake_y = sample(netG, 16)
            fake = netG(z, fake_y)
        errD = loss_hinge_dis(netD(fake, fake_y), netD(x, y))
        optD.zero_grad()
        errD.backward()
        optD.step()
    for p in netD.parameters():
        p.requires_grad_(False)
    z, fake_y = sample(netG, 16)
    errG = loss_hinge_gen(netD(netG(z, fake_y), fake_y))
    optG.zero_grad()
    errG.backward()
    optG.step()
    for p in netD.parameters():
        p.requires_grad_(True)
    if iteration % 6 == 5:
        print("[%d] Loss_D: %.3f Loss_G: %.3f" % (iteration, errD.item(), errG.item()))
weight = netD.linear.weight
print("norm after power iterations %.2f" % torch.linalg.matrix_norm(netD.features[3].weight.flatten(1), 2).item())
nn.utils.remove_spectral_norm(netD.linear)
print(type(netD.linear.weight).__name__, torch.allclose(netD.linear.weight, weight), "weight_orig" in netD.state_dict())
netG.eval()
with torch.no_grad():
    torch.manual_seed(1)
    z, y = sample(netG, 6)
    print([round(v, 2) for v in netG(z, y).std(dim=(1, 2, 3)).tolist()])
