"""torch._inductor: settings of a compiler that is not needed here: hot code is captured as it runs."""

from .._names import lazily

__getattr__ = lazily(__name__, ("config",))
