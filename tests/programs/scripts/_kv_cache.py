"""A small Llama: RMS norm, rotary positions, grouped queries, SwiGLU; text written with a key-value cache and top-p."""

import inspect
from collections import deque
from dataclasses import dataclass
from typing import List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 32
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: Optional[int] = 2
    vocab_size: int = -1  # set later, by the tokenizer
    multiple_of: int = 8
    norm_eps: float = 1e-5
    max_seq_len: int = 48


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def precompute_freqs(dim: int, end: int, theta: float = 10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    freqs = torch.outer(torch.arange(end), freqs).float()
    return torch.cos(freqs), torch.sin(freqs)


def apply_rotary_emb(x, cos, sin):
    real, imaginary = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.stack([real * cos - imaginary * sin, real * sin + imaginary * cos], dim=-1).flatten(3).type_as(x)


def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    bs, slen, heads, dim = x.shape
    if n_rep == 1:
        return x
    return x[:, :, :, None, :].expand(bs, slen, heads, n_rep, dim).reshape(bs, slen, heads * n_rep, dim)


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_kv_heads = args.n_heads if args.n_kv_heads is None else args.n_kv_heads
        self.n_rep, self.head_dim = args.n_heads // self.n_kv_heads, args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)

    def forward(self, x, cos, sin, mask, cache: Optional[Tuple[torch.Tensor, torch.Tensor]], start: int):
        bsz, seqlen, _ = x.shape
        xq = apply_rotary_emb(self.wq(x).view(bsz, seqlen, -1, self.head_dim), cos, sin)
        xk = apply_rotary_emb(self.wk(x).view(bsz, seqlen, -1, self.head_dim), cos, sin)
        xv = self.wv(x).view(bsz, seqlen, -1, self.head_dim)
        if cache is not None:
            keys, values = cache
            keys[:bsz, start : start + seqlen], values[:bsz, start : start + seqlen] = xk, xv
            xk, xv = keys[:bsz, : start + seqlen], values[:bsz, : start + seqlen]
        keys, values = (repeat_kv(t, self.n_rep).transpose(1, 2) for t in (xk, xv))
        scores = torch.matmul(xq.transpose(1, 2), keys.transpose(2, 3)) * self.head_dim**-0.5
        if mask is not None:
            scores = scores + mask
        output = F.softmax(scores.float(), dim=-1).type_as(xq) @ values
        return self.wo(output.transpose(1, 2).contiguous().view(bsz, seqlen, -1))


class FeedForward(nn.Module):
    def __init__(self, dim: int, multiple_of: int):
        super().__init__()
        hidden = multiple_of * ((int(2 * 4 * dim / 3) + multiple_of - 1) // multiple_of)
        self.w1, self.w3 = (nn.Linear(dim, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, layer_id: int, args: ModelArgs):
        super().__init__()
        self.layer_id = layer_id
        self.attention, self.feed_forward = Attention(args), FeedForward(args.dim, args.multiple_of)
        self.attention_norm, self.ffn_norm = RMSNorm(args.dim, args.norm_eps), RMSNorm(args.dim, args.norm_eps)

    def forward(self, x, *positions):
        h = x + self.attention(self.attention_norm(x), *positions)
        return h + self.feed_forward(self.ffn_norm(h))


class Transformer(nn.Module):
    def __init__(self, params: ModelArgs):
        super().__init__()
        self.params = params
        self.tok_embeddings = nn.Embedding(params.vocab_size, params.dim)
        self.layers = nn.ModuleList(TransformerBlock(i, params) for i in range(params.n_layers))
        self.norm = RMSNorm(params.dim, params.norm_eps)
        self.output = nn.Linear(params.dim, params.vocab_size, bias=False)
        cos, sin = precompute_freqs(params.dim // params.n_heads, params.max_seq_len)
        self.register_buffer("freqs_cos", cos, persistent=False)
        self.register_buffer("freqs_sin", sin, persistent=False)

    def new_caches(self, batch: int):
        kv = self.layers[0].attention
        shape = (batch, self.params.max_seq_len, kv.n_kv_heads, kv.head_dim)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.layers]

    def forward(self, tokens, start: int = 0, caches=None):
        _, seqlen = tokens.shape
        h = self.tok_embeddings(tokens)
        cos, sin = (f[start : start + seqlen] for f in (self.freqs_cos, self.freqs_sin))
        mask = None
        if seqlen > 1:
            mask = torch.triu(torch.full((seqlen, seqlen), float("-inf")), diagonal=1)
            mask = torch.hstack([torch.zeros((seqlen, start)), mask]).type_as(h)
        for i, layer in enumerate(self.layers):
            h = layer(h, cos, sin, mask, caches[i] if caches else None, start)
        return self.output(self.norm(h)).float()


def sample_top_p(probs, p):
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    mask = torch.cumsum(probs_sort, dim=-1) - probs_sort > p
    probs_sort[mask] = 0.0
    probs_sort.div_(probs_sort.sum(dim=-1, keepdim=True))
    return torch.gather(probs_idx, -1, torch.multinomial(probs_sort, num_samples=1))


@torch.inference_mode()
def generate(model, prompts: List[List[int]], max_gen_len: int, temperature: float = 0.8, top_p: float = 0.9):
    shortest, total = min(map(len, prompts)), max_gen_len + max(map(len, prompts))
    tokens = torch.full((len(prompts), total), -1, dtype=torch.long)
    for k, t in enumerate(prompts):
        tokens[k, : len(t)] = torch.tensor(t, dtype=torch.long)
    caches, prev, given = model.new_caches(len(prompts)), 0, tokens != -1
    for cur in range(shortest, total):
        logits = model(tokens[:, prev:cur], prev, caches)[:, -1]
        if temperature > 0:
            following = sample_top_p(torch.softmax(logits / temperature, dim=-1), top_p).reshape(-1)
        else:
            following = torch.argmax(logits, dim=-1)
        tokens[:, cur] = torch.where(given[:, cur], tokens[:, cur], following)
        prev = cur
    return tokens.tolist()


def main():
    torch.manual_seed(1)
    text = inspect.cleandoc("""
        how much wood would a woodchuck chuck if a woodchuck could chuck wood?
        he would chuck, he would, as much as he could, and chuck as much wood.
    """)
    letters = sorted(set(text))
    encode, decode = (lambda s: [letters.index(c) for c in s]), (lambda ids: "".join(letters[i] for i in ids))
    data = torch.tensor(encode(text))
    model = Transformer(ModelArgs(vocab_size=len(letters)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
    recent = deque(maxlen=10)
    for step in range(50):
        at = torch.randint(0, len(data) - 33, (8,)).tolist()
        x, y = (torch.stack([data[i + shift : i + shift + 32] for i in at]) for shift in (0, 1))
        loss = F.cross_entropy(model(x).view(-1, len(letters)), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent.append(loss.item())
        if step % 10 == 9:
            print(f"step {step} loss {sum(recent) / len(recent):.3f}")
    model.eval()
    prompts = [encode("how much"), encode("he would chuck")]
    greedy = generate(model, prompts, 12, temperature=0)
    print([decode(row) for row in greedy])
    row = torch.tensor(greedy[:1])
    with torch.no_grad():
        whole = model(row)[:, -1]
        caches = model.new_caches(1)
        parts = [model(row[:, i : i + 1], i, caches) for i in range(row.size(1))]
    print("cached and whole agree:", torch.allclose(parts[-1][:, -1], whole, atol=1e-4))
    print("sampled:", [len(row) for row in generate(model, prompts, 8)])


if __name__ == "__main__":
    main()
