"""torch.func: functions made of functions, by the gradients of torch.autograd.

vmap calls the function once per element of the batch and stacks what it gives; the engine captures the calls. Rows of a
Jacobian are computed one after the other."""

from .._missing_parts import sentences
from .._names import lazily
from .batches import stack_module_state, vmap
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from .stateless import functional_call

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state", "vjp", "vmap"]

globals().update(sentences("torch.func", ("functionalize", "linearize", "replace_all_batch_norm_modules_", "debug_unwrap")))

__getattr__ = lazily(__name__)
