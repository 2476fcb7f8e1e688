# run: --torch --capture=off
# run: --torch
"""torch.func and torch.utils._pytree: derivatives of functions, one function for a batch, containers of leaves."""

import collections
import pathlib
import sys

import torch
import torch.utils._pytree as pytree
from torch.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
x, y = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([1.0, 3.0, -2.0])
w = torch.arange(6.0).view(2, 3).cos()


def loss(a, b):
    return (a.sin() * b).sum()


items.append(("grad", grad(loss)(x, y)))
items.append(("grad of both", grad(loss, argnums=(0, 1))(x, y)))
items.append(("second", grad(lambda a: grad(loss)(a, y).square().sum())(x)))
items.append(("aux", grad(lambda a: (a.sum(), a * 2), has_aux=True)(x)))
items.append(("value", grad_and_value(loss)(x, y)))
items.append(("dict", grad(lambda p: (p["w"] @ x + p["b"]).square().sum())({"w": w, "b": torch.ones(2)})))
items.append(("plain result", grad(loss)(x, y).requires_grad))
out, pull = vjp(lambda a, b: (a * b, a.exp()), x, y)
items.append(("vjp", (out, pull((torch.ones(3), y)))))
items.append(("vjp of one", vjp(torch.sin, x)[1](y)))
items.append(("jvp", jvp(lambda a, b: a * b.sin(), (x, y), (y, x))))
items.append(("jacrev", jacrev(lambda a: w @ a.sin())(x)))
items.append(("jacfwd", jacfwd(lambda a: w @ a.sin())(x)))
items.append(("jacrev of two", jacrev(lambda a, b: a * b, argnums=(0, 1))(x, y)))
items.append(("hessian", hessian(lambda a: (a**3).sum() + a.prod())(x)))
items.append(("vmap", vmap(torch.dot)(w, w + 1)))
items.append(("vmap dims", vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(w, torch.tensor(2.0))))
items.append(("per sample", vmap(grad(lambda p, s: (p * s).sin().sum()), in_dims=(None, 0))(x, w)))
items.append(("torch.vmap", torch.vmap(lambda d: d["a"] + 1)({"a": w})))

Point = collections.namedtuple("Point", "x y")
tree = {"a": [1, (2, 3)], "b": Point(4, None), "c": collections.OrderedDict(d=5)}
leaves, spec = pytree.tree_flatten(tree)
items.append(("leaves", leaves))
items.append(("back", pytree.tree_unflatten([v and v * 10 for v in leaves], spec)))
items.append(("map", pytree.tree_map(lambda a, b: (a, b), [1, {"k": 2}], [3, {"k": 4}])))
items.append(("only", pytree.tree_map_only(int, lambda v: -v, [1, "s", 2.0])))
items.append(("paths", [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(tree)[0]]))
items.append(("counts", (spec.num_leaves, pytree.tree_all(lambda v: v is None or v < 9, tree), pytree.tree_structure(tree) == spec)))


def error(run):
    try:
        run()
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:40]}"


items.append(("not a scalar", error(lambda: grad(torch.sin)(x))[:12]))
items.append(("few leaves", error(lambda: pytree.tree_unflatten([1], spec))[:10]))
items.append(("sizes", error(lambda: vmap(torch.add)(w, x))))
items.append(("nothing", error(lambda: vmap(torch.add, in_dims=None)(w, x)) is not None))
check(items, __file__)
