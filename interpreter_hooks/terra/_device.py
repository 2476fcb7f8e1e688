"""Devices as arguments of .to()."""

import _terra_C as C


def parse_to(args, kwargs):
    """(device, dtype, non_blocking, memory_format) from the argument forms of to(): device; dtype; device and dtype;
    another tensor."""
    device = kwargs.get("device")
    dtype = kwargs.get("dtype")
    unknown = set(kwargs) - {"device", "dtype", "non_blocking", "copy", "memory_format"}
    if unknown:
        raise TypeError(f"to() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    for position, value in enumerate(args):
        if isinstance(value, C.Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, C.dtype):
            dtype = value
        elif isinstance(value, bool):
            continue
        elif isinstance(value, (str, int, C.device)):
            device = value
        elif value is not None:
            raise TypeError(f"to() received an invalid argument at position {position}: {type(value).__name__}")
    if device is not None:
        device = C.device(device)
        if device.type not in ("cpu", "meta"):
            raise RuntimeError(f"Terra runs on the CPU here and has no device '{device}'. Use device('cpu').")
    memory_format = kwargs.get("memory_format")
    if memory_format is not None and not isinstance(memory_format, C.memory_format):
        raise TypeError(f"to(): argument 'memory_format' must be torch.memory_format, not {type(memory_format).__name__}")
    return device, dtype, kwargs.get("non_blocking", False), memory_format
