# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=stress
"""Derivatives of functions that read tensors which require gradients from around them: results are functions of those, unless
nothing is recorded outside."""

import pathlib
import sys

import torch
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.tensor([1.0, -2.0])
rows = torch.tensor([[1.0, 0.0], [2.0, -1.0]])


def square(v):
    return (v * v * w).sum()


def each(v):
    return v * v * w


def beside(v):
    return (v * v).sum() + w.sum()


def told(v):
    return (v * v * w).sum(), w * 2


def in_two(v):
    return grad(lambda u: (u * u * v * w).sum())(v).sum()


CALLS = {
    "grad": lambda: grad(square)(x),
    "grad of what w is added to": lambda: grad(beside)(x),
    "grad and aux": lambda: grad(told, has_aux=True)(x),
    "grad_and_value": lambda: grad_and_value(square)(x),
    "grad by an argument that requires it": lambda: grad(square)(w),
    "grad of grad": lambda: grad(in_two)(x),
    "vjp": lambda: vjp(each, x)[1](torch.ones(2))[0],
    "vjp's value": lambda: vjp(each, x)[0],
    "a pull inside": lambda: grad(lambda c, pull=vjp(lambda v: v * v, x)[1]: pull(c)[0].sum())(x),
    "jvp": lambda: jvp(each, (x,), (x,)),
    "jacrev": lambda: jacrev(each)(x),
    "jacfwd": lambda: jacfwd(each)(x),
    "hessian": lambda: hessian(lambda v: (v * v * v * w).sum())(x),
    "vmap": lambda: vmap(lambda v: v * w)(rows),
    "vmap of grad": lambda: vmap(grad(square))(rows),
}


def show(name, call):
    results = call()
    leaves = torch.utils._pytree.tree_leaves(results)
    text = [f"{t.detach().tolist()} {t.requires_grad}" for t in leaves]
    if any(t.requires_grad for t in leaves):
        w.grad = None
        sum(t.sum() for t in leaves if t.requires_grad).backward()
        text.append(f"w.grad {w.grad.tolist() if w.grad is not None else None}")
    return name, "; ".join(text)


def inner_step():
    """A step of MAML: the outer loss by the parameters that the inner step started from."""
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(layer.weight, 0.5)
    torch.nn.init.zeros_(layer.bias)
    scale = torch.tensor(2.0, requires_grad=True)
    start = {name: p.detach() for name, p in layer.named_parameters()}
    lines = []
    for _ in range(14):
        slopes = grad(lambda p: functional_call(layer, p, (x,)).pow(2).sum() * scale)(start)
        moved = {name: p - 0.1 * slopes[name] for name, p in start.items()}
        outer = functional_call(layer, moved, (x,)).sum()
        scale.grad = None
        outer.backward()
        lines.append(("outer loss, by scale", f"{outer.item():.4f} {scale.grad.item():.4f}"))
    return lines


def main():
    for _ in range(13):
        lines = [show(name, call) for name, call in CALLS.items()]
    with torch.no_grad():
        lines += [show(f"unrecorded {name}", CALLS[name]) for name in ("grad", "jacrev", "grad by an argument that requires it")]
    return lines + inner_step()


check(main(), __file__)
