"""torch._inductor: settings of a compiler that is not needed here: hot code is captured as it runs."""

from .._names import lazily


def cudagraph_mark_step_begin():
    """No graph of a GPU keeps its results over from the last step."""


__getattr__ = lazily(__name__, ("config",))
