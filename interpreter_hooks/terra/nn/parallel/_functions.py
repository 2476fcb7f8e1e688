"""Copies between devices as functions with gradients."""

from ..._missing_parts import sentence
from ...autograd.function import Function
from .scatter_gather import WHY


class _BetweenDevices(Function):
    forward = backward = sentence("torch.nn.parallel", WHY)


class Broadcast(_BetweenDevices):
    """A tensor to each device."""


class ReduceAddCoalesced(_BetweenDevices):
    """The sum over devices."""


class Scatter(_BetweenDevices):
    """A part of a tensor to each device."""


class Gather(_BetweenDevices):
    """The parts as one tensor."""
