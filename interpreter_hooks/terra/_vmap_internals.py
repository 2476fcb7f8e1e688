"""torch._vmap_internals: vmap under its first name."""

from .func import vmap  # noqa: F401
