"""The contexts of the gradient mode, under the module's old name."""

from _terra_C import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


def _generator_in(context, mode, function):
    """What a mode makes of a generator function: its body runs in the mode, whoever resumes the generator does not.

    @torch.no_grad()
    def batches(): yield model(x)
    """
    from ..utils._contextlib import generator_in

    return generator_in(lambda: context(mode), function)
