"""Layers that learn the size of their input from the first call. They print, save and load without it, and become
ordinary layers with it."""

import _terra_C as C

from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


class LazyModuleMixin:
    """For modules with uninitialized parameters: before the first forward `initialize_parameters(*inputs)` gives them
    their sizes, and the module becomes one of class `cls_to_become` (None: stays what it is)."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        members = (*self._parameters.values(), *self._buffers.values())
        return any(is_lazy(member) for member in members)

    def _infer_parameters(self, module, args, kwargs=None):
        kwargs = kwargs or {}
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        delattr(module, "_initialize_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, member in (*self._parameters.items(), *self._buffers.items()):
            if is_lazy(member) and prefix + name in destination:
                destination[prefix + name] = member

    def _load_member(self, name, member, key, value, assign, error_msgs):
        if is_lazy(member):
            if is_lazy(value):
                return
            with C.no_grad():
                member.materialize(value.shape)
        super()._load_member(name, member, key, value, assign, error_msgs)

    def __getstate__(self):
        """Copies and pickles carry a mark in place of the hook, which belongs to this module."""
        state = dict(super().__getstate__())
        if "_initialize_hook" in state:
            own = state["_initialize_hook"].id
            for kind in ("_forward_pre_hooks", "_forward_pre_hooks_options"):
                state[kind] = {key: value for key, value in state[kind].items() if key != own}
            state["_initialize_hook"] = None
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_initialize_hook" in state:
            self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose in_features is the size of the last dimension of its first input."""

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False, device=device, dtype=dtype)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            self.in_features = input.shape[-1] if self.in_features == 0 else self.in_features
            return
        with C.no_grad():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    """in_channels is the size of dimension 1 of the first input (0 without batches)."""

    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device=device, dtype=dtype
        )
        self._leave_open(out_channels, bias, device, dtype)

    def _leave_open(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        channels = self._channels_of(input)
        if not self.has_uninitialized_params():
            self.in_channels = channels
            return
        with C.no_grad():
            self.in_channels = channels
            if channels % self.groups:
                raise ValueError("in_channels must be divisible by groups")
            first, second = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
            self.weight.materialize((first, second // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _channels_of(self, input):
        n = len(self.kernel_size)
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}"
            )
        return input.shape[1] if input.dim() == n + 2 else input.shape[0]


class _LazyConvTranspose(_LazyConv):
    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        LazyModuleMixin.__init__(
            self, 0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode,
            device=device, dtype=dtype,
        )
        self._leave_open(out_channels, bias, device, dtype)


class _LazyNorm(LazyModuleMixin):
    """num_features is the size of dimension 1 of the first input (of instances: that of the channels)."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = C.tensor(0, device=device, dtype=C.int64)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            return
        self.num_features = self._features_of(input)
        for member in (*self._parameters.values(), *self._buffers.values()):
            if is_lazy(member):
                member.materialize((self.num_features,))
        self.reset_parameters()

    def _features_of(self, input):
        self._check_input_dim(input)
        return input.shape[1]


class _LazyInstanceNorm(_LazyNorm):
    def _features_of(self, input):
        self._check_input_dim(input)
        return input.shape[input.dim() - self._spatial - 1]


def _lazy(mixin, plain):
    """The lazy form of a layer."""
    doc = f"A {plain.__name__} of as many channels as its first input has."
    members = {"cls_to_become": plain, "__doc__": doc, "__module__": __name__}
    return type("Lazy" + plain.__name__, (mixin, plain), members)


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(_LazyConv, plain) for plain in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(_LazyConvTranspose, plain) for plain in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy(_LazyNorm, plain) for plain in (BatchNorm1d, BatchNorm2d, BatchNorm3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(_LazyInstanceNorm, plain) for plain in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
