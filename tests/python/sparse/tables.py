# run: --torch
# run: --torch --capture=off
"""Tables of vectors whose gradients are sparse, and the optimizers that take or refuse them, as PyTorch has it."""

import copy
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")

PLACES = torch.tensor([[1, 2, 1], [5, 2, 0]])
FACTORS = torch.arange(12.0).view(2, 3, 2)


def table(**options):
    made = nn.Embedding(6, 2, sparse=True, **options)
    with torch.no_grad():
        made.weight.copy_(wave(6, 2))
    return made


def looked_up(**options):
    made = table(**options)
    (made(PLACES) * FACTORS).sum().backward()
    return made.weight


def bag(**options):
    made = nn.EmbeddingBag(6, 2, sparse=True, **options)
    weights = torch.tensor([[1.0, 2.0, 3.0], [0.5, 1.0, -1.0]]) if options.get("mode") == "sum" else None
    (made(PLACES, per_sample_weights=weights) * FACTORS[:, 0]).sum().backward()
    return made.weight.grad


def again(first, second):
    weight = table().weight
    first(weight).backward()
    second(weight).backward()
    return weight.grad


def sparse_loss(weight):
    return (F.embedding(PLACES, weight, sparse=True) * FACTORS).sum()


def other_rows(weight):
    return F.embedding(PLACES[0], weight, sparse=True).sum()


def dense_loss(weight):
    return (weight * wave(6, 2).float()).sum()


def both_of(weight):
    return sparse_loss(weight) + other_rows(weight) * 2


def mixed(weight):
    return sparse_loss(weight) + dense_loss(weight)


def doubled(weight):
    return sparse_loss(weight * 2)


GRADIENTS = {
    "gradient": lambda: looked_up().grad, "its rows": lambda: looked_up().grad._indices(),
    "in order": lambda: looked_up().grad.coalesce(),
    "coalesced": lambda: looked_up().grad.is_coalesced(),
    "padding": lambda: looked_up(padding_idx=2).grad, "frequency": lambda: looked_up(scale_grad_by_freq=True).grad,
    "longest": lambda: looked_up(max_norm=0.5).detach(), "entries": lambda: looked_up().grad._nnz(),
    "twice": lambda: again(sparse_loss, sparse_loss), "entries of two": lambda: again(sparse_loss, sparse_loss)._nnz(),
    "two places": lambda: again(sparse_loss, other_rows), "dense after": lambda: again(sparse_loss, dense_loss),
    "dense before": lambda: again(dense_loss, sparse_loss), "at once": lambda: again(both_of, both_of),
    "mixed": lambda: again(mixed, mixed),
    "of a product": lambda: again(doubled, doubled).to_dense(),
    "asked for": lambda: torch.autograd.grad(sparse_loss(w := table().weight), w)[0],
    "bag": lambda: bag(), "bag of sums": lambda: bag(mode="sum"),
    "bag padded": lambda: bag(padding_idx=2), "bag of largest": lambda: bag(mode="max"),
    "no gradient": lambda: table()(PLACES).detach().requires_grad, "copied": lambda: copied(),
    "int32": lambda: F.embedding(PLACES.int(), table().weight, sparse=True),
    "empty": lambda: emptied(), "hooked": lambda: hooked(), "retained": lambda: retained(),
    "zeroed": lambda: zeroed(), "norm": lambda: clipped(2.0), "norm 1": lambda: clipped(1.0),
    "largest": lambda: clipped(float("inf")), "values clipped": lambda: nn.utils.clip_grad_value_([looked_up()], 1.0),
    "print": lambda: repr(table()),
    "pretrained": lambda: nn.Embedding.from_pretrained(torch.ones(2, 2), freeze=False, sparse=True)(torch.tensor([1])),
}  # fmt: skip


def emptied():
    weight = table().weight
    F.embedding(PLACES[:0], weight, sparse=True).sum().backward()
    return weight.grad


def hooked():
    weight, seen = table().weight, []
    weight.register_hook(lambda g: seen.append(g.layout) or g * 2)
    sparse_loss(weight).backward()
    return [str(seen[0]), weight.grad]


def retained():
    weight = table().weight * 1
    weight.retain_grad()
    sparse_loss(weight).backward()
    return weight.grad


def copied():
    leaf = wave(6, 2).float().requires_grad_()
    sparse_loss(leaf).backward()
    return copy.deepcopy(leaf).grad


def zeroed():
    weight = looked_up()
    torch.optim.SGD([weight]).zero_grad(set_to_none=False)
    return weight.grad


def clipped(norm):
    weight = looked_up()
    total = nn.utils.clip_grad_norm_([weight], 1.0, norm)
    return [total, weight.grad]


OPTIMIZERS = (
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}), ("SGD", {"lr": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adagrad", {"maximize": True}), ("Adagrad", {"weight_decay": 0.1}),
    ("SparseAdam", {"lr": 0.1}), ("SparseAdam", {"lr": 0.1, "maximize": True}),
    ("SparseAdam", {"betas": (0.5, 0.6), "eps": 1e-3}),
    ("SparseAdam", {"lr": 0}), ("SparseAdam", {"lr": -1}), ("SparseAdam", {"eps": -1}),
    ("SparseAdam", {"betas": (1.0, 0.9)}), ("SparseAdam", {"lr": torch.tensor([0.1, 0.1])}),
    ("Adam", {}), ("AdamW", {}), ("Adam", {"amsgrad": True}), ("Adadelta", {}), ("Adamax", {}), ("RMSprop", {}),
    ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {}),
)  # fmt: skip


def curve(name, options):
    made = table()
    optimizer = getattr(torch.optim, name)(made.parameters(), **options)
    losses = []
    for step in range(12):
        optimizer.zero_grad()
        loss = (made(PLACES[step % 2 : step % 2 + 1]) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, made.weight.detach()]


def state():
    made = table()
    optimizer = torch.optim.SparseAdam(made.parameters(), lr=0.1)
    made(PLACES).sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    return [sorted(saved["state"][0].items()), sorted(saved["param_groups"][0].items()), repr(optimizer)]


def of_dense():
    made = nn.Embedding(6, 2)
    made(PLACES).sum().backward()
    torch.optim.SparseAdam(made.parameters()).step()


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    if isinstance(value, torch.Tensor) and value.is_sparse:
        value = value.coalesce()
        return ["sparse", list(value.shape), value.indices(), value.values()]
    return value


def said(function, *arguments):
    try:
        return shown(function(*arguments))
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def items():
    torch.manual_seed(0)
    for name, function in GRADIENTS.items():
        yield name, said(function)
    for name, options in OPTIMIZERS:
        yield f"{name} {options}", said(curve, name, options)
    yield "state", said(state)
    yield "dense gradients", said(of_dense)
    yield "sparse parameters", said(lambda: torch.optim.SparseAdam([torch.eye(2).to_sparse()]))


check(items(), __file__)
