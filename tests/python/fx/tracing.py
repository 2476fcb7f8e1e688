# run: --torch
"""torch.fx: the code and the graphs of traced programs, changed graphs, interpreters, copies, errors, as PyTorch's."""

import copy
import io
import math
import operator
import pathlib
import pickle
import sys

import torch
import torch.nn.functional as F
from torch import fx, nn, sigmoid
from torch.fx import Graph, GraphModule, Interpreter, Proxy, Tracer, Transformer, replace_pattern, symbolic_trace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

X = wave(2, 3, 8, 8).float()


@fx.wrap
def kept_whole(x, bound):
    return x if x.sum() > bound else -x


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x):
        return x * self.w + self.b + self.w * 2


class Many(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.sub = Scaled()

    def forward(self, x, y=None, flag=True, *, k=2.5):
        a = self.lin(x).relu()
        a = F.relu(a, inplace=True)
        a = self.sub(self.seq(a)) + 1
        b = -a
        d = torch.cat([a, b], dim=1)
        u, v = d.chunk(2, 1)
        w, z = a.view(-1, a.shape[0]), d[:, 0:2]
        r = 2 * v
        r += torch.ones(3)
        g = torch.flatten(r, 1)
        h = g.add_(1.5).sum(dim=-1, keepdim=True)
        e, f = u @ v.t(), (a > b) & (a < 3)
        return {"h": h, "t": (e, f, z, w), "l": [math.sqrt(4.0)], "g": a.ndim}, sigmoid(k * a)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        return kept_whole(self.fc(x.mean((2, 3))) * self.scale, 100)


def net():
    model = Net().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(wave(*parameter.shape) / 4)
    return model


def chosen(x, b=3):
    return x + b if b > 2 else x


def branching(x):
    return x if x.sum() > 0 else -x


def unpacking(x):
    (a, b), c = x.split(2), [*x.shape[:0]] if False else 0
    return a + b + c


FUNCTIONS = {
    "method that nobody has": lambda x: x.foo(), "rest": lambda *a, **k: a[0] + k["z"],
    "indexed": lambda x: x[x > 0], "dtypes": lambda x: x.float().to(torch.float16).to("cpu"),
    "device": lambda x: x.to(torch.device("cpu")), "sizes": lambda x: torch.zeros(x.shape[0], dtype=torch.long),
    "signs": lambda x: x**2 - 1 / x + abs(x) // 3 % 2, "infinity": lambda x: float("inf") * x,
    "operator": lambda x, y: operator.add(x, y), "unpacking": unpacking, "math": lambda x: math.floor(x),
    "ellipsis": lambda x: x[..., None, ::2], 
    "stack": lambda x: torch.stack([x, x * 2], 0).max(0)[0],
    "annotated": None,
}  # fmt: skip
WRONG = {
    "branch": branching, "loop": lambda x: [i for i in x], "len": lambda x: len(x), "int": lambda x: int(x),
    "range": lambda x: range(x), "in": lambda x: x in [1],
}  # fmt: skip


def annotated(x: torch.Tensor, n: int = 2):
    return x * n


FUNCTIONS["annotated"] = annotated


def traces():
    gm = symbolic_trace(Many())
    yield "code", gm.code
    yield "graph", gm.graph
    yield "printed", gm
    for node in gm.graph.nodes:
        target = node.target if isinstance(node.target, str) else node.target.__name__
        yield f"node {node.name}", [node.op, target, node.args, node.kwargs, list(node.users), node.all_input_nodes]
    x = wave(2, 3).float()
    with torch.no_grad():
        same = [torch.equal(a, b) for a, b in zip(_tensors(gm(x)), _tensors(gm(x)))]
        yield "values", [len(same), all(same), len(_tensors(gm(x))), sorted(dict(gm.named_parameters()))]
    for name, function in FUNCTIONS.items():
        yield name, symbolic_trace(function).code
    fixed = symbolic_trace(chosen, concrete_args={"b": 4})
    yield "fixed", [fixed.code, fixed(torch.ones(2), 4)]
    yield "sequence", symbolic_trace(nn.Sequential(nn.Linear(1, 2), nn.ReLU())).code


def _tensors(value):
    found = []
    fx.node.map_aggregate(value, found.append)
    return [leaf for leaf in found if isinstance(leaf, torch.Tensor)]


class Shapes(Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.seen = []

    def run_node(self, n):
        result = super().run_node(n)
        self.seen.append((n.name, tuple(result.shape)))
        return result


class Negating(Transformer):
    def call_function(self, target, args, kwargs):
        return super().call_function(torch.neg if target is torch.tanh else target, args, kwargs)


class Whole(Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Net) or super().is_leaf_module(m, module_qualified_name)


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__} {error}".split("\n")[0]


def changes():
    model = net()
    gm = symbolic_trace(model)
    yield "traced", [gm.code, torch.equal(gm(X), model(X)), type(gm).__name__, isinstance(gm, GraphModule), gm.training]
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.relu:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(torch.tanh, node.args)
                node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.graph.lint()
    gm.recompile()
    yield "changed", [gm.code, gm(X)]
    shapes = Shapes(gm)
    yield "interpreted", [shapes.run(X), shapes.seen]
    yield "transformed", [Negating(gm).transform().code, Negating(gm).transform()(X)]
    twin = copy.deepcopy(gm)
    yield "copied", [torch.equal(twin(X), gm(X)), twin.conv is gm.conv, twin.code == gm.code]
    read = pickle.loads(pickle.dumps(gm))
    file = io.BytesIO()
    torch.save(gm, file)
    file.seek(0)
    yield "read", [torch.equal(read(X), gm(X)), torch.equal(torch.load(file, weights_only=False)(X), gm(X))]
    outer = nn.Sequential(net(), nn.ReLU())
    yield "leaves", GraphModule(outer, Whole().trace(outer)).code
    yield "backwards", [[n.name for n in reversed(gm.graph.nodes)], len(gm.graph.nodes)]
    nodes = list(gm.graph.nodes)
    yield "neighbours", [nodes[2].prev, nodes[2].next, nodes[2].all_input_nodes, nodes[-1].format_node()]
    yield "mapped", fx.map_arg((nodes[0], [nodes[1], {"a": nodes[2]}]), lambda n: n.name)
    gm.add_submodule("extra.deep", nn.Linear(2, 2))
    yield "added", gm.extra.deep
    gm.delete_all_unused_submodules()
    yield "deleted", [name for name, _ in gm.named_modules()]
    yield "wrong list", said(lambda: nodes[-1].args.append(3))
    yield "erased", said(lambda: gm.graph.erase_node(nodes[1]))
    dead = symbolic_trace(lambda x: (x + 1, x * 2)[0])
    yield "dead", [dead.graph.eliminate_dead_code(), dead.graph]


class Pairs(nn.Module):
    def forward(self, x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w2, w1]).sum()
        return x + torch.max(m1) + torch.max(m2)


def by_hand():
    gm = symbolic_trace(Pairs())
    matches = replace_pattern(gm, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
    yield "replaced", [gm.code, len(matches), matches[0].anchor, gm(*[torch.ones(2)] * 3)]
    graph = Graph()
    a = graph.placeholder("a")
    b = graph.call_function(torch.add, (a, 2))
    graph.output(graph.call_method("relu", (b,)))
    yield "made", [GraphModule({}, graph).code, GraphModule({}, graph)(torch.tensor([-3.0, 1.0])), graph]
    other = Graph()
    graph_copy = other.graph_copy(graph, {})
    other.output(graph_copy)
    yield "copied graph", other
    graph = Graph()
    graph.output((Proxy(graph.placeholder("x")) + 1).relu().node)
    yield "by proxies", GraphModule(nn.Module(), graph).code
    later = Graph()
    x = later.placeholder("x")
    y = later.call_function(torch.neg, (x,))
    with later.inserting_before(y):
        z = later.call_function(torch.abs, (x,))
    later.output(y)
    y.args = (z,)
    later.lint()
    x.append(z)
    y.update_arg(0, x)
    yield "moved", [later, list(x.users)]
    y.args = (later.find_nodes(op="output")[0],)
    yield "loop", said(later.lint)
    for name, function in WRONG.items():
        yield name, said(lambda: symbolic_trace(function))  # noqa: B023


check([*traces(), *changes(), *by_hand()], __file__)
