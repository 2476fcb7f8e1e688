# run: --torch
"""Programs of linear algebra print the same with capture and without, and what PyTorch prints, failures included; and
`import terra` alone loads none of it."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import same  # noqa: E402

PROGRAM = """
import torch

torch.manual_seed(0)
L = torch.linalg

# Least squares three ways, in a function that runs often.
def fits(X, y, ridge):
    gram = X.mT @ X + ridge * torch.eye(X.shape[-1])
    by_factor = torch.cholesky_solve(X.mT @ y, L.cholesky(gram))
    Q, R = L.qr(X)
    by_qr = L.solve_triangular(R, Q.mT @ y, upper=True)
    U, S, Vh = L.svd(X, full_matrices=False)
    by_svd = Vh.mT @ ((U.mT @ y) * (S / (S * S + ridge))[:, None])
    return by_factor, by_qr, by_svd

for step in range(8):
    X, y = torch.randn(6, 3), torch.randn(6, 1)
    a, b, c = fits(X, y, 0.1)
    assert torch.allclose(a, c, atol=1e-4) and torch.allclose(b, L.lstsq(X, y).solution, atol=1e-4)
    print([f"{v:.3f}" for v in a.flatten().tolist()])

# The likelihood of a Gaussian process, differentiated through its Cholesky factor.
x = torch.linspace(-1, 1, 8)
targets = torch.sin(3 * x)
log_scale = torch.zeros((), requires_grad=True)

def loss_of(log_scale):
    K = torch.exp(-((x[:, None] - x) / torch.exp(log_scale)) ** 2) + 0.05 * torch.eye(8)
    factor = L.cholesky(K)
    alpha = torch.cholesky_solve(targets[:, None], factor)
    return 0.5 * (targets @ alpha[:, 0]) + factor.diagonal().log().sum()

for step in range(10):
    loss = loss_of(log_scale)
    gradient, = torch.autograd.grad(loss, log_scale)
    log_scale.data -= 0.1 * gradient
    print(f"{loss.item():.4f} {gradient.item():.4f}")

# An orthogonal layer by the exponential of a skew matrix, and the volume that another one changes.
weight = torch.randn(3, 3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.05)

def volume(weight, batch):
    turned = batch @ torch.matrix_exp(weight - weight.mT)
    sign, log = L.slogdet(weight @ weight.mT + torch.eye(3))
    return (turned ** 2 * torch.tensor([1.0, 2.0, 3.0])).mean() + sign * log + L.inv(weight @ weight.mT + torch.eye(3)).trace()

for step in range(10):
    optimizer.zero_grad()
    loss = volume(weight, torch.randn(5, 3))
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")

# A failure in the middle of a captured function.
def halves(t):
    return L.inv(t) * 2, L.eigvalsh(t)

for step in range(12):
    t = torch.eye(2) * (step - 9)
    try:
        print([part.tolist() for part in halves(t)])
    except L.LinAlgError as error:
        print(error)

def factors(t):
    f = L.lu_factor(t)
    solved = L.lu_solve(f.LU, f.pivots, torch.ones(3, 1))
    return solved.stride(), L.matrix_rank(t), L.pinv(t), L.matrix_norm(t, 2), L.det(t), torch.cov(t)

for step in range(8):
    t = torch.randn(3, 3)
    strides, rank, pseudo, size, volume_, covariances = factors(t)
    assert torch.allclose(pseudo @ t, torch.eye(3), atol=1e-3)
    print(strides, rank.item(), f"{size.item():.4f} {volume_.item():.4f} {covariances.sum().item():.4f}")
"""
# What PyTorch prints in some of the lines.
PYTORCH = {
    0: "['-0.176', '0.195', '-0.623']",
    7: "['0.068', '0.218', '-0.367']",
    8: "-1.8963 7.7393",
    17: "-2.7304 0.6100",
    27: "5.9807",
    28: "[[[-0.2222222238779068, -0.0], [-0.0, -0.2222222238779068]], [-9.0, -9.0]]",
    37: "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular.",
    39: "[[[1.0, 0.0], [0.0, 1.0]], [2.0, 2.0]]",
    40: "(1, 3) 3 2.7872 -0.3714 9.6937",
    47: "(1, 3) 3 3.3237 -2.7830 3.1983",
}  # fmt: skip


def run(*options):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(PROGRAM)
        script.flush()
        result = subprocess.run([sys.executable, "--torch", *options, script.name], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")


auto, off = run("--capture=auto"), run("--capture=off")
assert auto == off, [(a, b) for a, b in zip(auto, off) if a != b]
for number, line in PYTORCH.items():
    assert same(line, auto[number]), (number, auto[number], line)
lazy = "import sys, terra; print([m for m in sys.modules if 'linalg' in m or 'linear_algebra' in m])"
loaded = subprocess.run([sys.executable, "-c", lazy], capture_output=True, text=True, check=True).stdout.strip()
assert loaded == "[]", loaded
print(f"{len(auto) + len(PYTORCH)} passed")
