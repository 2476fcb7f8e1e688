"""Helpers that are not tensors: data loading, checkpoints, hooks, timers, event files."""

from .._names import lazily
from . import hooks

__all__ = ["checkpoint", "data", "hooks"]

__getattr__ = lazily(
    __name__,
    (
        "_contextlib", "_foreach_utils", "_python_dispatch", "_pytree", "benchmark", "checkpoint", "cpp_extension", "data", "dlpack", "flop_counter", "model_zoo",
        "module_tracker", "tensorboard", "weak",
    ),
    functions={"._swap": ("swap_tensors",)},
)  # fmt: skip
