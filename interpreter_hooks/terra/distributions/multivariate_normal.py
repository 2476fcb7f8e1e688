import math

import _terra_C as C

from . import constraints
from .distribution import Distribution
from .utils import HALF_LOG_2PI, cholesky, inverse_lower, lazy_property, log_diagonal, solve_lower, standard_normal

__all__ = ["MultivariateNormal"]


def _precision_to_scale_tril(precision):
    """The lower factor of the inverse: the factor of the matrix turned round, inverted."""
    turned = cholesky(precision.flip((-2, -1)))
    return inverse_lower(turned.flip((-2, -1)).mT)


def _batch_mv(matrices, vectors):
    """A matrix times a vector, for batches of either."""
    return (matrices @ vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(factor, x):
    """x.T M^-1 x for M = factor @ factor.T, for batches of either."""
    return solve_lower(factor, x).pow(2).sum(-1)


SCALE_TRIL_OF = {
    "scale_tril": lambda matrix: matrix,
    "covariance_matrix": cholesky,
    "precision_matrix": _precision_to_scale_tril,
}


class MultivariateNormal(Distribution):
    """Normal vectors, given the covariance, its inverse or its Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        column, _ = C.broadcast_tensors([loc.unsqueeze(-1), matrix[..., :1]])
        batch_shape = column.shape[:-2]
        self.__dict__[name] = matrix.expand(tuple(batch_shape) + (-1, -1))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = SCALE_TRIL_OF[name](matrix)

    def expand(self, batch_shape, _instance=None):
        names = ("loc", "covariance_matrix", "scale_tril", "precision_matrix")
        new = self._expanded(MultivariateNormal, batch_shape, names, _instance, {n: 2 if n != "loc" else 1 for n in names})
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @lazy_property
    def scale_tril(self):
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        inverse = inverse_lower(self._unbroadcasted_scale_tril)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self):
        entropy = self._event_shape[0] * (0.5 + HALF_LOG_2PI) + log_diagonal(self._unbroadcasted_scale_tril)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
