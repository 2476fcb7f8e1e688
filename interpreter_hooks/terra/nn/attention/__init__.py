"""Which way attention is computed: there is one, and the choice is kept."""

import contextlib
from enum import IntEnum

from ..._names import lazily

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_chosen = [list(SDPBackend)[1:]]


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Inside, attention may only be computed in one of these ways. Terra's one way computes what MATH does."""
    backends = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not backends or not all(isinstance(backend, SDPBackend) for backend in backends):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    _chosen.append(backends)
    try:
        yield
    finally:
        _chosen.pop()


def _cur_sdpa_kernel_backends(with_priority=False):
    return list(_chosen[-1])


__getattr__ = lazily(__name__, ("bias", "flex_attention"))
