"""torch.distributed.constants."""

from . import default_pg_timeout
from .._names import lazily

default_pg_nccl_timeout = default_pg_timeout

__getattr__ = lazily(__name__)
