"""GPT-2 on characters. The learning rate changes at every step, gradients are clipped by a norm that is computed, and
now and then the model writes a text: another loop, without gradients, over a context that grows."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, parse
from texts import plain_text

CONFIG = {"layers": 4, "heads": 4, "hidden": 128, "context": 64, "dropout": 0.1}
TRAINING = {"batch": 8, "lr": 2e-3, "warmup": 20, "least_lr": 0.1, "weight_decay": 0.1, "clip": 1.0}
SAMPLE_EVERY = 100


class CausalSelfAttention(nn.Module):
    def __init__(self, hidden, heads, context, dropout):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(hidden, 3 * hidden)
        self.c_proj = nn.Linear(hidden, hidden)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)
        self.register_buffer("bias", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(b, t, c)
        return self.resid_dropout(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, hidden, heads, context, dropout):
        super().__init__()
        self.ln_1 = nn.LayerNorm(hidden)
        self.attn = CausalSelfAttention(hidden, heads, context, dropout)
        self.ln_2 = nn.LayerNorm(hidden)
        self.mlp = nn.Sequential(
            nn.Linear(hidden, 4 * hidden),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * hidden, hidden),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    def __init__(self, vocabulary, layers, heads, hidden, context, dropout):
        super().__init__()
        self.context = context
        self.wte = nn.Embedding(vocabulary, hidden)
        self.wpe = nn.Embedding(context, hidden)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList([Block(hidden, heads, context, dropout) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(hidden)
        self.lm_head = nn.Linear(hidden, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight
        self.apply(self.init_weights)
        for name, parameter in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(parameter, mean=0.0, std=0.02 / math.sqrt(2 * layers))

    @staticmethod
    def init_weights(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids, targets=None):
        positions = torch.arange(ids.size(1), dtype=torch.long).unsqueeze(0)
        x = self.drop(self.wte(ids) + self.wpe(positions))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def generate(self, ids, count, temperature=0.8):
        self.eval()
        for _ in range(count):
            logits = self(ids[:, -self.context :])[:, -1, :] / temperature
            following = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
            ids = torch.cat((ids, following), dim=1)
        self.train()
        return ids


def load(draw, folder):
    """(the characters of the text, their numbers, the text as an array of them)"""
    text = plain_text(draw, folder)
    characters = sorted(set(text))
    numbers = {character: i for i, character in enumerate(characters)}
    return characters, numbers, np.array([numbers[character] for character in text])


def get_batch(draw, data, batch, context):
    starts = draw.integers(len(data) - context - 1, size=batch)
    x = torch.stack([torch.from_numpy(data[i : i + context]) for i in starts])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + context]) for i in starts])
    return x, y


def main(arguments=None, progress=None):
    options = parse("Trains GPT-2 on characters.", arguments, 250, "a text, input.txt")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    characters, numbers, data = load(draw, options.data)

    def learning_rate(step):
        if step < TRAINING["warmup"]:
            return (step + 1) / TRAINING["warmup"]
        share = (step - TRAINING["warmup"]) / max(1, options.steps - TRAINING["warmup"])
        return TRAINING["least_lr"] + (1 - TRAINING["least_lr"]) * 0.5 * (1 + math.cos(math.pi * share))

    model = GPT2(len(characters), **CONFIG)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=TRAINING["lr"], betas=(0.9, 0.95), weight_decay=TRAINING["weight_decay"]
    )
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, learning_rate)
    for step in range(1, options.steps + 1):
        x, y = get_batch(draw, data, TRAINING["batch"], CONFIG["context"])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), TRAINING["clip"])
        optimizer.step()
        scheduler.step()
        progress.step(step, loss)
        if step % SAMPLE_EVERY == 0 or step == options.steps:
            begin = torch.tensor([[numbers["\n"]]])
            print("".join(characters[i] for i in model.generate(begin, 100)[0].tolist()).strip())


if __name__ == "__main__":
    main()
