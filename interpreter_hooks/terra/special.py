"""terra.special: the special functions of mathematics, under the names of torch.special."""

from _terra_C import (  # noqa: F401
    digamma, erf, erfc, erfinv, exp2, expm1, i0, log1p, log_softmax, logit, logsumexp, polygamma, round, sinc, softmax, xlogy,
)  # fmt: skip
from _terra_C import digamma as psi, igamma as gammainc, igammac as gammaincc, lgamma as gammaln  # noqa: F401
from _terra_C import mvlgamma as multigammaln, sigmoid as expit  # noqa: F401
from _terra_C import (  # noqa: F401
    special_entr as entr, special_erfcx as erfcx, special_i0e as i0e, special_i1 as i1, special_i1e as i1e,
    special_log_ndtr as log_ndtr, special_ndtr as ndtr, special_ndtri as ndtri, special_xlog1py as xlog1py, special_zeta as zeta,
)  # fmt: skip

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0", "i0e",
    "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
