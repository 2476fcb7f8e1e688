import math

import _terra_C as C

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t of df degrees of freedom, moved and scaled."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(StudentT, batch_shape, ("df", "loc", "scale"), _instance)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self):
        return C.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return C.where(df <= 1, math.nan, C.where(df <= 2, math.inf, finite))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        x = standard_normal(shape, self.df.dtype)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * C.rsqrt(z / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        normalizer = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + C.lgamma(0.5 * df) - C.lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * C.log1p(y**2.0 / df) - normalizer

    def entropy(self):
        df = self.df
        beta = C.lgamma(0.5 * df) + math.lgamma(0.5) - C.lgamma(0.5 * (df + 1))
        return self.scale.log() + 0.5 * (df + 1) * (C.digamma(0.5 * (df + 1)) - C.digamma(0.5 * df)) + 0.5 * df.log() + beta
