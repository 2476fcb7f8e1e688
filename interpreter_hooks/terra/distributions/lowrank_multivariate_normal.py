import math

import _terra_C as C

from . import constraints
from .distribution import Distribution
from .utils import HALF_LOG_2PI, cholesky, lazy_property, log_diagonal, solve_lower, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance_tril(factor, diagonal):
    """The Cholesky factor of I + W.T D^-1 W, for a covariance W W.T + D."""
    matrix = (factor.mT / diagonal.unsqueeze(-2)) @ factor
    return cholesky(matrix + C.eye(factor.shape[-1], dtype=factor.dtype))


def mahalanobis(factor, diagonal, x, capacitance):
    """x.T (W W.T + D)^-1 x by Woodbury's identity."""
    inner = ((factor.mT / diagonal.unsqueeze(-2)) @ x.unsqueeze(-1)).squeeze(-1)
    return (x.pow(2) / diagonal).sum(-1) - solve_lower(capacitance, inner).pow(2).sum(-1)


def log_determinant(diagonal, capacitance):
    return 2 * log_diagonal(capacitance) + diagonal.log().sum(-1)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance cov_factor @ cov_factor.T + diag(cov_diag)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if tuple(cov_factor.shape[-2:-1]) != tuple(event_shape):
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if tuple(cov_diag.shape[-1:]) != tuple(event_shape):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        column, matrix, diagonal = C.broadcast_tensors([loc.unsqueeze(-1), cov_factor[..., :1], cov_diag.unsqueeze(-1)])
        batch_shape = column.shape[:-2]
        self.loc = column[..., 0]
        self.cov_factor = cov_factor.expand(tuple(batch_shape) + tuple(cov_factor.shape[-2:]))
        self.cov_diag = diagonal[..., 0]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape, _instance=None):
        dims = {"loc": 1, "cov_diag": 1, "cov_factor": 2}
        new = self._expanded(LowRankMultivariateNormal, batch_shape, ("loc", "cov_diag", "cov_factor"), _instance, dims)
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        return new

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        value = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return value.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_cov_factor
        value = factor @ factor.mT + C.diag_embed(self._unbroadcasted_cov_diag)
        return value.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self):
        from .utils import inverse_lower

        inverse = inverse_lower(self.scale_tril)
        return inverse.mT @ inverse

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        along = standard_normal(tuple(shape[:-1]) + tuple(self.cov_factor.shape[-1:]), self.loc.dtype)
        apart = standard_normal(shape, self.loc.dtype)
        spread = (self._unbroadcasted_cov_factor @ along.unsqueeze(-1)).squeeze(-1)
        return self.loc + spread + self._unbroadcasted_cov_diag.sqrt() * apart

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal, capacitance = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        distance = mahalanobis(factor, diagonal, value - self.loc, capacitance)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_determinant(diagonal, capacitance) + distance)

    def entropy(self):
        log_det = log_determinant(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = self._event_shape[0] * (0.5 + HALF_LOG_2PI) + 0.5 * log_det
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
