# run: --torch
"""Attention with several heads and transformers: state, initial values, outputs under all masks, gradients and errors as
PyTorch's."""

import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")

T, S, N, E = 3, 4, 2, 4
CAUSAL = nn.Transformer.generate_square_subsequent_mask(T)
BOOL = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
PADDING = torch.tensor([[False, False, True], [False, False, False]])
MEMORY_PADDING = torch.tensor([[False, True, False, False], [False, False, True, True]])
GAPS = torch.tensor([[False, True, False], [False, False, False]])
MEMORY_MASK = torch.linspace(-1, 1, T * S).view(T, S)


def numbers(*sizes):
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).reshape(sizes).sin()


def state_of(module):
    """Names and sizes of all, and the sums of the initial values."""
    return [f"{k} {tuple(v.shape)} {v.double().abs().sum():.5f}" for k, v in module.state_dict().items()]


def run(module, inputs, **kwargs):
    """Outputs and the gradients of inputs and parameters (their sums)."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    torch.manual_seed(3)
    output = module(*[x * 1 for x in inputs], **kwargs)
    first = output[0] if isinstance(output, tuple) else output
    (first * numbers(*first.shape)).sum().backward()
    found = [x.grad for x in inputs], [p.grad.double().abs().sum().float() for p in module.parameters() if p.grad is not None]
    module.zero_grad()
    return [output, *found]


def attention():
    cases = (
        {}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 3, "vdim": 5}, {"dropout": 0.4},
        {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True},
    )  # fmt: skip
    for kwargs in cases:
        torch.manual_seed(1)
        layer = nn.MultiheadAttention(E, 2, **kwargs)
        yield f"MultiheadAttention {kwargs}", [repr(layer), state_of(layer)]
        q, k, v = (numbers(length, N, width) for length, width in ((T, E), (S, layer.kdim), (S, layer.vdim)))
        if layer.batch_first:
            q, k, v = (x.transpose(0, 1) for x in (q, k, v))
        yield "  plain", run(layer, (q, k, v))
        yield "  masks", run(layer, (q, k, v), attn_mask=MEMORY_MASK, key_padding_mask=MEMORY_PADDING, average_attn_weights=False)
        yield "  no weights", run(layer, (q, k, v), attn_mask=MEMORY_MASK > 0.5, need_weights=False)
        each = torch.linspace(-1, 1, N * 2 * T * S).view(N * 2, T, S)
        yield "  a mask per head", run(layer, (q, k, v), attn_mask=each)
    torch.manual_seed(1)
    layer = nn.MultiheadAttention(E, 2)
    x = numbers(T, N, E)
    yield "itself", layer(x, x, x, need_weights=False)
    yield "unbatched", layer(x[:, 0], x[:, 1], x[:, 1], key_padding_mask=PADDING[0], attn_mask=torch.zeros(2, T, T))
    yield "causal", layer(x, x, x, is_causal=True, attn_mask=torch.zeros(T, T), need_weights=False)
    yield "causal, padded", layer(x, x, x, is_causal=True, attn_mask=BOOL, key_padding_mask=PADDING, need_weights=False)
    keys = numbers(N * 2, 5, 2)
    static = F.multi_head_attention_forward(
        x, x, x, E, 2, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0, layer.out_proj.weight,
        layer.out_proj.bias, static_k=keys, static_v=keys + 1,
    )  # fmt: skip
    yield "static", static


def layers():
    cases = (
        {}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False, "layer_norm_eps": 0.1},
        {"activation": torch.tanh, "dropout": 0.0}, {"activation": nn.GELU(), "dtype": torch.float64},
    )  # fmt: skip
    for kwargs in cases:
        torch.manual_seed(1)
        encoder = nn.TransformerEncoderLayer(E, 2, 6, **kwargs)
        decoder = nn.TransformerDecoderLayer(E, 2, 6, **kwargs)
        dtype = kwargs.get("dtype", torch.float32)
        x, memory = numbers(T, N, E).to(dtype), numbers(S, N, E).cos().to(dtype)
        if kwargs.get("batch_first"):
            x, memory = x.transpose(0, 1), memory.transpose(0, 1)
        yield f"{kwargs if 'activation' not in kwargs else len(kwargs)}", [repr(encoder), state_of(encoder), repr(decoder), state_of(decoder)]
        for mode in (True, False):
            encoder.train(mode), decoder.train(mode)
            yield f"  encoder train={mode}", run(encoder, (x,))
            yield "    masks", run(encoder, (x,), src_mask=CAUSAL.to(dtype), src_key_padding_mask=PADDING)
            yield "    causal", run(encoder, (x,), src_mask=BOOL, is_causal=True)
            yield f"  decoder train={mode}", run(decoder, (x, memory))
            yield "    masks", run(
                decoder, (x, memory), tgt_mask=BOOL, memory_mask=MEMORY_MASK.to(dtype), tgt_key_padding_mask=PADDING,
                memory_key_padding_mask=MEMORY_PADDING,
            )  # fmt: skip
            yield "    causal", run(decoder, (x, memory), tgt_mask=CAUSAL.to(dtype), tgt_is_causal=True)
        x = x[0]
        yield "  unbatched", encoder(x)


def models():
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(E, 2, 6, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(E))
    yield "TransformerEncoder", [repr(encoder), state_of(encoder)]
    x = numbers(N, T, E)
    yield "  train", run(encoder, (x,), src_key_padding_mask=PADDING)
    encoder.eval()
    yield "  eval", run(encoder, (x,), src_key_padding_mask=PADDING)
    plain = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
    with torch.no_grad():
        yield "  padding left out", encoder(x, src_key_padding_mask=PADDING)
        yield "  padding in between", encoder(x, src_key_padding_mask=GAPS)
        yield "  and a mask", encoder(x, mask=BOOL, src_key_padding_mask=PADDING)
        yield "  kept", plain(x, src_key_padding_mask=PADDING)
    for kwargs in ({}, {"batch_first": True, "norm_first": True, "activation": "gelu"}):
        torch.manual_seed(1)
        model = nn.Transformer(E, 2, 2, 1, 6, **kwargs)
        yield f"Transformer {kwargs}", [state_of(model), model.d_model, model.nhead, model.batch_first]
        src, tgt = numbers(S, N, E), numbers(T, N, E)
        if model.batch_first:
            src, tgt = src.transpose(0, 1), tgt.transpose(0, 1)
        yield "  train", run(model, (src, tgt))
        model.eval()
        yield "  masks", run(
            model, (src, tgt), tgt_mask=CAUSAL, tgt_is_causal=True, memory_mask=MEMORY_MASK,
            memory_key_padding_mask=MEMORY_PADDING, src_key_padding_mask=MEMORY_PADDING, tgt_key_padding_mask=PADDING,
        )  # fmt: skip
    yield "mask", nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64)
    torch.manual_seed(1)
    own = nn.Transformer(E, 2, custom_encoder=nn.Linear(E, E), custom_decoder=nn.Identity())
    yield "own parts", [repr(own), state_of(own)]


m, wide = nn.MultiheadAttention(E, 2), nn.MultiheadAttention(E, 2, kdim=3)
x = numbers(T, N, E)
ERRORS = """
m(x, x, x[0]) | m(x, x, x, key_padding_mask=torch.zeros(3).bool()) | m(x, x, x, key_padding_mask=torch.zeros(3, 2).bool())
m(x, x, x, attn_mask=torch.zeros(3).bool()) | m(x, x, x, attn_mask=torch.zeros(3, 2)) | m(x, x, x, attn_mask=torch.zeros(3, 3, 3))
m(x, x, x, attn_mask=torch.zeros(3, 3).long()) | m(x, x, x, key_padding_mask=torch.zeros(2, 3).long()) | m(x[0], x, x)
m(x[0], x[0], x[0], key_padding_mask=PADDING) | m(x[0], x[0], x[0], attn_mask=torch.zeros(3, 2, 2)) | m(x[0, 0], x, x)
m(x, x, x, is_causal=True) | m(x[:, :, :3], x, x) | m(x, x[:2], x) | wide(x, numbers(5, N, 3), x) | wide(x, x, x)
nn.MultiheadAttention(5, 2) | nn.MultiheadAttention(0, 2) | nn.TransformerEncoderLayer(E, 2, activation='foo')
nn.Transformer(E, 2)(x, x[:, :1]) | nn.Transformer(E, 2)(x[..., :3], x) | nn.Transformer(E, 2)(x, x[0])
nn.TransformerEncoder(nn.TransformerEncoderLayer(E, 2), 1)(x, src_key_padding_mask=torch.zeros(2, 3).long())
nn.TransformerEncoderLayer(E, 2)(x, is_causal=True) | nn.TransformerDecoderLayer(E, 2)(x, x, memory_is_causal=True)
"""


check([*attention(), *layers(), *models(), *outcomes(ERRORS, globals())], __file__)
