"""torch.return_types: the named tuples that ops with several results give."""

import sys

import _terra_C as C

from ._names import missing

_GIVEN_BY = {
    "aminmax": lambda t: C.aminmax(t), "cummax": lambda t: C.cummax(t, 0), "cummin": lambda t: C.cummin(t, 0), "frexp": C.frexp,
    "mode": lambda t: C.mode(t), "nanmedian": lambda t: C.nanmedian(t, 0), "kthvalue": lambda t: C.kthvalue(t, 1, 0), "max": lambda t: C.max(t, 0),
    "median": lambda t: C.median(t, 0), "min": lambda t: C.min(t, 0), "sort": C.sort, "topk": lambda t: C.topk(t, 1),
}  # fmt: skip


# Those of linear algebra, by what gives them for the identity matrix.
_GIVEN_BY_MATRIX = {
    "geqrf": C.geqrf, "lu_unpack": lambda t: C.lu_unpack(*C._linalg.lu_factor(t)), "slogdet": C.slogdet, "svd": C.svd, "qr": C.qr,
    "triangular_solve": lambda t: C.triangular_solve(t, t), "linalg_lstsq": lambda t: C._linalg.lstsq(t, t),
    "linalg_eig": lambda t: C._linalg.eig(t), "linalg_solve_ex": lambda t: C._linalg.solve_ex(t, t),
}  # fmt: skip
for _name in (
    "cholesky_ex", "eigh", "inv_ex", "ldl_factor", "ldl_factor_ex", "lu", "lu_factor", "lu_factor_ex", "polar", "qr", "slogdet", "svd",
):  # fmt: skip
    _GIVEN_BY_MATRIX["linalg_" + _name] = getattr(C._linalg, _name)


def __getattr__(name):
    if name in _GIVEN_BY:
        given = _GIVEN_BY[name](C.zeros(1))
    elif name in _GIVEN_BY_MATRIX:
        given = _GIVEN_BY_MATRIX[name](C.eye(1))
    else:
        raise missing(sys.modules[__name__], name, (*_GIVEN_BY, *_GIVEN_BY_MATRIX))
    kind = globals()[name] = type(given)
    return kind
