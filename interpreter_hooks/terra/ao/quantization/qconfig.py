"""QConfig: which observers, or modules that round, activations and weights get."""

import collections

import _terra_C as C

from ..._names import lazily
from ...nn import Identity, Module
from .fake_quantize import (
    FusedMovingAvgObsFakeQuantize, default_dynamic_fake_quant, default_embedding_fake_quant, default_fake_quant,
    default_fused_act_fake_quant, default_fused_per_channel_wt_fake_quant, default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant, default_weight_fake_quant,
)  # fmt: skip
from .observer import (
    HistogramObserver, MovingAverageMinMaxObserver, NoopObserver, PlaceholderObserver, default_debug_observer,
    default_dynamic_quant_observer, default_float_qparams_observer, default_observer, default_per_channel_weight_observer,
    default_placeholder_observer, default_reuse_input_observer, default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127, weight_observer_range_neg_127_to_127,
)  # fmt: skip

__all__ = [
    "QConfig", "QConfigDynamic", "default_activation_only_qconfig", "default_debug_qconfig", "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig", "default_embedding_qat_qconfig", "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig", "default_qat_qconfig", "default_qat_qconfig_v2", "default_qconfig",
    "default_quint8_weight_qconfig", "default_reuse_input_qconfig", "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig", "float16_dynamic_qconfig", "float16_static_qconfig", "float_qparams_weight_only_qconfig",
    "get_default_qat_qconfig", "get_default_qat_qconfig_dict", "get_default_qconfig", "get_default_qconfig_dict",
    "per_channel_dynamic_qconfig",
]  # fmt: skip


class QConfig(collections.namedtuple("QConfig", ["activation", "weight"])):
    """`activation` and `weight` make observers when they are called."""

    __slots__ = ()

    def __new__(cls, activation, weight):
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. Use MyObserver.with_args(x=1) to override arguments "
                "to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


class QConfigDynamic(QConfig):
    """The former name of a QConfig that says nothing of activations."""

    __slots__ = ()

    def __new__(cls, activation=Identity, weight=Identity):
        return super().__new__(cls, activation, weight)


default_qconfig = QConfig(activation=default_observer, weight=default_weight_observer)
default_debug_qconfig = QConfig(activation=default_debug_observer, weight=default_weight_observer)
default_per_channel_qconfig = QConfig(activation=default_observer, weight=default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(activation=default_dynamic_quant_observer, weight=default_weight_observer)
float16_dynamic_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=C.float16, is_dynamic=True),
    weight=PlaceholderObserver.with_args(dtype=C.float16),
)
float16_static_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=C.float16), weight=PlaceholderObserver.with_args(dtype=C.float16)
)
per_channel_dynamic_qconfig = QConfig(activation=default_dynamic_quant_observer, weight=default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(activation=default_placeholder_observer, weight=default_float_qparams_observer)
default_quint8_weight_qconfig = QConfig(activation=HistogramObserver, weight=MovingAverageMinMaxObserver)
default_qat_qconfig = QConfig(activation=default_fake_quant, weight=default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(activation=default_dynamic_fake_quant, weight=default_weight_fake_quant)
default_weight_only_qconfig = QConfig(activation=Identity, weight=default_weight_fake_quant)
default_activation_only_qconfig = QConfig(activation=default_fake_quant, weight=Identity)
default_qat_qconfig_v2 = QConfig(activation=default_fused_act_fake_quant, weight=default_fused_wt_fake_quant)
default_reuse_input_qconfig = QConfig(activation=default_reuse_input_observer, weight=NoopObserver)
default_embedding_qat_qconfig = QConfig(activation=NoopObserver.with_args(dtype=C.float32), weight=default_embedding_fake_quant)
_SYMMETRIC_ACTIVATION = HistogramObserver.with_args(dtype=C.qint8, reduce_range=False, eps=2**-12)
default_symmetric_qnnpack_qconfig = QConfig(activation=_SYMMETRIC_ACTIVATION, weight=weight_observer_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    activation=_SYMMETRIC_ACTIVATION, weight=per_channel_weight_observer_range_neg_127_to_127
)


# {backend: (whether activations have a bit less, whether weights have a scale per channel)}
_BACKENDS = {"fbgemm": (True, True), "x86": (True, True), "qnnpack": (False, False), "onednn": (False, True)}


def _backend(name):
    if name not in _BACKENDS:
        raise AssertionError(f"backend: {name} not supported. backend must be one of {list(_BACKENDS)}")
    return _BACKENDS[name]


def get_default_qconfig(backend="x86", version=0):
    """For networks that are calibrated and converted."""
    reduced, per_channel = _backend(backend)
    if version != 0:
        raise AssertionError(f"Version number: {version} in get_default_qconfig is not supported. Version number must be 0")
    weight = default_per_channel_weight_observer if per_channel else default_weight_observer
    return QConfig(activation=HistogramObserver.with_args(reduce_range=reduced), weight=weight)


def get_default_qat_qconfig(backend="x86", version=1):
    """For networks that are trained with rounding; version 0: by modules of which watching and rounding are two."""
    reduced, per_channel = _backend(backend)
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version} in get_default_qat_qconfig is not supported. Version number must be 0 or 1"
        )
    ends = {"quant_min": 0, "quant_max": 255}
    if version == 0:
        activation = default_fake_quant.p.func.with_args(
            observer=MovingAverageMinMaxObserver, **ends, **({"reduce_range": reduced} if backend != "onednn" else {})
        )
        return QConfig(activation, default_per_channel_weight_fake_quant if per_channel else default_weight_fake_quant)
    activation = FusedMovingAvgObsFakeQuantize.with_args(
        observer=MovingAverageMinMaxObserver, **ends, **({"reduce_range": reduced} if backend != "onednn" else {})
    )
    return QConfig(activation, default_fused_per_channel_wt_fake_quant if per_channel else default_fused_wt_fake_quant)


def get_default_qconfig_dict(backend="x86", version=0):
    return {"": get_default_qconfig(backend, version)}


def get_default_qat_qconfig_dict(backend="x86", version=1):
    return {"": get_default_qat_qconfig(backend, version)}


def _activation_is_memoryless(qconfig):
    """Whether each input is rounded by its own range."""

    def memoryless(observer):
        return getattr(observer, "averaging_constant", None) == 1

    activation = qconfig.activation()
    return memoryless(getattr(activation, "activation_post_process", activation))


__getattr__ = lazily(__name__)
