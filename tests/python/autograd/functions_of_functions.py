# run: --torch
"""What torch.func, forward-mode levels and torch.autograd.functional say of what they can't take; a Function's own rule for
batches."""

import pathlib
import sys

import torch
import torch.autograd.forward_ad as forward
import torch.autograd.functional as of
from torch import nn
from torch.func import *  # noqa: F403

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

a, net = torch.tensor([1.0, 2.0]), nn.Linear(2, 1)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(left, right):
        return left * right

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        left, right = ctx.saved_tensors
        return gradient * right, gradient * left

    @staticmethod
    def vmap(info, in_dims, left, right):
        return Product.apply(left, right) + info.batch_size, 0


CALLS = """
grad(lambda a: a**2)(a) | grad(lambda a: 3)(a) | grad(lambda a: a.sum(), argnums=1)(a) | grad(lambda a: a.sum(), argnums=-2)(a)
grad(lambda a: a.sum(), argnums=(0, 0))(a) | grad(lambda a: a.sum(), argnums="a")(a) | grad(lambda a: a.sum(), argnums=())(a)
grad(lambda a: a.sum(), argnums=-1)(a) | grad(lambda a: a.sum(), has_aux=True)(a) | grad(lambda a: a.sum())(3) | grad(lambda a: a[0].sum())([a, 3])
vjp(lambda a: a**2, a, has_aux=True) | vjp(lambda a: 3, a) | vjp(lambda a: a, 3) | vjp(lambda a: a**2, a)[1](torch.ones(3))
jvp(lambda a: a**2, a, a) | jvp(lambda a: a, (3,), (a,)) | jvp(lambda a: a, (a,), (3,)) | jvp(lambda a: a, (a,), (a, a)) | jvp(lambda a: a, (), ())
jvp(lambda a: 3, (a,), (a,)) | jvp(lambda a: a, (a,), a) | jvp(lambda a: a**2, (a,), (torch.ones(3),)) | jvp(lambda a: a, (a,), (a,), has_aux=True)
jacrev(lambda a: a, argnums=1)(a) | jacrev(lambda a: 3)(a) | jacrev(lambda a: a.sum(), chunk_size=-1)(a) | jacrev(lambda a: a, has_aux=True)(a)
jacfwd(lambda a: 3)(a) | jacfwd(lambda a: a, randomness="foo")(a) | jacfwd(lambda a: a, has_aux=True)(a) | hessian(lambda a: a.sum(), argnums=1)(a)
vmap(lambda a: a, in_dims=(0, 0))(a) | vmap(lambda a: a, in_dims=((0,),))(a) | vmap(lambda a: (a, a), out_dims=(0,))(a) | vmap(lambda a: a, out_dims="a")(a)
vmap(lambda a: (a, a), out_dims=(0, 0, 0))(a) | vmap(lambda a: {"x": a}, out_dims={"x": 0})(a) | vmap(lambda a: (a, a), out_dims=0)(a)
vmap(lambda a: (a, (a, a)), out_dims=(0, (0, 0)))(a) | vmap(Product.apply)(torch.ones(2, 3), torch.ones(2, 3)) | vmap(Product.apply, in_dims=(0, None))(torch.ones(2, 3), torch.ones(3))
functional_call(net, {"foo": a}, (a,), strict=True) | functional_call(net, {"weight": torch.ones(1, 2)}, (a,), strict=True)
functional_call(net, [{"weight": a}, {"weight": a}], (a,)) | stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
forward.exit_dual_level() | forward.make_dual(a, a) | forward.enter_dual_level() | forward.make_dual(a, torch.ones(3)) | forward.unpack_dual(a) | forward.exit_dual_level()
of.jacobian(lambda a: 3, a) | of.jacobian(of, 3) | of.jacobian(lambda a: (a, 3), a) | of.jvp(lambda a: a, a, 3) | of.hessian(lambda a: a.sum(), [a]) | of.vjp(lambda a: a, (a, 3))
torch.utils._pytree.tree_structure({"a": [1, 2], "b": (3,)})
"""
check(list(outcomes(CALLS, globals())), __file__)
