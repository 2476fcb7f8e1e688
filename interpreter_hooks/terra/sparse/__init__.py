"""Sparse tensors: only the places that are specified have values, all others are zero."""

import _terra_C as C

from .._missing_parts import sentences
from .._names import lazily
from . import _dispatch  # noqa: F401
from ._creation import checks_invariants, set_checks_invariants, spdiags, sparse_coo_tensor
from ._reductions import log_softmax, softmax
from ._reductions import sum as _sum
from ._tensor import SparseTensor

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]


def mm(mat1, mat2, reduce=None):
    """The product of two matrices, of which any may be sparse; of a CSR matrix and a dense one with another reduction
    ("mean", "amax", "amin") in place of the sum."""
    if reduce is None:
        return C.mm(mat1, mat2)
    from ._sampled import mm_reduced

    return mm_reduced(mat1, mat2, reduce)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * mat1 @ mat2."""
    return C.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input, dim=None, dtype=None):
    """Over the given dimensions; over all of them a dense number."""
    if not isinstance(input, SparseTensor):
        input.coalesce()  # says that it isn't one
    return _sum(input, dim, dtype=dtype)


class check_sparse_tensor_invariants:
    """Whether constructors check that indices are within their sizes; a context manager and a decorator."""

    def __init__(self, enable=True):
        self._enable, self._before = enable, None

    is_enabled = staticmethod(checks_invariants)

    @staticmethod
    def enable():
        set_checks_invariants(True)

    @staticmethod
    def disable():
        set_checks_invariants(False)

    def __enter__(self):
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self._before = set_checks_invariants(self._enable)

    def __exit__(self, *exception):
        set_checks_invariants(self._before)
        self._before = None

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def checked(*arguments, **options):
            with type(self)(self._enable):
                return function(*arguments, **options)

        return checked


class _LegacyType(type):
    """torch.sparse.FloatTensor(indices, values, size); isinstance asks for the dtype."""

    def __call__(cls, *arguments):
        if not arguments:
            return sparse_coo_tensor((0,), dtype=cls.dtype)
        if isinstance(arguments[0], int) or len(arguments) == 1:
            return sparse_coo_tensor(
                arguments if isinstance(arguments[0], int) else tuple(arguments[0]), dtype=cls.dtype
            )
        return sparse_coo_tensor(*arguments)

    def __instancecheck__(cls, instance):
        return isinstance(instance, SparseTensor) and instance.dtype == cls.dtype


for _name, _dtype in (
    ("FloatTensor", C.float32), ("DoubleTensor", C.float64), ("HalfTensor", C.float16), ("BFloat16Tensor", C.bfloat16),
    ("LongTensor", C.int64), ("IntTensor", C.int32), ("ShortTensor", C.int16), ("CharTensor", C.int8),
    ("ByteTensor", C.uint8),
):  # fmt: skip
    globals()[_name] = _LegacyType(_name, (), {"dtype": _dtype, "__module__": "torch.sparse"})

globals().update(
    sentences(
        "torch.sparse",
        ("as_sparse_gradcheck", "to_sparse_semi_structured", "SparseSemiStructuredTensor"),
    )
)
__getattr__ = lazily(__name__, functions={"._sampled": ("sampled_addmm",)})
