"""DistributedDataParallel over a group of one process: gradients are the mean over the group, that is, what they are."""

import contextlib

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    def __init__(
        self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
        process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
        gradient_as_bucket_view=False, static_graph=False, **_,
    ):  # fmt: skip
        from ... import distributed

        super().__init__()
        if not distributed.is_initialized():
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
            )
        if device_ids:
            raise ValueError(f"DistributedDataParallel on the CPU takes no device_ids, but got {device_ids}.")
        self.module = module
        self.dim = dim
        self.device_ids, self.output_device = None, None
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.static_graph, self.gradient_as_bucket_view = static_graph, gradient_as_bucket_view
        self.require_backward_grad_sync = True

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        """Inside, gradients are not averaged over the group: over one process they never are."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Inside, processes may have different numbers of batches: there is one process."""
        yield

    def register_comm_hook(self, state, hook):
        raise NotImplementedError("register_comm_hook: a group of one process does not communicate, so the hook would never run.")
