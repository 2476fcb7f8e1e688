"""torch.ao.quantization: networks of 8-bit numbers: observers, modules that round in training, and swaps of layers."""

from ..._missing_parts import sentences
from ..._names import lazily
from .fake_quantize import *  # noqa: F401,F403
from .fake_quantize import __all__ as _of_rounding
from .fuse_modules import *  # noqa: F401,F403
from .fuse_modules import __all__ as _of_fusing
from .observer import *  # noqa: F401,F403
from .observer import __all__ as _of_observers
from .qconfig import *  # noqa: F401,F403
from .qconfig import __all__ as _of_qconfigs
from .quantization_mappings import *  # noqa: F401,F403
from .quantization_mappings import __all__ as _of_mappings
from .quantize import *  # noqa: F401,F403
from .quantize import __all__ as _of_swaps
from .stubs import *  # noqa: F401,F403
from .stubs import __all__ as _of_stubs

__all__ = [*_of_rounding, *_of_fusing, *_of_observers, *_of_qconfigs, *_of_mappings, *_of_swaps, *_of_stubs]


def default_eval_fn(model, calib_data):
    """Runs the model on each pair of calib_data, for calibration."""
    for data, _ in calib_data:
        model(data)


globals().update(
    sentences("torch.ao.quantization", ("quantize_jit", "quantize_dynamic_jit"), "TorchScript's graphs are not in Terra")
)

__getattr__ = lazily(
    __name__, ("fake_quantize", "fuse_modules", "observer", "qconfig", "quantization_mappings", "quantize", "stubs")
)
