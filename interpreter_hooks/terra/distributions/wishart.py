import math
import warnings

import _terra_C as C

from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import SCALE_TRIL_OF
from .utils import inverse_lower, lazy_property, log_diagonal

__all__ = ["Wishart"]

_TRIES = 10  # of drawing a matrix again that came out singular


def _mvdigamma(x, p):
    """The derivative of mvlgamma."""
    return C.digamma(x.unsqueeze(-1) - 0.5 * C.arange(p, dtype=x.dtype).expand(x.shape + (-1,))).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of df outer products of normal vectors, given their covariance, its inverse or its Cholesky factor; df may be
    a fraction. Drawn by Bartlett's decomposition: a lower triangular matrix of normals and square roots of chi-squares."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        event_shape = matrix.shape[-2:]
        if isinstance(df, C.Tensor):
            batch_shape = C.broadcast_tensors([C.empty(matrix.shape[:-2]), df])[1].shape
            self.df = df.expand(batch_shape)
        else:
            batch_shape = matrix.shape[:-2]
            self.df = C.full(batch_shape, float(df), dtype=matrix.dtype)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        self.__dict__[name] = matrix.expand(tuple(batch_shape) + (-1, -1))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2
            )
        self._unbroadcasted_scale_tril = SCALE_TRIL_OF[name](matrix)
        self._dist_chi2 = self._chi2()

    def _chi2(self):
        """One distribution for each place on the diagonal."""
        rows = C.arange(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        return Chi2(self.df.unsqueeze(-1) - rows.expand(tuple(self._batch_shape) + (-1,)))

    def expand(self, batch_shape, _instance=None):
        dims = {"covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2, "_unbroadcasted_scale_tril": 2}
        new = self._expanded(Wishart, batch_shape, ("df", *dims), _instance, dims)
        new._dist_chi2 = new._chi2()
        return new

    @lazy_property
    def scale_tril(self):
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        inverse = inverse_lower(self._unbroadcasted_scale_tril)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape)

    def _per_matrix(self, values):
        return values.view(tuple(self._batch_shape) + (1, 1))

    @property
    def mean(self):
        return self._per_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return self._per_matrix(C.where(factor <= 0, math.nan, factor)) * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._per_matrix(self.df) * (covariance.pow(2) + products)

    def _draw(self, sample_shape):
        p = self._event_shape[-1]
        lengths = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = lengths.clamp(min=C.finfo(lengths.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = C.tril_indices(p, p, -1)
        shape = tuple(sample_shape) + tuple(self._batch_shape) + (p * (p - 1) // 2,)
        noise[..., i, j] = C.randn(shape, dtype=noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def _regular(self, sample):
        """For each draw of a whole batch, whether its matrices are positive definite: all of them, and any of them."""
        regular = self.support.check(sample)
        shape = regular.shape[: regular.dim() - len(self._batch_shape)]
        regular = regular.reshape(tuple(shape) + (-1,))
        return regular.all(-1), regular.any(-1)

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Draws that come out singular are drawn again, `max_try_correction` times at most. Those that do not are drawn
        twice, as in PyTorch, so that equal seeds give equal matrices."""
        sample = self._draw(C.Size(sample_shape))
        waiting = self._regular(sample)[1]
        for _ in range(_TRIES if max_try_correction is None else max_try_correction):
            if not waiting.any():
                break
            again = self._draw(waiting[waiting].shape)
            sample[waiting] = again
            good = self._regular(again)[0]
            if not good.all():
                warnings.warn("Singular sample detected.", stacklevel=2)
            waiting[waiting.clone()] = ~good
        return sample

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        inside = C.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -nu * (p * math.log(2.0) / 2 + log_diagonal(factor))
            - C.mvlgamma(nu / 2, p)
            + (nu - p - 1) / 2 * C.slogdet(value).logabsdet
            - inside / 2
        )

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2.0) / 2 + log_diagonal(self._unbroadcasted_scale_tril))
            + C.mvlgamma(nu / 2, p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p)
            + nu * p / 2
        )

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (-C.slogdet(-2 * x).logabsdet + math.log(2.0) * p) + C.mvlgamma(y + (p + 1) / 2, p)
