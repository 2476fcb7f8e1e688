# run: --torch
"""RNN, LSTM, GRU and MultiheadAttention: names of their state, printed form, outputs, states, gradients and complaints, as
PyTorch's."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

T, B = 4, 3
RECURRENT = [
    (kind, settings, shape)
    for kind in (nn.RNN, nn.LSTM, nn.GRU)
    for settings, shape in (
        ({}, (T, B, 2)), ({"num_layers": 2, "bias": False}, (T, B, 2)), ({"batch_first": True}, (B, T, 2)),
        ({"bidirectional": True}, (T, B, 2)), ({"num_layers": 2, "bidirectional": True, "batch_first": True}, (B, T, 2)),
        ({}, (T, 2)), ({"bidirectional": True}, (T, 2)), ({"dropout": 0.0, "num_layers": 3}, (1, 1, 2)),
    )
] + [
    (nn.RNN, {"nonlinearity": "relu", "num_layers": 2}, (T, B, 2)), (nn.LSTM, {"proj_size": 2}, (T, B, 2)),
    (nn.LSTM, {"proj_size": 1, "num_layers": 2, "bidirectional": True}, (T, B, 2)),
]  # fmt: skip
ATTENTION = [
    {}, {"bias": False}, {"batch_first": True}, {"kdim": 3, "vdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True},
]  # fmt: skip
COMPLAINTS = {
    "dims": lambda: nn.LSTM(2, 3)(torch.ones(1, 1, 1, 2)), "input": lambda: nn.GRU(2, 3)(torch.ones(2, 1, 5)),
    "dtype": lambda: nn.RNN(2, 3)(torch.ones(2, 1, 2, dtype=torch.int64)),
    "hidden": lambda: nn.GRU(2, 3)(torch.ones(2, 1, 2), torch.ones(1, 1, 4)),
    "hidden[0]": lambda: nn.LSTM(2, 3)(torch.ones(2, 1, 2), (torch.ones(1, 2, 3), torch.ones(1, 1, 3))),
    "hidden[1]": lambda: nn.LSTM(2, 3)(torch.ones(2, 1, 2), (torch.ones(1, 1, 3), torch.ones(1, 2, 3))),
    "hidden dims": lambda: nn.GRU(2, 3)(torch.ones(2, 1, 2), torch.ones(1, 3)),
    "hidden dims 2": lambda: nn.LSTM(2, 3)(torch.ones(2, 2), (torch.ones(1, 1, 3), torch.ones(1, 1, 3))),
    "empty": lambda: nn.RNN(2, 3)(torch.ones(0, 1, 2)), "size": lambda: nn.RNN(0, 3), "type": lambda: nn.GRU(2, 3.0),
    "dropout": lambda: nn.GRU(2, 3, dropout=2), "proj": lambda: nn.GRU(2, 3, proj_size=1),
    "proj wide": lambda: nn.LSTM(2, 3, proj_size=3), "nonlinearity": lambda: nn.RNN(2, 3, nonlinearity="sin"),
    "heads": lambda: nn.MultiheadAttention(5, 2), "heads 0": lambda: nn.MultiheadAttention(4, 0),
    "width": lambda: nn.MultiheadAttention(4, 2)(*[torch.ones(2, 1, 3)] * 3),
    "mask": lambda: nn.MultiheadAttention(4, 2)(*[torch.ones(2, 1, 4)] * 3, attn_mask=torch.zeros(3, 3)),
    "causal": lambda: nn.MultiheadAttention(4, 2)(*[torch.ones(2, 1, 4)] * 3, is_causal=True),
}  # fmt: skip


def numbers(*shape, start=0.0):
    count = int(torch.tensor(shape).prod())
    return torch.sin(torch.arange(float(count)) * 0.7 + start).reshape(shape)


def set_weights(layer):
    with torch.no_grad():
        for i, weight in enumerate(layer.parameters()):
            weight.copy_(numbers(*weight.shape, start=i) * 0.6)
    return layer


def walk():
    for kind, settings, shape in RECURRENT:
        layer = set_weights(kind(2, 3, **settings))
        name = repr(layer)
        yield name, [[n, tuple(w.shape)] for n, w in layer.named_parameters()]
        x = numbers(*shape, start=0.3).requires_grad_()
        output, state = layer(x)
        parts = state if isinstance(state, tuple) else (state,)
        yield f"{name} {shape}", [output, *parts]
        (output.square().sum() + sum(part.sum() for part in parts)).backward()
        yield "gradients", [x.grad, *[w.grad for w in layer.parameters()]]
        given = tuple(numbers(*part.shape, start=1.5) for part in parts)
        output, _ = layer(x, given if len(given) > 1 else given[0])
        yield "from a state", output
    layer = set_weights(nn.LSTM(2, 3, 2, dropout=1.0))
    x = numbers(T, B, 2)
    yield "dropout of everything", layer(x)[0]
    yield "not in eval", layer.eval()(x)[0]
    yield "weights", [len(row) for row in layer.all_weights]
    for settings in ATTENTION:
        layer = set_weights(nn.MultiheadAttention(4, 2, **settings))
        yield f"{settings}", [layer, *[[n, tuple(w.shape)] for n, w in layer.named_parameters()]]
        first = settings.get("batch_first")
        q, k, v = (
            numbers(*((B, n, width) if first else (n, B, width)), start=width + n)
            for n, width in ((T, 4), (5, layer.kdim), (5, layer.vdim))
        )
        padding = torch.arange(5) >= torch.tensor([[5], [3], [4]])
        causal = torch.arange(5) > torch.arange(T).unsqueeze(1)
        q.requires_grad_()
        output, weights = layer(q, k, v)
        yield "attention", [output, weights]
        output.square().sum().backward()
        yield "gradients", [q.grad, *[w.grad for w in layer.parameters()]]
        yield "padding", list(layer(q, k, v, key_padding_mask=padding, average_attn_weights=False))
        yield "mask", list(layer(q, k, v, attn_mask=causal, need_weights=False))
        yield "added", layer(q, k, v, attn_mask=numbers(T, 5), key_padding_mask=torch.zeros(B, 5).masked_fill(padding, -1e9))[0]
        yield "heads apart", layer(q, k, v, attn_mask=numbers(B * 2, T, 5))[0]
        if not first:
            yield "unbatched", list(layer(q[:, 0], k[:, 0], v[:, 0]))
    for name, mistake in COMPLAINTS.items():
        try:
            mistake()
            yield name, "accepted"
        except Exception as error:
            yield name, f"{type(error).__name__}: {error}"


check(list(walk()), __file__)
