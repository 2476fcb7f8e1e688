# run: --torch
# run: --torch --capture=stress
"""torch.func.vmap, autograd.functional, forward derivatives and hooks of several tensors: values and kinds of errors, as
PyTorch's."""

import pathlib
import sys

import torch
import torch.autograd.forward_ad as fwAD
from torch.autograd import functional as AF
from torch.autograd.graph import register_multi_grad_hook
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

T = torch.tensor
x, y, W = T([0.5, 1.5, -0.3]), T([1.0, 2.0]), T([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])


def f(x):
    return (W @ x).tanh()


def g(x, y):
    return (x.exp().sum() * y.pow(3)).sum()


def two(x, y):
    return x * y.sum(), y**2


def drawn(randomness):
    torch.manual_seed(0)
    return vmap(lambda x: x * 0 + torch.rand(3), randomness=randomness)(W)


def dual():
    with fwAD.dual_level():
        d = fwAD.make_dual(x, T([1.0, 0.0, 2.0]))
        primal, tangent = fwAD.unpack_dual(f(d).sin())
        return primal, tangent, fwAD.unpack_dual(d).tangent, fwAD.unpack_dual(x * 2).tangent, primal.requires_grad


def dual_module():
    module = torch.nn.Linear(3, 2)
    with torch.no_grad():
        module.weight.copy_(W)
        module.bias.zero_()
    with fwAD.dual_level():
        parameters = {n: fwAD.make_dual(p.detach(), torch.ones_like(p)) for n, p in module.named_parameters()}
        return fwAD.unpack_dual(functional_call(module, parameters, x)).tangent


def in_level(function):
    with fwAD.dual_level():
        return function()


def several():
    a, b, seen = x.clone().requires_grad_(), y.clone().requires_grad_(), []
    with register_multi_grad_hook((a, b), lambda gradients: seen.append([g.tolist() for g in gradients])):
        (a.sum() * b.sum()).backward()
        (a.sum() * b.sum() * 2).backward()
    (a.sum() * b.sum()).backward()
    handle = register_multi_grad_hook((a, b), lambda gradient: seen.append(gradient.shape.numel() > 0), mode="any")
    (a.sum() * b.sum()).backward()
    handle.remove()
    return seen


CALLS = {
    "jacobian": lambda: AF.jacobian(f, x), "jacobian of two": lambda: AF.jacobian(two, (x, y)),
    "jacobian of a number": lambda: AF.jacobian(g, (x, y)), "hessian": lambda: AF.hessian(lambda x: x.pow(3).sum(), x),
    "hessian of two": lambda: AF.hessian(g, (x, y)), "vjp": lambda: AF.vjp(f, x, y), "hvp": lambda: AF.hvp(g, (x, y), (x, y)),
    "vjp of two": lambda: AF.vjp(two, (x, y), (x, y)), "vjp without v": lambda: AF.vjp(g, (x, y)),
    "jvp": lambda: AF.jvp(f, x, x), "jvp of two": lambda: AF.jvp(two, (x, y), (x, y)),
    "vhp": lambda: AF.vhp(g, (x, y), (x, y)), "hvp of one": lambda: AF.hvp(lambda x: x.sin().sum(), x, x),
    "strict input": lambda: AF.jacobian(lambda x, y: x * 2, (x, y), strict=True),
    "strict output": lambda: AF.vjp(lambda x: torch.ones(2), x, y, strict=True), "other v": lambda: AF.vjp(f, x, x),
    "no v": lambda: AF.vjp(f, x), "no tensor": lambda: AF.jacobian(f, [1]), "two v": lambda: AF.jvp(f, x, (x, x)),
    "hessian of many": lambda: AF.hessian(f, x), "strategy": lambda: AF.jacobian(f, x, strategy="x"),
    "graph": lambda: AF.jacobian(f, x.clone().requires_grad_(), create_graph=True).requires_grad,
    "vmap": lambda: vmap(torch.dot)(W, W), "one whole": lambda: vmap(torch.dot, in_dims=(0, None))(W, x),
    "columns": lambda: vmap(torch.dot, in_dims=1)(W, W), "last": lambda: vmap(torch.sum, in_dims=-1)(W),
    "out": lambda: vmap(lambda x: x * 2, out_dims=1)(W), "outs": lambda: vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(W),
    "dict": lambda: vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": W, "b": x}),
    "nested": lambda: vmap(vmap(torch.mul, in_dims=(0, None)), in_dims=(None, 0))(x, y),
    "keyword": lambda: vmap(lambda x, k=1: x * k)(W, k=x), "chunks": lambda: vmap(torch.sum, chunk_size=1)(W),
    "per sample": lambda: vmap(grad(lambda w, x: (w * x).pow(2).sum()), in_dims=(None, 0))(x, W),
    "draws": lambda: vmap(lambda x: x + torch.rand(1))(W), "same": lambda: drawn("same"), "different": lambda: drawn("different"),
    "randomness": lambda: vmap(torch.sum, randomness="x")(W), "sizes": lambda: vmap(torch.mul)(W, x),
    "nothing mapped": lambda: vmap(torch.mul, in_dims=None)(x, x), "gives no tensor": lambda: vmap(lambda x: 3)(W),
    "in_dims": lambda: vmap(torch.mul, in_dims=(0, 0, 0))(x, x), "far": lambda: vmap(torch.sum, in_dims=5)(W),
    "out_dims": lambda: vmap(lambda x: x, out_dims=(0, 1))(W), "no input": lambda: vmap(lambda: 1)(),
    "out None": lambda: vmap(lambda x: x, out_dims=None)(W), "number": lambda: vmap(lambda x, n: x * n)(W, 3),
    "no chunk": lambda: vmap(torch.sum, chunk_size=0)(W), "jacrev": lambda: jacrev(g, (0, 1))(x, y),
    "jacfwd": lambda: jacfwd(f)(x), "func.hessian": lambda: hessian(lambda x: x.pow(3).sum())(x).abs(),
    "func.jvp": lambda: jvp(f, (x,), (x,)), "func.vjp": lambda: vjp(f, x)[1](y), "dual": dual, "dual module": dual_module,
    "no level": lambda: fwAD.make_dual(x, x), "two levels": lambda: in_level(lambda: in_level(list)),
    "shapes": lambda: in_level(lambda: fwAD.make_dual(x, y)), "ints": lambda: in_level(lambda: fwAD.make_dual(T([1]), T([1]))),
    "several": several, "saved": lambda: torch.autograd.graph.save_on_cpu(pin_memory=False).__enter__(),
}  # fmt: skip


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


check([(name, said(function)) for name, function in CALLS.items()], __file__)
