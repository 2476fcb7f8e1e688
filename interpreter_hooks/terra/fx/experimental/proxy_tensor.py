"""Graphs made by running a function on stand-ins for tensors: that never happens here."""

from ..._missing_parts import sentences
from ..._names import lazily


def get_proxy_mode():
    return None


globals().update(
    sentences(
        "torch.fx.experimental.proxy_tensor", ("make_fx",),
        "it is not in Terra yet: torch.fx.symbolic_trace(f) and torch.export.export(f, args) make graphs",
    )
)  # fmt: skip

__getattr__ = lazily(__name__)
