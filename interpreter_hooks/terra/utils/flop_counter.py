"""torch.utils.flop_counter: floating point operations of products of matrices, convolutions and attention, forward and
backward, by the ops that a mode of __torch_dispatch__ sees."""

import collections
import functools
import math
import warnings

import _terra_C as C

from .._names import lazily
from ..ops import aten
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

flop_registry = {}  # {op: formula of the shapes of its arguments, by name also out_shape}


def _shape(value):
    return value.shape if isinstance(value, C.Tensor) else value


def _of_shapes(formula):
    @functools.wraps(formula)
    def of_tensors(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(_shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return of_tensors


def register_flop_formula(targets, get_raw=False):
    """A decorator of the formula for one op or several: it gets shapes in place of tensors, or with get_raw the tensors, and
    what the op gave as out_shape or out_val."""

    def register(formula):
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula if get_raw else _of_shapes(formula)
        return formula

    return register


# ---- what one op takes -----------------------------------------------------------------------------------------------
@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    return math.prod(a_shape) * b_shape[-1] * 2


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Each position of the output, of a transposed convolution of the input, meets the whole filter."""
    positions = (x_shape if transposed else out_shape)[2:]
    return math.prod(positions) * math.prod(w_shape) * x_shape[0] * 2


@register_flop_formula(aten.convolution)
def conv_flop(x_shape, w_shape, bias, stride, padding, dilation, transposed, *args, out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape, x_shape, w_shape, bias, stride, padding, dilation, transposed, output_padding, groups, output_mask, out_shape
):
    """The input's gradient is a convolution the other way; the filter's is one of input and gradient, batch and channels
    exchanged."""
    swapped = lambda shape: (shape[1], shape[0], *shape[2:])  # noqa: E731
    flops = 0
    if output_mask[0]:
        flops += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        image, filters = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        flops += conv_flop_count(swapped(image), swapped(filters), swapped(out_shape[1]))
    return flops


def sdpa_flop_count(query_shape, key_shape, value_shape):
    *batch, rows, width = query_shape
    return math.prod(batch) * rows * key_shape[-2] * (width + value_shape[-1]) * 2


@register_flop_formula(aten._scaled_dot_product_flash_attention_for_cpu)
def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    return sdpa_flop_count(query_shape, key_shape, value_shape)


@register_flop_formula(aten._scaled_dot_product_flash_attention_for_cpu_backward)
def sdpa_backward_flop(grad_out_shape, query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    """The scores once more, and a product for each operand of the two."""
    *batch, rows, width = query_shape
    return math.prod(batch) * rows * key_shape[-2] * (3 * width + 2 * value_shape[-1]) * 2


class _Counting(TorchDispatchMode):
    """Adds up what ops take."""

    def __init__(self, counter):
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.counter._count(func.overloadpacket, out, args, kwargs or {})
        return out


class FlopCounterMode:
    """A context that counts; on its way out it prints a table, if `display`."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None, skip_unsupported=False):
        self.flop_counts = collections.defaultdict(lambda: collections.defaultdict(int))
        self.depth, self.display, self.mode = depth, display, None
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        own = {op: f if getattr(f, "_get_raw", False) else _of_shapes(f) for op, f in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **own}
        self.mod_tracker = ModuleTracker()

    def _count(self, op, out, args, kwargs):
        if op in self.flop_registry:
            flops = self.flop_registry[op](*args, **kwargs, out_val=out)
            for parent in set(self.mod_tracker.parents):
                self.flop_counts[parent][op] += flops

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
