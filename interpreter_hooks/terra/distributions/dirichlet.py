import _terra_C as C

from .. import autograd
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class _Dirichlet(autograd.Function):
    """Samples whose gradient holds each share's place in its marginal Beta distribution."""

    @staticmethod
    def forward(ctx, concentration):
        x = C._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = C._dirichlet_grad(x, concentration, total)
        return slope * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Shares that add up to 1."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Dirichlet, batch_shape, ("concentration",), _instance, {"concentration": 1})

    def rsample(self, sample_shape=()):
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return C.xlogy(a - 1.0, value).sum(-1) + C.lgamma(a.sum(-1)) - C.lgamma(a).sum(-1)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        flat = (self.concentration < 1).all(-1, keepdim=True)
        corner = C.one_hot(mode.argmax(-1), above.shape[-1]) if hasattr(C, "one_hot") else _corner(mode)
        return C.where(flat, corner.to(mode), mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        a0 = a.sum(-1)
        return C.lgamma(a).sum(-1) - C.lgamma(a0) - (k - a0) * C.digamma(a0) - ((a - 1.0) * C.digamma(a)).sum(-1)

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - C.lgamma(x.sum(-1))


def _corner(mode):
    from ..nn import functional as F

    return F.one_hot(mode.argmax(-1), mode.shape[-1])
