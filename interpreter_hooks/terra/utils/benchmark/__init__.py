"""Timing snippets: Timer and what it measures."""

from ..._missing_parts import sentences
from ..._names import lazily
from .compare import Compare
from .measurement import Measurement, select_unit
from .timer import Timer, timer

__all__ = ["Compare", "Measurement", "Timer", "select_unit", "timer"]

globals().update(sentences("torch.utils.benchmark", ("Fuzzer", "FuzzedParameter", "FuzzedTensor", "CallgrindStats")))

__getattr__ = lazily(__name__)
