"""Observers: modules that hand their input on, and find the scale and the zero point that suit what they have seen."""

import functools
import warnings

import _terra_C as C

from ..._names import lazily
from ..._quantized import (
    per_channel_affine, per_channel_affine_float_qparams, per_channel_symmetric, per_tensor_affine, per_tensor_symmetric,
)  # fmt: skip
from ..._quantized.kinds import limits
from ...nn import Module

__all__ = [
    "FixedQParamsObserver", "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver",
    "RecordingObserver", "ReuseInputObserver", "UniformQuantizationObserverBase", "default_affine_fixed_qparams_observer",
    "default_debug_observer", "default_dynamic_quant_observer", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer", "default_float_qparams_observer", "default_histogram_observer",
    "default_observer", "default_per_channel_weight_observer", "default_placeholder_observer", "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer", "default_weight_observer", "weight_observer_range_neg_127_to_127",
    "per_channel_weight_observer_range_neg_127_to_127",
]  # fmt: skip
EPS = C.finfo(C.float32).eps


class _PartialWrapper:
    """A class with some of its arguments; calls make instances."""

    def __init__(self, p):
        self.p = p
        self.callable_args = {}

    def __call__(self, *args, **kwargs):
        made = {name: make() for name, make in self.callable_args.items() if name not in kwargs}
        return self.p(*args, **kwargs, **made)

    def __repr__(self):
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs):
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs):
        result = _PartialWrapper(self.p)
        result.callable_args = {**self.callable_args, **kwargs}
        return result


def _with_args(cls_or_self, **kwargs):
    return _PartialWrapper(functools.partial(cls_or_self, **kwargs))


class ObserverBase(Module):
    """A module with calculate_qparams(), which gives scale and zero point."""

    def __init__(self, dtype, is_dynamic=False):
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    def forward(self, x):
        raise NotImplementedError

    def calculate_qparams(self, **kwargs):
        raise NotImplementedError

    with_args = classmethod(_with_args)


def _range(quant_min, quant_max, dtype, reduce_range):
    """(least, greatest) integer."""
    if quant_min is not None and quant_max is not None:
        if not quant_min <= 0 <= quant_max:
            raise AssertionError("Used-specified quantization range must include 0.")
        if quant_min >= quant_max:
            raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")
    else:
        quant_min, quant_max = limits(dtype)
        reduce_range = reduce_range and dtype != C.qint32
    return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)


class UniformQuantizationObserverBase(ObserverBase):
    """From the least and the greatest number to scale and zero point."""

    _version = 3

    def __init__(
        self, dtype=C.quint8, qscheme=per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None, eps=EPS,
        is_dynamic=False, **kwargs,
    ):  # fmt: skip
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme, self.reduce_range = qscheme, reduce_range
        if reduce_range:
            warnings.warn(
                "Please use quant_min and quant_max to specify the range for observers. reduce_range will be deprecated in a future "
                "release of PyTorch.",
                stacklevel=2,
            )
        self.register_buffer("eps", C.tensor([eps], **(factory_kwargs or {})))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        self.quant_min, self.quant_max = _range(quant_min, quant_max, dtype, reduce_range)

    def _calculate_qparams(self, min_val, max_val):
        if min_val.numel() == 0 or max_val.numel() == 0 or (min_val.isinf() & max_val.isinf()).any():
            warnings.warn("must run observer before calling calculate_qparams. Returning default values.", stacklevel=2)
            return C.tensor([1.0]), C.tensor([0])
        qmin, qmax = self.quant_min, self.quant_max
        low, high = C.minimum(min_val, C.zeros_like(min_val)), C.maximum(max_val, C.zeros_like(max_val))
        zero_point = C.zeros(low.shape, dtype=C.int64)
        if self.qscheme.symmetric:
            scale = C.maximum(C.maximum(-low, high) / (float(qmax - qmin) / 2), self.eps)
            if self.dtype in (C.quint8, C.uint8):
                zero_point = C.full(low.shape, (qmin + qmax) // 2 if self.has_customized_qrange else 128, dtype=C.int64)
        elif self.qscheme is per_channel_affine_float_qparams:
            scale = (max_val - min_val) / float(qmax - qmin)
            scale = C.where(scale > self.eps, scale, C.ones_like(scale))
            zero_point = -1 * min_val / scale
        else:
            scale = C.maximum((high - low) / float(qmax - qmin), self.eps)
            zero_point = (qmin - C.round(low / scale).to(C.int32)).clamp(qmin, qmax)
        return scale.reshape(-1), zero_point.reshape(-1)

    def reset_min_max_vals(self):
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


def _loaded(self, state_dict, prefix):
    """Buffers that have grown with what was seen take the shapes of what is loaded."""
    for name in ("min_val", "max_val", "scale", "zero_point", "histogram"):
        value, buffer = state_dict.get(prefix + name), self._buffers.get(name)
        if value is not None and buffer is not None and value.shape != buffer.shape:
            self._buffers[name] = value.detach().clone()


class MinMaxObserver(UniformQuantizationObserverBase):
    """The range of everything that was seen."""

    def __init__(
        self, dtype=C.quint8, qscheme=per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None, eps=EPS,
        is_dynamic=False, **kwargs,
    ):  # fmt: skip
        if qscheme.per_channel:
            raise NotImplementedError(
                "MinMaxObserver's qscheme only support torch.per_tensor_symmetric and torch.per_tensor_affine."
            )
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.register_buffer("min_val", C.tensor(float("inf"), **(factory_kwargs or {})))
        self.register_buffer("max_val", C.tensor(float("-inf"), **(factory_kwargs or {})))
        if self.qscheme is per_tensor_symmetric and self.reduce_range and self.dtype == C.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def forward(self, x_orig):
        if x_orig.numel() == 0:
            return x_orig
        low, high = C.aminmax(x_orig.detach().to(self.min_val.dtype))
        self._keep(low, high)
        return x_orig

    def _keep(self, low, high):
        self.min_val.copy_(C.minimum(low, self.min_val))
        self.max_val.copy_(C.maximum(high, self.max_val))

    def calculate_qparams(self):
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self):
        self.min_val.copy_(C.tensor(float("inf")))
        self.max_val.copy_(C.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """The range as it moves on average."""

    def __init__(
        self, averaging_constant=0.01, dtype=C.quint8, qscheme=per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, eps=EPS,
        is_dynamic=False, **kwargs,
    ):  # fmt: skip
        self.averaging_constant = averaging_constant
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                f"MovingAverageMinMaxObserver doesn't support dynamic quantization for averaging constant of {averaging_constant}"
            )
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)

    def _keep(self, low, high):
        if self.min_val != float("inf") or self.max_val != float("-inf"):
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self.min_val.copy_(low)
        self.max_val.copy_(high)


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The range of each slice along an axis."""

    def __init__(
        self, ch_axis=0, dtype=C.quint8, qscheme=per_channel_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None,
        eps=EPS, is_dynamic=False, **kwargs,
    ):  # fmt: skip
        if not qscheme.per_channel:
            raise NotImplementedError(
                "PerChannelMinMaxObserver's qscheme only support torch.per_channel_symmetric, torch.per_channel_affine and "
                "torch.per_channel_affine_float_qparams."
            )
        if is_dynamic:
            raise NotImplementedError("PerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", C.tensor([], **(factory_kwargs or {})))
        self.register_buffer("max_val", C.tensor([], **(factory_kwargs or {})))
        if self.qscheme is per_channel_symmetric and self.reduce_range and self.dtype == C.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def forward(self, x_orig):
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().transpose(0, self.ch_axis).to(self.min_val.dtype).flatten(1)
        low, high = C.aminmax(x, dim=1)
        if self.min_val.numel() > 0:
            low, high = self._joined(low, high)
        self.min_val.resize_(low.shape).copy_(low)
        self.max_val.resize_(high.shape).copy_(high)
        return x_orig

    def _joined(self, low, high):
        return C.minimum(low, self.min_val), C.maximum(high, self.max_val)

    def calculate_qparams(self):
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        _loaded(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def reset_min_max_vals(self):
        self.min_val, self.max_val = C.rand(0), C.rand(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """The same as it moves on average."""

    def __init__(
        self, averaging_constant=0.01, ch_axis=0, dtype=C.quint8, qscheme=per_channel_affine, reduce_range=False, quant_min=None,
        quant_max=None, eps=EPS, is_dynamic=False, **kwargs,
    ):  # fmt: skip
        if is_dynamic:
            raise NotImplementedError("MovingAveragePerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def _joined(self, low, high):
        constant = self.averaging_constant
        return self.min_val + constant * (low - self.min_val), self.max_val + constant * (high - self.max_val)


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of everything that was seen, and of it the range that costs the least: the squares of what rounding changes,
    elements that are cut off included."""

    def __init__(
        self, bins=2048, dtype=C.quint8, qscheme=per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None,
        eps=EPS, is_dynamic=False, **kwargs,
    ):  # fmt: skip
        if qscheme.per_channel:
            raise NotImplementedError(
                "HistogramObserver's qscheme only support torch.per_tensor_symmetric and torch.per_tensor_affine."
            )
        if is_dynamic:
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.bins = bins
        self.register_buffer("histogram", C.zeros(bins))
        self.register_buffer("min_val", C.tensor(float("inf")))
        self.register_buffer("max_val", C.tensor(float("-inf")))
        low, high = limits(dtype)
        self.dst_nbins, self.upsample_rate = high - low + 1, 16

    def forward(self, x_orig):
        x = x_orig.detach()
        if x.isinf().any():
            warnings.warn("torch.inf detected in input tensor, ignoring input", stacklevel=2)
            x = x[~x.isinf()]
        if x.numel() == 0:
            return x_orig
        low, high = C.aminmax(x)
        if self.min_val == float("inf") or self.max_val == float("-inf"):
            self.histogram.copy_(C.histc(x, self.bins, low.item(), high.item()))
        else:
            low, high = C.minimum(self.min_val, low), C.maximum(self.max_val, high)
            self.histogram.copy_(self._former(low, high) + C.histc(x, self.bins, low.item(), high.item()))
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig

    def _former(self, low, high):
        """The histogram so far, over a range that may be wider."""
        if low == self.min_val and high == self.max_val:
            return self.histogram
        if self.min_val == self.max_val:
            return C.histc(self.min_val, self.bins, low.item(), high.item()) * self.histogram.sum()
        count = self.bins * self.upsample_rate
        fine = self.histogram.repeat_interleave(self.upsample_rate) / self.upsample_rate
        middles = C.linspace(self.min_val, self.max_val, count + 1)[:-1] + 0.5 * (self.max_val - self.min_val) / count
        places = C.bucketize(middles, C.linspace(low, high, self.bins + 1), right=True) - 1
        return C.bincount(places.clamp(0, self.bins - 1), weights=fine, minlength=self.bins)

    def _cost(self, start, end):
        """What rounding costs if the bins from start to end are the range: each bin counts as spread evenly."""
        width = (self.max_val.item() - self.min_val.item()) / self.bins
        step = width * (end - start + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        begins = (C.arange(self.bins) - start) * width
        ends = begins + width
        first, last = (C.div(edge, step, rounding_mode="floor").clamp(0, self.dst_nbins - 1) for edge in (begins, ends))
        density = self.histogram / width

        def norm(low, high):
            return density * ((high * high * high - low * low * low) / 3)

        half = step / 2
        total = norm(begins - (first + 0.5) * step, C.ones(self.bins) * half)
        total += (last - first - 1) * norm(C.tensor(-half), C.tensor(half))
        total += norm(C.tensor(-half), ends - (last * step + half))
        return total.sum().item()

    def _best_range(self):
        """The bins at the ends are given up, those with the least in them first, while that costs less."""
        sums, total = self.histogram.cumsum(0).tolist(), self.histogram.sum().item()
        alpha, beta, stepsize = 0.0, 1.0, 1e-5
        start, end, least = 0, self.bins - 1, float("inf")
        single = lambda number: C.tensor(number, dtype=C.float32).item()  # noqa: E731
        while alpha < beta:
            next_alpha, next_beta = alpha + stepsize, beta - stepsize
            left, right = start, end
            low, high = single(next_alpha * total), single(next_beta * total)
            while left < end and sums[left] < low:
                left += 1
            while right > start and sums[right] > high:
                right -= 1
            next_start, next_end = start, end
            if left - start > end - right:
                next_start, alpha = left, next_alpha
            else:
                next_end, beta = right, next_beta
            if (next_start, next_end) == (start, end):
                continue
            cost = self._cost(next_start, next_end)
            if cost > least:
                break
            least, start, end = cost, next_start, next_end
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * start, self.min_val + width * (end + 1)

    def calculate_qparams(self):
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            warnings.warn(
                "must run observer before calling calculate_qparams. Returning default scale and zero point", stacklevel=2
            )
            return C.tensor([1.0]), C.tensor([0])
        return self._calculate_qparams(*self._best_range())

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"


class FixedQParamsObserver(ObserverBase):
    """Scale and zero point that are known."""

    def __init__(
        self, scale, zero_point, dtype=C.quint8, qscheme=per_tensor_affine, quant_min=0, quant_max=255, is_dynamic=False, **kwargs
    ):
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max, self.qscheme = quant_min, quant_max, qscheme
        self.register_buffer("scale", C.tensor([scale], dtype=C.float32))
        self.register_buffer("zero_point", C.tensor([zero_point], dtype=C.int32))

    def forward(self, x):
        return x

    def calculate_qparams(self):
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Says a dtype, and sees nothing."""

    def __init__(
        self,
        dtype=C.float32,
        custom_op_name="",
        compute_dtype=None,
        quant_min=None,
        quant_max=None,
        qscheme=None,
        eps=None,
        is_dynamic=False,
    ):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic or compute_dtype is not None)
        self.qscheme = per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.eps, self.custom_op = quant_min, quant_max, eps, custom_op_name

    def forward(self, x):
        return x

    def extra_repr(self):
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")


class RecordingObserver(ObserverBase):
    """Keeps all that it has seen."""

    def __init__(self, dtype=C.quint8):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val = []

    def forward(self, x):
        self.tensor_val.append(x.clone())
        return x

    def get_tensor_value(self):
        return self.tensor_val

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for RecordingObserver")


class NoopObserver(ObserverBase):
    """Sees nothing."""

    def __init__(self, dtype=C.float16, custom_op_name=""):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.dtype, self.custom_op = dtype, custom_op_name

    def forward(self, x):
        return x

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for NoopObserver")


class ReuseInputObserver(ObserverBase):
    """That of the operand, where an op moves elements."""

    def __init__(self):
        super().__init__(C.quint8, is_dynamic=False)

    def forward(self, x):
        return x

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for ReuseInputObserver")


def _is_activation_post_process(module):
    from .fake_quantize import FakeQuantizeBase

    return isinstance(module, (ObserverBase, FakeQuantizeBase))


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer, default_debug_observer = PlaceholderObserver, RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=C.qint8, qscheme=per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=C.qint8, qscheme=per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(dtype=C.qint8, qscheme=per_channel_symmetric)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=C.qint8, qscheme=per_channel_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=C.quint8, quant_min=0, quant_max=255, is_dynamic=True)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=C.quint8, qscheme=per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=C.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=C.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver

__getattr__ = lazily(__name__)
