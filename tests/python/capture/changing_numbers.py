# run: --torch TERRA_EXACT=1
"""Second gradients through captured functions whose numbers change from call to call."""

import torch
import torch.nn.functional as F


def layer(x, w, eps):
    return F.layer_norm(x, (3,), w, None, eps)


def group(x, w, eps):
    return F.group_norm(x, 1, w, None, eps)


def root_mean(x, w, eps):
    return F.rms_norm(x, (3,), w, eps)


def similarity(x, w, eps):
    return F.cosine_similarity(x, w.expand(3, 3), 1, eps)


def attention(x, w, eps):
    return F.scaled_dot_product_attention(x, x * w, x, scale=eps)


def second(f, i):
    x = torch.arange(9.0, dtype=torch.float64).sin().reshape(3, 3).requires_grad_(True)
    w = torch.arange(1.0, 4.0, dtype=torch.float64).requires_grad_(True)
    out = f(x, w, 0.5 + 0.01 * i)
    first = torch.autograd.grad((out * out).sum(), [x, w], create_graph=True)
    return torch.autograd.grad(sum((g * g).sum() for g in first), [x, w])


for f in (layer, group, root_mean, similarity, attention):
    found = [second(f, i) for i in range(14)]
    assert torch.capture.graphs(f) or torch.capture.graphs(second), f"{f.__name__} isn't captured"
    with torch.capture.mode("off"):
        plain = [second(f, i) for i in range(14)]
    for i, (captured, meant) in enumerate(zip(found, plain)):
        for a, b in zip(captured, meant):
            assert torch.allclose(a, b, 1e-9, 1e-9), f"{f.__name__} at call {i}: {a.tolist()} instead of {b.tolist()}"
print("5 passed")
