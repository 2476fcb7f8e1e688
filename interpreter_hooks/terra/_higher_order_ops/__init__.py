"""torch._higher_order_ops: ops that take functions."""

from .._names import lazily
from .._rare_functions import cond  # noqa: F401
from .associative_scan import associative_scan  # noqa: F401
from .scan import scan  # noqa: F401
from .while_loop import while_loop  # noqa: F401

__getattr__ = lazily(__name__)
