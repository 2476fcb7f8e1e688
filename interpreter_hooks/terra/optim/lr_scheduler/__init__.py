"""Learning rates that change with the epoch, one file per family."""

from .base import LRScheduler
from .closed_form import ConstantLR, ExponentialLR, LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, StepLR
from .combined import SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts, OneCycleLR
from .plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR",
    "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
