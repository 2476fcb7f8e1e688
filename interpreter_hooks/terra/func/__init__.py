"""torch.func: functions made of functions, by the gradients of torch.autograd.

vmap calls the function once per element of the batch and stacks what it gives; the engine captures the calls. Rows of a
Jacobian are computed one after the other."""

import functools

from .._names import lazily
from .batches import stack_module_state, vmap
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .stateless import functional_call, replace_all_batch_norm_modules_

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def functionalize(func, *, remove="mutations"):
    """A function that gives what `func` gives, for compilers that can't follow writes and views. Ours can."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove=...): received invalid argument for remove={remove}. Valid options are: 'mutations', "
            "'mutations_and_views'"
        )

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def debug_unwrap(tensor, *, recurse=True):
    """The tensor: there is no wrapper around tensors inside vmap or grad."""
    return tensor


__getattr__ = lazily(__name__)
