"""terra.nn.functional: the operations that modules are made of.

Ops come from the engine's records. What is written here are argument forms that only this module has (inplace=, the old
size_average=), checks with messages of their own, and functions composed of several ops."""

import sys as _sys

from ..._names import lazily
from ..._overridable import offer as _offer
from .. import _reduction as _Reduction  # noqa: F401
from .activation import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .convolution import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .embedding import *  # noqa: F401,F403
from .grid import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .margin_loss import *  # noqa: F401,F403
from .normalization import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .resizing import *  # noqa: F401,F403
from .shuffle import *  # noqa: F401,F403

for _home in (
    "activation", "attention", "convolution", "distance", "dropout", "embedding", "grid", "linear", "loss", "margin_loss",
    "normalization", "padding", "pooling", "resizing", "shuffle",
):  # fmt: skip
    _names = vars(_sys.modules[f"{__name__}.{_home}"])
    _offer(_names, public=__name__)
    globals().update((_name, _names[_name]) for _name in _names["__all__"])
_threshold = threshold  # noqa: F405, what the function is called

__getattr__ = lazily(
    __name__, functions={
        "._copied": (
            "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "_canonical_mask", "_get_softmax_dim", "_in_projection",
            "_in_projection_packed", "_mha_shape_check", "_none_or_dtype", "_verify_batch_size", "boolean_dispatch",
            "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
        ),
    },
)  # fmt: skip
