"""Denoising diffusion on little images: a U-Net with time embeddings, EMA, ancestral sampling, DDIM."""

import copy
import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import einsum, nn


def exists(x):
    return x is not None


def default(value, d):
    return value if exists(value) else d() if callable(d) else d


def extract(a, t, shape):
    return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half = self.dim // 2
        rates = torch.exp(torch.arange(half, device=time.device) * -(math.log(10000) / (half - 1)))
        angles = time[:, None] * rates[None, :]
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class Block(nn.Module):
    def __init__(self, dim, dim_out, groups=4):
        super().__init__()
        self.proj = nn.Conv2d(dim, dim_out, 3, padding=1)
        self.norm = nn.GroupNorm(groups, dim_out)
        self.act = nn.SiLU()

    def forward(self, x, scale_shift=None):
        x = self.norm(self.proj(x))
        if exists(scale_shift):
            scale, shift = scale_shift
            x = x * (scale + 1) + shift
        return self.act(x)


class ResnetBlock(nn.Module):
    def __init__(self, dim, dim_out, time_dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_dim, dim_out * 2))
        self.block1, self.block2 = Block(dim, dim_out), Block(dim_out, dim_out)
        self.res_conv = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, time_emb):
        scale_shift = self.mlp(time_emb)[:, :, None, None].chunk(2, dim=1)
        return self.block2(self.block1(x, scale_shift)) + self.res_conv(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=2, dim_head=8):
        super().__init__()
        self.scale, self.heads = dim_head**-0.5, heads
        self.norm = nn.GroupNorm(1, dim)
        self.to_qkv = nn.Conv2d(dim, heads * dim_head * 3, 1, bias=False)
        self.to_out = nn.Conv2d(heads * dim_head, dim, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = (t.reshape(b, self.heads, -1, h * w) for t in self.to_qkv(self.norm(x)).chunk(3, dim=1))
        sim = einsum("b h d i, b h d j -> b h i j", q * self.scale, k)
        attn = (sim - sim.amax(dim=-1, keepdim=True).detach()).softmax(dim=-1)
        return self.to_out(einsum("b h i j, b h d j -> b h d i", attn, v).reshape(b, -1, h, w))


class Unet(nn.Module):
    def __init__(self, dim, channels=1, dim_mults=(1, 2), out_dim=None):
        super().__init__()
        self.init_conv = nn.Conv2d(channels, dim, 3, padding=1)
        dims = [dim, *map(lambda m: dim * m, dim_mults)]
        time_dim = dim * 4
        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(dim), nn.Linear(dim, time_dim), nn.GELU(), nn.Linear(time_dim, time_dim)
        )
        block = partial(ResnetBlock, time_dim=time_dim)
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        for a, b in zip(dims[:-1], dims[1:]):
            self.downs.append(nn.ModuleList([block(a, b), nn.Conv2d(b, b, 4, 2, 1)]))
        middle = dims[-1]
        self.mid1, self.mid_attn, self.mid2 = block(middle, middle), Residual(Attention(middle)), block(middle, middle)
        for a, b in reversed(list(zip(dims[:-1], dims[1:]))):
            up = nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(b, b, 3, padding=1))
            self.ups.append(nn.ModuleList([up, block(b * 2, a)]))
        self.final = nn.Conv2d(dim, default(out_dim, channels), 1)

    def forward(self, x, time):
        x, t, skips = self.init_conv(x), self.time_mlp(time), []
        for resnet, down in self.downs:
            x = resnet(x, t)
            skips.append(x)
            x = down(x)
        x = self.mid2(self.mid_attn(self.mid1(x, t)), t)
        for up, resnet in self.ups:
            x = resnet(torch.cat((up(x), skips.pop()), dim=1), t)
        return self.final(x)


class Diffusion(nn.Module):
    def __init__(self, model, timesteps=20):
        super().__init__()
        self.model, self.timesteps = model, timesteps
        betas = torch.linspace(1e-3**0.5, 0.3**0.5, timesteps, dtype=torch.float64) ** 2
        alphas = torch.cumprod(1.0 - betas, dim=0)
        previous = F.pad(alphas[:-1], (1, 0), value=1.0)
        register = lambda name, value: self.register_buffer(name, value.to(torch.float32))
        register("betas", betas)
        register("alphas", alphas)
        register("sqrt_alphas", torch.sqrt(alphas))
        register("sqrt_one_minus", torch.sqrt(1.0 - alphas))
        register("posterior_variance", betas * (1.0 - previous) / (1.0 - alphas))

    def q_sample(self, x, t, noise=None):
        noise = default(noise, lambda: torch.randn_like(x))
        return extract(self.sqrt_alphas, t, x.shape) * x + extract(self.sqrt_one_minus, t, x.shape) * noise

    def forward(self, x):
        t = torch.randint(0, self.timesteps, (x.shape[0],)).long()
        noise = torch.randn_like(x)
        return F.smooth_l1_loss(self.model(self.q_sample(x, t, noise), t), noise)

    @torch.inference_mode()
    def p_sample(self, x, step):
        t = torch.full((x.shape[0],), step, dtype=torch.long)
        beta = extract(self.betas, t, x.shape)
        mean = (x - beta * self.model(x, t) / extract(self.sqrt_one_minus, t, x.shape)) / torch.sqrt(1 - beta)
        if step == 0:
            return mean
        return mean + torch.sqrt(extract(self.posterior_variance, t, x.shape)) * torch.randn_like(x)

    @torch.no_grad()
    def ddim(self, x, stride):
        for step in range(self.timesteps - 1, -1, -stride):
            noise = self.model(x, torch.full((x.shape[0],), step))
            start = ((x - self.sqrt_one_minus[step] * noise) / self.sqrt_alphas[step]).clamp(-1, 1)
            if step < stride:
                return start
            x = self.sqrt_alphas[step - stride] * start + self.sqrt_one_minus[step - stride] * noise


def update_ema(ema, model, decay):
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters()):
            a.lerp_(b, 1 - decay)


if __name__ == "__main__":
    torch.manual_seed(0)
    images = torch.zeros(64, 1, 8, 8)
    for i, image in enumerate(images):
        image[:, i % 4 : i % 4 + 4, 2:6] = 1
    images = images * 2 - 1
    diffusion = Diffusion(Unet(8))
    ema = copy.deepcopy(diffusion)
    optimizer = torch.optim.AdamW(diffusion.parameters(), lr=2e-3)
    print(sum(p.numel() for p in diffusion.parameters()), "parameters")
    for step in range(30):
        batch = images[torch.randperm(len(images))[:16]]
        loss = diffusion(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        update_ema(ema, diffusion, 0.9)
        if step % 6 == 5:
            print(f"step {step} loss {loss.item():.4f}")
    x = torch.randn(4, 1, 8, 8)
    for step in reversed(range(diffusion.timesteps)):
        x = ema.p_sample(x, step)
    print(f"ancestral {x.mean().item():.3f} {x.std().item():.3f}")
    x = ema.ddim(torch.randn(4, 1, 8, 8), 5)
    print(f"implicit {x.mean().item():.3f} {x.std().item():.3f}")
