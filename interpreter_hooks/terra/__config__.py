"""torch.__config__: how the engine was built, in words."""

import _terra_C as C

from ._names import lazily


def show():
    from . import version

    return f"Terra {version.terra}, with the API of PyTorch {version.torch}\n  - C++20\n  - CPU\n"


def parallel_info():
    return f"ATen/Parallel:\n\tat::get_num_threads() : {C.get_num_threads()}\n"


def _cxx_flags():
    return ""


__getattr__ = lazily(__name__)
