"""torch._C._functorch: what libraries ask of the tensors that they meet in vmap, grad and the like: here they are plain."""

from .._missing_parts import sentences


def _never(tensor):
    """No tensor is wrapped."""
    return False


is_batchedtensor = is_legacy_batchedtensor = is_gradtrackingtensor = is_functionaltensor = _never
is_functorch_wrapped_tensor = is_dead_tensor_wrapper = _never


def get_unwrapped(tensor):
    raise RuntimeError("No wrappers present!")


def unwrap_if_dead(tensor):
    return tensor


def maybe_get_level(tensor):
    """The depth of transforms that a tensor is wrapped in: -1 says that it isn't."""
    return -1


def maybe_get_bdim(tensor):
    """The dimension that vmap hides, -1 for none."""
    return -1


def maybe_current_level():
    """None: there are no levels."""
    return None


globals().update(sentences("torch._C._functorch", ("_add_batch_dim", "_remove_batch_dim"), "vmap wraps no tensors in Terra"))
