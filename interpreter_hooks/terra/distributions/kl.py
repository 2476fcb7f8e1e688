"""Kullback and Leibler's divergence between two distributions, by a registry of pairs of classes."""

import math

import _terra_C as C

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, log_diagonal, solve_lower, sum_rightmost

__all__ = ["register_kl", "kl_divergence"]

_KL_REGISTRY = {}
_FOUND = {}


def register_kl(type_p, type_q):
    """Enters a function of (p, q) for two classes and those derived from them.

    As in PyTorch the classes may be a library's own that merely accompany Distribution among the bases of its classes."""
    if not isinstance(type_p, type):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def enter(function):
        _KL_REGISTRY[type_p, type_q] = function
        _FOUND.clear()
        return function

    return enter


def _find(type_p, type_q):
    """The function of the nearest pair of base classes: by the first class, then by the second."""
    fits = [(type_p.__mro__.index(p), type_q.__mro__.index(q), p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fits:
        return None
    nearest = min(fits, key=lambda fit: fit[:2])
    return _KL_REGISTRY[nearest[2:]]


def kl_divergence(p, q):
    """The mean under p of log p - log q."""
    kinds = (type(p), type(q))
    if kinds in _FOUND:
        function = _FOUND[kinds]
    else:
        function = _find(*kinds)
        _FOUND[kinds] = function
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}")
    return function(p, q)


def _infinite_like(tensor):
    return C.full_like(tensor, math.inf)


def _xlogx(tensor):
    return C.xlogy(tensor, tensor)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p, q):
    t1 = p.probs * (C.log(p.probs / q.probs))
    t1 = C.where(q.probs == 0, math.inf, t1)
    t1 = C.where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * C.log((1 - p.probs) / (1 - q.probs))
    t2 = C.where(q.probs == 1, math.inf, t2)
    t2 = C.where(p.probs == 1, 0.0, t2)
    return t1 + t2


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Binomial, Binomial)
def _binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return C.where(p.total_count > q.total_count, math.inf, kl)


@register_kl(Categorical, Categorical)
def _categorical_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = C.where((q.probs == 0).expand_as(t), math.inf, t)
    t = C.where((p.probs == 0).expand_as(t), 0.0, t)
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p, q):
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Beta, Beta)
def _beta_beta(p, q):
    return _dirichlet_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Gamma, Gamma)
def _gamma_gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = C.lgamma(q.concentration) - C.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * C.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return -q.concentration * C.log(ratio) + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (1 + euler_constant)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance = q.scale.pow(2)
    mean = p.rate.reciprocal()
    return 0.5 * (C.log(p.rate.pow(2) * variance * 2 * math.pi)) - 1 + (mean.pow(2) - mean * q.loc + q.loc.pow(2) / 2) / variance


@register_kl(Gamma, Normal)
@register_kl(Beta, Normal)
@register_kl(Uniform, Normal)
@register_kl(Laplace, Normal)
@register_kl(Gumbel, Normal)
def _any_normal(p, q):
    second = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + q.scale.log() + 0.5 * math.log(2 * math.pi) + 0.5 * second / q.scale.pow(2)


@register_kl(Normal, Normal)
def _normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p, q):
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    ratio = p.loc / q.scale
    spread = (p.scale / q.scale).pow(2)
    shift = q.loc / q.scale
    return ratio - shift + C.exp(-ratio + 0.5 * spread + shift) - (0.5 * (1 + math.log(2 * math.pi)) + (p.scale / q.scale).log())


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    distance = p.loc - q.loc
    scaled = distance / p.scale
    absolute = math.sqrt(2 / math.pi) * p.scale * C.exp(-0.5 * scaled.pow(2)) + distance * C.erf(math.sqrt(0.5) * scaled)
    return -p.entropy() + C.log(2 * q.scale) + absolute / q.scale


@register_kl(Laplace, Laplace)
def _laplace_laplace(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * C.exp(-distance / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p, q):
    squares = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return squares.log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p, q):
    ratio, shift = p.scale / q.scale, q.loc / q.scale
    t = -ratio.log() - shift + p.loc / q.scale
    return t + ratio * euler_constant + C.exp(shift + (1 + ratio).lgamma() - p.loc / q.scale) - (1 + euler_constant)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p, q):
    return -p.entropy() - C.log1p(-q.probs) / p.probs - q.logits


@register_kl(Pareto, Pareto)
def _pareto_pareto(p, q):
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return C.where(p.support.lower_bound < q.support.lower_bound, math.inf, kl)


@register_kl(Uniform, Uniform)
def _uniform_uniform(p, q):
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return C.where((q.low > p.low) | (q.high < p.high), math.inf, kl)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    t1 = p.mean * (p.logits - q.logits)
    return t1 + p._cont_bern_log_norm() + C.log1p(-p.probs) - q._cont_bern_log_norm() - C.log1p(-q.probs)


def _normal_kl(mean_p, factor_p, mean_q, factor_q):
    """Of normal vectors, by the Cholesky factors of their covariances."""
    n = factor_p.shape[-1]
    spread = solve_lower(factor_q.unsqueeze(-3), factor_p.mT).pow(2).sum((-1, -2))
    distance = solve_lower(factor_q, mean_q - mean_p).pow(2).sum(-1)
    return log_diagonal(factor_q) - log_diagonal(factor_p) + 0.5 * (spread + distance - n)


def _same_events(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed")


def _multivariate(p, q):
    _same_events(p, q)
    return _normal_kl(p.loc, p.scale_tril, q.loc, q.scale_tril)


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_multivariate)


@register_kl(Independent, Independent)
def _independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p, q):
    if p.transforms != q.transforms:
        raise NotImplementedError
    if p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


def _infinite(p, q):
    return _infinite_like(p.mean if not isinstance(p, Cauchy) else p.loc)


# q gives no density to what p draws.
for _p, _others in (
    (Beta, (Pareto,)), (ContinuousBernoulli, (Pareto,)), (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform)), (Gumbel, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)), (Pareto, (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, (Bernoulli, Binomial)),
):  # fmt: skip
    for _q in _others:
        register_kl(_p, _q)(_infinite)


from . import _kl_between_families  # noqa: E402,F401
