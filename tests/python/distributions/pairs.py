# run: --torch
"""Divergences, transforms with their inverses and stretches, constraints, composed distributions, errors, as PyTorch's."""

import pathlib
import sys

import torch
import torch.distributions as D
from torch.distributions import biject_to, constraints, kl_divergence, transform_to
from torch.distributions.kl import register_kl
from torch.distributions.normal import Normal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

T = torch.tensor
A, B, P = T([0.7, 1.5, 4.0]), T([[0.5], [2.0]]), T([0.2, 0.5, 0.9])
S, R = T([0.2, 0.3, 0.5]), T([0.6, 0.1, 0.3])
M = T([[2.0, 0.3], [0.3, 1.5]])


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def divergences():
    groups = [
        [D.Normal(A, B), D.Normal(B, A), D.Laplace(A, B), D.Gumbel(A, B), D.Exponential(A), D.Gamma(A, B), D.Uniform(A, A + B), D.Beta(A, B)],
        [D.Bernoulli(P), D.Bernoulli(P.flip(0)), D.Poisson(A)],
        [D.Categorical(S), D.Categorical(R)], [D.OneHotCategorical(S), D.OneHotCategorical(logits=R)],
        [D.Binomial(5, P), D.Binomial(5, P.flip(0))], [D.Dirichlet(A), D.Dirichlet(P)], [D.Geometric(P), D.Geometric(P.flip(0))],
        [D.Cauchy(A, B), D.Cauchy(B, A)], [D.HalfNormal(A), D.HalfNormal(B)], [D.Pareto(B, A), D.Pareto(B / 2, A + 1)],
        [D.LogNormal(A, B), D.LogNormal(B, A)], [D.ContinuousBernoulli(P), D.ContinuousBernoulli(P.flip(0))],
        [D.MultivariateNormal(A[:2], M), D.MultivariateNormal(P[:2], 2 * M), D.LowRankMultivariateNormal(A[:2], M[:, :1], P[:2])],
        [D.Independent(D.Normal(A, B), 1), D.Independent(D.Normal(B, A), 1)], [D.Chi2(A), D.Gamma(B, A)],
    ]  # fmt: skip
    pairs = ("Normal Normal", "Laplace Laplace", "Laplace Normal", "Normal Laplace", "Gumbel Gumbel", "Normal Gumbel", "Gumbel Normal",
             "Exponential Exponential", "Exponential Gamma", "Gamma Exponential", "Exponential Normal", "Gamma Normal", "Gamma Gamma",
             "Uniform Uniform", "Uniform Normal", "Beta Beta", "Beta Normal", "Normal Uniform")  # fmt: skip
    for n, group in enumerate(groups):
        for p in group:
            for q in group:
                name = f"{type(p).__name__} {type(q).__name__}"
                if n or name in pairs:
                    yield f"kl {name}", said(lambda: kl_divergence(p, q))
    yield "no divergence", said(lambda: kl_divergence(D.Cauchy(A, B), D.Normal(A, B)))

    class Mine(Normal):
        pass

    register_kl(Mine, Normal)(lambda p, q: "mine")
    yield "registered", kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0))


def transforms():
    x = T([[0.3, -0.5, 1.2], [0.1, 0.9, -2.0]])
    for transform in (
        D.ExpTransform(), D.PowerTransform(T(2.0)), D.SigmoidTransform(), D.TanhTransform(), D.SoftplusTransform(), D.AffineTransform(1.0, -2.0),
        D.AffineTransform(A, B, event_dim=1), D.StickBreakingTransform(), D.CorrCholeskyTransform(), D.ReshapeTransform((3,), (3, 1)),
        D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.5, 2.0)]), D.IndependentTransform(D.ExpTransform(), 1),
        D.CatTransform([D.ExpTransform(), D.AffineTransform(1, 2)], -1, [1, 2]), D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0),
        D.CumulativeDistributionTransform(D.Normal(0.0, 2.0)),
    ):  # fmt: skip
        value = x.abs() if isinstance(transform, D.PowerTransform) else x
        y = transform(value)
        name = type(transform).__name__
        yield f"{name}", [y, transform.inv(y), transform.bijective]
        yield f"{name} stretch", [transform.log_abs_det_jacobian(value, y), transform.inv.log_abs_det_jacobian(y, value)]
        yield f"{name} shape", said(lambda: tuple(transform.forward_shape((2, 3))))
    for constraint in (
        constraints.real, constraints.positive, constraints.greater_than(2.0), constraints.less_than(-1.0), constraints.unit_interval,
        constraints.interval(-1.0, 3.0), constraints.simplex, constraints.real_vector, constraints.lower_cholesky, constraints.boolean,
    ):  # fmt: skip
        z = x @ x.mT if constraint is constraints.lower_cholesky else x
        yield f"{constraint!r}", [said(lambda: transform_to(constraint)(z)), said(lambda: biject_to(constraint)(z))]
        yield f"{constraint!r} check", said(lambda: constraint.check(z))
    for constraint, value in (
        (constraints.positive_definite, M), (constraints.positive_definite, -M), (constraints.symmetric, M), (constraints.lower_triangular, M),
        (constraints.corr_cholesky, torch.eye(2)), (constraints.one_hot, T([0.0, 1.0])), (constraints.integer_interval(0, 3), T([1.0, 4.0, 0.5])),
        (constraints.cat([constraints.positive, constraints.real], -1), T([-1.0, 1.0])), (constraints.multinomial(3), T([1.0, 1.0])),
    ):  # fmt: skip
        yield f"{constraint!r} of a value", [constraint.check(value), constraint.is_discrete, constraint.event_dim]


def composed():
    flow = D.TransformedDistribution(D.Normal(torch.zeros(3), 1.0), [D.AffineTransform(A, 2.0), D.SigmoidTransform()])
    torch.manual_seed(1)
    sample = flow.rsample((2,))
    yield "flow", [sample, flow.log_prob(sample), flow.cdf(sample), flow.icdf(P), flow.expand((2, 3)).batch_shape]
    mixture = D.MixtureSameFamily(D.Categorical(S), D.Normal(A, P))
    yield "mixture", [mixture.mean, mixture.variance, mixture.log_prob(T(0.5)), mixture.cdf(T(0.5)), mixture.sample((3,)), repr(mixture)]
    vectors = D.MixtureSameFamily(D.Categorical(S), D.Independent(D.Normal(torch.stack([A, P, S]), 1.0), 1))
    yield "mixture of vectors", [vectors.mean, vectors.log_prob(A), vectors.sample((2,)).shape, vectors.expand((4,)).batch_shape]
    deep = D.Independent(D.Bernoulli(torch.full((2, 3), 0.3)), 1)
    yield "independent", [deep.entropy(), deep.log_prob(torch.ones(2, 3)), deep.mean, deep.support.event_dim, repr(deep), deep.expand((4, 2)).event_shape]
    for dist in (D.Normal(A, B), D.Bernoulli(P), D.Exponential(A), D.Dirichlet(A), D.Gamma(A, B), D.Beta(A, B)):
        if type(dist).__name__ not in ("Dirichlet", "Beta"):
            yield f"Bregman {type(dist).__name__}", said(lambda: D.ExponentialFamily.entropy(dist))


def errors():
    for name, call in {
        "scale": lambda: D.Normal(T([0.0, 1.0]), T([-1.0, 1.0])), "number": lambda: D.Normal(0.0, 1.0).log_prob(3.0),
        "shape": lambda: D.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2)), "support": lambda: D.Categorical(torch.ones(3)).log_prob(T(3)),
        "both": lambda: D.Categorical(torch.ones(3), logits=torch.ones(3)), "neither": lambda: D.Bernoulli(), "scalar": lambda: D.Categorical(T(1.0)),
        "concentration": lambda: D.Dirichlet(T(1.0)), "simplex": lambda: D.Dirichlet(torch.ones(3)).log_prob(torch.ones(3)),
        "low": lambda: D.Uniform(1.0, 0.0), "text": lambda: D.Normal("a", 1.0), "count": lambda: D.Multinomial(T(3), torch.ones(2)),
        "dims": lambda: D.Independent(D.Normal(torch.zeros(2), 1.0), 2), "mixture": lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(A, 1.0)),
        "components": lambda: D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(2), 1.0)),
        "matrices": lambda: D.MultivariateNormal(torch.zeros(2)), "definite": lambda: D.MultivariateNormal(torch.zeros(2), -M),
        "geometric": lambda: D.Geometric(0.0), "bernoulli": lambda: D.Bernoulli(2.0), "list": lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
        "unchecked": lambda: D.Normal(0.0, -1.0, validate_args=False).loc, "reals": lambda: D.Normal(0.0, 1.0).log_prob(T(float("nan"))),
    }.items():  # fmt: skip
        yield f"error {name}", said(call)


def walk():
    for part in (divergences, transforms, composed, errors):
        yield from part()


if __name__ == "__main__":
    check(walk(), __file__)
