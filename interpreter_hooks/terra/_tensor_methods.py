"""Methods of Tensor that are written in Python, added to the type when the package is imported."""

import _terra_C as C

from ._functions import allclose, equal, nan_to_num


def get_device(self):
    """-1: a tensor of the CPU has no device number."""
    return -1


def pin_memory(self, device=None):
    """The tensor itself: without a GPU there is no transfer that pinned memory would speed up."""
    return self


def dlpack_device(self):
    """The kind and the number of the device that the memory is on, as DLPack names them."""
    from .utils.dlpack import device_of

    return device_of(self)


def untyped_storage(self):
    """The memory that the tensor views, as bytes."""
    from .storage import of

    return of(self)


def storage(self):
    """The memory that the tensor views, as elements of its dtype; untyped_storage() is what to call instead."""
    from .storage import typed

    return typed(self)


def __rdiv__(self, other):
    """other / self, by the reciprocal of whatever it is called on."""
    return self.reciprocal().__mul__(other)


def _rare(name):
    """The method for a function that is loaded when it is first called."""

    def method(self, *arguments, **options):
        from . import _rare_functions

        return getattr(_rare_functions, name)(self, *arguments, **options)

    method.__name__ = method.__qualname__ = name
    return method


def is_distributed(self):
    return False


def share_memory_(self):
    """Moves the elements into memory that other processes see too; they get the tensor by fork or through a queue."""
    from .multiprocessing._shared import share

    return share(self)


def is_shared(self):
    from .multiprocessing._shared import is_shared as ask

    return ask(self)


def stft(self, n_fft, *arguments, **options):
    from ._spectral import stft as spectrum

    return spectrum(self, n_fft, *arguments, **options)


def istft(self, n_fft, *arguments, **options):
    from ._spectral import istft as signal

    return signal(self, n_fft, *arguments, **options)


def lu(self, pivot=True, get_infos=False):
    """LU and pivots of A = P L U, and with get_infos what went wrong in which matrix."""
    from ._linear_algebra import lu as factorize

    return tuple(factorize(self, pivot, get_infos))


def hardshrink(self, lambd=0.5):
    """0 for elements between -lambd and lambd, others as they are."""
    from .nn.functional import hardshrink as shrink

    return shrink(self, lambd)


def _removed(name):
    """A method that PyTorch has removed: it says what to call in its place."""

    def method(self, *args, **kwargs):
        from . import _linear_algebra

        return getattr(_linear_algebra, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _sparse(name):
    """The method for a function about sparse tensors, which are loaded when it is first called."""

    def method(self, *arguments, **options):
        from . import _sparse_functions

        if self.layout is not C.strided:  # Tensor.coalesce(x)
            return getattr(type(self), name)(self, *arguments, **options)
        return getattr(_sparse_functions, name)(self, *arguments, **options)

    method.__name__ = method.__qualname__ = name
    return method


def sparse_layout_function(cls, func, types, args=(), kwargs=None):
    """What a function does that is asked for a sparse layout."""
    if isinstance(func, C.Overridable):
        return func.__wrapped__(*args, **(kwargs or {}))
    from . import _sparse_functions

    return _sparse_functions.made_in_layout(func.__name__, args, kwargs)


def _of_quantized(name):
    """A method of quantized tensors, which others refuse."""

    def method(self):
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: the tensor isn't quantized."
        )

    method.__name__ = method.__qualname__ = name
    return method


def dequantize(self):
    """The numbers that a quantized tensor stands for; others as float32."""
    return self.to(C.float32)


METHODS = {
    "__dlpack_device__": dlpack_device, "__rdiv__": __rdiv__, "allclose": allclose, "dequantize": dequantize, "eig": _removed("eig"), "equal": equal,
    "get_device": get_device, "hardshrink": hardshrink, "is_distributed": is_distributed,
    "is_shared": is_shared, "istft": istft, "lstsq": _removed("lstsq"), "lu": lu, "nan_to_num": nan_to_num, "pin_memory": pin_memory,
    "share_memory_": share_memory_, "storage": storage, "untyped_storage": untyped_storage, "stft": stft, "symeig": _removed("symeig"),
}  # fmt: skip
for _name in (
    "int_repr", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points", "q_scale", "q_zero_point", "qscheme",
):  # fmt: skip
    METHODS[_name] = _of_quantized(_name)
for _name in (
    "as_strided_", "const_data_ptr", "dim_order", "histogram", "nan_to_num_", "narrow_copy", "new_empty_strided", "nonzero_static", "polygamma_",
    "split_with_sizes", "swapaxes_", "swapdims_", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes",
):  # fmt: skip
    METHODS[_name] = _rare(_name)
for _name in (
    "_dimI", "_dimV", "_indices", "_nnz", "_values", "ccol_indices", "coalesce", "col_indices", "crow_indices", "dense_dim", "indices",
    "is_coalesced", "row_indices", "smm", "sparse_dim", "sparse_mask", "sspaddmm", "to_dense", "to_sparse", "to_sparse_coo", "to_sparse_csc", "to_sparse_csr",
    "values",
):  # fmt: skip
    METHODS[_name] = _sparse(_name)
type(C.sparse_coo).__torch_function__ = classmethod(sparse_layout_function)
for _name, _function in METHODS.items():
    setattr(C.Tensor, _name, C._overridable(_function))



@staticmethod
def _make_subclass(cls, data, require_grad=False, **unused):
    """A tensor of the class with the elements of `data`."""
    from ._aten.dispatch import make_subclass

    return make_subclass(cls, data, require_grad)


@staticmethod
def _make_wrapper_subclass(cls, size, *args, **kwargs):
    """A tensor of the class that looks like one of that size, for a class with a __torch_dispatch__."""
    from ._aten.dispatch import make_wrapper_subclass

    return make_wrapper_subclass(cls, size, *args, **kwargs)


C.Tensor._make_subclass, C.Tensor._make_wrapper_subclass = _make_subclass, _make_wrapper_subclass
C.Tensor._cdata = property(id, doc="A number that no other tensor of the moment has.")
