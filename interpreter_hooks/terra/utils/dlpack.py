"""torch.utils.dlpack: tensors and the arrays of other libraries over the same memory."""

import enum

import _terra_C as C


class DLDeviceType(enum.IntEnum):
    """Kinds of devices, as DLPack numbers them."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14


def device_of(tensor):
    """What Tensor.__dlpack_device__ gives."""
    return DLDeviceType.kDLCPU, 0


def to_dlpack(tensor):
    """A capsule that shares the tensor's memory, for one from_dlpack."""
    return tensor.__dlpack__()


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor that shares the memory of an object with __dlpack__, or of a capsule."""
    if hasattr(ext_tensor, "__dlpack__"):
        kind, _ = ext_tensor.__dlpack_device__()
        if int(kind) != DLDeviceType.kDLCPU:
            raise ValueError(f"from_dlpack: memory of device type {int(kind)} is not here: Terra has CPU memory only")
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0), **({} if copy is None else {"copy": copy}))
        except TypeError:  # from before versions
            capsule = ext_tensor.__dlpack__()
            tensor = C._take_dlpack(capsule)
            return tensor.clone() if copy else tensor
    else:
        capsule = ext_tensor
    return C._take_dlpack(capsule)
