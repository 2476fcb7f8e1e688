# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""autocast on the CPU: the dtype of each op's result, values, gradients, contexts in contexts and in captured code, as
PyTorch's."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")
HALF = torch.bfloat16


def grid(*size):
    """Eighths: products and sums of a few are exact in float32, and rounded once."""
    return (wave(*size) * 8).round().div(8).float()


a, b, v, square = grid(3, 4), grid(4, 5), grid(4), grid(4, 4)
batch, other = grid(2, 3, 4), grid(2, 4, 5)
positive = square @ square.T + 4 * torch.eye(4)
signal, image, volume = grid(2, 3, 9), grid(2, 3, 8, 8), grid(2, 3, 6, 6, 6)
ah, bh, sh, ih, vh = a.to(HALF), b.to(HALF), signal.to(HALF), image.to(HALF), volume.to(HALF)
ones3, zeros3, classes = torch.ones(3), torch.zeros(3), torch.tensor([0, 1, 2])

# Expressions; those of the first group are compared by value too.
EXACT = """
a @ b | ah @ b | a @ bh | a.double() @ b.double() | batch @ other | torch.mm(a, b) | torch.bmm(batch, other)
torch.addmm(grid(3, 5), a, b) | torch.baddbmm(grid(2, 3, 5), batch, other) | torch.addbmm(grid(3, 5), batch, other)
F.linear(a, b.T) | F.linear(a, b.T, grid(5)) | torch.matmul(a, v) | a.matmul(v) | batch.__matmul__(other)
F.conv1d(signal, grid(2, 3, 3)) | F.conv2d(image, grid(2, 3, 3, 3)) | F.conv3d(volume, grid(2, 3, 3, 3, 3))
F.conv2d(image, grid(2, 3, 3, 3), grid(2), padding="same") | F.conv_transpose1d(signal, grid(3, 2, 3))
F.conv_transpose2d(image, grid(3, 2, 3, 3)) | F.prelu(a, torch.tensor([0.25])) | torch.inner(a, a)
torch.einsum("ij,jk->ik", a, b) | torch.tensordot(a, b, 1) | torch.linalg.vecdot(a, a) | torch.linalg.multi_dot([a, b, b.T])
torch.mv(square, v) | torch.dot(v, v) | torch.outer(v, v) | torch.addmv(v, square, v) | torch.kron(a, b) | a + ah | ah * 2 | ah + ah
torch.cat([a, ah]) | torch.cat([ah, ah]) | torch.cat([ah, a.double()]) | torch.stack([ah, a]) | torch.hstack([a, ah])
a.index_copy(0, torch.tensor([0]), ah[:1]) | torch.cat([ah, a.half()])
ah.prod() | ah.prod(0) | square.to(HALF).trace() | F.mse_loss(ah, a) | F.mse_loss(ah, ah - 1) | F.l1_loss(ah, ah + 1)
F.avg_pool3d(vh, 2) | F.max_pool3d(vh, 2) | F.adaptive_avg_pool3d(vh, 2) | F.avg_pool2d(ih, 2) | F.max_pool2d(ih, 2)
F.pad(ih, (1, 1, 1, 1), mode="reflect") | F.pad(ih, (1, 1, 1, 1), mode="replicate") | F.pad(sh, (1, 1), mode="replicate")
F.pad(vh, (1, 1, 1, 1, 1, 1), mode="reflect") | F.pad(ih, (1, 1)) | F.pad(ih, (1, 1, 1, 1), mode="circular")
torch.mm(a, b, out=torch.empty(3, 5)) | grid(3, 5).addmm_(a, b) | torch.view_as_complex(ah.reshape(3, 2, 2))
torch.where(a > 0, a, ah) | F.embedding(classes, a) | torch.linalg.matrix_power(square, 1)
"""
DTYPES = """
F.softmax(ah, -1) | F.log_softmax(ah, -1) | ah.sum() | ah.mean() | ah.std() | ah.exp() | ah.cumprod(0) | F.gelu(ah) | F.glu(ah)
F.layer_norm(ah, (4,), v, v) | F.layer_norm(a, (4,), v, v) | F.rms_norm(ah, (4,), v) | F.group_norm(ih, 3, ones3, zeros3)
F.batch_norm(ih, zeros3, ones3, ones3, zeros3, True) | F.instance_norm(ih, None, None, ones3, zeros3)
F.local_response_norm(ih, 2) | F.normalize(ah) | F.cosine_similarity(ah, ah) | F.pairwise_distance(ah, ah) | torch.cdist(ah, ah)
F.adaptive_max_pool3d(vh, 2) | F.adaptive_avg_pool2d(ih, 2) | F.fractional_max_pool2d(ih, 2, output_size=3)
F.max_unpool2d(*F.max_pool2d(ih, 2, return_indices=True), 2) | F.grid_sample(ih, torch.zeros(2, 4, 4, 2))
F.interpolate(ih, scale_factor=2, mode="bilinear") | F.interpolate(ih, scale_factor=2)
F.binary_cross_entropy(ah.sigmoid(), torch.ones(3, 4)) | F.binary_cross_entropy_with_logits(ah, torch.ones(3, 4))
F.smooth_l1_loss(ah, ah) | F.huber_loss(ah, ah) | F.nll_loss(ah, classes) | F.cross_entropy(ah, classes)
F.nll_loss(ih, torch.zeros(2, 8, 8).long()) | F.kl_div(ah, ah.softmax(-1)) | F.poisson_nll_loss(ah, a)
F.cosine_embedding_loss(ah, ah, ones3) | F.hinge_embedding_loss(ah, torch.ones(3, 4)) | F.soft_margin_loss(ah, torch.ones(3, 4))
F.margin_ranking_loss(ah, ah, torch.ones(3, 4)) | F.triplet_margin_loss(ah, ah, ah) | F.multi_margin_loss(ah, classes)
F.multilabel_margin_loss(ah, torch.zeros(3, 4).long()) | F.gaussian_nll_loss(ah, ah, ah.abs() + 1)
F.ctc_loss(grid(5, 2, 4).to(HALF).log_softmax(-1), torch.tensor([[1, 2], [1, 2]]), torch.tensor([5, 5]), torch.tensor([2, 2]))
torch.fft.fft(ah) | torch.fft.rfft(sh) | torch.quantile(ah, 0.5) | torch.polar(ah.abs(), ah)
torch.stft(grid(64).to(HALF), 16, return_complex=True, window=torch.ones(16)) | torch.linalg.matrix_power(square, 3)
torch.linalg.cholesky(positive.to(HALF)) | torch.inverse(positive.to(HALF)) | torch.linalg.svd(ah)[1] | torch.linalg.qr(ah)[0]
torch.linalg.eigh(positive.to(HALF))[0] | torch.linalg.solve(positive.to(HALF), positive.to(HALF)) | torch.linalg.norm(ah)
F.scaled_dot_product_attention(batch, batch, batch) | nn.MultiheadAttention(4, 2)(batch, batch, batch)[0] | torch.cov(a)
nn.MultiheadAttention(4, 2)(batch, batch, batch, need_weights=False)[0] | nn.TransformerEncoderLayer(4, 2, 8)(batch)
nn.GRU(4, 5)(batch)[0] | nn.RNN(4, 5)(batch)[0] | nn.GRUCell(4, 5)(a)
nn.LSTMCell(4, 5)(a)[1] | F.dropout(ah, 0.0) | F.embedding_bag(classes, a, torch.tensor([0])) | torch.linalg.det(square)
"""

ONLY_BFLOAT16 = """
nn.LSTM(4, 5)(batch)[0] | nn.LSTM(4, 5)(batch)[1][1] | nn.LSTM(4, 5, 2, bidirectional=True)(batch)[0]
torch.fft.fftshift(ah) | torch.vstack([ah, a])
"""


def digest(result):
    """Two numbers that say nearly all."""
    flat = result.detach().flatten().double()
    return [tuple(result.shape), flat.sum().item(), (flat * torch.arange(len(flat))).sum().item()]


def outcomes(expressions, value, dtypes=(torch.bfloat16, torch.float16)):
    for text in (part.strip() for line in expressions.strip().split("\n") for part in line.split(" | ")):
        for dtype in dtypes:
            try:
                with torch.autocast("cpu", dtype=dtype):
                    result = eval(text)
                result = result.dtype, digest(result) if value and not result.is_complex() else None
            except Exception as error:  # noqa: BLE001
                result = f"{type(error).__name__} {error}".split("\n")[0]
            yield f"{text} in {str(dtype).split('.')[1]}", result


# ---- contexts -------------------------------------------------------------------------------------------------------
def switches():
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()


@torch.autocast("cpu", dtype=torch.float16)
def decorated(x):
    """says so"""
    return x @ x.T


def contexts():
    yield "before", switches()
    with torch.autocast("cpu") as context:
        yield "type", type(context).__name__
        yield "inside", (*switches(), (a @ b).dtype)
        with torch.autocast(device_type="cpu", dtype=torch.float16, cache_enabled=False):
            yield "other dtype", (*switches(), (a @ b).dtype)
            with torch.amp.autocast("cpu", enabled=False):
                yield "off inside", (*switches(), (a @ b).dtype)
                with torch.autocast("cpu"):
                    yield "on again", (*switches(), (a @ b).dtype)
            yield "back", (*switches(), (a @ b).dtype)
        with context:
            yield "entered twice", switches()
        yield "and left", switches()
        try:
            with torch.autocast("cpu", enabled=False):
                raise KeyError
        except KeyError:
            yield "left by an error", switches()
    yield "after", (*switches(), (a @ b).dtype)
    yield "decorated", (decorated(a).dtype, decorated.__name__, decorated.__doc__, switches())
    with torch.autocast("cuda", dtype=torch.bfloat16):
        yield "of CUDA", ((a @ b).dtype, torch.is_autocast_enabled("cuda"), torch.is_autocast_enabled())
    with torch.autocast("cpu", dtype=torch.float32):
        yield "a wide dtype", (*switches(), (a @ b).dtype)
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    yield "by hand", (*switches(), (a @ b).dtype)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_enabled("cpu", False)
    yield "nesting", (torch.autocast_increment_nesting(), torch.autocast_decrement_nesting())
    yield "available", [torch.amp.is_autocast_available(d) for d in ("cpu", "cuda", "mps", "xpu", "meta")]
    for name, call in {
        "unknown": lambda: torch.autocast("nonsense"), "no name": lambda: torch.autocast(3),
        "no function": lambda: torch.autocast("cpu")(3), "custom": lambda: torch.amp.custom_fwd(device_type=3),
    }.items():  # fmt: skip
        try:
            yield name, call()
        except Exception as error:  # noqa: BLE001
            yield name, f"{type(error).__name__} {error}"


class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x @ y

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        Product.seen = torch.is_autocast_enabled("cpu"), gradient.dtype
        return gradient @ y.T, x.T @ gradient


class Wide(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, more):
        Wide.seen = torch.is_autocast_enabled("cpu"), x.dtype, [t.dtype for t in more["some"]]
        return x * 2

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        return gradient * 2, None


def functions():
    x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
    with torch.autocast("cpu"):
        out = Product.apply(x, y)
        wide = Wide.apply(ah.requires_grad_(), {"some": (ah, classes, a.double())})
    out.float().sum().backward()
    yield "custom function", (out.dtype, Product.seen, x.grad.dtype, y.grad.dtype, x.grad)
    yield "cast inputs", (wide.dtype, Wide.seen)
    yield "outside", (Product.apply(a, b).dtype, Wide.apply(ah, {"some": [ah]}).dtype, Wide.seen)


# ---- training, with contexts inside and outside of the code that gets hot ------------------------------------------
def network():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5), nn.LayerNorm(5))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(grid(*parameter.shape) / 8)
    return model, torch.optim.SGD(model.parameters(), lr=0.02)


def step_inside(model, optimizer, x, target, enabled):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
        out = model(x)
        loss = F.cross_entropy(out, target)
    loss.backward()
    optimizer.step()
    return loss, out.dtype


def step_plain(model, optimizer, x, target, _):
    optimizer.zero_grad()
    out = model(x)
    loss = F.cross_entropy(out, target)
    loss.backward()
    optimizer.step()
    return loss, out.dtype


def step_printing(model, optimizer, x, target, enabled):
    """A call that nothing captures in the middle of the block."""
    optimizer.zero_grad()
    with torch.autocast("cpu", enabled=enabled):
        hidden = model[0](x)
        seen.append(str(hidden.dtype) + __import__("platform").system()[:0])
        out = model[1:](hidden)
        loss = F.cross_entropy(out, target)
    loss.backward()
    optimizer.step()
    return loss, out.dtype


seen = []


def training():
    x, target = image, torch.tensor([1, 3])
    losses = {}
    for step in (step_inside, step_plain, step_printing):
        model, optimizer = network()
        for i in range(16):
            enabled = i % 8 < 6
            if step is step_plain:
                with torch.autocast("cpu", enabled=enabled):
                    loss, dtype = step(model, optimizer, x, target, enabled)
            else:
                loss, dtype = step(model, optimizer, x, target, enabled)
            losses.setdefault(step, []).append(loss.item())
            yield f"{step.__name__} {i}", (dtype, loss.dtype)
        yield f"{step.__name__} first losses", [round(loss, 2) for loss in losses[step][:3]]
        yield f"{step.__name__} gradients", [p.grad.dtype for p in model.parameters()]
    yield "seen", seen
    pairs = zip(losses[step_inside] * 2, losses[step_plain] + losses[step_printing])
    yield "all ways to write it train alike", all(abs(x - y) < 1e-3 for x, y in pairs)


def recomputed():
    """The second pass of a checkpoint is computed as the first was."""
    from torch.utils.checkpoint import checkpoint

    x, seen = a.clone().requires_grad_(), []

    def part(x):
        seen.append((x @ x.T).dtype)
        return (x @ x.T).float().sum()

    for again in (False, True):
        with torch.autocast("cpu"):
            y = checkpoint(part, x, use_reentrant=again)
        y.backward()
        with torch.autocast("cpu"):
            checkpoint(part, x, use_reentrant=again).backward()
    yield "recomputed", (seen, x.grad.dtype, digest(x.grad), torch.is_autocast_enabled("cpu"))


def asks():
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")


def product(x, y):
    return (x @ y).dtype


def facts():
    for i in range(30):
        with torch.autocast("cpu", enabled=i % 3 == 0, dtype=(torch.float16, torch.bfloat16)[i % 2]):
            yield f"asked {i}", (asks(), product(a, b), decorated(a).dtype)


check(
    [*outcomes(EXACT, True), *outcomes(DTYPES, False), *outcomes(ONLY_BFLOAT16, False, [HALF]),
     *contexts(), *functions(), *training(), *recomputed(), *facts()],
    __file__,
)
