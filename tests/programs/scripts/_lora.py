"""Low-rank adaptation of a pretrained causal transformer: frozen weights, injected adapters, merged again."""

import math
from dataclasses import asdict, dataclass
from typing import Iterator, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Config:
    vocab: int = 24
    context: int = 16
    width: int = 32
    heads: int = 4
    layers: int = 2
    dropout: float = 0.0


class CausalSelfAttention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.heads = config.heads
        self.q_proj = nn.Linear(config.width, config.width, bias=False)
        self.k_proj = nn.Linear(config.width, config.width, bias=False)
        self.v_proj = nn.Linear(config.width, config.width, bias=False)
        self.out_proj = nn.Linear(config.width, config.width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (p(x).view(b, t, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.attention = CausalSelfAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 2 * config.width), nn.GELU(approximate="tanh"),
            nn.Linear(2 * config.width, config.width), nn.Dropout(config.dropout),
        )  # fmt: skip

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab, config.width)
        self.places = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocab, bias=False)
        self.apply(self._init_weights)
        self.head.weight = self.tokens.weight

    @staticmethod
    def _init_weights(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.05)

    def forward(self, tokens, targets: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.size(1)))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
        return logits, loss


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int, alpha: float, dropout: float = 0.0):
        super().__init__()
        self.base, self.rank, self.scaling = base, rank, alpha / rank
        self.lora_A = nn.Parameter(base.weight.new_empty(rank, base.in_features))
        self.lora_B = nn.Parameter(base.weight.new_zeros(base.out_features, rank))
        self.dropout = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + (self.dropout(x) @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        self.base.weight += self.lora_B @ self.lora_A * self.scaling
        return self.base


def inject(model, names, **kwargs):
    for module_name, module in list(model.named_modules()):
        for name, child in list(module.named_children()):
            if name in names and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, **kwargs))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name


def merge(model):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LoRALinear):
                setattr(module, name, child.merge())


def sequences(kind, batch, config) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
    """Arithmetic progressions for pretraining; the task counts downwards."""
    while True:
        start = torch.randint(0, config.vocab, (batch, 1))
        step = torch.randint(1, 4, (batch, 1)) * (1 if kind == "up" else -1)
        row = (start + step * torch.arange(config.context + 1)) % config.vocab
        targets = row[:, 1:].clone()
        targets[:, 0] = -1  # the step is not known yet
        yield row[:, :-1], targets


def train(model, data, steps, lr, accumulate=2):
    parameters = [p for p in model.parameters() if p.requires_grad]
    decay = [p for p in parameters if p.dim() >= 2]
    groups = [
        {"params": decay, "weight_decay": 0.1},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=lr, betas=(0.9, 0.95))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 5) * (1 - 0.8 * s / steps))
    for step in range(steps):
        for _ in range(accumulate):
            _, loss = model(*next(data))
            (loss / accumulate).backward()
        norm = nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 8 == 7:
            print(f"  step {step} loss {loss.item():.4f} norm {norm.item():.4f} lr {scheduler.get_last_lr()[0]:.5f}")


def main():
    torch.manual_seed(1337)
    config = Config()
    print(asdict(config))
    model = LanguageModel(config)
    print("pretraining", sum(p.numel() for p in model.parameters()), "parameters")
    train(model, sequences("up", 16, config), 24, 3e-3)
    frozen = {name: p.clone() for name, p in model.state_dict().items()}
    inject(model, {"q_proj", "v_proj", "0", "2"}, rank=4, alpha=8.0)
    print("adapting", sum(p.numel() for p in model.parameters() if p.requires_grad), "parameters")
    train(model, sequences("down", 16, config), 24, 1e-2)
    adapters = {name: p for name, p in model.state_dict().items() if "lora_" in name}
    now = {name.replace(".base", ""): p for name, p in model.state_dict().items() if "lora_" not in name}
    print(
        len(adapters), "adapter tensors, base unchanged:", all(torch.equal(p, frozen[name]) for name, p in now.items())
    )
    tokens, targets = next(sequences("down", 4, config))
    model.eval()
    with torch.no_grad():
        before = model(tokens, targets)
        merge(model)
        after = model(tokens, targets)
    print(
        "merged:",
        torch.allclose(before[0], after[0], atol=1e-4),
        f"{after[1].item():.4f}",
        list(model.state_dict())[2:4],
    )


if __name__ == "__main__":
    main()
