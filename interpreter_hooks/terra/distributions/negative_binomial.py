import _terra_C as C

from ..nn import functional as F
from . import constraints
from ._probs_or_logits import BinaryParameter
from .distribution import Distribution
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryParameter, Distribution):
    """Successes before total_count failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self._take_counted(total_count, probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(NegativeBinomial, batch_shape, ("total_count",), _instance)

    @property
    def mean(self):
        return self.total_count * C.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / C.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=C.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()):
        with C.no_grad():
            return C.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        unnormalized = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        normalizer = C.lgamma(1.0 + value) + C.lgamma(self.total_count) - C.lgamma(self.total_count + value)
        normalizer = C.where(self.total_count + value == 0.0, 0.0, normalizer)
        return unnormalized - normalizer
