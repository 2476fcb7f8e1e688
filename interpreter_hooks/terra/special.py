"""terra.special: the special functions of mathematics, under the names of torch.special."""

import math

import _terra_C as C

from _terra_C import (  # noqa: F401
    digamma, erf, erfc, erfinv, exp2, expm1, i0, log1p, log_softmax, logit, logsumexp, polygamma, round, sinc, softmax, xlogy,
)  # fmt: skip
from _terra_C import digamma as psi, igamma as gammainc, igammac as gammaincc, lgamma as gammaln  # noqa: F401
from _terra_C import mvlgamma as multigammaln, sigmoid as expit  # noqa: F401
from _terra_C import (  # noqa: F401
    special_erfcx as erfcx, special_i0e as i0e, special_i1 as i1, special_i1e as i1e, special_log_ndtr as log_ndtr,
    special_ndtri as ndtri, special_zeta as zeta,
)  # fmt: skip


def ndtr(input):
    """The normal distribution function of each element."""
    return 0.5 * C.erfc(input * -math.sqrt(0.5))


def entr(input):
    """-x log x; 0 at 0, -inf below."""
    positive = C.where(input > 0, input, 1.0)
    value = C.where(input >= 0, -positive * C.log(positive), -math.inf)
    return C.where(C.isnan(input), input, value)


def xlog1py(input, other):
    """x log(1 + y), 0 where x is 0 (unless y is NaN)."""
    if not isinstance(input, C.Tensor):
        input = C.full_like(other, input)
    value = input * (C.log1p(other) if isinstance(other, C.Tensor) else math.log1p(other))
    nothing = (input == 0) & ~C.isnan(other) if isinstance(other, C.Tensor) else input == 0
    return C.where(nothing, 0.0, value)


__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0", "i0e",
    "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
