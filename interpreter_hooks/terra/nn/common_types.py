"""Types of arguments that are one number or one per dimension, for annotations."""

from typing import Optional, Tuple, Union

from _terra_C import Tensor


def _of(kind, count):
    return Union[kind, Tuple[(kind,) * count]]


_size_any_t = Union[int, Tuple[int, ...]]
_size_1_t, _size_2_t, _size_3_t, _size_4_t, _size_5_t, _size_6_t = (_of(int, count) for count in range(1, 7))
_size_any_opt_t = Union[int, None, Tuple[Optional[int], ...]]
_size_2_opt_t, _size_3_opt_t = (Union[int, None, Tuple[(Optional[int],) * count]] for count in (2, 3))
_ratio_any_t = Union[float, Tuple[float, ...]]
_ratio_2_t, _ratio_3_t = _of(float, 2), _of(float, 3)
_tensor_list_t = Union[Tensor, Tuple[Tensor, ...]]
_maybe_indices_t = Union[Tensor, Tuple[Tensor, Tensor]]
