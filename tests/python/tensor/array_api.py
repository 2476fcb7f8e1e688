# run: --torch
"""Names of the array API standard that PyTorch does not have: what the standard says of them, captured as plainly."""

import torch

T = torch.tensor
X = torch.arange(6.0).view(2, 3)
NAN = float("nan")


def same(name, actual, expected):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), (name, actual, expected)
        for a, e in zip(actual, expected):
            same(name, a, e)
    elif isinstance(expected, torch.Tensor):
        assert actual.dtype == expected.dtype, (name, actual.dtype, expected.dtype)
        assert actual.shape == expected.shape and torch.allclose(actual, expected, equal_nan=True), (name, actual, expected)
    else:
        assert actual == expected, (name, actual, expected)


# (name, what is called, what the standard says)
VALUES = [
    ("astype", lambda: torch.astype(X, torch.int64), T([[0, 1, 2], [3, 4, 5]])),
    ("astype copies", lambda: torch.astype(X, torch.float32) is X, False),
    ("astype without copy", lambda: torch.astype(X, torch.float32, copy=False) is X, True),
    ("bitwise_invert", lambda: torch.bitwise_invert(T([0, 5])), T([-1, -6])),
    ("broadcast_arrays", lambda: torch.broadcast_arrays(T([1, 2]), T([[3]])), [T([[1, 2]]), T([[3, 3]])]),
    ("cumulative_sum", lambda: torch.cumulative_sum(T([1, 2, 3])), T([1, 3, 6])),
    ("cumulative_sum of int32", lambda: torch.cumulative_sum(T([1, 2], dtype=torch.int32)), T([1, 3])),
    ("with 0 in front", lambda: torch.cumulative_sum(X, axis=1, include_initial=True), T([[0.0, 0, 1, 3], [0, 3, 7, 12]])),
    ("in float64", lambda: torch.cumulative_sum(T([1]), dtype=torch.float64), T([1.0], dtype=torch.float64)),
    ("cumulative_prod", lambda: torch.cumulative_prod(T([2, 3]), include_initial=True), T([1, 2, 6])),
    ("of nothing", lambda: torch.cumulative_prod(torch.ones(0), include_initial=True), torch.ones(1)),
    ("along the last", lambda: torch.cumulative_prod(X, axis=-1), T([[0.0, 0, 0], [3, 12, 60]])),
    ("expand_dims", lambda: torch.expand_dims(X, axis=-1).shape, (2, 3, 1)),
    ("expand_dims in front", lambda: torch.expand_dims(X).shape, (1, 2, 3)),
    ("matrix_transpose", lambda: torch.matrix_transpose(X), T([[0.0, 3], [1, 4], [2, 5]])),
    ("permute_dims", lambda: torch.permute_dims(torch.ones(2, 3, 4), (2, 0, 1)).shape, (4, 2, 3)),
    ("repeat", lambda: torch.repeat(T([1, 2]), 2), T([1, 1, 2, 2])),
    ("repeat by counts", lambda: torch.repeat(X, T([1, 0, 2]), axis=1), T([[0.0, 2, 2], [3, 5, 5]])),
    ("take_along_axis", lambda: torch.take_along_axis(X, T([[2], [0]])), T([[2.0], [3.0]])),
    ("unstack", lambda: torch.unstack(X), (T([0.0, 1, 2]), T([3.0, 4, 5]))),
    ("unstack columns", lambda: torch.unstack(X, axis=1)[2], T([2.0, 5.0])),
    ("vecdot", lambda: torch.vecdot(X, X), T([5.0, 50.0])),
    ("vecdot of several types", lambda: torch.vecdot(T([[1, 2], [3, 4]]), T([0.5, 1.0]), axis=-1), T([2.5, 5.5])),
    ("vecdot of int8", lambda: torch.vecdot(T([1], dtype=torch.int8), T([2], dtype=torch.int8)), T(2, dtype=torch.int8)),
    ("vecdot conjugates", lambda: torch.vecdot(T([1j]), T([1j])), T(1 + 0j)),
    (
        "unique_all",
        lambda: torch.unique_all(T([[3, 1], [1, 2]])),
        (T([1, 2, 3]), T([1, 3, 0]), T([[2, 0], [0, 1]]), T([2, 1, 1])),
    ),
    ("unique_all names", lambda: torch.unique_all(T([7, 7])).counts, T([2])),
    ("unique_all of nothing", lambda: [v.numel() for v in torch.unique_all(torch.ones(0))], [0, 0, 0, 0]),
    ("unique_counts", lambda: torch.unique_counts(T([2.0, 1.0, 2.0])), (T([1.0, 2.0]), T([1, 2]))),
    ("unique_inverse", lambda: torch.unique_inverse(T([2, 1])).inverse_indices, T([1, 0])),
    ("unique_values keeps nans", lambda: torch.unique_values(T([NAN, 1.0, NAN])), T([1.0, NAN, NAN])),
    ("linalg.trace", lambda: torch.linalg.trace(torch.ones(2, 3, 3), offset=1), T([2.0, 2.0])),
    ("linalg.trace of int32", lambda: torch.linalg.trace(torch.eye(2, dtype=torch.int32)), T(2)),
    ("linalg.outer", lambda: torch.linalg.outer(T([1, 2]), T([3])), T([[3], [6]])),
    ("linalg.tensordot", lambda: torch.linalg.tensordot(X, X, dims=2), T(55.0)),
    ("linalg.matrix_transpose", lambda: torch.linalg.matrix_transpose(X).shape, (3, 2)),
]

KINDS = [
    (torch.float32, "real floating", True),
    (torch.float16, "real floating", True),
    (torch.float16, "complex floating", False),
    (torch.complex64, "numeric", True),
    (torch.complex64, torch.complex64, True),
    (torch.int8, "unsigned integer", False),
    (torch.uint8, ("bool", "integral"), True),
    (torch.bool, "numeric", False),
    (torch.bool, ("signed integer", torch.bool), True),
]

ERRORS = [
    (lambda: torch.isdtype(torch.int8, "int"), ValueError, "kind: expected one of 'bool', 'signed integer'"),
    (lambda: torch.astype(T([1j]), torch.float32), TypeError, "astype: a complex tensor can't become torch.float32"),
    (lambda: torch.cumulative_sum(X), ValueError, "cumulative_sum: `axis` may be left out for one dimension only, got 2"),
    (lambda: torch.matrix_transpose(T([1])), ValueError, "matrix_transpose: expected 2 dimensions or more, got 1"),
    (lambda: torch.expand_dims(X, axis=4), IndexError, "Dimension out of range"),
]


def differentiable(x):
    y = torch.cumulative_sum(torch.take_along_axis(x, T([[2, 0], [1, 1]])), axis=0, include_initial=True)
    return torch.vecdot(y, y).sum() + torch.linalg.trace(torch.matrix_transpose(x) @ x)


def gradients():
    """Through the names, plainly and over enough calls to be captured."""
    x = X.double().requires_grad_()
    assert torch.autograd.gradcheck(differentiable, (x,))
    seen = {tuple(torch.autograd.grad(differentiable(x), x)[0].flatten().tolist()) for _ in range(12)}
    assert len(seen) == 1, seen


def inspection():
    info = torch.__array_namespace_info__()
    assert torch.__array_api_version__ == "2024.12"
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == torch.device("cpu") and info.devices() == [torch.device("cpu")]
    assert info.default_dtypes()["real floating"] == torch.float32
    torch.set_default_dtype(torch.float64)
    defaults = info.default_dtypes(device="cpu")
    torch.set_default_dtype(torch.float32)
    assert (defaults["real floating"], defaults["complex floating"]) == (torch.float64, torch.complex128)
    assert defaults["integral"] == defaults["indexing"] == torch.int64
    assert info.dtypes(kind="bool") == {"bool": torch.bool}
    assert list(info.dtypes(kind=("real floating", "bool"))) == ["float32", "float64", "bool"]
    assert len(info.dtypes()) == 13 and info.dtypes()["complex128"] is torch.complex128


for name, function, expected in VALUES:
    same(name, function(), expected)
for dtype, kind, expected in KINDS:
    assert torch.isdtype(dtype, kind) is expected, (dtype, kind)
for function, kind, words in ERRORS:
    try:
        function()
    except kind as error:
        assert words in str(error), (words, str(error))
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")
gradients()
inspection()
print(f"{len(VALUES) + len(KINDS) + len(ERRORS) + 2} passed")
