"""Modules that round as quantized tensors would, while gradients pass: what a network is trained with before it's converted."""

import _terra_C as C

from ..._names import lazily
from ..._quantized import per_channel_affine_float_qparams, per_channel_symmetric, per_tensor_affine, per_tensor_symmetric
from ..._quantized.kinds import limits
from ..._quantized.ops import fused_moving_avg_obs_fake_quant
from ..._rare_functions import fake_quantize_per_channel_affine, fake_quantize_per_tensor_affine
from ...nn import Module
from .observer import (
    FixedQParamsObserver, HistogramObserver, MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver, _loaded,
    _with_args, default_fixed_qparams_range_0to1_observer, default_fixed_qparams_range_neg1to1_observer,
)  # fmt: skip

__all__ = [
    "FakeQuantize", "FakeQuantizeBase", "FixedQParamsFakeQuantize", "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant", "default_dynamic_fake_quant", "default_embedding_fake_quant", "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant", "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant", "default_fused_per_channel_wt_fake_quant", "default_fused_wt_fake_quant",
    "default_histogram_fake_quant", "default_per_channel_weight_fake_quant", "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant", "disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127", "fused_wt_fake_quant_range_neg_127_to_127",
]  # fmt: skip


class FakeQuantizeBase(Module):
    """Watching and rounding can be switched off."""

    def __init__(self):
        super().__init__()
        self.register_buffer("fake_quant_enabled", C.tensor([1], dtype=C.uint8))
        self.register_buffer("observer_enabled", C.tensor([1], dtype=C.uint8))

    def forward(self, x):
        raise NotImplementedError

    def calculate_qparams(self, **kwargs):
        raise NotImplementedError

    def enable_fake_quant(self, enabled=True):
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self):
        self.enable_fake_quant(False)

    def enable_observer(self, enabled=True):
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self):
        self.enable_observer(False)

    with_args = classmethod(_with_args)


class FakeQuantize(FakeQuantizeBase):
    """Rounds by what an observer has seen."""

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=None, quant_max=None, is_dynamic=False, **observer_kwargs):
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            given = observer_kwargs.get("dtype", C.quint8)
            least, greatest = limits(getattr(getattr(observer, "p", None), "keywords", {}).get("dtype", given))
            if least > quant_min:
                raise AssertionError("quant_min out of bound")
            if quant_max > greatest:
                raise AssertionError("quant_max out of bound")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        watching = self.activation_post_process = observer(**observer_kwargs)
        self.quant_min, self.quant_max, self.is_dynamic = watching.quant_min, watching.quant_max, watching.is_dynamic
        self.dtype, self.qscheme, self.ch_axis = watching.dtype, watching.qscheme, getattr(watching, "ch_axis", -1)
        self.is_per_channel = self.qscheme.per_channel
        counted = C.float32 if self.qscheme is per_channel_affine_float_qparams else C.int32
        self.register_buffer("scale", C.tensor([1.0], dtype=C.float32))
        self.register_buffer("zero_point", C.tensor([0], dtype=counted))

    def calculate_qparams(self):
        return self.activation_post_process.calculate_qparams()

    def forward(self, X):  # noqa: N803
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            for buffer, found in zip((self.scale, self.zero_point), self.calculate_qparams()):
                buffer.resize_(found.shape).copy_(found)
        if self.fake_quant_enabled[0] == 1:
            ends = self.activation_post_process.quant_min, self.activation_post_process.quant_max
            if self.is_per_channel:
                return fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, *ends)
            return fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, *ends)
        return X

    def extra_repr(self):
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={self.activation_post_process.quant_min}, quant_max={self.activation_post_process.quant_max}, "
            f"dtype={self.dtype}, qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        _loaded(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds by a scale and a zero point that are known."""

    def __init__(self, observer):
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not FixedQParamsObserver:
            raise AssertionError("FixedQParamsFakeQuantize's observer must be a FixedQParamsObserver")
        self._observer_ctr = observer
        self.scale, self.zero_point = self.activation_post_process.scale, self.activation_post_process.zero_point

    def calculate_qparams(self):
        return self.scale, self.zero_point

    def extra_repr(self):
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.activation_post_process.quant_min}, "
            f"quant_max={self.activation_post_process.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """Follows the range on average and rounds by it, in one function."""

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, **observer_kwargs):
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        if not isinstance(self.activation_post_process, (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)):
            raise AssertionError("Fused observer+fake_quant module only works with MovingAverageMinMaxObserver")
        self.register_buffer("fake_quant_enabled", C.tensor([1], dtype=C.int64))
        self.register_buffer("observer_enabled", C.tensor([1], dtype=C.int64))
        self.is_symmetric_quant = self.qscheme.symmetric

    def extra_repr(self):
        watching = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={watching.quant_min}, quant_max={watching.quant_max}, "
            f"qscheme={self.qscheme}, reduce_range={watching.reduce_range}"
        )

    def forward(self, X):  # noqa: N803
        watching = self.activation_post_process
        return fused_moving_avg_obs_fake_quant(
            X, self.observer_enabled, self.fake_quant_enabled, watching.min_val, watching.max_val, self.scale, self.zero_point,
            watching.averaging_constant, watching.quant_min, watching.quant_max, self.ch_axis, self.is_per_channel,
            self.is_symmetric_quant,
        )  # fmt: skip


_OF_ACTIVATIONS = {"quant_min": 0, "quant_max": 255, "dtype": C.quint8}
_OF_WEIGHTS = {"quant_min": -128, "quant_max": 127, "dtype": C.qint8}
_AVERAGE, _AVERAGES = MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver
default_fake_quant = FakeQuantize.with_args(observer=_AVERAGE, **_OF_ACTIVATIONS, qscheme=per_tensor_affine, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=_AVERAGE, **_OF_WEIGHTS, qscheme=per_tensor_symmetric, reduce_range=False
)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=_AVERAGE, quant_min=0, quant_max=255, is_dynamic=True, dtype=C.quint8, averaging_constant=1
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(observer=default_fixed_qparams_range_0to1_observer)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=_AVERAGES, **_OF_WEIGHTS, qscheme=per_channel_symmetric, reduce_range=False, ch_axis=0
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=_AVERAGES,
    qscheme=per_channel_affine_float_qparams,
    dtype=C.quint8,
    quant_min=0,
    quant_max=255,
    ch_axis=0,
    averaging_constant=1,
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver, **_OF_ACTIVATIONS, qscheme=per_tensor_affine, reduce_range=True
)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(observer=_AVERAGE, **_OF_ACTIVATIONS)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_AVERAGE, **_OF_WEIGHTS, qscheme=per_tensor_symmetric
)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_AVERAGES, **_OF_WEIGHTS, qscheme=per_channel_symmetric
)
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_AVERAGE, quant_min=-127, quant_max=127, dtype=C.qint8, qscheme=per_tensor_symmetric, eps=2**-12
)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=_AVERAGES, quant_min=-127, quant_max=127, dtype=C.qint8, qscheme=per_channel_symmetric, eps=2**-12
)


def _switch(name):
    def switch(mod):
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, name)()

    switch.__name__, switch.__doc__ = name, f"For Module.apply(): {name}() of modules that have it."
    return switch


disable_fake_quant, enable_fake_quant = _switch("disable_fake_quant"), _switch("enable_fake_quant")
disable_observer, enable_observer = _switch("disable_observer"), _switch("enable_observer")

__getattr__ = lazily(__name__)
