"""torch.types: names for annotations."""

import os
import typing

from ._names import lazily
from _terra_C import Size, Tensor, device, dtype  # noqa: F401

Number = typing.Union[int, float, bool]
Device = typing.Union[device, str, int, None]
FileLike = typing.Union[str, os.PathLike, typing.IO[bytes]]
SymInt, SymFloat, SymBool = int, float, bool
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
PySymType = typing.Union[int, float, bool]
_int, _float, _bool = int, float, bool
_dtype, _device, _size = dtype, device, typing.Union[Size, typing.List[int], typing.Tuple[int, ...]]
_TensorOrTensors = typing.Union[Tensor, typing.Sequence[Tensor]]

__getattr__ = lazily(__name__)
