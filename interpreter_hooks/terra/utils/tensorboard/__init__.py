"""Event files that TensorBoard reads."""

from ..._names import lazily
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]

__getattr__ = lazily(__name__, ("summary", "writer"))
