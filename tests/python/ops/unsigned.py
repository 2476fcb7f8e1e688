# run: --torch --capture=off
# run: --torch
# run: --torch --capture=stress
"""uint16, uint32 and uint64: which functions have them, what comes out (whole numbers in hexadecimal, so that no bit is
overlooked), and what the others say. A line stands for the three dtypes, and says once what they have in common."""

import contextlib
import copy  # noqa: F401
import io
import pathlib
import pickle  # noqa: F401
import re
import sys
import warnings

import torch
import torch.nn.functional as F  # noqa: F401

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, text_of  # noqa: E402

warnings.simplefilter("ignore")

UNARY = """
neg abs sign sgn square sqrt exp log sin floor ceil trunc fix round relu bitwise_not logical_not isnan isinf isfinite isposinf
isneginf isreal positive reciprocal sigmoid rsqrt exp2 expm1 log1p tanh atan erf lgamma digamma deg2rad rad2deg frac signbit angle
conj real sort argsort msort unique unique_consecutive median nanmedian mode sum prod nansum mean amax amin max min argmax argmin
aminmax any all nonzero argwhere count_nonzero clone diagflat diag_embed flipud flatten ravel bincount histc diff var std norm
nan_to_num is_nonzero combinations special.i0 special.entr special.expit special.ndtri detach block_diag atleast_3d
cartesian_prod view_as_real zeros_like ones_like
""".split()
OF_MATRICES = "t diag tril triu trace fliplr sum any all sort unique argmax nonzero clone square diff".split()
BINARY = """
add sub rsub mul multiply div true_divide floor_divide remainder fmod pow float_power maximum minimum fmax fmin max min eq ne lt le
gt ge equal bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_and logical_or logical_xor gcd lcm
atan2 hypot copysign heaviside isclose searchsorted bucketize dot outer ger vdot kron ldexp
xlogy nextafter logaddexp addcmul_of dist cat_of stack_of hstack_of where_of special.xlog1py
""".split()
CALLS = """
torch.zeros(2, dtype=D) | torch.ones(2, dtype=D) | torch.full((2,), 3, dtype=D) | torch.empty(0, dtype=D) | torch.full((2,), -1, dtype=D)
torch.full((2,), TOP, dtype=D) | torch.full((2,), TOP + 1, dtype=D) | torch.full((2,), -2.5, dtype=D) | torch.full((2,), 2.5, dtype=D)
torch.full((2,), 1j, dtype=D) | torch.full((2,), float("inf"), dtype=D) | torch.scalar_tensor(3, dtype=D) | torch.eye(2, dtype=D)
torch.arange(3, dtype=D) | torch.range(0, 2, dtype=D) | torch.linspace(0, 3, 4, dtype=D) | torch.tril_indices(2, 2, dtype=D)
torch.randperm(3, dtype=D) | torch.rand(3, dtype=D) | torch.randn(3, dtype=D) | torch.empty(3, dtype=D).random_() | x.bernoulli()
torch.empty(3, dtype=D).bernoulli_() | torch.empty(3, dtype=D).normal_() | torch.empty(3, dtype=D).uniform_()
torch.multinomial(x, 1) | torch.randint(-1, 3, (2,), dtype=D) | F.dropout(x)
torch.tensor([1, TOP], dtype=D) | torch.tensor(-1, dtype=D) | torch.tensor(TOP + 1, dtype=D) | torch.tensor(2.5, dtype=D)
torch.tensor(1j, dtype=D) | torch.tensor(2**70, dtype=D) | torch.tensor(True, dtype=D) | torch.tensor([], dtype=D)
torch.as_tensor(x) is x | torch.asarray([1, 2], dtype=D) | x.new_tensor([3]) | x.new_full((2,), TOP) | torch.full_like(x, TOP)
x.dtype | x.type() | x.is_signed() | x.element_size() | D.itemsize | D.is_signed | D.is_floating_point | D.to_real() | D.to_complex()
torch.iinfo(D) | torch.iinfo(D).max | torch.iinfo(D).min | torch.iinfo(D).bits | hash(D) == hash(x.dtype)
pickle.loads(pickle.dumps(D)) is D | copy.deepcopy(x)
repr(x) | str(x[0]) | repr(torch.zeros(2, 0, dtype=D)) | f"{x[1]}" | x.tolist() | x[1].item() | int(x[0]) | float(x[3])
complex(x[0]) | bool(x[0]) | [10, 20, 30, 40][x[1]] | range(9)[x[0]] | 3 in x | x.storage().dtype | x.data_ptr() > 0 | x.nbytes
[x.to(d) for d in OTHERS] | [torch.arange(3).to(d).to(D) for d in OTHERS] | x.float() | x.long() | x.byte() | x.type("torch.DoubleTensor")
torch.tensor([-1.5, 7.9]).to(D) | torch.tensor([1 + 2j]).to(D) | torch.tensor([-1, 70000]).to(D) | torch.tensor([True]).to(D)
torch.tensor([1.5, 300.0], dtype=torch.half).to(D) | x.to("cpu", torch.int16) | x.type_as(torch.ones(1)) | x.type(D)
[torch.can_cast(D, d) for d in OTHERS] | [torch.can_cast(d, D) for d in OTHERS] | torch.result_type(x, 1) | torch.result_type(x, 1.5)
torch.result_type(x, 1j) | torch.result_type(x, True) | torch.result_type(x[0], 1.5) | torch.result_type(x, torch.tensor(1))
torch.result_type(x[0], torch.ones(2)) | torch.result_type(x[0], torch.tensor(1)) | torch.result_type(x, torch.ones(2) * 1j)
x * 2 | 2 * x | x * -1 | x * (TOP + 2) | x * True | x * 1.5 | x * 1j | x / 2 | 2 / x | x + 1 | 1 + x | x - 1 | 1 - x | x + 1.5 | x - 1.5
x // 2 | x % 2 | x**2 | 2**x | x << 1 | x >> 1 | ~x | -x | +x | abs(x) | x & 3 | x.bitwise_or(3) | x ^ 1 | x & -1 | x & 1.5
x == 3 | x == TOP | x == -1 | x != 3 | x == 1.5 | x > 1 | x > 1.5 | x <= 2.5 | 3 == x | 2 < x | x == torch.ones(5)
x * torch.tensor(2) | x * torch.tensor(2.5) | x * x[0] | x & torch.tensor(True) | x * torch.ones(5) | x + torch.ones(5)
x.mul_(2) | x.mul_(2.5) | x.div_(2) | x.add_(1) | x.sqrt_() | x.bitwise_or_(1) | x.eq_(3) | x.floor_() | x.zero_() | x.fill_(3)
x.fill_(TOP + 1) | x.fill_(-1) | x.fill_(torch.tensor(-1)) | x.copy_(torch.tensor([1.5, 2, 3, 4, 5])) | x.clamp_(2, 3)
torch.zeros(5).add_(x) | torch.zeros(5, dtype=torch.int32).add_(x) | torch.empty(5, dtype=torch.int64).copy_(x)
torch.mul(x, x, out=torch.empty(5, dtype=D)) | torch.mul(x, x, out=torch.empty(5, dtype=torch.int64))
x.clamp(2, 5) | x.clamp(2) | x.clamp(max=2) | x.clamp(-1, 5) | x.clamp(max=-1) | x.clamp(1.5, 7.25) | x.clamp(y, y) | x.clamp(y)
x.clamp(max=y) | x.clamp(torch.ones(5, dtype=torch.int64)) | x.clamp_min(3) | x.clamp_max(3) | F.relu(x) | F.relu6(x) | F.hardtanh(x)
x.sum(0) | x.sum(dtype=torch.int32) | x.sum(dtype=torch.float64) | x.sum(dtype=D) | torch.ones(3).sum(dtype=D) | x.prod(dtype=D)
x.cumsum(0) | x.cumprod(0) | x.cumsum(0, dtype=torch.float32) | x.cumsum(0, dtype=D) | x.cumprod(0, dtype=D) | x.mean(dtype=torch.float32)
x.any(0) | x.all(0) | x.cummax(0) | x.cummin(0) | x.logcumsumexp(0) | x.softmax(0) | F.log_softmax(x, 0) | x.softmax(0, dtype=torch.float32)
x.sort(descending=True) | x.sort(stable=True)[1] | x.argsort(descending=True) | x.topk(1) | x.kthvalue(1) | x.max(0) | x.min(0) | x.median(0)
x.unique(return_inverse=True, return_counts=True) | x.unique_consecutive(return_counts=True) | torch.stack([x, x]).unique(dim=0)
x[1] | x[1:3] | x[::2] | x[None] | x[[2, 0]] | x[torch.tensor([2, 0])] | x[x == 3] | x[torch.tensor([True, False, True, True, False])]
torch.arange(5)[x] | torch.arange(5)[x[0]] | torch.arange(5)[x[1] : x[0]] | torch.zeros(int(x[0])) | torch.zeros(x[0])
set_item(x, 0, 3) | set_item(x, slice(0, 2), 7) | set_item(x, 0, TOP) | set_item(x, slice(0, 2), y[:2]) | set_item(x, [0, 1], y[:2])
set_item(x, 0, TOP + 1)
x.gather(0, INDEX) | x.take_along_dim(INDEX) | x.scatter(0, INDEX, y) | x.scatter(0, INDEX, 5) | x.scatter_add(0, INDEX, y)
x.scatter(0, INDEX, y, reduce="add") | x.scatter_reduce(0, INDEX, y, "sum") | x.scatter_reduce(0, INDEX, y, "prod")
x.scatter_reduce(0, INDEX, y, "amax") | x.scatter_reduce(0, INDEX, y, "mean") | x.index_select(0, INDEX) | x.take(INDEX)
x.index_add(0, INDEX, y[:2]) | x.index_copy(0, INDEX, y[:2]) | x.index_fill(0, INDEX, 4) | x.index_put((INDEX,), y[:2])
x.index_reduce(0, INDEX, y[:2], "prod") | x.put(INDEX, y[:2]) | x.masked_fill(x == 3, 7) | x.masked_select(x == 3)
x.masked_scatter(x == 3, y) | torch.where(x == 3, x, y) | torch.where(x == 3, x, 0) | torch.where(x == 3, 1, x) | torch.where(x == 3, x, 1.5)
torch.where(x == 3, x, torch.tensor(1)) | torch.where(x) | torch.where(x, x, x) | torch.where(x == 3, x, torch.ones(5))
torch.arange(5).gather(0, x) | torch.arange(5).index_select(0, x) | F.embedding(INDEX, m) | F.one_hot(x)
torch.cat([x, y]) | torch.cat([x, torch.ones(1)]) | torch.cat([x, torch.ones(1, dtype=torch.int64)]) | torch.stack([x, y])
x.repeat(2) | x.tile(2) | x.expand(2, 5) | x.flip(0) | x.roll(1) | m.rot90() | m.t() | m.permute(1, 0) | x.repeat_interleave(2)
x.repeat_interleave(torch.tensor([1, 0, 2, 0, 0])) | x.unfold(0, 2, 1) | x.split(2) | x.chunk(2)
F.pad(x, (1, 1)) | F.pad(x, (1, 1), value=3) | F.pad(x[None, None], (1, 1), mode="circular") | torch.block_diag(x, y)
x.view(torch.uint8) | torch.arange(8, dtype=torch.uint8).view(D) | x.view(5, 1) | x.reshape(1, 5).squeeze() | x.as_strided((2,), (2,))
torch.einsum("i,j->ij", x, y) | torch.einsum("i,i->", x, y) | x @ y | m @ m.t() | torch.addmm(m @ m.t(), m, m.t()) | torch.mv(m, x)
torch.addmm(torch.zeros(2, 2, dtype=D), m, m.t()) | torch.addr(m @ m.t(), x, y) | torch.addr(x.outer(y), x, y) | F.linear(x, m)
torch.bmm(m[None], m.t()[None]) | torch.linalg.norm(x) | torch.linalg.cross(x[:3], y[:3]) | torch.lerp(x, y, 0.5)
torch.polar(x, y) | torch.complex(x, y) | torch.quantile(x, 0.5) | torch.isin(x, 3) | torch.vander(x)
torch.isclose(x, y) | torch.isclose(x, x.long()) | torch.allclose(x, x) | torch.equal(x, x.clone()) | torch.meshgrid(x, y)[1]
torch.testing.assert_close(x, x) | x.round(decimals=1) | x.nan_to_num(nan=5) | x.logit() | x.imag | x.conj() | x.is_nonzero()
torch.div(x, 2, rounding_mode="floor") | torch.div(x, 2, rounding_mode="trunc") | torch.pow(x, 2.5) | torch.remainder(2, x)
F.mse_loss(x, y) | F.l1_loss(x, y) | F.smooth_l1_loss(x, y) | F.huber_loss(x, y) | F.gelu(x) | F.silu(x) | F.elu(x) | F.leaky_relu(x)
F.softplus(x) | F.hardshrink(x) | F.logsigmoid(x) | F.threshold(x, 1, 2) | F.mish(x) | F.glu(x[:4]) | F.celu(x) | F.selu(x)
F.avg_pool1d(x[None], 2) | F.conv1d(x[None, None], x[None, None]) | F.layer_norm(x, (5,))
F.cross_entropy(torch.ones(5, 3), x) | F.binary_cross_entropy(x, x) | torch.fft.fftshift(x) | torch.cov(x[:3]) | torch.cdist(m, m)
"""
UPPER_HALF = """
x | x.sort() | x.flip(0).sort(descending=True) | x.maximum(x.flip(0)) | x.minimum(x.flip(0)) | x.fmax(x.flip(0)) | x.fmin(x.flip(0))
x.to(torch.float64).tolist() | x.to(torch.float32).tolist() | x.to(torch.half) | x.to(torch.complex128) | x.to(torch.int64) | x.bool()
x.to(torch.uint32) | x.to(torch.uint16) | x.double().to(D) | torch.tensor([1e19, 1.8e19, -1.0, 2.0**63], dtype=torch.float64).to(D)
torch.tensor([1e19, 1.5e19]).to(D) | torch.tensor([-1, -(2**63)]).to(D) | x == 2**63 | x != 2**64 - 1 | x == -1 | x != 2**64 | x == 1.0
x * 2**63 | x * x | x * 1.5 | x.bitwise_or(2**63) | x ^ (2**64 - 1) | x & 2**63 | x / 2 | x / x.flip(0) | x.sqrt() | x.sum() | x.prod()
x.sum(dtype=torch.float64) | x.cumsum(0) | x.cumprod(0) | x.clamp(2**63) | x.clamp(max=2**63) | x.clamp(2, 2**63) | x.clamp_max(x[1])
x.clamp(min=2**63, max=2**63 + 5) | x.clone().fill_(2**63) | x.clone().fill_(1e19) | x.clone().fill_(x[2]) | set_item(x, 0, 2**63)
torch.full((2,), 2**63, dtype=D) | torch.full((2,), 1e19, dtype=D) | torch.full((2,), 1e30, dtype=D) | torch.full((2,), 2**63)
torch.full((2,), 2**63, dtype=torch.float32) | torch.full((2,), 2**64, dtype=torch.float32) | torch.full((2,), -(2**63) - 1, dtype=D)
torch.tensor(2**63) | torch.tensor([2**63], dtype=torch.float64) | torch.tensor(2**64, dtype=D) | torch.tensor(2**63, dtype=D).item()
torch.scalar_tensor(2**63, dtype=D) | x.new_tensor([2**63]) | F.pad(x, (1, 1), value=2**63) | x.unique() | x.flip(0).unique()
torch.where(x == 2**63, x, 0) | torch.where(x == 2**63, 2**63, x) | x.scatter_add(0, torch.tensor([1, 1, 1]), x) | 2**63 in x
torch.result_type(x, 2**63) | torch.result_type(2**63, 1.5) | torch.result_type(torch.tensor([1]), 2**63) | torch.result_type(2**63, 1)
torch.tensor([1]) * 2**63 | torch.tensor([1.0]) * 2**63 | torch.tensor([1.0]) + 2**63 | torch.tensor([1]) == 2**63 | torch.tensor([1]) + 2**70
torch.tensor([1.0]).clamp(2**63) | torch.tensor([1]).clamp(max=2**63) | torch.tensor([1]).clamp(min=2**63) | torch.arange(2**63, 2**63 + 2)
repr(x) | f"{x[1]}" | x.tolist() | x[2].item() | float(x[1]) | complex(x[1]) | x.view(torch.int64) | x.view(torch.uint16) | x > 1.5
torch.isclose(x, x.flip(0)) | torch.equal(x, x.flip(0)) | x.isnan() | x.signbit() | x.relu() | x.nan_to_num() | x.outer(x) | x.any()
"""


def shown(value):
    if isinstance(value, torch.Tensor) and not value.dtype.is_floating_point and not value.dtype.is_complex:
        numbers = value.flatten().tolist()
        if value.dtype != torch.bool:
            numbers = [hex(n) for n in numbers]
        return f"{str(value.dtype).split('.')[-1]}{list(value.shape)} " + " ".join(map(str, numbers))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value)
    return text_of(value)


def set_item(t, index, value):
    t[index] = value
    return t


def named(name):
    """The function of that name, of one operand or two."""
    others = {
        "addcmul_of": lambda a, b: torch.addcmul(a, a, b), "cat_of": lambda a, b: torch.cat([a, b]),
        "stack_of": lambda a, b: torch.stack([a, b]), "hstack_of": lambda a, b: torch.hstack([a, b]),
        "where_of": lambda a, b: torch.where(a == b, a, b),
    }  # fmt: skip
    if name in others:
        return others[name]
    found = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def outcome(call):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return shown(call())
    except Exception as error:
        return f"{type(error).__name__} {str(error).splitlines()[0][:160]}"


def names_of(dtype):
    top = torch.iinfo(dtype).max
    values = [3, 1, top, top // 2 + 1, 3]
    return {
        **globals(), "D": dtype, "TOP": top, "x": torch.tensor(values, dtype=dtype), "y": torch.tensor([1, 4, 2, top, 3], dtype=dtype),
        "m": torch.tensor([[3, 1, 2, 4, 1], [2, 9, 5, 1, top]], dtype=dtype), "INDEX": torch.tensor([3, 0]),
        "OTHERS": [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.half, torch.bfloat16,
                   torch.float32, torch.float64, torch.complex64, torch.uint16, torch.uint32, torch.uint64],
    }  # fmt: skip


def joined(outcomes):
    """The outcomes of the three dtypes, once if they differ in the names of these only."""
    outcomes = list(outcomes)
    alike = [re.sub("(?i)(uint)(16|32|64)", r"\1#", each) for each in outcomes]
    return alike[0] if len(set(alike)) == 1 else " / ".join(outcomes)


def lines():
    dtypes = (torch.uint16, torch.uint32, torch.uint64)
    for name in UNARY:
        yield name, joined(outcome(lambda: named(name)(names_of(d)["x"])) for d in dtypes)
    for name in OF_MATRICES:
        yield name + " of a matrix", joined(outcome(lambda: named(name)(names_of(d)["m"])) for d in dtypes)
    for name in BINARY:
        yield name, joined(outcome(lambda: named(name)(names_of(d)["x"], names_of(d)["y"])) for d in dtypes)
        if name not in ("maximum", "minimum"):
            yield name + " with a number", joined(outcome(lambda: named(name)(names_of(d)["x"], 2)) for d in dtypes)
    for other in names_of(torch.uint16)["OTHERS"]:
        for text in ("a * b", "b * a", "a == b", "torch.promote_types(a.dtype, b.dtype)", "torch.cat([a, b])", "a + b"):
            pairs = ({**globals(), "a": torch.tensor([3, 1], dtype=d), "b": torch.tensor([2, 9]).to(other)} for d in dtypes)
            yield f"{text} of {other}", joined(outcome(lambda: eval(text, pair)) for pair in pairs)
    for text in (part for line in CALLS.strip().split("\n") for part in line.split(" | ")):
        yield text, joined(outcome(lambda: eval(text, names_of(d))) for d in dtypes)
    for text in (part for line in UPPER_HALF.strip().split("\n") for part in line.split(" | ")):
        names = {**names_of(torch.uint64), "x": torch.tensor([1, 2**63, 2**64 - 1], dtype=torch.uint64)}
        yield text + " of uint64", outcome(lambda: eval(text, names))


# ---- functions that are called often enough to be captured ----
def choices(t, u, top):
    v = torch.where(t == u, t * 3, t.maximum(u) & 7)
    w = (t ^ top).clamp(1, 9)
    return v.sort()[0], v.float() * 0.5, w, v.cumsum(0), (t.bitwise_or(top) == top).all(), torch.cat([v, w])[::2], t / u, t * top


def item(t):
    n = t[1].item()
    return n + 1 if n > 5 else n * 2


def branch(t, wanted):
    return t * 2 if (t == wanted).any() else t.float().sum()


def in_place(t):
    t = t.clone()
    t.mul_(3)
    t[1:] = t[:-1].clone()
    return t.bitwise_xor_(5)


def with_numbers(t, n, f):
    return t * n, t == n, f * 2**63, f + (2**64 - 1), f.clamp(max=2**63)


def repeated():
    for d in (torch.uint16, torch.uint32, torch.uint64):
        top = torch.iinfo(d).max
        for i in range(14):
            t = torch.tensor([i, 4, top, top // 2 + 1], dtype=d)
            u = torch.tensor([3, 4, top - i, 1], dtype=d)
            results = [
                choices(t, u, top), item(t), item(u.flip(0)), branch(t, top), branch(t, 77), in_place(t),
                with_numbers(t, i, torch.ones(2)), with_numbers(t, top - i, torch.ones(2)),
            ]  # fmt: skip
            if i in (0, 6, 13):
                yield f"call {i} of {d}", shown(results)


check([*lines(), *repeated()], __file__)
