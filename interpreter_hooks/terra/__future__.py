"""torch.__future__: how Module.to() and its kin replace parameters."""

from ._names import lazily
from ._settings import (  # noqa: F401
    get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion,
    set_overwrite_module_params_on_conversion,
    set_swap_module_params_on_conversion,
)

__getattr__ = lazily(__name__)
