"""torch.utils._python_dispatch: modes that would see the ops of PyTorch's dispatcher."""

from .._names import lazily

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """A context whose __torch_dispatch__ would see the ops that calls are made of: entering one raises."""

    def __init__(self, _dispatch_key=None):
        """Nothing is kept before a mode is entered."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        raise NotImplementedError(
            "torch.utils._python_dispatch.TorchDispatchMode: Terra has ops of its own, and none of PyTorch's dispatcher's that a call "
            "like linear() or a gradient would be made of. torch.overrides.TorchFunctionMode sees the calls of the program."
        )

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


def is_traceable_wrapper_subclass(t):
    """No tensor is a wrapper around others."""
    return False


def _get_current_dispatch_mode():
    return None


def _get_current_dispatch_mode_stack():
    return []


__getattr__ = lazily(__name__)
