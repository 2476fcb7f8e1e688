"""Parameters and buffers: tensors that a module counts as its own when they are assigned to it; and such that don't
know their size yet."""

import functools

import _terra_C as C
from _terra_C import Parameter

from .._C import DisableTorchFunctionSubclass

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _BufferMeta(type):
    def __instancecheck__(cls, instance):
        if cls is Buffer:
            return isinstance(instance, C.Tensor) and getattr(instance, "_is_buffer", False)
        return type.__instancecheck__(cls, instance)


class Buffer(metaclass=_BufferMeta):
    """Buffer(data, persistent=True): `data` as a tensor that becomes a buffer of the module it is assigned to."""

    def __new__(cls, data=None, *, persistent=True):
        data = C.empty(0) if data is None else data
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor


UNKNOWN_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
    "parameters before accessing their attributes."
)
CONVERSIONS = frozenset((
    "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int",
    "long", "cuda", "cpu", "to", "get_device", "bfloat16", "detach", "__get__", "__set__", "requires_grad_",
))  # fmt: skip


class UninitializedTensorMixin:
    """A tensor of no size yet: it can be converted and moved, and `materialize` gives it one."""

    __slots__ = ()
    cls_to_become = C.Tensor

    def materialize(self, shape, device=None, dtype=None):
        """Gives it elements, as yet without values; from then on it is an ordinary one."""
        self.data = C.empty(
            shape, device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype
        )
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(UNKNOWN_SHAPE)

    def numel(self):
        return self.__torch_function__(C.Tensor.numel, (type(self),))

    nelement = numel

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, None, self.dtype)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") not in CONVERSIONS:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
                "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When "
                "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling "
                "torch functions"
            )
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a size that the first call of its module says."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return Parameter.__new__(cls, C.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, C.Tensor):
    """A buffer of a size that the first call of its module says."""

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        tensor = C.empty(0, device=device, dtype=dtype).requires_grad_(requires_grad)
        tensor.persistent = persistent
        return cls._marked(tensor, tensor)

    def to(self, *args, **kwargs):
        return self._marked(C.Tensor.to(self, *args, **kwargs))

    def _marked(self, tensor):
        """A tensor made such a buffer."""
        tensor.persistent = self.persistent
        tensor._is_buffer = True
        tensor.__class__ = UninitializedBuffer
        return tensor

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype, persistent=self.persistent)
        return memo[id(self)]


@functools.cache
def _parameters_of(kind):
    """The class of those instances of a subclass of Tensor that are parameters. What is computed of one is none."""

    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return kind.__torch_function__(func, tuple(kind if t is cls else t for t in types), args, kwargs or {})

    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return kind.__torch_dispatch__(func, tuple(kind if t is cls else t for t in types), args, kwargs or {})

    members = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__, "_kind": kind}
    members["__init__"] = lambda self, *args, **kwargs: None  # Parameter() calls it once more on what is made already
    members["__torch_function__"] = classmethod(__torch_function__)
    if C._dispatches(kind):
        members["__torch_dispatch__"] = classmethod(__torch_dispatch__)
    if kind.__repr__ is C.Tensor.__repr__:
        members["__repr__"] = C.Tensor.__repr__
    return type(kind)(kind.__name__, (kind, Parameter), members)


def of_subclass(data, requires_grad):
    """Parameter(data) of an instance of a subclass of Tensor: an instance of that class which is a parameter as well."""
    tensor = data.detach().requires_grad_(requires_grad)
    if type(tensor) is not getattr(type(data), "_kind", type(data)):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(tensor).__name__} was found instead. To use the type as a "
            "Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    if not isinstance(tensor, Parameter):
        tensor.__class__ = _parameters_of(type(tensor))
    return tensor


def is_lazy(param):
    return isinstance(param, UninitializedTensorMixin)
