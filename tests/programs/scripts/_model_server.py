"""A server of models: a cache of a few, weights loaded anew, batches of all sizes, decorators that time and retry."""

import collections
import functools
import gc
import io
import random
import time
import weakref
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
stats, seconds = collections.Counter(), []
flaky = 0.05  # the share of calls that fail


def timed(fn):
    @functools.wraps(fn)
    def inner(*a, **k):
        t = time.perf_counter()
        try:
            return fn(*a, **k)
        finally:
            stats[fn.__qualname__] += 1
            seconds.append(time.perf_counter() - t)

    return inner


def retry(n):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            for i in range(n):
                try:
                    return fn(*a, **k)
                except (ValueError, RuntimeError) as e:
                    stats[type(e).__name__] += 1
                    err = e
            raise err

        return inner

    return deco


class Model(nn.Module):
    def __init__(self, kind, d=8):
        super().__init__()
        self.kind = kind
        self.enc = {
            "mlp": lambda: nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, d)),
            "attn": lambda: nn.TransformerEncoderLayer(d, 2, 16, batch_first=True, dropout=0.0),
            "rnn": lambda: nn.GRU(d, d, batch_first=True),
            "conv": lambda: nn.Conv1d(d, d, 3, padding=1),
        }[kind]()
        self.head = nn.Linear(d, 2)

    @timed
    def forward(self, x, mask=None):
        if random.random() < flaky:
            raise ValueError("flaky")
        match self.kind:
            case "rnn":
                x = self.enc(x)[0]
            case "conv":
                x = self.enc(x.transpose(1, 2)).transpose(1, 2)
            case "attn":
                x = self.enc(x, src_key_padding_mask=mask)
            case _:
                x = self.enc(x)
        if mask is not None:
            x = x.masked_fill(mask[..., None], 0)
            return self.head(x.sum(1) / (~mask).sum(1, keepdim=True))
        return self.head(x.mean(1))


class Server:
    def __init__(self, size=2):
        self.cache, self.size, self.disk = collections.OrderedDict(), size, {}
        self.refs = []

    def put(self, name, model):
        b = io.BytesIO()
        torch.save(model.state_dict(), b)
        self.disk[name] = (model.kind, b.getvalue())
        self.cache.pop(name, None)

    def get(self, name):
        if name in self.cache:
            self.cache.move_to_end(name)
        else:
            kind, data = self.disk[name]
            m = Model(kind).eval()
            m.load_state_dict(torch.load(io.BytesIO(data), weights_only=True))
            self.refs.append(weakref.ref(m))
            self.cache[name] = m
            if len(self.cache) > self.size:
                self.cache.popitem(last=False)
        return self.cache[name]

    @retry(4)
    @torch.inference_mode()
    def serve(self, name, reqs):
        n = max(map(len, reqs))
        x = nn.utils.rnn.pad_sequence(reqs, batch_first=True)
        mask = torch.arange(n)[None] >= torch.tensor([len(r) for r in reqs])[:, None]
        out = self.get(name)(x, mask if mask.any() else None)
        return F.softmax(out, -1)


srv = Server()
for k in ("mlp", "attn", "rnn", "conv"):
    torch.manual_seed(len(k))
    srv.put(k, Model(k))
total, count = 0.0, 0
for t in range(160):
    name = random.choice(["mlp", "attn", "rnn", "conv"])
    reqs = [torch.randn(random.randint(2, 9), 8) for _ in range(random.randint(1, 5))]
    out = srv.serve(name, reqs)
    total += out[:, 0].sum().item()
    count += len(out)
    if t % 40 == 20:
        m = Model(name)
        m.load_state_dict(srv.get(name).state_dict())
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
        for _ in range(5):
            opt.zero_grad()
            try:
                F.cross_entropy(m(torch.randn(4, 5, 8)), torch.tensor([0, 1, 0, 1])).backward()
            except ValueError:
                continue
            opt.step()
        srv.put(name, m)
gc.collect()
print(f"{total / count:.4f} {count}", sum(r() is not None for r in srv.refs), len(srv.refs), dict(stats), len(seconds))
flaky = 0.0
m = Model("mlp").double()
print(m(torch.randn(2, 3, 8, dtype=torch.float64)).dtype)
try:
    m(torch.randn(2, 3, 8))
except RuntimeError as e:
    print(str(e)[:60])
for dt in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
    mm = Model("mlp").to(dt)
    print(mm(torch.ones(1, 2, 8, dtype=dt)).dtype, end=" ")
print()
