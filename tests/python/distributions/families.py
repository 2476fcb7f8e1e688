# run: --torch
"""Every family: moments, entropy, log_prob with gradients, cdf and icdf, shapes, samples at equal seed, as PyTorch's."""

import pathlib
import sys

import torch
import torch.distributions as D

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

T = torch.tensor
A, B = T([0.7, 1.5, 4.0]), T([[0.5], [2.0]])
P = T([0.2, 0.5, 0.9])
SIMPLEX = T([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
MATRIX = T([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 0.8]])

# name -> (class, parameters, values inside the support)
FAMILIES = {
    "Normal": (D.Normal, {"loc": A, "scale": B}, T([0.3, -1.0, 2.0])),
    "Normal of numbers": (D.Normal, {"loc": 0.5, "scale": 2.0}, T(0.3)),
    "Categorical": (D.Categorical, {"probs": SIMPLEX}, T([2, 0])),
    "Categorical logits": (D.Categorical, {"logits": SIMPLEX}, T([1, 0])),
    "Bernoulli": (D.Bernoulli, {"probs": P}, T([0.0, 1.0, 1.0])),
    "Bernoulli logits": (D.Bernoulli, {"logits": A}, T([0.0, 1.0, 1.0])),
    "OneHotCategorical": (D.OneHotCategorical, {"probs": SIMPLEX}, T([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])),
    "StraightThrough": (D.OneHotCategoricalStraightThrough, {"logits": SIMPLEX}, T([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])),
    "Uniform": (D.Uniform, {"low": -A, "high": B}, T([-0.3, -1.0, 0.2])),
    "Beta": (D.Beta, {"concentration1": A, "concentration0": B}, T([0.3, 0.5, 0.8])),
    "Gamma": (D.Gamma, {"concentration": A, "rate": B}, T([0.3, 1.0, 2.0])),
    "Dirichlet": (D.Dirichlet, {"concentration": torch.stack([A, A + 1])}, T([0.2, 0.3, 0.5])),
    "Exponential": (D.Exponential, {"rate": A}, T([0.3, 1.0, 2.0])),
    "Poisson": (D.Poisson, {"rate": T([0.5, 3.0, 20.0])}, T([0.0, 2.0, 18.0])),
    "Binomial": (D.Binomial, {"total_count": 12, "probs": P}, T([0.0, 5.0, 12.0])),
    "Multinomial": (D.Multinomial, {"total_count": 4, "probs": SIMPLEX}, T([[1.0, 1.0, 2.0], [4.0, 0.0, 0.0]])),
    "MultivariateNormal": (D.MultivariateNormal, {"loc": A, "covariance_matrix": MATRIX}, T([0.3, 1.0, 2.0])),
    "MultivariateNormal precision": (D.MultivariateNormal, {"loc": A, "precision_matrix": MATRIX}, T([0.3, 1.0, 2.0])),
    "LowRank": (D.LowRankMultivariateNormal, {"loc": A, "cov_factor": MATRIX[:, :2], "cov_diag": A}, T([0.3, 1.0, 2.0])),
    "Laplace": (D.Laplace, {"loc": A, "scale": B}, T([0.3, -1.0, 2.0])),
    "LogNormal": (D.LogNormal, {"loc": A, "scale": B}, T([0.3, 1.0, 2.0])),
    "Cauchy": (D.Cauchy, {"loc": A, "scale": B}, T([0.3, -1.0, 2.0])),
    "HalfNormal": (D.HalfNormal, {"scale": A}, T([0.3, 1.0, 2.0])),
    "HalfCauchy": (D.HalfCauchy, {"scale": A}, T([0.3, 1.0, 2.0])),
    "StudentT": (D.StudentT, {"df": A, "loc": 0.3, "scale": B}, T([0.3, -1.0, 2.0])),
    "Chi2": (D.Chi2, {"df": A}, T([0.3, 1.0, 2.0])),
    "FisherSnedecor": (D.FisherSnedecor, {"df1": A, "df2": B + 4}, T([0.3, 1.0, 2.0])),
    "Gumbel": (D.Gumbel, {"loc": A, "scale": B}, T([0.3, 1.0, 2.0])),
    "Geometric": (D.Geometric, {"probs": P}, T([0.0, 3.0, 1.0])),
    "Pareto": (D.Pareto, {"scale": B, "alpha": A}, T([2.3, 3.0, 4.0])),
    "Weibull": (D.Weibull, {"scale": B, "concentration": A}, T([0.3, 1.0, 2.0])),
    "NegativeBinomial": (D.NegativeBinomial, {"total_count": 5, "probs": P}, T([0.0, 3.0, 7.0])),
    "Kumaraswamy": (D.Kumaraswamy, {"concentration1": A, "concentration0": B}, T([0.3, 0.5, 0.8])),
    "RelaxedBernoulli": (D.RelaxedBernoulli, {"temperature": T(0.7), "probs": P}, T([0.3, 0.5, 0.8])),
    "LogitRelaxedBernoulli": (D.relaxed_bernoulli.LogitRelaxedBernoulli, {"temperature": T(0.7), "logits": A}, T([0.3, -0.5, 0.8])),
    "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical, {"temperature": T(0.7), "probs": SIMPLEX}, T([0.2, 0.3, 0.5])),
    "ContinuousBernoulli": (D.ContinuousBernoulli, {"probs": P}, T([0.3, 0.5, 0.8])),
    "VonMises": (D.VonMises, {"loc": A, "concentration": B}, T([0.3, -1.0, 2.0])),
    "InverseGamma": (D.InverseGamma, {"concentration": A + 1, "rate": B}, T([0.3, 1.0, 2.0])),
}  # fmt: skip
GAMMAS = ("Beta", "Gamma", "Dirichlet", "StudentT", "Chi2", "FisherSnedecor", "InverseGamma")  # slopes of samples: looser


def said(function):
    """The value, or the kind of exception."""
    try:
        return function()
    except (NotImplementedError, ValueError, RuntimeError, AttributeError) as error:
        return type(error).__name__


def made(family, validate=None):
    kind, parameters, value = family
    leaves = {k: v.clone().requires_grad_() if isinstance(v, torch.Tensor) else v for k, v in parameters.items()}
    return kind(**leaves, validate_args=validate), [v for v in leaves.values() if isinstance(v, torch.Tensor)], value


def gradients(output, leaves):
    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        return "none"
    return list(torch.autograd.grad(output.sum(), leaves, retain_graph=True, allow_unused=True))


def walk(families, looser):
    for name, family in families.items():
        dist, leaves, value = made(family)
        yield f"{name} shapes", [tuple(dist.batch_shape), tuple(dist.event_shape), dist.has_rsample, dist.has_enumerate_support]
        yield f"{name} repr", repr(dist)
        for moment in ("mean", "mode", "variance", "stddev"):
            if (name, moment) == ("Kumaraswamy", "mode"):
                continue  # PyTorch has NaN everywhere
            yield f"{name} {moment}", said(lambda: getattr(dist, moment))
        if dist.has_enumerate_support:
            yield f"{name} enumerate_support, not expanded", dist.enumerate_support(expand=False)
        for method in ("entropy", "perplexity", "enumerate_support"):
            result = said(getattr(dist, method))
            yield f"{name} {method}", result
            if method == "entropy":
                yield f"{name} {method} gradient", gradients(result, leaves)
        log_prob = dist.log_prob(value)
        yield f"{name} log_prob", [log_prob, gradients(log_prob, leaves)]
        yield f"{name} cdf", said(lambda: dist.cdf(value))
        yield f"{name} icdf", said(lambda: dist.icdf(T([0.1, 0.6, 0.9])))
        wide = dist.expand((4,) + tuple(dist.batch_shape))
        yield f"{name} expand", [tuple(wide.batch_shape), tuple(wide.event_shape), said(lambda: wide.log_prob(value).sum())]
        torch.manual_seed(5)
        yield f"{name} sample", [dist.sample(), dist.sample((2,)), dist.sample((3, 2)).shape, torch.rand(1)]
        if dist.has_rsample:
            torch.manual_seed(6)
            drawn = dist.rsample((3,))
            yield f"{name} rsample", drawn
            if name not in looser:
                yield f"{name} rsample gradient", gradients(drawn, leaves)
        yield f"{name} support", [dist.support.is_discrete, dist.support.event_dim, dist.support.check(value)]
        yield f"{name} of NaN", said(lambda: dist.log_prob(torch.full(value.shape, float("nan"))))


if __name__ == "__main__":
    check(walk(FAMILIES, GAMMAS), __file__)
