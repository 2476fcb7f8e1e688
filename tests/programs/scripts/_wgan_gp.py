"""A Wasserstein GAN with gradient penalty: second-order gradients through a critic, and a mixed Python/numpy loop."""

import argparse

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch import optim

parser = argparse.ArgumentParser()
parser.add_argument("--n_steps", type=int, default=25, help="generator updates")
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--latent_dim", type=int, default=6)
parser.add_argument("--n_critic", type=int, default=3, help="critic updates per generator update")
parser.add_argument("--lambda_gp", type=float, default=10.0)
opt = parser.parse_args()
print(opt)

rng = np.random.RandomState(42)
torch.manual_seed(42)


def inf_train_gen():
    """Eight Gaussians on a circle."""
    centers = [(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4]
    while True:
        dataset = []
        for _ in range(opt.batch_size):
            point = rng.randn(2) * 0.02
            center = centers[rng.choice(len(centers))]
            dataset.append([point[0] + center[0], point[1] + center[1]])
        yield np.array(dataset, dtype="float32") / 1.414


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(opt.latent_dim, 32, normalize=False), *block(32, 32), nn.Linear(32, 2))

    def forward(self, z):
        return self.model(z)


class Critic(nn.Module):
    def __init__(self):
        super(Critic, self).__init__()
        self.model = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.model(x).view(-1)


def compute_gradient_penalty(D, real, fake):
    """Calculates the gradient penalty loss for WGAN GP"""
    alpha = torch.tensor(rng.rand(real.size(0), 1), dtype=torch.float32)
    interpolates = autograd.Variable(alpha * real + (1 - alpha) * fake, requires_grad=True)
    d_interpolates = D(interpolates)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(d_interpolates.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.view(gradients.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


generator, critic = Generator(), Critic()
optimizer_G = optim.RMSprop(generator.parameters(), lr=1e-3, eps=1e-5)
optimizer_D = optim.RMSprop(critic.parameters(), lr=2e-3, eps=1e-5)
data = inf_train_gen()
history = {"wasserstein": [], "penalty": []}

for step in range(opt.n_steps):
    for p in critic.parameters():
        p.requires_grad = True
    for _ in range(opt.n_critic):
        real = torch.from_numpy(next(data))
        z = torch.from_numpy(rng.normal(0, 1, (opt.batch_size, opt.latent_dim)).astype(np.float32))
        with torch.no_grad():
            fake = generator(z)
        critic.zero_grad()
        d_real, d_fake = critic(real).mean(), critic(fake).mean()
        penalty = compute_gradient_penalty(critic, real.data, fake.data)
        d_loss = d_fake - d_real + opt.lambda_gp * penalty
        d_loss.backward()
        optimizer_D.step()
        history["wasserstein"].append((d_real - d_fake).item())
        history["penalty"].append(penalty.item())
    for p in critic.parameters():
        p.requires_grad = False
    z = torch.from_numpy(rng.normal(0, 1, (opt.batch_size, opt.latent_dim)).astype(np.float32))
    g_loss = -critic(generator(z)).mean()
    optimizer_G.zero_grad()
    g_loss.backward()
    optimizer_G.step()
    if step % 5 == 4:
        means = {name: np.mean(values[-5 * opt.n_critic :]) for name, values in history.items()}
        print("step %d [D loss: %.4f] [G loss: %.4f]" % (step, d_loss.item(), g_loss.item()),
              ", ".join("%s %.4f" % pair for pair in sorted(means.items())))  # fmt: skip

generator.eval()
with torch.no_grad():
    points = generator(torch.from_numpy(rng.normal(size=(500, opt.latent_dim)).astype(np.float32))).numpy()
histogram, *_ = np.histogram2d(points[:, 0], points[:, 1], bins=3, range=[[-1.5, 1.5]] * 2)
print(
    "mean %.2f %.2f" % tuple(points.mean(0)),
    "spread %.2f %.2f" % tuple(points.std(0)),
    "inside",
    bool(histogram.sum() > 0),
)
