# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""Tensors of the meta device: shapes and dtypes without elements."""

import copy
import io
import pathlib
import pickle
import sys
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")
results = []


def shown(value):
    """Tensors as their text, which says what there is to know of one without elements."""
    if isinstance(value, torch.Tensor):
        return repr(value) if value.is_meta else f"{value.device} {tuple(value.shape)} {value.dtype}"
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    return value


def show(expressions, only_type=False):
    text = "\n".join(line.strip() for line in expressions.strip().split("\n"))
    for name, value in outcomes(text, globals()):
        failed = isinstance(value, str) and "Error " in value
        results.append((name, value.split(" ")[0] if failed and only_type else shown(value)))


def empty(*size, dtype=None):
    return torch.empty(size, dtype=dtype, device="meta")


def through_file(value, map_location=None):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, map_location=map_location)


c, number = torch.ones(3), torch.tensor(2.0)
m, M, m0 = empty(3), empty(2, 3), empty()
long = empty(3, dtype=torch.int64)
square, images = empty(2, 2), empty(1, 3, 8, 8)

# ---- what they say
show("""
m | M | m0 | long | empty(0) | empty(2, dtype=torch.float16) | torch.empty(2, device="meta", requires_grad=True) | str(M)
f"{m0}" | m.device | str(m.device) | [m.device.type, m.device.index] | m.device == torch.device("meta") | m.is_meta
[m.is_cpu, m.is_cuda, c.is_meta, c.is_cpu] | m.type() | m.get_device() | [m.is_pinned(), m.is_shared()] | m.layout
[M.numel(), M.nbytes, M.element_size(), M.dim(), len(M)] | M.data_ptr() | M[1].data_ptr() | m._version
[M.stride(), M.t().stride(), M.t().is_contiguous(), M[1].storage_offset()] | nn.Parameter(m) | m.requires_grad
[M.untyped_storage().nbytes(), M.untyped_storage().device] | [row.shape for row in M] | M.dtype
torch.empty(10**6, 10**6, device="meta").shape | (empty(10**6, 10**6) @ empty(10**6, 10**6)).shape | empty(10**6, 10**6).sum(1)
""")

# ---- how they are made
show("""
torch.zeros(2, device="meta") | torch.ones(2, 3, device=torch.device("meta")) | torch.full((2,), 3, device="meta")
torch.arange(3, device="meta") | torch.eye(2, device="meta") | torch.linspace(0, 1, 3, device="meta")
torch.rand(2, device="meta") | torch.randn(2, 1, device="meta") | torch.randint(3, (2,), device="meta")
torch.randperm(4, device="meta") | torch.tensor([1, 2], device="meta") | torch.tensor(m) | torch.as_tensor([1.0], device="meta")
torch.as_tensor(c, device="meta") | torch.as_tensor(m) | torch.zeros_like(M) | torch.zeros_like(M, device="cpu")
torch.empty_like(c, device="meta") | torch.rand_like(M.t()).stride() | torch.full_like(M, 2, device="cpu") | M.new_zeros(2)
M.new_ones(2, device="cpu") | c.new_empty(2, device="meta") | M.new_tensor([1, 2]) | M.new_full((1,), 2) | M.new(2)
torch.empty_strided((2, 3), (1, 2), device="meta").stride() | torch.scalar_tensor(1, device="meta")
torch.hann_window(3, device="meta") | torch.empty(1, 2, 3, 3, device="meta", memory_format=torch.channels_last).stride()
torch.complex(m, m) | torch.logspace(0, 1, 3, device="meta") | torch.tril_indices(3, 3).device
""")

# ---- to and fro
show("""
c.to("meta") | c.to(m) | m.to("meta") is m | c.to("meta", torch.int32) | c.to(device="meta", dtype=torch.float64)
torch.ones(2, requires_grad=True).to("meta") | m.to(torch.float64) | m.half() | m.long() | m.clone() | m.detach()
m.copy_(c) | m.data | torch.ones(3, 2).t().to("meta").stride() | images.to(memory_format=torch.channels_last).stride()
m.cpu() | m.to("cpu") | m.to("cpu", torch.float64) | c.copy_(m) | m.numpy() | np.asarray(m) | m.tolist() | m0.tolist()
m0.item() | m.item() | float(m0) | int(m0) | bool(m0) | bool(m) | 1 if m0 > 0 else 2 | m0.is_nonzero() | list(range(empty(dtype=torch.int64)))
1 in m | c[empty(dtype=torch.int64)] | c.__setitem__(0, m0) | torch.sum(m).item()
setattr(torch.empty(3), "data", m) | torch.empty(0).set_(m) | setattr(nn.Parameter(empty(3)), "grad", torch.ones(3))
empty(2).resize_(5) | empty(3).set_(empty(4)) | m.apply_(abs)
""")
show("torch.utils.dlpack.to_dlpack(m) | memoryview(m) | torch.Generator('meta')", only_type=True)

# ---- ops
show("""
m + 1 | m * m | m + number | number + m | m + c | c + m | m > 0 | (m > 0) & (m < 1) | torch.where(m > 0, m, 0.0) | long + 1.5
M @ M.t() | M.sum() | M.mean(1, keepdim=True) | M.max(1).indices | torch.sort(M).values | torch.topk(M, 2).indices | M.argmax()
M.t() | M.view(6) | M.reshape(3, -1) | M[0] | M[:, 1:] | M[None, ..., 0] | M.expand(4, 2, 3) | M.permute(1, 0).stride()
torch.cat([M, M]) | torch.stack([m, m], 1) | [a.shape for a in M.split(1)] | torch.cat([m, c]) | torch.stack([c, m])
torch.where(c > 0, m, m) | M[torch.tensor([0, 1, 0])] | M[[0, 1]] | M[torch.tensor([True, False])] | M.index_select(0, long)
torch.gather(M, 1, torch.tensor([[0]])) | F.embedding(torch.tensor([[1, 0]]), M) | F.embedding(long, M)
torch.einsum("ij,kj->ik", M, M) | torch.cdist(M, M) | torch.searchsorted(m, m) | torch.fft.fft(m) | M.cumsum(0) | M.norm()
m.any() | torch.isnan(m).any() | torch.count_nonzero(m) | torch.repeat_interleave(m, 2) | torch.repeat_interleave(m, long, output_size=7) | torch.histc(m) | F.one_hot(long, 4) | m.unique
torch.multinomial(m, 2) | torch.bernoulli(m) | F.dropout(m) | m.normal_() | m.uniform_() | m.random_() | m.exponential_()
m.add_(1) | m.zero_() | m.fill_(m0) | M.__setitem__(0, 1.0) | M.__setitem__(0, c) | torch.add(m, 1, out=empty(0))
torch.linalg.svd(M).S | torch.linalg.inv(square) | torch.linalg.cholesky(square) | torch.linalg.solve(square, M)
torch.det(square) | torch.linalg.eigh(square).eigenvalues | torch.linalg.qr(M).R | torch.lu_solve
F.conv2d(images, empty(4, 3, 3, 3)) | F.max_pool2d(images, 2) | F.avg_pool2d(images, 3) | F.adaptive_avg_pool2d(images, 1)
F.interpolate(images, scale_factor=2) | F.interpolate(images, size=(5, 5), mode="bilinear") | F.pad(images, (1, 1))
F.scaled_dot_product_attention(images, images, images) | F.cross_entropy(M, empty(2, dtype=torch.int64)) | F.softmax(M, -1)
F.mse_loss(m, m) | F.binary_cross_entropy(m, m) | torch.quantile(m, empty(2)) | m.masked_scatter(m > 0, m) | F.gelu(M) | F.layer_norm(M, (3,)) | F.linear(M, M)
""".replace("| m.unique\n", "\n").replace("| torch.lu_solve\n", "\n"))
show("""
torch.nonzero(m) | torch.unique(m) | torch.masked_select(m, m > 0) | M[M > 0] | torch.where(m) | torch.unique_consecutive(m)
torch.argwhere(m) | torch.repeat_interleave(m, long) | torch.allclose(m, m)
F.one_hot(long) | M @ M | M + empty(4) | M.t().view(6) | F.cross_entropy(M, torch.zeros(2, dtype=torch.int64)) | F.linear(c, empty(2, 4))
""", only_type=True)

# ---- gradients
x = torch.empty(2, 3, device="meta", requires_grad=True)
y = (x * 2).relu().sum()
show("""
y | y.backward() | x.grad | torch.autograd.grad((x**2).sum(), x) | (x @ x.t()).backward(square) | (x * number).mean().backward()
torch.autograd.grad((x.t()[1:] * 3).sum(), x) | x.add_(1) | x.detach().add_(1) | y.grad_fn.next_functions[0][0].name()
torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum().backward()
""")

# ---- modules
layer = nn.Linear(3, 2, device="meta")
show("""
layer.weight | layer.bias | layer(empty(4, 3)) | layer.to("cpu") | layer.cpu() | layer.half().weight | layer.to("meta") is layer
nn.LSTM(3, 4, device="meta")(empty(5, 1, 3))[0] | nn.Conv2d(3, 4, 3, device="meta")(images) | nn.GRUCell(3, 4, device="meta")(M)
nn.BatchNorm2d(3, device="meta")(images) | nn.LayerNorm(3, device="meta")(M) | nn.Embedding(3, 4, device="meta")(long)
nn.MultiheadAttention(4, 2, device="meta")(*[empty(3, 1, 4)] * 3)[0].shape | nn.GroupNorm(1, 3, device="meta")(images)
nn.TransformerEncoderLayer(8, 2, device="meta", batch_first=True)(empty(2, 5, 8)) | nn.PReLU(device="meta").weight
""")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2, bias=False))
        self.register_buffer("steps", torch.arange(3))
        self.scale = nn.Parameter(torch.ones(2))
        nn.init.trunc_normal_(self.body[0].weight)
        nn.init.orthogonal_(self.body[3].weight)
        for p in self.parameters():
            nn.init.constant_(p, 0.5)

    def forward(self, x):
        return self.body(x) * self.scale + self.steps.sum()


def devices(module):
    return [str(t.device) for t in module.state_dict().values()]


before = torch.get_rng_state()
with torch.device("meta"):
    net = Net()
    inside = [torch.zeros(1), torch.tensor(1), torch.as_tensor(c), torch.tensor(c), torch.arange(2), torch.rand(1)]
    inside += [torch.Tensor(2), torch.zeros_like(c), torch.from_numpy(np.ones(2)), torch.ones(1, device="cpu")]
    inside += [c.new_zeros(1), torch.FloatTensor(2), torch.hann_window(3), torch.zeros_like(M), c + 1, torch.full((1,), 2)]
    inside.append(torch.get_default_device())
    with torch.device("cpu"):
        inside += [torch.ones(1), torch.get_default_device()]
    inside.append(torch.eye(2))
    made = c * 2 + c.mean()
    grown = torch.ones(2, device="cpu", requires_grad=True)
    (grown * grown).sum().backward()
    inside += [grown.grad, F.cross_entropy(torch.ones(2, 3, device="cpu"), torch.tensor([1, 2], device="cpu"))]
results.append(("in the context", shown(inside)))
results.append(("and outside", [torch.zeros(1).device, torch.equal(before, torch.get_rng_state()), shown(made)]))
torch.set_default_device("meta")
results.append(("as default", shown([torch.zeros(1), torch.get_default_device(), nn.Linear(2, 2).weight])))
with torch.device("cpu"):
    results.append(("not as default", shown([torch.zeros(1), torch.get_default_device()])))
torch.set_default_device(None)
results.append(("no more", shown([torch.zeros(1), torch.get_default_device()])))

real = Net()
state = {k: torch.full_like(v, 0.25) for k, v in real.state_dict().items()}
results.append(("made on meta", shown([devices(net), net.scale, net(empty(4, 3))])))
show("""
net.load_state_dict(state) | set(devices(net)) | real.load_state_dict(net.state_dict()) | net.to(torch.float64).scale
sum(p.numel() for p in net.parameters()) | copy.deepcopy(net).scale | pickle.loads(pickle.dumps(net)).scale | net.to("cpu")
net.float().load_state_dict(state, assign=True) | set(devices(net)) | [type(net.scale).__name__, net.scale.requires_grad]
net.eval()(torch.ones(1, 3)).tolist() | set(devices(net.to("meta"))) | net.scale | net.to_empty(device="cpu") is net
set(devices(net)) | [net.scale.requires_grad, type(net.scale).__name__] | nn.utils.skip_init(nn.Linear, 2, 3).weight
""".replace("real.load_state_dict(net.state_dict()) | ", ""))
show("real.load_state_dict(nn.Linear(2, 2, device='meta').state_dict())", only_type=True)
frozen = nn.Linear(2, 2, device="meta").requires_grad_(False)
frozen.load_state_dict({k: torch.ones(v.shape) for k, v in frozen.state_dict().items()}, assign=True)
results.append(("assigned as it was", [frozen.weight.requires_grad, frozen.weight]))

# ---- copies and files
show("""
copy.deepcopy(m) | copy.copy(m) | pickle.loads(pickle.dumps(M)) | through_file({"a": M.t(), "b": nn.Parameter(m)})
through_file({"a": torch.ones(2, 2), "b": torch.ones(3)[1:]}, "meta") | through_file({"a": m}, "cpu")
through_file(nn.Linear(2, 2, device="meta").state_dict())["weight"] | through_file([c], torch.device("meta"))
""")

# ---- optimizers
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop):
    p = nn.Parameter(empty(3))
    optimizer = kind([p], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        (p * 2).sum().backward()
        nn.utils.clip_grad_norm_([p], 1.0)
        optimizer.step()
    kept = {k: str(v.device) for k, v in optimizer.state[p].items() if k != "step" and isinstance(v, torch.Tensor)}
    results.append((kind.__name__, shown([p, kept])))


# ---- in hot functions
def computed(x):
    return (x * 2 + 1).relu()


for k in range(30):  # the CPU's work is the CPU's, wherever its result is asked for
    y = computed(torch.arange(4.0) + k) * 3
    with torch.device("meta"):
        total, other = (y - 1).sum(), torch.zeros(3)
    if k % 10 == 0:
        results.append((f"computed {k}", [total, shown(other), y.mean()]))
state = {"here": torch.ones(2), "meta": empty(2)}


def advance():
    state["here"] = state["here"] + 1
    state["meta"] = state["meta"] + 1
    return state["here"].sum()


for _ in range(20):
    total = advance()
results.append(("advanced", [total, shown(state["meta"])]))


def shapes(model, t):
    h = model(t)
    return h.relu().mean(-1) + t.sum(), h.is_meta, h.shape, h.device


def sized(n):
    with torch.device("meta"):
        t = torch.zeros(n, 3)
    return (t @ t.t()).shape, t.is_meta, torch.ones(2).is_meta


def made_here(n):
    return torch.ones(n) * 2, torch.ones(n, device="meta") + 1


both = [nn.Linear(3, 2), nn.Linear(3, 2, device="meta")]
for k in range(40):
    i = k % 3 == 0
    out = shapes(both[i], empty(4, 3) if i else torch.full((4, 3), float(k)))
    if k % 10 == 0:
        results.append((f"shapes {k}", [shown(out[0]), out[1:]]))
    out = sized(k % 5 + 1)
    if k % 10 == 0:
        results.append((f"sized {k}", shown(out)))
    out = made_here(2)
    if k % 13 == 0:
        results.append((f"made {k}", shown(out)))
for k in range(40):
    torch.set_default_device("meta" if 15 < k < 30 else "cpu")
    out = made_here(2)
    if k % 4 == 0:
        results.append((f"made with a default {k}", shown(out)))
torch.set_default_device(None)
check(results, pathlib.Path(__file__).with_suffix(".txt"))
