"""An energy-based model: Langevin sampling with a replay buffer, contrastive divergence, denoising score matching."""

import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class CNNModel(nn.Module):
    def __init__(self, hidden_features=8, out_dim=1):
        super().__init__()
        h = hidden_features
        self.cnn_layers = nn.Sequential(
            nn.Conv2d(1, h, kernel_size=3, stride=2, padding=2), Swish(),
            nn.Conv2d(h, 2 * h, kernel_size=3, stride=2, padding=1), Swish(),
            nn.Flatten(), nn.Linear(2 * h * 9, 2 * h), Swish(), nn.Linear(2 * h, out_dim),
        )  # fmt: skip

    def forward(self, x):
        return self.cnn_layers(x).squeeze(dim=-1)


class Sampler:
    def __init__(self, model, img_shape, sample_size, max_len=64):
        self.model, self.img_shape, self.sample_size, self.max_len = model, img_shape, sample_size, max_len
        self.examples = [(torch.rand((1,) + img_shape) * 2 - 1) for _ in range(self.sample_size)]

    def sample_new_exmps(self, steps=10, step_size=5):
        """Most chains go on where an earlier one stopped."""
        n_new = sum(random.random() < 0.1 for _ in range(self.sample_size))
        rand_imgs = torch.rand((n_new,) + self.img_shape) * 2 - 1
        old_imgs = torch.cat(random.choices(self.examples, k=self.sample_size - n_new), dim=0)
        inp_imgs = torch.cat([rand_imgs, old_imgs], dim=0).detach()
        inp_imgs = Sampler.generate_samples(self.model, inp_imgs, steps=steps, step_size=step_size)
        self.examples = list(torch.chunk(inp_imgs, self.sample_size, dim=0)) + self.examples
        self.examples = self.examples[: self.max_len]
        return inp_imgs

    @staticmethod
    def generate_samples(model, inp_imgs, steps=10, step_size=5, return_img_per_step=False):
        is_training = model.training
        model.eval()
        for p in model.parameters():
            p.requires_grad = False
        inp_imgs.requires_grad = True
        had_gradients_enabled = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        noise = torch.randn(inp_imgs.shape)
        imgs_per_step = []
        for _ in range(steps):
            noise.normal_(0, 0.005)
            inp_imgs.data.add_(noise.data)
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
            out_imgs = -model(inp_imgs)
            out_imgs.sum().backward()
            inp_imgs.grad.data.clamp_(-0.03, 0.03)
            inp_imgs.data.add_(-step_size * inp_imgs.grad.data)
            inp_imgs.grad.detach_()
            inp_imgs.grad.zero_()
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
            if return_img_per_step:
                imgs_per_step.append(inp_imgs.clone().detach())
        for p in model.parameters():
            p.requires_grad = True
        model.train(is_training)
        torch.set_grad_enabled(had_gradients_enabled)
        return torch.stack(imgs_per_step, dim=0) if return_img_per_step else inp_imgs


def crosses(count):
    images = -torch.ones(count, 1, 8, 8)
    for image in images:
        y, x = torch.randint(1, 7, (2,)).tolist()
        image[0, y, :] = 1
        image[0, :, x] = 1
    return images


def train_energy(hparams):
    model = CNNModel()
    sampler = Sampler(model, img_shape=(1, 8, 8), sample_size=hparams.batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams.lr, betas=(hparams.beta1, 0.999), eps=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, gamma=0.97)
    for step in range(hparams.steps):
        real_imgs = crosses(hparams.batch)
        real_imgs = (real_imgs + torch.randn_like(real_imgs) * 0.005).clamp_(min=-1.0, max=1.0)
        fake_imgs = sampler.sample_new_exmps(steps=hparams.langevin, step_size=5)
        optimizer.zero_grad()
        real_out, fake_out = model(torch.cat([real_imgs, fake_imgs], dim=0).detach()).chunk(2, dim=0)
        reg_loss = hparams.alpha * (real_out**2 + fake_out**2).mean()
        cdiv_loss = fake_out.mean() - real_out.mean()
        loss = reg_loss + cdiv_loss
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
        optimizer.step()
        scheduler.step()
        if step % 6 == 5:
            print(
                f"step {step} loss {loss.item():.4f} divergence {cdiv_loss.item():.4f} buffer {len(sampler.examples)}"
            )
    random_imgs, real = torch.rand(16, 1, 8, 8) * 2 - 1, crosses(16)
    model.eval()
    with torch.no_grad():
        print(f"real above noise: {(model(real).mean() > model(random_imgs).mean()).item()}")
    path = Sampler.generate_samples(model, random_imgs.clone(), steps=5, return_img_per_step=True)
    print("path", tuple(path.shape), f"{path.std().item():.2f}", all(p.requires_grad for p in model.parameters()))


def train_score(steps=40, sigma=0.3):
    """The gradient of an energy learned without sampling; then annealed Langevin dynamics in the plane."""
    net = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 24), nn.Softplus(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, eps=1e-5)
    for step in range(steps):
        angle = 2 * torch.pi * torch.rand(64)
        points = torch.stack([angle.cos(), angle.sin()], 1)
        noise = torch.randn_like(points)
        noisy = (points + sigma * noise).requires_grad_()
        score = -torch.autograd.grad(net(noisy).sum(), noisy, create_graph=True)[0]
        loss = 0.5 * (sigma * score + noise).pow(2).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"score {step} loss {loss.item():.4f}")
    x = torch.randn(128, 2)
    for eps in torch.logspace(-1, -2.5, 12).tolist():
        x = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(net(x).sum(), x)
        x = x - 0.5 * eps * gradient + (eps**0.5) * 0.3 * torch.randn_like(x)
    radius = x.detach().norm(dim=1)
    print(f"radius {radius.mean().item():.2f} deviation {radius.std().item():.2f}")


if __name__ == "__main__":
    random.seed(13)
    torch.manual_seed(13)
    train_energy(SimpleNamespace(batch=12, lr=2e-3, beta1=0.0, steps=24, langevin=6, alpha=0.1))
    train_score()
