"""Everything by which Python can change what a tensor is (dtype, layout, memory, requires_grad, being a leaf) says so:
whoever remembers something of a tensor is told by the epoch. The ways are read off the class and the op records."""
import itertools
import pathlib
import sys

import _terra_C as C
import terra

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from _samples import samples  # noqa: E402


def picture(t):
    return (str(t.dtype), tuple(t.shape), t.stride(), t.storage_offset(), t._storage_ptr(), t.requires_grad, t.is_leaf)


def matrix():
    return (terra.arange(6.0).reshape(2, 3) + 1) / 8


def row():
    return matrix()[0:1]


def cube():
    return matrix()[None]


def integers():
    return terra.arange(6).reshape(2, 3) + 1


def leaf():
    return matrix().requires_grad_()


def computed():
    return leaf() * 2


def doubles():
    return matrix().double()


def vector():
    return terra.ones(2)


MAKERS = [matrix, row, cube, integers, leaf, computed, doubles, vector]
INDEX, MASK = terra.tensor([[0, 1, 0]]), terra.tensor([[True, False, True]])
ARGUMENTS = [(), (0,), (1,), (0, 1), (0.5,), (3, 2), ((2, 3), (3, 1)), (True,), (None,), (0, INDEX, 1.0), (0, INDEX, matrix()),
             (MASK, 1.0), (MASK, terra.ones(6)), (matrix(),), (integers(),), (matrix(), matrix()), (terra.ones(6),), (0.1, 0.9),
             (lambda v: v,), (matrix(), lambda a, b: a), (0, terra.tensor([0]), matrix()[:1]), ((INDEX[0],), 1.0),
             (terra.ones(2, 2), terra.ones(2, 3)), (terra.ones(1, 2, 2), terra.ones(1, 2, 3)), (terra.tensor(1.0),),
             (MASK, terra.tensor(1.0)), ((terra.tensor([0, 1]),), terra.ones(2, 3)), (terra.tensor([0, 1]), terra.ones(2)), (0, terra.tensor([0]), 1.0), (INDEX, terra.ones(1, 3)), (2, 0, 1.0),
             (0, terra.tensor([0]), terra.tensor(1.0)), (0, INDEX, matrix(), "amax"), (terra.ones(2), terra.ones(3)),
             (terra.ones(2, 2), terra.ones(2)), (0, terra.tensor([0]), matrix()[:1], "prod")]
KEYWORDS = {"round_decimals_": {"decimals": 1}, "scatter_named_": {"reduce": "add"}, "scatter_value_named_": {"reduce": "add"}}
VALUES = [matrix(), integers(), terra.zeros(4), True, False, None, 1, {}, {"a": 1}, terra.nn.Parameter, terra.Tensor]
called, silent, changed = set(), [], set()


def watch(what, make, change):
    """Changes a tensor in that way, if it can be; says whether it could."""
    t = make()
    before, epoch = picture(t), C._tensor_epoch()
    try:
        change(t)
    except Exception:
        could = False
    else:
        could = True
    if picture(t) != before:
        changed.add(what)
        if C._tensor_epoch() == epoch:
            silent.append(f"{what} on {make.__name__}{'' if could else ', which raised,'}: {before} became {picture(t)}")
    return could


methods = [name for name in dir(terra.Tensor)
           if name.endswith("_") and not name.endswith("__") and callable(getattr(terra.Tensor, name))]
operators = [name for name in dir(terra.Tensor) if name.startswith("__i") and callable(getattr(terra.Tensor, name))]
for name, make, arguments in itertools.product(methods + operators, MAKERS, ARGUMENTS):
    keywords = KEYWORDS.get(name, {})
    if watch(name, make, lambda t: getattr(t, name)(*arguments, **keywords)):
        called.add(name)
        with terra.no_grad():
            watch(name, make, lambda t: getattr(t, name)(*arguments, **keywords))
for name, make, value in itertools.product(dir(terra.Tensor), MAKERS, VALUES):
    if not callable(getattr(terra.Tensor, name)) or name in ("__class__", "__dict__"):
        watch(name, make, lambda t: setattr(t, name, value))
for make in MAKERS:
    watch("backward", make, lambda t: t.sum().backward())
    watch("setitem", make, lambda t: t.__setitem__(0, terra.ones(3, requires_grad=True)))
    watch("vector_to_parameters", make, lambda t: terra.nn.utils.vector_to_parameters(terra.ones(6), [t]))
    watch("optimizer", make, lambda t: (t.sum().backward(), terra.optim.Adam([t]).step()))

results = 0
for call in samples(("float32",)):
    function = getattr(terra, call.record["name"], None)
    if function is None:
        continue
    args, kwargs = call.arguments()
    for make in lambda: terra.empty(0), lambda: terra.empty(0, dtype=terra.int64):
        results += watch(f"{call.record['name']}(out=)", make, lambda t: function(*args, out=t, **kwargs))

never = sorted(set(methods) - called)
assert not silent, "\n".join(silent)
assert not never, f"no arguments are known for {never}: add some to ARGUMENTS"
expected = {"t_", "transpose_", "squeeze_", "unsqueeze_", "resize_", "resize_as_", "set_", "requires_grad_", "detach_",
            "data", "requires_grad", "add(out=)", "vector_to_parameters"}
assert expected <= changed, expected - changed
assert results > 100, results
print(f"{len(called) + results} passed")
