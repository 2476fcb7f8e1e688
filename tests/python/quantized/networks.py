# run: --torch
# run: --torch --capture=off
"""Networks of quantized numbers: observers, dynamic layers, prepare and convert, training with rounding, fused modules."""

import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.ao import quantization as tq
from torch.ao.nn import intrinsic as nni
from torch.ao.nn import quantized as nnq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")
results = []


def filled(module):
    """Numbers that are the same everywhere."""
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(wave(*p.shape) / (i + 2))
    return module


def steps(count=4, size=(5, 3)):
    return [wave(*size).float() * (1 + i / 3) - i / 5 for i in range(count)]


# ---- observers -------------------------------------------------------------------------------------------------------
for make in (
    tq.MinMaxObserver, tq.MovingAverageMinMaxObserver, tq.HistogramObserver, tq.default_observer, tq.default_weight_observer, tq.default_histogram_observer,
    tq.MinMaxObserver.with_args(dtype=torch.quint8, qscheme=torch.per_tensor_symmetric), tq.MinMaxObserver.with_args(dtype=torch.qint8, reduce_range=True),
    tq.HistogramObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric), tq.MinMaxObserver.with_args(dtype=torch.qint32),
    tq.PerChannelMinMaxObserver, tq.MovingAveragePerChannelMinMaxObserver, tq.default_per_channel_weight_observer, tq.default_float_qparams_observer,
    tq.PerChannelMinMaxObserver.with_args(ch_axis=1), tq.default_fixed_qparams_range_0to1_observer, tq.HistogramObserver.with_args(bins=64),
):  # fmt: skip
    observer = make()
    for x in steps():
        assert observer(x) is x
    results.append((type(observer).__name__, [*observer.calculate_qparams(), getattr(observer, "quant_min", None), getattr(observer, "quant_max", None)]))
    results.append(("state", [(name, value) for name, value in observer.state_dict().items() if name != "histogram"]))
    again = make()
    again.load_state_dict(observer.state_dict())
    results.append(("loaded", list(again.calculate_qparams())))
results.append(("not seen", list(tq.MinMaxObserver().calculate_qparams())))
results.append(("repr", [repr(tq.MinMaxObserver()), repr(tq.default_observer)]))
for name in ("default_fake_quant", "default_weight_fake_quant", "default_per_channel_weight_fake_quant", "default_fused_act_fake_quant",
             "default_fused_per_channel_wt_fake_quant", "default_fixed_qparams_range_neg1to1_fake_quant", "default_histogram_fake_quant"):  # fmt: skip
    rounding = getattr(tq, name)()
    x = wave(5, 3).float().requires_grad_()
    for _ in range(3):
        y = rounding(x)
    rounding.apply(tq.disable_observer)
    y = rounding(x * 3)
    results.append((name, [y, torch.autograd.grad((y * y).sum(), x), rounding.scale, rounding.zero_point, repr(rounding).split("activation_post")[0]]))
    rounding.apply(tq.disable_fake_quant)
    results.append(("off", rounding(x)))
for backend in ("fbgemm", "x86", "qnnpack", "onednn"):
    for qconfig in (tq.get_default_qconfig(backend), tq.get_default_qat_qconfig(backend)):
        results.append((backend, [type(qconfig.activation()).__name__, repr(qconfig.weight()).split("activation_post")[0]]))
results.append(("qconfig", [repr(tq.default_qconfig), repr(tq.default_dynamic_qconfig) == repr(tq.default_dynamic_qconfig)]))


# ---- dynamic layers --------------------------------------------------------------------------------------------------
class Words(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.layers = kind(4, 6, **options)
        self.out = nn.Linear(12 if options.get("bidirectional") else 6, 3)

    def forward(self, x):
        y, state = self.layers(x)
        return self.out(y), state


mlp = filled(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2, bias=False)))
for spec in (None, {nn.Linear}, {"0"}, {nn.Linear: tq.per_channel_dynamic_qconfig}):
    made = torch.ao.quantization.quantize_dynamic(mlp, spec)
    results.append(("dynamic", [repr(made), made(steps()[1])]))
results.append(("weight", [made[0].weight().int_repr(), made[0].weight().q_per_channel_scales(), made[0].bias()]))
made = torch.quantization.quantize_dynamic(mlp, dtype=torch.qint8)
results.append(("state", sorted(made.state_dict())))
again = torch.quantization.quantize_dynamic(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2, bias=False)))
again.load_state_dict(made.state_dict())
results.append(("loaded", torch.equal(again(steps()[0]), made(steps()[0]))))
for kind in (nn.LSTM, nn.GRU):
    for options in ({}, {"num_layers": 2, "batch_first": True}, {"bidirectional": True}):
        words = filled(Words(kind, **options))
        made = tq.quantize_dynamic(words)
        results.append((kind.__name__, [repr(made), made(wave(5, 2, 4).float())]))
for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
    made = tq.quantize_dynamic(nn.ModuleList([filled(kind(4, 6))]))[0]
    results.append((kind.__name__, [made(wave(2, 4).float()), made(wave(2, 4).float() * 2)]))


# ---- calibrated networks ---------------------------------------------------------------------------------------------
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = tq.QuantStub(), tq.DeQuantStub()
        self.conv1, self.bn1, self.relu1 = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        self.conv2, self.bn2, self.relu2 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU()
        self.plus = nnq.FloatFunctional()
        self.pool, self.drop = nn.MaxPool2d(2), nn.Dropout(0.5)
        self.fc1, self.relu3, self.fc2, self.act = nn.Linear(36, 8), nn.ReLU(), nn.Linear(8, 3), nn.Sigmoid()

    def forward(self, x):
        x = self.quant(x)
        x = self.relu1(self.bn1(self.conv1(x)))
        x = self.pool(self.plus.add(x, self.relu2(self.bn2(self.conv2(x)))))
        x = self.drop(torch.flatten(x, 1))
        return self.dequant(self.act(self.fc2(self.relu3(self.fc1(x)))))


FUSED = [["conv1", "bn1", "relu1"], ["conv2", "bn2", "relu2"], ["fc1", "relu3"]]
images = [wave(4, 1, 6, 6).float() * (1 + i / 4) for i in range(3)]


def settled(net):
    filled(net).train()
    for x in images:
        net(x)
    return net


for backend in ("x86", "qnnpack"):
    torch.manual_seed(0)
    net = settled(Net()).eval()
    net.qconfig = tq.get_default_qconfig(backend)
    fused = tq.fuse_modules(net, FUSED)
    results.append(("fused", [repr(fused), torch.allclose(fused(images[0]), net(images[0]), atol=1e-5)]))
    prepared = tq.prepare(fused)
    for x in images:
        prepared(x)
    results.append(("prepared", [sorted(name for name, _ in prepared.named_modules()), isinstance(prepared.conv1, nni.ConvReLU2d)]))
    converted = tq.convert(prepared)
    results.append(("converted", [type(m).__name__ for m in converted.modules()]))
    results.append(("scales", [converted.conv1.scale, converted.conv1.zero_point, converted.fc2.scale, converted.plus.scale]))
    results.append(("weights", [converted.conv1.weight().int_repr(), converted.fc1.weight().int_repr()[:2], converted.conv2.bias()]))
    found = converted(images[1])
    results.append(("close", [(found - net(images[1])).abs().max().item() < 0.02, found.shape]))
    results.append(("keys", sorted(converted.state_dict())))
    stub = converted.quant(images[1])
    results.append(("first layer", converted.conv1(stub).int_repr()))

wrapped = tq.QuantWrapper(filled(nn.Sequential(nn.Linear(3, 4), nn.ReLU6(), nn.Linear(4, 2)))).eval()
wrapped.qconfig = tq.default_qconfig
found = tq.quantize(wrapped, lambda model, data: [model(x) for x in data], [steps()])
results.append(("quantize", [repr(found), found(steps()[0])]))
plain = nn.Sequential(tq.QuantStub(), filled(nn.Linear(3, 4)), nn.LeakyReLU(0.1), nn.Hardswish(), tq.DeQuantStub()).eval()
plain.qconfig = tq.get_default_qconfig("fbgemm")
tq.prepare(plain, inplace=True)
for x in steps():
    plain(x)
tq.convert(plain, inplace=True)
results.append(("in place", [repr(plain), plain(steps()[2])]))

# ---- training with rounding ------------------------------------------------------------------------------------------
torch.manual_seed(0)
net = settled(Net())
net.drop.p = 0.0
net.qconfig = tq.get_default_qat_qconfig("fbgemm")
prepared = tq.prepare_qat(tq.fuse_modules_qat(net, FUSED))
results.append(("for training", [type(m).__name__ for m in prepared.children()]))
optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
for x in images:
    loss = (prepared(x) - 0.3).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    results.append(("loss", [loss, prepared.conv1.weight.grad.abs().sum(), prepared.fc2.weight_fake_quant.scale]))
prepared.apply(nni.qat.freeze_bn_stats).apply(tq.disable_observer)
results.append(("frozen", [prepared.conv1.bn.training, prepared(images[0]).sum()]))
converted = tq.convert(prepared.eval())
results.append(("trained", [[type(m).__name__ for m in converted.modules()], converted.conv1.weight().int_repr()]))
results.append(("as trained", (converted(images[1]) - prepared(images[1])).abs().max().item() < 0.02))

functional = nnq.FloatFunctional()
a, b = steps()[:2]
results.append(("functional", [functional.add(a, b), functional.mul(a, b), functional.cat([a, b]), functional.add_relu(a, -b), functional.add_scalar(a, 2.0)]))
operator = nnq.QFunctional()
operator.scale, operator.zero_point = 0.05, 60
a, b = torch.quantize_per_tensor(a, 0.03, 50, torch.quint8), torch.quantize_per_tensor(b, 0.02, 64, torch.quint8)
for name in ("add", "mul", "add_relu"):
    results.append((name, getattr(operator, name)(a, b).int_repr()))
results.append(("cat", operator.cat([a, b]).int_repr()))
for number in (1.0, -0.5, 2.5, -7.0):
    for name in ("add_scalar", "mul_scalar"):
        result = getattr(operator, name)(a, number)
        results.append((name, [result.int_repr(), result.q_scale(), result.q_zero_point()]))

check(results, __file__)
