import math

import _terra_C as C

from ..nn import functional as F
from . import constraints
from ._probs_or_logits import BinaryParameter
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryParameter, ExponentialFamily):
    """Numbers in [0, 1] of density proportional to probs ** x (1 - probs) ** (1 - x)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._take(probs, logits)
        if self._is_probs:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ContinuousBernoulli, batch_shape, (), _instance)
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self):
        """Where probs is far enough from 1/2 for the formulas; near it series take their place."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        return C.where(self._outside(), self.probs, self._lims[0] * C.ones_like(self.probs))

    def _cont_bern_log_norm(self):
        p = self._cut_probs()
        low = C.where(p <= 0.5, p, C.zeros_like(p))
        high = C.where(p >= 0.5, p, C.ones_like(p))
        size = C.where(p <= 0.5, C.log1p(-2.0 * low), C.log(2.0 * high - 1.0))
        norm = C.log(C.abs(C.log1p(-p) - C.log(p))) - size
        x = (self.probs - 0.5).pow(2)
        return C.where(self._outside(), norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        p = self._cut_probs()
        mean = p / (2.0 * p - 1.0) + 1.0 / (C.log1p(-p) - C.log(p))
        x = self.probs - 0.5
        return C.where(self._outside(), mean, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def stddev(self):
        return C.sqrt(self.variance)

    @property
    def variance(self):
        p = self._cut_probs()
        variance = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / (C.log1p(-p) - C.log(p)).pow(2)
        x = (self.probs - 0.5).pow(2)
        return C.where(self._outside(), variance, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        return self.icdf(C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        inside = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        cdf = C.where(self._outside(), inside, value)
        return C.where(value <= 0.0, 0.0, C.where(value >= 1.0, 1.0, cdf))

    def icdf(self, value):
        p = self._cut_probs()
        moved = (C.log1p(-p + value * (2.0 * p - 1.0)) - C.log1p(-p)) / (C.log(p) - C.log1p(-p))
        return C.where(self._outside(), moved, value)

    def entropy(self):
        log0, log1 = C.log1p(-self.probs), C.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        out = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = C.where(out, x, (self._lims[0] - 0.5) * C.ones_like(x))
        norm = C.log(C.abs(C.expm1(cut))) - C.log(C.abs(cut))
        return C.where(out, norm, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
