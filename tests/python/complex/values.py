# run: --torch
"""Functions of complex numbers: values, dtypes, sentences and gradients, as PyTorch's."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
T = torch.tensor
Z = T([[0.3 - 0.4j, 1.2 + 0.5j, -0.7 + 0.1j], [2.0 - 1.5j, -0.2 - 0.9j, 0.6 + 1.1j]], dtype=torch.complex128)
W = T([[1.1 + 0.2j, -0.3 + 0.8j, 0.4 - 1.2j], [0.9 + 0.9j, 1.5 - 0.1j, -0.8 + 0.3j]], dtype=torch.complex128)
X = T([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]], dtype=torch.float64)
ODD = T([0j, complex("nan"), complex("inf"), complex("-infj"), 1e300 + 1e300j, -1 - 0j, 1e-300j], dtype=torch.complex128)

UNARY = """abs acos angle asin atan conj cos cosh exp expm1 log log10 log1p log2 mean neg prod real imag reciprocal rsqrt sgn
sigmoid sin sinh sqrt square std sum tan tanh var conj_physical norm view_as_real positive cumsum cumprod diag trace isreal
isnan isfinite isinf logical_not""".split()
MORE = {
    "sum dim": lambda z: z.sum(0),
    "mean keepdim": lambda z: z.mean(1, keepdim=True),
    "prod dim": lambda z: z.prod(1),
    "cumsum dim": lambda z: z.cumsum(1),
    "cumprod dim": lambda z: z.cumprod(1),
    "var_mean": lambda z: torch.var_mean(z, 1),
    "std dim": lambda z: z.std(0),
    "norm 1": lambda z: z.norm(1),
    "norm inf": lambda z: z.norm(float("inf")),
    "norm 3 dim": lambda z: z.norm(3, 1),
    "H": lambda z: z.H,
    "mH": lambda z: z.mH,
    "adjoint": lambda z: z.adjoint(),
    "pow 2": lambda z: z**2,
    "pow 3": lambda z: z**3,
    "pow -1": lambda z: z**-1,
    "pow 0.5": lambda z: z**0.5,
    "pow 2.5": lambda z: z**2.5,
    "pow complex": lambda z: z ** (0.5 + 1j),
    "pow of number": lambda z: 2**z,
    "pow of complex number": lambda z: (1 + 1j) ** z,
    "add number": lambda z: z + (1 + 2j),
    "rsub": lambda z: 1j - z,
    "div number": lambda z: z / 2j,
    "rdiv": lambda z: 3 / z,
    "real of": lambda z: z.real * z.imag,
    "view_as_real of": lambda z: torch.view_as_real(z)[..., 0] * 2,
    "there and back": lambda z: torch.view_as_complex(torch.view_as_real(z) * 3),
    "abs squared": lambda z: (z * z.conj()).real.sum(),
    "index": lambda z: z[T([1, 0, 1]), T([0, 2, 0])],
    "select": lambda z: z[:, 1],
    "masked_fill": lambda z: z.masked_fill(X > 0, 2j),
    "where": lambda z: torch.where(X > 0, z, z.conj()),
    "cat": lambda z: torch.cat([z, z.conj()], 1),
    "matrix product": lambda z: z @ z.mH,
    "real dtype": lambda z: z.to(torch.float64),
    "single": lambda z: z.to(torch.complex64),
    "polar": lambda z: torch.polar(z.abs(), z.angle()),
    "complex": lambda z: torch.complex(z.imag, z.real),
    "lerp by a complex number": lambda z: torch.lerp(z, W, 0.2 + 0.1j) + torch.lerp(z, W, 2j),
    "index_add by a complex number": lambda z: z.detach().index_add(0, T([0, 0]), z.detach(), alpha=1 + 2j),
    "baddbmm by complex numbers": lambda z: torch.baddbmm(z[None, :, :2], z[None], z.T[None], beta=1j, alpha=2),
    "logaddexp": lambda z: torch.logaddexp(z, W),
    "block_diag": lambda z: torch.block_diag(X, z),
    "logsumexp": lambda z: torch.logsumexp(z, 1),
    "lerp": lambda z: torch.lerp(z, W, 0.3),
    "l1_loss": lambda z: torch.nn.functional.l1_loss(z, W),
    "pad": lambda z: torch.nn.functional.pad(z, (1, 2)),
    "tril": lambda z: z.tril(),
    "einsum": lambda z: torch.einsum("ij,kj->ik", z, W),
    "scatter_add": lambda z: torch.zeros(2, 3, dtype=z.dtype).scatter_add(1, T([[0, 0, 2], [1, 1, 1]]), z),
    "linear": lambda z: torch.nn.functional.linear(z, W, W[:, 0]),
}
BINARY = {
    "add": torch.add,
    "add alpha": lambda a, b: torch.add(a, b, alpha=2 - 1j),
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "pow": torch.pow,
    "eq": torch.eq,
    "ne": torch.ne,
    "mm": lambda a, b: a @ b.T,
    "addmm": lambda a, b: torch.addmm(a[:, :2], a, b.T, beta=0.5, alpha=2j),
    "bmm": lambda a, b: torch.bmm(a.unsqueeze(0), b.T.unsqueeze(0)),
    "baddbmm": lambda a, b: torch.baddbmm(a[:, :2].unsqueeze(0), a.unsqueeze(0), b.T.unsqueeze(0), alpha=1j),
    "mv": lambda a, b: torch.mv(a, b[0]),
    "dot": lambda a, b: torch.dot(a[0], b[1]),
    "vdot": lambda a, b: torch.vdot(a[0], b[1]),
    "outer": lambda a, b: torch.outer(a[0], b[1]),
    "matmul": lambda a, b: torch.matmul(a.expand(2, 2, 3), b.T),
    "addcmul": lambda a, b: torch.addcmul(a, b, a, value=1 - 2j),
    "addcdiv": lambda a, b: torch.addcdiv(a, a, b, value=0.5j),
    "where": lambda a, b: torch.where(X > 0, a, b),
    "logical_and": torch.logical_and,
    "isclose": torch.isclose,
    "stack": lambda a, b: torch.stack([a, b]),
}
REFUSED = """z < w|z <= w|z > 1|z >= 1j|z.max()|z.min()|z.sort()|z.floor()|z.ceil()|z.trunc()|z.round()|z.sign()|z.clamp(0)|z % w|z // w
torch.maximum(z, w)|torch.minimum(z, w)|z.argmax()|z.amax()|z.amin()|torch.relu(z)|z.erf()|z.erfc()|z.lgamma()|z & w|z.atan2(w)|torch.hypot(z, w)|z.frac()
torch.fmod(z, w)|torch.topk(z, 1)|torch.softmax(z, 1)|torch.log_softmax(z, 1)|torch.erfinv(z)|torch.nansum(z)
torch.take(X, z)|torch.deg2rad(z)|torch.logit(z)|torch.nn.functional.mse_loss(z, w)|torch.nn.functional.huber_loss(z, w)|torch.nn.functional.kl_div(z, w)
torch.nn.functional.glu(z[:, :2])|torch.nn.functional.logsigmoid(z)|torch.median(z)|torch.unique(z)|torch.kthvalue(z, 1)|torch.max(z, 0)|torch.fmax(z, w)
torch.norm(z, 1j)|torch.isclose(z, w, 1j)|torch.nn.functional.elu(X, 1j)|torch.nn.functional.celu(X, 1j)|torch.baddbmm(X[None], X[None, :, :2], X[None, :2], alpha=1j)
torch.addmm(X, X[:, :2], X[:2], beta=1j)|torch.lerp(X, X, 1j)|X.masked_fill(X > 0, T(1j))|X.scatter(0, T([[0]]), 1j)|X.new_full((2,), 1j)
torch.full_like(X, 1j)|X.clone().masked_fill_(X > 0, 1j)|torch.rsub(X, X, alpha=1j)|torch.cat([X, X], 1j)
X.add_(1j)|X.mul_(z)|X.add(X, alpha=1j)|torch.addcmul(X, X, X, value=1j)|torch.view_as_real(X)|torch.view_as_complex(z)|X.imag
torch.view_as_complex(torch.ones(2, 2, dtype=torch.int64))|torch.view_as_complex(torch.ones(2, 3))|torch.view_as_complex(T(1.0))
torch.view_as_complex(torch.ones(2, 2).t())|torch.view_as_complex(torch.ones(3, 3)[:, :2])|torch.view_as_complex(torch.ones(5)[1:3])
z[0].mH|z[0].H|z[0].adjoint()|torch.ones(2, 2, 2).H|z.sum().backward()|z.backward()|torch.mm(z, X.T)|z.abs_()"""


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def loss_of(result):
    """A real number that every part of a result has its own weight in."""
    result = result[0] if isinstance(result, tuple) else result
    parts = torch.view_as_real(result.resolve_conj()) if result.is_complex() else result
    if not parts.is_floating_point():
        return None
    weights = torch.arange(1, parts.numel() + 1, dtype=parts.dtype).reshape(parts.shape)
    return (parts * weights).sum() / parts.numel()


def with_gradients(function, *operands):
    leaves = [t.clone().requires_grad_() for t in operands]
    result = function(*leaves)
    loss = loss_of(result)
    return [result, None if loss is None or not loss.requires_grad else list(torch.autograd.grad(loss, leaves, allow_unused=True))]


def functions():
    for name in UNARY:
        function = getattr(torch, name) if hasattr(torch, name) else getattr(torch.Tensor, name)
        operand = {"cumsum": Z[0], "cumprod": Z[0], "diag": Z[0]}.get(name, Z)
        along = (lambda z, f=function: f(z, 0)) if name in ("cumsum", "cumprod") else function
        yield name, said(lambda: with_gradients(along, operand))
        if name not in ("trace", "diag"):
            yield name + " single", said(lambda: along(operand.to(torch.complex64)))
    for name, function in MORE.items():
        yield name, said(lambda: with_gradients(function, Z))
    for name, function in BINARY.items():
        yield name, said(lambda: with_gradients(function, Z, W))
        if name not in ("mm", "addmm", "bmm", "baddbmm", "mv", "dot", "vdot", "matmul", "isclose"):
            for kind, operands in (("with real", (Z, X)), ("real first", (X, W))):
                if name in ("where", "addcdiv", "stack"):  # PyTorch fails on the way back
                    yield f"{name} {kind}", said(lambda: function(*operands))
                else:
                    yield f"{name} {kind}", said(lambda: with_gradients(function, *operands))
    for name in ("abs", "angle", "sgn", "exp", "sqrt", "reciprocal", "isnan", "isinf", "square"):
        yield f"{name} of odd ones", [str(v) if name in ("exp", "sqrt") else v for v in getattr(torch, name)(ODD).tolist()][:4]
    yield "gradients at 0", [with_gradients(f, T([0j]))[1] for f in (torch.abs, torch.sgn, torch.angle, torch.norm)]


def refusals():
    z, w = Z.to(torch.complex64), W.to(torch.complex64)  # noqa: F841
    for line in REFUSED.split("\n"):
        for text in line.split("|"):
            yield text, said(lambda: eval(text, globals(), {"z": z.clone().requires_grad_("backward" in text), "w": w}))


def in_place():
    z = Z.clone()
    z += 1j
    z *= W
    z /= 2
    z.real = X
    z.imag[0] = 5
    z[0, 0] = 7j
    z.imag *= 2
    torch.view_as_real(z)[1, 1] = T([8.0, 9.0], dtype=torch.float64)
    yield "writes", [z, z.real.is_contiguous(), z.real.stride(), z.imag.storage_offset(), torch.view_as_real(z).stride()]
    leaf = Z.clone().requires_grad_()
    z = leaf * 2
    z.real.mul_(X)
    z.imag = z.real * 3
    torch.view_as_real(z)[0].zero_()
    loss_of(z * W).backward()
    yield "gradients through writes to parts", [z, leaf.grad]
    real = X.clone().requires_grad_()
    pairs = torch.stack([real, real * 2], -1)
    z = torch.view_as_complex(pairs)
    z.mul_(1j)
    loss_of(pairs).backward()
    yield "gradients through writes to the whole", [pairs, real.grad]


def second_order():
    for name, function in (("exp", torch.exp), ("abs", torch.abs), ("pow", lambda z: z**2.5), ("div", lambda z: 1 / z), ("tanh", torch.tanh),
                           ("mm", lambda z: z @ z.mH), ("log", torch.log), ("angle", torch.angle), ("sigmoid", torch.sigmoid)):  # fmt: skip
        z = Z.clone().requires_grad_()
        (first,) = torch.autograd.grad(loss_of(function(z)), z, create_graph=True)
        yield f"second {name}", torch.autograd.grad(loss_of(first), z)[0]


check([*functions(), *refusals(), *in_place(), *second_order()], __file__)
