"""torch.utils.flop_counter: counts of floating point operations."""

from .._missing_parts import sentences
from .._names import lazily

globals().update(sentences("torch.utils.flop_counter", ("FlopCounterMode", "register_flop_formula")))

__getattr__ = lazily(__name__)
