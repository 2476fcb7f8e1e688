"""terra.linalg: linear algebra, under the names of torch.linalg. The functions come from the op records."""

import _terra_C as C
from _terra_C import _LinAlgError as LinAlgError
from _terra_C import matmul

from ._names import lazily

_OPS = {name: function for name, function in vars(C._linalg).items() if isinstance(function, C.OpFunction)}
globals().update(_OPS)


def _function_named(name):
    """What a pickled function of this module is found by."""
    return _OPS[name]


__all__ = ["LinAlgError", "matmul", *_OPS]
__getattr__ = lazily(__name__, functions={".._array_api": ("matrix_transpose", "outer", "tensordot", "trace")})
