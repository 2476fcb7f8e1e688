"""torch.distributed.optim: optimizers whose state lies in parts with several processes. One process holds all of it."""

from ..._names import lazily
from ...optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of the given class, `optim`: its groups, its state and its steps."""

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False, **defaults):
        self.optim = optimizer_class(params, **defaults)
        self.process_group, self.defaults = process_group, self.optim.defaults
        self._patch_step_function()

    @property
    def param_groups(self):
        return self.optim.param_groups

    @property
    def state(self):
        return self.optim.state

    def add_param_group(self, param_group):
        self.optim.add_param_group(param_group)

    def step(self, closure=None, **kwargs):
        return self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)

    def consolidate_state_dict(self, to=0):
        """All of the state is here."""

    def state_dict(self):
        return self.optim.state_dict()

    def load_state_dict(self, state_dict):
        self.optim.load_state_dict(state_dict)


__getattr__ = lazily(__name__)
