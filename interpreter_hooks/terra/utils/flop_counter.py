"""torch.utils.flop_counter: floating point operations of products of matrices, convolutions and attention, forward and
backward, as PyTorch counts them: those of the ops of PyTorch that stand for what the program calls."""

import collections
import math
import warnings

import _terra_C as C

from .._missing_parts import sentences
from .._names import lazily
from ..nn import functional as F
from ..ops import aten
from ..overrides import TorchFunctionMode
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

OWN_FORMULAS = "FlopCounterMode counts what calls of the engine's ops take; formulas of a program's own are not asked in Terra"
globals().update(sentences("torch.utils.flop_counter", ("register_flop_formula",), OWN_FORMULAS))


# ---- what one op of PyTorch's takes ----------------------------------------------------------------------------------
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    return math.prod(a_shape) * b_shape[-1] * 2


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Each position of the output, of a transposed convolution of the input, meets the whole filter."""
    positions = (x_shape if transposed else out_shape)[2:]
    return math.prod(positions) * math.prod(w_shape) * x_shape[0] * 2


def sdpa_flop_count(query_shape, key_shape, value_shape):
    *batch, rows, width = query_shape
    return math.prod(batch) * rows * key_shape[-2] * (width + value_shape[-1]) * 2


def sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape):
    """The scores once more, and a product for each operand of the two."""
    *batch, rows, width = query_shape
    return math.prod(batch) * rows * key_shape[-2] * (3 * width + 2 * value_shape[-1]) * 2


# ---- what calls are made of: pairs of forward (op, flops), and of the same for backward -------------------------------
def _operands(needed, flops):
    """The products that give gradients to operands."""
    return sum(flops for operand in needed if isinstance(operand, C.Tensor) and operand.requires_grad)


def _product(op, a, b, flops, backward=None):
    return (op, flops), (backward or op, _operands((a, b), flops))


def _mm(out, a, b, *args, **kwargs):
    return _product(aten.mm, a, b, mm_flop(a.shape, b.shape))


def _addmm(out, base, a, b, *args, **kwargs):
    return _product(aten.addmm, a, b, mm_flop(a.shape, b.shape), aten.mm)


def _bmm(out, a, b, *args, **kwargs):
    return _product(aten.bmm, a, b, mm_flop(a.shape, b.shape))


def _baddbmm(out, base, a, b, *args, **kwargs):
    return _product(aten.baddbmm, a, b, mm_flop(a.shape, b.shape), aten.bmm)


def _addbmm(out, base, a, b, *args, **kwargs):
    """Only its gradients are products of their own."""
    return None, _product(aten.bmm, a, b, mm_flop(a.shape, b.shape))[1]


def _nothing(out, *args, **kwargs):
    """Of no op that counts."""


def _matmul(out, a, b, *args, **kwargs):
    """Products with a vector on the right are none of matrices; a matrix meets all rows of the other operand at once."""
    if b.dim() == 1:
        return None
    flops = 2 * out.numel() * a.shape[-1]
    return _product(aten.mm if 2 in (a.dim(), b.dim()) else aten.bmm, a, b, flops)


def _linear(out, input, weight, bias=None):
    rows_together = bias is not None and (input.dim() <= 2 or input.is_contiguous())
    flops = 2 * out.numel() * input.shape[-1]
    return _product(aten.addmm if rows_together else aten.mm, input, weight, flops, aten.mm)


def _convolution(transposed):
    def count(out, input, weight, *args, **kwargs):
        batched = input.dim() == weight.dim()
        x_shape, out_shape = input.shape if batched else (1, *input.shape), out.shape if batched else (1, *out.shape)
        flops = conv_flop_count(x_shape, weight.shape, out_shape, transposed)
        to_input = conv_flop_count(out_shape, weight.shape, x_shape, not transposed)
        to_weight = _gradient_of_filter(x_shape, weight.shape, out_shape, transposed)
        backward = _operands((input,), to_input) + _operands((weight,), to_weight)
        return (aten.convolution, flops), (aten.convolution_backward, backward)

    return count


def _gradient_of_filter(x_shape, w_shape, out_shape, transposed):
    """The filter's gradient is a convolution of input and gradient, batch and channels exchanged."""
    swapped = lambda shape: (shape[1], shape[0], *shape[2:])  # noqa: E731
    image, filters = (out_shape, x_shape) if transposed else (x_shape, out_shape)
    return conv_flop_count(swapped(image), swapped(filters), swapped(w_shape))


def _attention(out, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    flops = sdpa_flop_count(query.shape, key.shape, value.shape)
    masked = attn_mask is not None and attn_mask.requires_grad
    if dropout_p == 0.0 and not masked and query.shape[-1] == value.shape[-1]:
        needed = any(operand.requires_grad for operand in (query, key, value))
        backward = sdpa_backward_flop_count(out.shape, query.shape, key.shape, value.shape) if needed else 0
        op = aten._scaled_dot_product_flash_attention_for_cpu
        return (op, flops), (aten._scaled_dot_product_flash_attention_for_cpu_backward, backward)
    scores = mm_flop(query.shape, key.shape[:-2] + (key.shape[-1], key.shape[-2]))
    through_scores = query.requires_grad or key.requires_grad
    backward = _operands((query, key), scores) + (flops - scores) * (through_scores + value.requires_grad)
    return (aten.bmm, flops), (aten.bmm, backward)


def _counters():
    both = {"mm": _mm, "addmm": _addmm, "bmm": _bmm, "baddbmm": _baddbmm, "addbmm": _addbmm, "matmul": _matmul}
    for name, count in both.items():
        yield getattr(C, name), count
        yield getattr(C.Tensor, name), count
        if hasattr(C.Tensor, name + "_"):
            yield getattr(C.Tensor, name + "_"), count
    yield C.Tensor.__rmatmul__, lambda out, b, a: _matmul(out, a, b)
    yield F.bilinear, _nothing
    yield F.linear, _linear
    yield F.scaled_dot_product_attention, _attention
    for n in (1, 2, 3):
        for name, transposed in ((f"conv{n}d", False), (f"conv_transpose{n}d", True)):
            yield getattr(F, name), _convolution(transposed)
            yield getattr(C, name), _convolution(transposed)


COUNTERS = dict(_counters())


class _Counting(TorchFunctionMode):
    """Adds up what calls take; those made of others are followed."""

    def __init__(self, counter):
        self.counter, self.is_on = counter, True

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in COUNTERS and isinstance(func, C.Overridable):
            with self:
                return func.__wrapped__(*args, **kwargs)
        out = func(*args, **kwargs)
        if func in COUNTERS:
            self._note(out, COUNTERS[func](out, *args, **kwargs))
        return out

    def _note(self, out, counts):
        if counts is None:
            return
        forward, backward = counts
        parents = {*self.counter.mod_tracker.parents}
        if forward:
            self._add(parents, *forward)
        if backward[1] and out.requires_grad:
            out.register_hook(lambda gradient: self._add(parents, *backward))

    def _add(self, parents, op, flops):
        if self.is_on:
            for parent in parents:
                self.counter.flop_counts[parent][op] += flops


class FlopCounterMode:
    """A context that counts; on its way out it prints a table, if `display`. Gradients count where their forward pass ran inside,
    too."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None, skip_unsupported=False):
        self.flop_counts = collections.defaultdict(lambda: collections.defaultdict(int))
        self.depth, self.display, self.mode = depth, display, None
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        if custom_mapping:
            raise NotImplementedError(f"custom_mapping: {OWN_FORMULAS}.")
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_unsupported_ops(self):
        """Those that take what nobody can say: none."""
        return collections.Counter()

    def get_flop_counts(self):
        """{name of a module, or "Global": {op: flops}}"""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        depth = depth or self.depth or 999999
        total, rows, whole = self.get_total_flops(), [], False
        for name in sorted(self.flop_counts):
            if name != "Global" and name.count(".") < depth:
                rows += self._rows(name, name.count("."), total)
                whole |= sum(self.flop_counts[name].values()) >= total
        if "Global" in self.flop_counts and not whole:
            rows = [*self._rows("Global", 0, total), *((" " + name, *rest) for name, *rest in rows)]
        return _table([("Module", "FLOP", "% Total"), *(rows or [("Global", "0", "0%")])])

    def _rows(self, name, depth, total):
        counts = self.flop_counts[name]
        suffix = _suffix(total)
        yield " " * depth + name, _short(sum(counts.values()), suffix), _percent(sum(counts.values()), total)
        for op, flops in counts.items():
            yield " " * depth + f" - {op}", _short(flops, suffix), _percent(flops, total)

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exception):
        self.mode.is_on = False
        self.mode.__exit__(*exception)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))


SUFFIXES = ("", "K", "M", "B", "T")


def _suffix(number):
    return SUFFIXES[max(0, min(len(SUFFIXES) - 1, (len(str(number)) - 2) // 3))]


def _short(number, suffix):
    return f"{number / 1000 ** SUFFIXES.index(suffix):.3f}{suffix}"


def _percent(number, total):
    return f"{number / total:.2%}" if total else "0%"


def _table(rows):
    """Columns under their titles: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    widths = [max(width, len(title) + 2) for width, title in zip(widths, rows[0])]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    lines = (
        "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


__getattr__ = lazily(__name__)
