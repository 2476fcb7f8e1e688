"""What people do to modules: registration, state dicts, surgery, copies, conversion."""
import copy
import io
import math
import pickle

from torch import nn
import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def init(m, s=0.9):
    with torch.no_grad():
        for p in m.parameters():
            p.copy_((torch.cos(torch.arange(float(p.numel())) * s) * 0.3).reshape(p.shape))
    return m


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


class Block(nn.Module):
    version = 1

    def __init__(self, d, act=None):
        super().__init__()
        self.lin = nn.Linear(d, d, bias=False)
        self.act = act or nn.ReLU()
        self.register_buffer('seen', torch.zeros(1))
        self.register_buffer('tmp', torch.ones(1), persistent=False)
        self.register_parameter('none', None)
        self.gain = nn.Parameter(torch.ones(d))

    def extra_repr(self):
        return f'version={self.version}'

    def forward(self, x):
        self.seen += x.abs().sum().detach()
        return self.act(self.lin(x)) * self.gain


net = nn.Sequential(Block(3), nn.ModuleList([Block(3, nn.Tanh()) for _ in range(2)]) and Block(3, nn.Tanh()), Block(3, nn.Identity()))
print(net)
init(net)


def run(x):
    for j, m in enumerate(net):
        x = m(x) + (x if j else 0)
    return x


for i in range(12):
    show(str(i), run(data(i, 2, 3)))


print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()], [n for n, _ in net.named_children()], list(net.state_dict()))
print([type(m).__name__ for m in net.modules()])


def wi(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.1)


net.apply(wi)
show('applied', run(data(1, 2, 3)))
sd = net.state_dict()
sd['0.lin.weight'] = sd['0.lin.weight'] * 2
del sd['1.gain']
sd['extra'] = torch.ones(1)
try:
    net.load_state_dict(sd)
except RuntimeError as e:
    print(str(e).splitlines()[0])


r = net.load_state_dict(sd, strict=False)
print(r.missing_keys, r.unexpected_keys, r)
show('loaded', run(data(1, 2, 3)))
n2 = copy.deepcopy(net)
n2[0].lin.weight.data.zero_()
show('orig', run(data(1, 2, 3)))
b = io.BytesIO()
torch.save(net.state_dict(), b)
b.seek(0)
n2.load_state_dict(torch.load(b))
print(torch.equal(n2[0].lin.weight, net[0].lin.weight))
n3 = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.3))))
print(n3, n3[1].p)
net.double()
print(net[0].lin.weight.dtype, net[0].seen.dtype)
net.float()
net[0].act = nn.Sigmoid()
show('swapped', run(data(1, 2, 3)))
del net[2]
print(len(net))
show('short', run(data(1, 2, 3)))
print(net.get_submodule('0.lin'), net.get_parameter('0.gain').shape, sum((p.numel() for p in net.parameters())), net.training, net.eval().training, net[0].training)
try:
    net[0].foo
except AttributeError as e:
    print(e)


net.requires_grad_(False)
print(run(data(0, 2, 3)).requires_grad)
net.zero_grad()
print(net[0].__class__.__name__, 'lin' in net[0]._modules, hasattr(net[0], 'none'), net[0].none)
