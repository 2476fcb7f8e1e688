"""What optimizers ask before they use torch._foreach_*: lists of tensors by device and dtype. There is one device."""

import _terra_C as C

from .._names import lazily


def _get_foreach_kernels_supported_devices():
    return []


def _get_fused_kernels_supported_devices():
    return ["cpu"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """{(device, dtype): (the lists with the places at which the first list has such tensors, those places)}."""
    groups = {}
    for place, first in enumerate(tensorlistlist[0]):
        groups.setdefault((first.device, first.dtype), []).append(place)
    return {
        key: ([[values[i] for i in places] if values else [] for values in tensorlistlist], places if with_indices else [])
        for key, places in groups.items()
    }


def _device_has_foreach_support(device):
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(t is None or type(t) is C.Tensor for t in tensors)


__getattr__ = lazily(__name__)
