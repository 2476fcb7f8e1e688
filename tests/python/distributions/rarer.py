# run: --torch
"""The families that few programs use, as families.py does."""

import pathlib
import sys
import warnings

import torch
import torch.distributions as D

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from families import A, B, MATRIX, T, check, walk  # noqa: E402

warnings.simplefilter("ignore")  # of Wishart's few degrees of freedom
FAMILIES = {
    "LogisticNormal": (D.LogisticNormal, {"loc": A, "scale": B}, T([0.2, 0.3, 0.4, 0.1])),
    "LogisticNormal of numbers": (D.LogisticNormal, {"loc": 0.5, "scale": 2.0}, T([0.3, 0.7])),
    "GeneralizedPareto": (D.GeneralizedPareto, {"loc": B, "scale": A, "concentration": T([0.4, 0.0, -0.5])}, T([2.3, 3.0, 4.0])),
    "GeneralizedPareto of numbers": (D.GeneralizedPareto, {"loc": 0.1, "scale": 2.0, "concentration": -1.0}, T(0.3)),
    "LKJCholesky": (D.LKJCholesky, {"dim": 3, "concentration": A}, T([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, -0.6, 0.8]])),
    "LKJCholesky of numbers": (D.LKJCholesky, {"dim": 2, "concentration": 1.5}, T([[1.0, 0.0], [-0.6, 0.8]])),
    "Wishart": (D.Wishart, {"df": A + 4, "covariance_matrix": MATRIX}, MATRIX + torch.eye(3)),
    "Wishart precision": (D.Wishart, {"df": T(3.5), "precision_matrix": MATRIX}, MATRIX),
    "Wishart of a number": (D.Wishart, {"df": 4, "covariance_matrix": MATRIX}, MATRIX),
}  # fmt: skip
# Slopes of samples: of gammas looser; PyTorch's GeneralizedPareto writes to what it saved.
LOOSER = ("Wishart", "Wishart precision", "Wishart of a number", "GeneralizedPareto", "GeneralizedPareto of numbers")


def divergences():
    """Between families."""
    wide = D.Uniform(T([-1.0, 0.6, 3.0]), T([2.0, 0.9, 4.5]))
    made = {
        "Beta": D.Beta(A, A.flip(0)), "ContinuousBernoulli": D.ContinuousBernoulli(T([0.2, 0.5, 0.9])), "wide Uniform": wide,
        "Exponential": D.Exponential(A), "Gamma": D.Gamma(A, A.flip(0)), "Gumbel": D.Gumbel(A, A.flip(0)),
        "Normal": D.Normal(A, A.flip(0)), "Pareto": D.Pareto(A, T([0.8, 1.7, 3.0])),
        "Uniform": D.Uniform(T([0.0, 0.2, 0.1]), T([1.0, 0.9, 1.5])),
    }  # fmt: skip
    for p, first in made.items():
        for q, second in made.items():
            try:
                yield f"kl {p} {q}", D.kl_divergence(first, second) + 0.0  # no -0
            except NotImplementedError:
                yield f"kl {p} {q}", "not there"
    wisharts = [D.Wishart(T(df), MATRIX[:2, :2] * df) for df in (4.0, 5.0)]
    yield "kl Wishart", D.kl_divergence(*wisharts)
    a, b = A.clone().requires_grad_(), A.flip(0).clone().requires_grad_()
    D.kl_divergence(D.Gamma(a, b), D.Gumbel(b, a)).sum().backward()
    yield "kl gradient", [a.grad, b.grad]


def mistakes():
    for name, make in {
        "small": lambda: D.LKJCholesky(1), "negative": lambda: D.GeneralizedPareto(0.0, -1.0, 2.0),
        "below": lambda: D.GeneralizedPareto(0.0, 1.0, 2.0).log_prob(T(-1.0)),
        "few": lambda: D.Wishart(T(1.0), torch.eye(3)), "two": lambda: D.Wishart(3, torch.eye(3), torch.eye(3)),
        "vector": lambda: D.Wishart(3, torch.ones(3)), "singular": lambda: D.Wishart(3, torch.ones(3, 3)),
        "not its factor": lambda: D.LKJCholesky(3).log_prob(torch.ones(3, 3)),
    }.items():  # fmt: skip
        try:
            yield name, make()
        except (ValueError, AssertionError) as error:
            yield name, f"{type(error).__name__} {error}"


check([*walk(FAMILIES, LOOSER), *divergences(), *mistakes()], __file__)
