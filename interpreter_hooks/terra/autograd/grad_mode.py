"""The contexts of the gradient mode, under the module's old name."""

import functools

from _terra_C import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


def _generator_in_mode(function, enabled):
    """What a mode makes of a generator function: its body runs in the mode, whoever resumes the generator does not.

    @torch.no_grad()
    def batches(): yield model(x)
    """

    @functools.wraps(function)
    def resumed_in_mode(*args, **kwargs):
        generator = function(*args, **kwargs)
        resume, given = generator.send, (None,)
        while True:
            try:
                with set_grad_enabled(enabled):
                    made = resume(*given)
            except StopIteration as end:
                return end.value
            try:
                resume, given = generator.send, ((yield made),)
            except GeneratorExit:
                with set_grad_enabled(enabled):
                    generator.close()
                raise
            except BaseException as thrown:
                resume, given = generator.throw, (thrown,)

    return resumed_in_mode
