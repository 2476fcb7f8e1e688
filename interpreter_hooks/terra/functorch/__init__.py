"""functorch: the transforms of torch.func under the name of the package that they were in, and modules as functions."""

from .._names import lazily
from ..func import (  # noqa: F401
    functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap,
)  # fmt: skip
from .modules import (
    FunctionalModule, FunctionalModuleWithBuffers, combine_state_for_ensemble, make_functional, make_functional_with_buffers,
)  # fmt: skip

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian",
    "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip

__getattr__ = lazily(__name__, ("experimental",))
