# run: --torch
# run: --torch --capture=off
"""Memory formats: strides of conversions, factories and results, and errors, as PyTorch's."""

import copy
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

last, last3d, rows, keep = torch.channels_last, torch.channels_last_3d, torch.contiguous_format, torch.preserve_format
LAYOUTS = {
    "rows": torch.arange(120.0).view(2, 3, 4, 5),
    "last": torch.arange(120.0).view(2, 4, 5, 3).permute(0, 3, 1, 2),
    "pixels": torch.arange(12.0).view(4, 3, 1, 1),
    "pixels last": torch.arange(12.0).as_strided((4, 3, 1, 1), (3, 1, 3, 3)),
    "one channel": torch.arange(40.0).view(2, 1, 4, 5),
    "one image": torch.arange(60.0).view(1, 4, 5, 3).permute(0, 3, 1, 2),
    "one": torch.ones(1, 1, 1, 1),
    "no channels": torch.ones(2, 0, 4, 5),
    "part of last": torch.arange(240.0).view(2, 4, 5, 6).permute(0, 3, 1, 2)[:, :3],
    "volume": torch.arange(120.0).view(1, 2, 4, 5, 3).permute(0, 4, 1, 2, 3),
    "transposed": torch.arange(12.0).view(3, 4).t(),
    "permuted": torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1),
    "sliced": torch.arange(24.0).view(4, 6)[:, ::2],
    "permuted slice": torch.arange(120.0).view(4, 6, 5)[:, ::2].permute(2, 0, 1),
    "expanded": torch.arange(3.0).view(1, 3).expand(2, 3),
    "number": torch.tensor(2.0),
}
COPIES = {
    "clone": torch.clone,
    "to float64": lambda x: x.to(torch.float64),
    "copied": lambda x: x.to(x.dtype, copy=True),
    "double in rows": lambda x: x.double(memory_format=rows),
    "contiguous": lambda x: x.contiguous(),
    "empty_like": torch.empty_like,
    "zeros_like": lambda x: torch.zeros_like(x, dtype=torch.int64),
    "full_like in rows": lambda x: torch.full_like(x, 2.0, memory_format=rows),
    "rand_like": torch.rand_like,
    "negated": lambda x: -x,
    "doubled": lambda x: x * 2,
    "squared": lambda x: x * x,
    "compared": lambda x: x > 1,
    "plus a number of one dimension": lambda x: x + torch.ones(1),
    "plus a row": lambda x: x + torch.ones(x.shape[-1:]),
    "a row plus": lambda x: torch.ones(x.shape[-1:]) + x,
    "plus rows": lambda x: x + torch.ones(x.shape),
    "rows plus": lambda x: torch.ones(x.shape) + x,
    "plus integers": lambda x: torch.ones(x.shape, dtype=torch.int64) + x,
    "where": lambda x: torch.where(x > 1, x, torch.ones(x.shape)),
    "clamped": lambda x: x.clamp(0, 5),
    "dropped": lambda x: torch.nn.functional.dropout(x, 0.5),
    "softplus": torch.nn.functional.softplus,
    "gelu": torch.nn.functional.gelu,
    "added to itself in place": lambda x: x.clone().add_(x),
    "half": lambda x: x.half(),
    "bfloat16 sum": lambda x: x.bfloat16() + x.bfloat16(),
    "detached": lambda x: x.detach(),
    "copied deeply": copy.deepcopy,
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "sigmoid of sum": lambda x: torch.sigmoid(x + x),
}  # fmt: skip
FORMATS = {
    "to last": lambda x: x.to(memory_format=last), "contiguous last": lambda x: x.contiguous(memory_format=last),
    "clone last": lambda x: x.clone(memory_format=last), "double last": lambda x: x.double(memory_format=last),
    "cpu last": lambda x: x.cpu(memory_format=last), "to double, last": lambda x: x.to(torch.float64, memory_format=last),
    "empty_like last": lambda x: torch.empty_like(x, memory_format=last), "ones_like 3d": lambda x: torch.ones_like(x, memory_format=last3d),
    "to 3d": lambda x: x.to(memory_format=last3d), "to rows": lambda x: x.to(memory_format=rows), "to what it is": lambda x: x.to(memory_format=keep),
}  # fmt: skip
EXPRESSIONS = """
    torch.empty(2, 3, 4, 5, memory_format=last).stride() | torch.empty((2, 3, 4, 5, 6), memory_format=last3d).stride()
    torch.empty(2, 0, 4, 5, memory_format=last).stride() | torch.empty(2, 3, memory_format=rows).stride() | torch.empty(2, 3, memory_format=last)
    torch.empty(2, 3, 4, 5, memory_format=keep) | torch.empty(2, 3, memory_format=None).stride() | torch.zeros(2, 3, 4, 5, memory_format=last)
    torch.empty(2, 3, memory_format=3)
    torch.empty(0).resize_(2, 3, 5, 4, memory_format=last).stride() | torch.empty(0).resize_as_(LAYOUTS['last'], memory_format=keep).stride()
    torch.empty(0).resize_as_(LAYOUTS['last']).stride() | torch.empty(0).resize_as_(LAYOUTS['rows'], memory_format=last).stride()
    LAYOUTS['rows'].contiguous(last) | LAYOUTS['rows'].clone(last) | LAYOUTS['rows'].contiguous(memory_format=3) | LAYOUTS['rows'].is_contiguous(last)
    LAYOUTS['rows'].is_contiguous(memory_format=3) | LAYOUTS['rows'].new_zeros((2, 3, 4, 5), memory_format=last) | LAYOUTS['last'].new_empty(2, 3, 4, 5).stride()
    LAYOUTS['rows'].to(torch.float32, False, True, memory_format=last).stride() | LAYOUTS['rows'].to(LAYOUTS['last'], memory_format=last).stride()
    torch.clone(LAYOUTS['rows'], memory_format=last).stride() | LAYOUTS['last'].flatten(1).stride() | LAYOUTS['last'].reshape(2, -1).stride()
    LAYOUTS['last'].view(2, -1) | LAYOUTS['last'].sum(1).stride() | LAYOUTS['last'].mean((2, 3)).stride() | LAYOUTS['last'].mean((2, 3), keepdim=True).stride()
    LAYOUTS['last'].permute(0, 2, 3, 1).is_contiguous() | (LAYOUTS['last'] + 1).permute(0, 2, 3, 1).view(-1, 3).stride() | LAYOUTS['last'][:, 1:].exp().stride()
    torch.randn_like(LAYOUTS['last']).stride() | torch.lerp(LAYOUTS['last'], LAYOUTS['rows'], 0.5).stride() | torch.lerp(LAYOUTS['rows'], LAYOUTS['last'], 0.5).stride()
    LAYOUTS['last'].masked_fill(LAYOUTS['last'] > 1, 0.0).stride() | LAYOUTS['last'].softmax(1).stride() | LAYOUTS['last'].cumsum(1).stride()
    torch.cat([LAYOUTS['last']] * 2).stride() | torch.cat([LAYOUTS['last']] * 2, 1).stride() | torch.cat([LAYOUTS['last'], LAYOUTS['rows']], 1).stride()
    LAYOUTS['last'].requires_grad_().clone().grad_fn.name() | LAYOUTS['last'].to(torch.float64, memory_format=rows).grad_fn.name()
    LAYOUTS['rows'].requires_grad_().contiguous(memory_format=last).grad_fn.name() | LAYOUTS['rows'].to(memory_format=last).grad_fn.name()
    LAYOUTS['rows'].to(memory_format=last)._base | LAYOUTS['rows'].to(memory_format=last).is_leaf | torch.ones_like(LAYOUTS['last']).requires_grad_().is_leaf
"""  # fmt: skip


def strides():
    for name, x in LAYOUTS.items():
        formats = [x.is_contiguous(), *[x.is_contiguous(memory_format=f) for f in (rows, last, last3d, keep)]]
        yield name, [x.stride(), formats]
        for what, made in COPIES.items():
            yield f"  {what}", made(x).stride()
        for what, made in FORMATS.items():
            try:
                result = made(x)
                yield f"  {what}", [result.stride(), result is x, torch.equal(result.double(), x.double()) if "like" not in what else None]
            except RuntimeError as error:
                yield f"  {what}", error


def values():
    """Elements are where they belong: numbers like those of rows."""
    for name, x in LAYOUTS.items():
        plain = x.contiguous()
        for what in ("negated", "doubled", "plus rows", "plus a row", "where", "softplus", "addcmul", "added to itself in place"):
            assert torch.equal(COPIES[what](x), COPIES[what](plain)), (name, what)
        assert torch.equal(torch.cat([x, x], -1), torch.cat([plain, plain], -1)) if x.dim() else True
    assert (torch.full_like(LAYOUTS["last"], 3.0) == 3).all() and not torch.zeros_like(LAYOUTS["last"]).any()
    x = torch.zeros_like(LAYOUTS["last"])
    x[:, 1] = LAYOUTS["last"][:, 1]
    assert torch.equal(x.sum((0, 2, 3)), torch.stack([LAYOUTS["last"].sum((0, 2, 3))[1] * (i == 1) for i in range(3)]))
    yield "values", "as those of rows"


def drawn():
    """Random numbers go by places in memory."""
    for function in (torch.rand_like, lambda x: torch.randint_like(x, 100)):
        torch.manual_seed(3)
        yield "drawn", [function(LAYOUTS["last"])[0, :, 0], torch.rand(1)]


check([*strides(), *values(), *drawn(), *outcomes(EXPRESSIONS, globals())], __file__)
