"""Changing all tensors of a module at once: dtype, device, requires_grad, gradients."""

import warnings

import _terra_C as C

from ..._device import parse_to
from ..._settings import _conversions


def _moved(tensor, device):
    """What Module.to() makes of a tensor, as far as the device goes."""
    if device is None or device == tensor.device:
        return tensor
    if tensor.is_meta:
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
            "torch.nn.Module.to() when moving module from meta to a different device."
        )
    return tensor.to(device)


class Conversion:
    """The part of Module that replaces tensors. Parameters keep their identity (optimizers hold them) unless they go to
    another device or torch.__future__ says otherwise, buffers are replaced."""

    __slots__ = ()

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with C.no_grad():
                data, before = fn(parameter), parameter.grad
                gradient = None if before is None else fn(before).requires_grad_(before.requires_grad)
                same_kind = data.device == parameter.device and not C._is_wrapper(data)
                if same_kind and (_conversions["swap"] or not _conversions["overwrite"]):
                    parameter.data = data
                else:
                    parameter = self._parameters[name] = C.Parameter(data, parameter.requires_grad)
                if gradient is not None:
                    parameter.grad = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        device, dtype, non_blocking, memory_format = parse_to(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

        def convert(t):
            converts = dtype is not None and (t.is_floating_point() or t.is_complex())
            converted = _moved(t, device).to(dtype) if converts else _moved(t, device)
            if memory_format is not None and t.dim() in (4, 5):  # images, volumes and the filters of both
                converted = converted.to(memory_format=memory_format)
            return converted

        return self._apply(convert)

    def to_empty(self, *, device=None, recurse=True):
        """Fresh memory for all tensors, as yet without values."""
        return self._apply(lambda t: C.empty_like(t, device=device), recurse)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def _floats_to(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        return self._floats_to(C.float32)

    def double(self):
        return self._floats_to(C.float64)

    def half(self):
        return self._floats_to(C.float16)

    def bfloat16(self):
        return self._floats_to(C.bfloat16)

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        raise AssertionError("Terra was built without CUDA: the module stays on the CPU. Call .to('cpu') or leave it where it is.")

    def _without(self, device):
        raise RuntimeError(f"Terra was built without {device}: the module stays on the CPU.")

    def xpu(self, device=None):
        self._without("XPU")

    def ipu(self, device=None):
        self._without("IPU")

    def mtia(self, device=None):
        self._without("MTIA")

    def share_memory(self):
        return self._apply(lambda t: t.share_memory_())

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if parameter.grad.grad_fn is not None:
                parameter.grad = parameter.grad.detach()
            parameter.grad.requires_grad_(False)
            parameter.grad.zero_()

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def compile(self, *args, **kwargs):
        """Does nothing: every module is captured by the running engine when it gets hot."""
        warnings.warn("Module.compile() has no effect under Terra: hot modules are captured without it.", stacklevel=2)
        return self
