"""The ways to measure by the names that the catalogue uses."""

from . import measure
from .coexec import coexec, programs
from .trees import trees

WAYS = {
    "blocks": measure.blocks, "above": measure.above, "warmup": measure.warmup, "busy": measure.busy, "memory": measure.memory,
    "startup": measure.startup, "slowdown": measure.slowdown, "recording": measure.recording,
    "self_check": measure.self_check, "trees": trees, "coexec": coexec, "programs": programs,
}  # fmt: skip
