"""A convolutional variational autoencoder whose posterior and prior are distributions; KL warm-up and a checkpoint."""

import io
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
logger = logging.getLogger("vae")


class Blobs(Dataset):
    """Each image is one bright disc."""

    def __init__(self, count, size=16, seed=0):
        generator = torch.Generator().manual_seed(seed)
        centres = torch.rand(count, 2, generator=generator) * (size - 6) + 3
        radii = torch.rand(count, generator=generator) * 2 + 1.5
        rows = torch.arange(size).view(1, size, 1)
        columns = torch.arange(size).view(1, 1, size)
        distance = (rows - centres[:, 0].view(-1, 1, 1)) ** 2 + (columns - centres[:, 1].view(-1, 1, 1)) ** 2
        self.images = (distance < radii.view(-1, 1, 1) ** 2).float().unsqueeze(1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]


class Encoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 8, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(8, 16, 4, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.2),
        )  # fmt: skip
        self.parameters_of = nn.Linear(16 * 4 * 4, 2 * latent)

    def forward(self, x):
        mean, scale = self.parameters_of(self.convolutions(x).flatten(1)).chunk(2, dim=-1)
        return Independent(Normal(mean, F.softplus(scale) + 1e-4), 1)


class Decoder(nn.Sequential):
    def __init__(self, latent):
        super().__init__(
            nn.Linear(latent, 16 * 4 * 4), nn.ReLU(), nn.Unflatten(1, (16, 4, 4)),
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
        )  # fmt: skip

    def forward(self, z):
        return Independent(Bernoulli(logits=super().forward(z)), 3)


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.encoder, self.decoder = Encoder(latent), Decoder(latent)
        self.register_buffer("zero", torch.zeros(latent))
        self.register_buffer("one", torch.ones(latent))

    @property
    def prior(self):
        return Independent(Normal(self.zero, self.one), 1)

    def elbo(self, x, beta=1.0):
        posterior = self.encoder(x)
        z = posterior.rsample()
        reconstruction = self.decoder(z).log_prob(x)
        divergence = kl_divergence(posterior, self.prior)
        return (reconstruction - beta * divergence).mean(), reconstruction.mean(), divergence.mean()


def train(model, loader, optimizer, epoch, warm_up=3):
    model.train()
    beta = min(1.0, (epoch + 1) / warm_up)
    sums = torch.zeros(3)
    for x in loader:
        optimizer.zero_grad(set_to_none=True)
        elbo, reconstruction, divergence = model.elbo(x, beta)
        (-elbo).backward()
        optimizer.step()
        sums += torch.stack([elbo, reconstruction, divergence]).detach() * len(x)
    elbo, reconstruction, divergence = (sums / len(loader.dataset)).tolist()
    message = "epoch %d beta %.2f elbo %.3f reconstruction %.3f kl %.4f"
    logger.info(message, epoch, beta, elbo, reconstruction, divergence)


@torch.no_grad()
def evaluate(model, images, samples=8):
    """An importance-weighted bound on the likelihood."""
    model.eval()
    posterior = model.encoder(images)
    z = posterior.sample((samples,))
    log_weights = model.prior.log_prob(z) - posterior.log_prob(z)
    logits = [model.decoder(each).log_prob(images) for each in z]
    bound = torch.logsumexp(torch.stack(logits) + log_weights, 0) - torch.log(torch.tensor(float(samples)))
    return bound.mean().item()


def main():
    torch.manual_seed(3)
    data = Blobs(192)
    held_out = Blobs(32, seed=1).images
    loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(5):
        train(model, loader, optimizer, epoch)
        scheduler.step()
        logger.info("held out %.3f, learning rate %.5f", evaluate(model, held_out), scheduler.get_last_lr()[0])
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, file)
    file.seek(0)
    saved = torch.load(file)
    restored = VAE()
    logger.info("restored: %s at epoch %d", restored.load_state_dict(saved["model"]), saved["epoch"])
    restored.eval(), model.eval()
    same = torch.equal(restored.encoder(held_out).mean, model.encoder(held_out).mean)
    logger.info("same means: %s", same)
    drawn = restored.decoder(restored.prior.sample((2,))).mean.sum((1, 2, 3))
    logger.info("drawn: %s", [round(v, 2) for v in drawn.tolist()])


if __name__ == "__main__":
    main()
