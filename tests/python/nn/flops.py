# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""torch.utils.flop_counter: what products, convolutions and attention take, forward and backward, by module and by op."""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, register_flop_formula

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results = []


def made(*size, grad=False):
    return torch.ones(size, requires_grad=grad)


def counted(function, backward=True):
    with FlopCounterMode(display=False) as counter:
        value = function()
        if backward and value.requires_grad:
            value.sum().backward()
    counts = {name: sorted((str(op), flops) for op, flops in ops.items()) for name, ops in counter.get_flop_counts().items()}
    return [counter.get_total_flops(), sorted(counts.items())]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, stride=2, groups=2)
        self.rest = nn.Sequential(nn.Flatten(), nn.Linear(8 * 3 * 3, 10), nn.ReLU(), nn.Linear(10, 4, bias=False))

    def forward(self, x):
        return self.rest(F.relu(self.second(F.relu(self.first(x)))))


net, image = Net(), made(2, 3, 8, 8)
results.append(("net", counted(lambda: net(image))))
results.append(("net forward", counted(lambda: net(image), False)))
with torch.no_grad():
    results.append(("net without gradients", counted(lambda: net(image))))
for _ in range(14):
    net(image).sum().backward()  # captured by now
results.append(("net that is captured", counted(lambda: net(image))))

a, b, v = made(3, 4, grad=True), made(4, 5, grad=True), made(4)
many, others = made(2, 3, 4, grad=True), made(2, 4, 5)
q, k = made(2, 3, 5, 4, grad=True), made(2, 3, 6, 4)
cases = {
    "@": lambda: a @ b, "by a vector": lambda: a @ v, "a vector by": lambda: v @ b, "vectors": lambda: v @ v, "many @ one": lambda: many @ b,
    "many @ many": lambda: many @ others, "many @ vector": lambda: many @ v, "one @ many": lambda: a @ others, "vector @ many": lambda: v @ others,
    "mm": lambda: torch.mm(a, b), "method": lambda: a.mm(b), "addmm": lambda: torch.addmm(made(3, 5), a, b), "bmm": lambda: torch.bmm(many, others),
    "baddbmm": lambda: torch.baddbmm(made(2, 3, 5), many, others), "addbmm": lambda: torch.addbmm(made(3, 5), many, others),
    "einsum": lambda: torch.einsum("bij,bjk->bik", many, others), "tensordot": lambda: torch.tensordot(a, b, 1),
    "linear of a row": lambda: F.linear(v, made(5, 4, grad=True), made(5)), "linear of many": lambda: F.linear(many, made(5, 4, grad=True), made(5)),
    "linear without bias": lambda: F.linear(many, made(5, 4, grad=True)), "linear of 4": lambda: F.linear(made(2, 2, 3, 4), made(5, 4, grad=True), made(5)),
    "conv1d": lambda: F.conv1d(made(2, 4, 9), made(6, 2, 3, grad=True), groups=2), "conv2d of one": lambda: F.conv2d(made(3, 5, 5, grad=True), made(3, 3, 2, 2)),
    "conv3d": lambda: F.conv3d(made(1, 2, 4, 4, 4, grad=True), made(3, 2, 2, 2, 2)),
    "transposed": lambda: F.conv_transpose2d(made(2, 3, 5, 5, grad=True), made(3, 4, 3, 3, grad=True), stride=2),
    "attention": lambda: F.scaled_dot_product_attention(q, k, k), "causal": lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True),
    "masked": lambda: F.scaled_dot_product_attention(q, k, k, attn_mask=made(5, 6)), "of 3": lambda: F.scaled_dot_product_attention(many, many, many),
    "with dropout": lambda: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5),
    "heads": lambda: nn.MultiheadAttention(8, 2, batch_first=True)(made(2, 3, 8), made(2, 3, 8), made(2, 3, 8))[0],
    "heads without weights": lambda: nn.MultiheadAttention(8, 2)(made(2, 3, 8), made(2, 3, 8), made(2, 3, 8), need_weights=False)[0],
    "gru": lambda: nn.GRU(3, 4)(made(5, 2, 3))[0], "cell": lambda: nn.LSTMCell(3, 4)(made(2, 3))[0], "bilinear": lambda: nn.Bilinear(3, 4, 5)(made(2, 3), made(2, 4)),
    "sum": lambda: a.sum(),
}  # fmt: skip
for name, call in cases.items():
    results.append((name, counted(call)))
encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
results.append(("encoder", counted(lambda: encoder(made(2, 3, 8)))[0]))

@torch.library.custom_op("flops_of_programs::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@register_flop_formula(torch.ops.flops_of_programs.scale)
def scale_flops(x_shape, *, out_shape=None):
    return x_shape.numel()


results.append(("an op of the program", counted(lambda: (scale(made(8)), torch.ops.flops_of_programs.scale(made(4)))[0], False)))
with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.add: lambda *args, out_shape=None, **kwargs: 7}) as counter:
    made(2) + 1
results.append(("a formula for this counter", counter.get_total_flops()))

check(results, __file__)
