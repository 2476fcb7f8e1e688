"""DCGAN: a generator draws images that a discriminator should take for real ones. Two networks and two optimizers in
one step, a detach between them, and three passes through the discriminator that each move its running statistics."""

import numpy as np
import torch
from torch import nn

from common import Progress, batches, parse
from images import labelled_images

REAL, FAKE = 1.0, 0.0


class Generator(nn.Module):
    def __init__(self, latent, width):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(latent, width * 4, 4, 1, 0, bias=False),
            nn.BatchNorm2d(width * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(width * 4, width * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(width * 2, width, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(True),
            nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, width * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width * 2, width * 4, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 4),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width * 4, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, images):
        return self.main(images).view(-1)


def weights_init(module):
    name = module.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


def main(arguments=None, progress=None):
    options = parse("Trains a DCGAN on images.", arguments, 200, "data_batch_small.bin of CIFAR-10")
    progress = progress or Progress(options)
    config = {"batch": 32, "latent": 64, "width": 16, "lr": 2e-4, "beta1": 0.5}
    draw = np.random.default_rng(options.seed)
    images, _ = labelled_images(draw, options.data)

    net_g = Generator(config["latent"], config["width"])
    net_d = Discriminator(config["width"])
    net_g.apply(weights_init)
    net_d.apply(weights_init)
    criterion = nn.BCELoss()
    optimizer_d = torch.optim.Adam(net_d.parameters(), lr=config["lr"], betas=(config["beta1"], 0.999))
    optimizer_g = torch.optim.Adam(net_g.parameters(), lr=config["lr"], betas=(config["beta1"], 0.999))

    fixed_noise = torch.randn(16, config["latent"], 1, 1)
    g_losses, d_losses = [], []
    for step, (real,) in zip(range(1, options.steps + 1), batches(draw, config["batch"], images)):
        net_d.zero_grad()
        label = torch.full((real.size(0),), REAL)
        output = net_d(real)
        loss_real = criterion(output, label)
        loss_real.backward()
        d_x = output.mean()

        noise = torch.randn(real.size(0), config["latent"], 1, 1)
        fake = net_g(noise)
        label.fill_(FAKE)
        output = net_d(fake.detach())
        loss_fake = criterion(output, label)
        loss_fake.backward()
        d_g_z1 = output.mean()
        loss_d = loss_real + loss_fake
        optimizer_d.step()

        net_g.zero_grad()
        label.fill_(REAL)
        output = net_d(fake)
        loss_g = criterion(output, label)
        loss_g.backward()
        d_g_z2 = output.mean()
        optimizer_g.step()

        g_losses.append(loss_g.detach())
        d_losses.append(loss_d.detach())
        if step % options.log_every == 0:
            print(
                f"[{step}/{options.steps}] loss D {loss_d.item():.4f}, loss G {loss_g.item():.4f}, "
                f"D(x) {d_x.item():.4f}, D(G(z)) {d_g_z1.item():.4f} / {d_g_z2.item():.4f}"
            )
        progress.step(step, loss_d)

    net_g.eval()
    with torch.no_grad():
        drawn = net_g(fixed_noise)
    print(f"mean losses: D {torch.stack(d_losses).mean().item():.4f}, G {torch.stack(g_losses).mean().item():.4f}")
    print(f"brightness of real images {images.mean():.3f} +- {images.std():.3f}, of drawn ones ", end="")
    print(f"{drawn.mean().item():.3f} +- {drawn.std().item():.3f}")


if __name__ == "__main__":
    main()
