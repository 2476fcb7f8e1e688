# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Ops that a program declares by their schemas and gives functions, by dispatch keys and device types; their gradients."""

import pathlib
import sys
from typing import List, Optional, Sequence, Tuple

import torch
from torch.library import Library, custom_op, define, impl, infer_schema, register_autograd, register_fake, register_kernel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

results = []

define("mine::scale", "(Tensor x, float a, int n=1, *, bool negate=False) -> Tensor")
calls = []


@register_kernel("mine::scale", "cpu")
def scale(x, a, n=1, *, negate=False):
    calls.append((a, n, negate))
    return x * a * n * (-1 if negate else 1)


@register_fake("mine::scale")
def scale_fake(x, a, n=1, *, negate=False):
    return torch.empty_like(x)


op = torch.ops.mine.scale
x = wave(2, 3).float().requires_grad_()
results += [
    ("names", [op, repr(op), op.default, repr(op.default), op.default.name(), op.overloads(), op._qualified_op_name]),
    ("same", [op is torch.ops.mine.scale, op.default is op.default]),
    ("schema", [(a.name, str(a.type), a.kwarg_only, a.has_default_value(), a.default_value) for a in op.default._schema.arguments]),
    ("values", [op(x, 2.0), op(x, a=2.0, n=3), op.default(n=2, x=x, a=1.5), op(x, 2.0, negate=True)]),
    ("calls", list(calls)),
]  # fmt: skip
op(x, 3.0).sum().backward()
results.append(("through", x.grad))

# Gradients of its own, for the positional arguments.
define("mine::cube", "(Tensor x, float a=1.0, *, bool flip=False) -> Tensor")
impl("mine::cube", "cpu", lambda x, a=1.0, *, flip=False: torch.from_numpy(x.detach().numpy() ** 3) * a * (-1 if flip else 1))


def keep(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.a, ctx.flip = inputs[1], keyword_only_inputs["flip"]


def cube_backward(ctx, gradient):
    return gradient * 3 * ctx.saved_tensors[0] ** 2 * ctx.a * (-1 if ctx.flip else 1), None


register_autograd("mine::cube", cube_backward, setup_context=keep)
for _ in range(6):
    x.grad = None
    (torch.ops.mine.cube(x) + torch.ops.mine.cube(x, 2.0, flip=True)).sum().backward()
results += [("cube", [x.grad, torch.ops.mine.cube(x.detach(), 0.5)])]

# A library: keys, forms, functions for gradients that call the op below them.
library = Library("theirs", "DEF")
results.append(("defined", [library.define("foo(Tensor x, Tensor y) -> Tensor"), library.define("two(Tensor x) -> (Tensor, Tensor)")]))
library.impl("foo", lambda x, y: x * y, "CompositeImplicitAutograd")


@impl(library, "two", "CPU")
def two(x):
    return x + 1, x + 2


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.theirs.two(x)

    @staticmethod
    def backward(ctx, a, b):
        return 10 * a + b


gradients = Library("theirs", "IMPL", "Autograd")  # what it registers lives as long as it does
gradients.impl("two", lambda x: Doubled.apply(x))
fragment = Library("theirs", "FRAGMENT")
fragment.define("pick(Tensor x, int n) -> Tensor")
fragment.define("pick.pair(Tensor x, Tensor y) -> Tensor")
fragment.impl("pick", lambda x, n: x * n, "CPU")
fragment.impl("pick.pair", lambda x, y: x + y, "CPU")
x.grad = None
a, b = torch.ops.theirs.two(x)
(a + b).sum().backward()
results += [
    ("keys", [torch.ops.theirs.foo(x, x).detach(), a, b, x.grad]),
    ("forms", [sorted(torch.ops.theirs.pick.overloads()), torch.ops.theirs.pick.default(x.detach(), 3), torch.ops.theirs.pick.pair(x.detach(), x.detach()),
               torch.ops.theirs.pick.pair.name()]),
]  # fmt: skip


# Functions as ops: their schemas come from the annotations.
@custom_op("mine::sine", mutates_args=())
def sine(x: torch.Tensor, k: float = 1.5) -> torch.Tensor:
    return torch.sin(x * k)


@custom_op("mine::add_to", mutates_args={"x"})
def add_to(x: torch.Tensor, k: float) -> None:
    x.add_(k)


@custom_op("mine::parts", mutates_args=())
def parts(x: torch.Tensor) -> List[torch.Tensor]:
    return [x + 1, x + 2]


t = torch.ones(2)
add_to(t, 2.0)
results.append(("functions", [sine(x), torch.ops.mine.sine(x, 2.0), torch.ops.mine.sine.default(x), t, parts(t), [p.requires_grad for p in parts(x)]]))
sine.register_autograd(lambda ctx, g: (g * ctx.k * torch.cos(ctx.saved_tensors[0] * ctx.k), None),
                       setup_context=lambda ctx, inputs, output: (ctx.save_for_backward(inputs[0]), setattr(ctx, "k", inputs[1])))  # fmt: skip
x.grad = None
sine(x).sum().backward()
results.append(("sine", x.grad))


def many(
    x: torch.Tensor, n: Sequence[int], y: Optional[torch.Tensor], l: List[torch.Tensor], i: int, f: float = 1.5, b: bool = True,
    s: str = "a", o: Optional[int] = None, d: "Optional[torch.dtype]" = None, *, z: int | None = None,
) -> Tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    pass


def without(x) -> torch.Tensor:
    pass


def of_arguments(*args: torch.Tensor) -> torch.Tensor:
    pass


EXPRESSIONS = """
infer_schema(many, mutates_args=()) | infer_schema(many, mutates_args={"x", "l"}, op_name="many")
infer_schema(written, mutates_args={"x"})
type_of(lambda: infer_schema(without, mutates_args=())) | type_of(lambda: infer_schema(of_arguments, mutates_args=()))
type_of(lambda: op()) | type_of(lambda: op(x, 1.0, b=3)) | type_of(lambda: op(x, 1.0, 2, True))
type_of(lambda: define("nothing", "(Tensor x) -> Tensor")) | type_of(lambda: define("mine::q", "(Tensor x -> Tensor"))
type_of(lambda: define("mine::scale", "(Tensor x) -> Tensor")) | type_of(lambda: Library("mine", "SOME"))
type_of(lambda: torch.ops.mine.nothing) | type_of(lambda: parts(x)[0].sum().backward())
"""


def written(x: torch.Tensor) -> None:
    pass


def type_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing was raised"


results += outcomes(EXPRESSIONS, globals())
define("mine::nobody", "(Tensor x) -> Tensor")
results.append(("nobody", type_of(lambda: torch.ops.mine.nobody(x))))


@torch.library.triton_op("mine::tripled", mutates_args=())
def tripled(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    return n * x


tripled.register_autograd(lambda ctx, g: (3 * g, None))
results.append(("of a kernel", [tripled(x), torch.ops.mine.tripled(x, 2), torch.autograd.grad(tripled(x).sum(), x)]))
results.append(("node", sine(torch.ones(1, requires_grad=True)).grad_fn.name()))
check(results, pathlib.Path(__file__).with_suffix(".txt"))
