"""Divergences between members of different families: minus the entropy of p, minus what q's log density is on average."""

import math

import _terra_C as C

from .. import autograd
from .beta import Beta
from .continuous_bernoulli import ContinuousBernoulli
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .normal import Normal
from .pareto import Pareto
from .uniform import Uniform
from .utils import sum_rightmost


# ---- means of functions of p -----------------------------------------------------------------------------------------
def _x_log_x(x):
    return C.xlogy(x, x)


def _mean(p):
    return p.mean


def _mean_log(p):
    """Of log x."""
    if isinstance(p, Beta):
        a, b = p.concentration1, p.concentration0
        return a.digamma() - (a + b).digamma()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1  # uniform


def _mean_log_rest(p):
    """Of log(1 - x), x uniform."""
    return (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1


def _mean_exp(p, scale):
    """Of exp(-x / scale)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + scale.reciprocal())
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()) ** -p.concentration
    return scale / (p.high - p.low) * ((-p.low / scale).exp() - (-p.high / scale).exp())  # uniform


def _mean_square(p):
    if isinstance(p, Pareto):
        return p.alpha * p.scale**2 / (p.alpha - 2)
    return p.variance + p.mean**2


# ---- minus the mean of log q -----------------------------------------------------------------------------------------
def _to_exponential(p, q):
    return q.rate * _mean(p) - q.rate.log()


def _to_gamma(p, q):
    c = q.concentration
    return C.lgamma(c) - c * q.rate.log() - (c - 1) * _mean_log(p) + q.rate * _mean(p)


def _to_normal(p, q):
    variance = q.scale**2
    return 0.5 * ((2 * math.pi * variance).log() + (_mean_square(p) - 2 * q.loc * _mean(p) + q.loc**2) / variance)


def _to_uniform(p, q):
    return (q.high - q.low).log()


def _to_gumbel(p, q):
    return q.scale.log() + (_mean(p) - q.loc) / q.scale + (q.loc / q.scale).exp() * _mean_exp(p, q.scale)


def _to_continuous_bernoulli(p, q):
    return -_mean(p) * q.logits - C.log1p(-q.probs) - q._cont_bern_log_norm()


def _to_beta(p, q):
    a, b = q.concentration1, q.concentration0
    return C.lgamma(a) + C.lgamma(b) - C.lgamma(a + b) - (a - 1) * _mean_log(p) - (b - 1) * _mean_log_rest(p)


def _to_pareto(p, q):
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


# ---- where q is 0, or a mean does not exist, the divergence is infinite ----------------------------------------------
def _outside(low, high):
    """p reaches below `low` or above `high`."""

    def found(p, q):
        return (p.low < low) | (p.high > high)

    return found


_ROWS = (  # p, q, minus the mean of log q, where it is infinite
    (Beta, ContinuousBernoulli, _to_continuous_bernoulli, None),
    (Beta, Exponential, _to_exponential, None),
    (Beta, Gamma, _to_gamma, None),
    (Beta, Uniform, _to_uniform, lambda p, q: (q.low > 0) | (q.high < 1)),
    (ContinuousBernoulli, Exponential, _to_exponential, None),
    (ContinuousBernoulli, Normal, _to_normal, None),
    (ContinuousBernoulli, Uniform, _to_uniform, lambda p, q: (q.low >= 0) | (q.high <= 1)),  # so says PyTorch
    (Exponential, Gumbel, _to_gumbel, None),
    (Gamma, Gumbel, _to_gumbel, None),
    (Pareto, Exponential, _to_exponential, lambda p, q: p.alpha <= 1),
    (Pareto, Gamma, _to_gamma, lambda p, q: p.alpha <= 1),
    (Pareto, Normal, _to_normal, lambda p, q: p.alpha <= 2),
    (Uniform, Beta, _to_beta, _outside(0, 1)),
    (Uniform, ContinuousBernoulli, _to_continuous_bernoulli, lambda p, q: (p.low <= 0) | (p.high >= 1)),  # the same
    (Uniform, Exponential, _to_exponential, _outside(0, math.inf)),
    (Uniform, Gamma, _to_gamma, _outside(0, math.inf)),
    (Uniform, Gumbel, _to_gumbel, None),
    (Uniform, Pareto, _to_pareto, lambda p, q: p.low < q.scale),
)


def _enter(kind_p, kind_q, minus_log_q, infinite):
    def divergence(p, q):
        result = minus_log_q(p, q) - p.entropy()
        return result if infinite is None else C.where(infinite(p, q), math.inf, result)

    register_kl(kind_p, kind_q)(divergence)


for _row in _ROWS:
    _enter(*_row)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_exponential_families(p, q):
    """Bregman's divergence of the log normalizer, for two members of one family."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    at_p = [t.detach().requires_grad_() for t in p._natural_params]
    at_q = q._natural_params
    normalizer = p._log_normalizer(*at_p)
    slopes = autograd.grad(normalizer.sum(), at_p, create_graph=True)
    result = q._log_normalizer(*at_q) - normalizer
    for here, there, slope in zip(at_p, at_q, slopes):
        term = (there - here) * slope
        result = result - sum_rightmost(term, term.dim() - len(p.batch_shape))
    return result
