"""LRScheduler: sets group["lr"] from the number of step() calls."""

import warnings
from types import FunctionType

from ..optimizer import Optimizer

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in "
    "the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
    "skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose."
)


class LRScheduler:
    """Subclasses give get_lr(): the rates of all groups at self.last_epoch, from the present ones."""

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = True  # during the first step, which the scheduler takes itself
        self._get_lr_called_within_step = False
        self.step()
        self._is_initial = False

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def _warn_unless_in_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning, stacklevel=2
            )

    def step(self, epoch=None):
        if self._step_count == 1 and not self.optimizer._has_stepped():
            warnings.warn(_ORDER, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH, UserWarning, stacklevel=2)
        self._go_to(epoch)

    def _go_to(self, epoch):
        """The rates of an epoch, of the next one for None."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch is not None and hasattr(self, "_get_closed_form_lr"):
            rates = self._get_closed_form_lr()
        else:
            self._get_lr_called_within_step = True
            try:
                rates = self.get_lr()
            finally:
                self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _scaled(self, factor):
        """The present rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class PerGroupScheduler(LRScheduler):
    """Has a function for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = callables_per_group(optimizer, lr_lambda, "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        state = super().state_dict()
        state["lr_lambdas"] = [kept_of_callable(function) for function in state.pop("lr_lambdas")]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, state.pop("lr_lambdas", ())):
            restore_callable(function, attributes)
        super().load_state_dict(state)


def kept_of_callable(function):
    """What files keep of a callable that schedules: the attributes of an object, nothing of a function."""
    return None if function is None or isinstance(function, FunctionType) else vars(function).copy()


def restore_callable(function, attributes):
    if attributes is not None:
        vars(function).update(attributes)


def callables_per_group(optimizer, function, name):
    """One callable per group, from one for all or a list."""
    if not isinstance(function, (list, tuple)):
        return [function] * len(optimizer.param_groups)
    if len(function) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} {name}, but got {len(function)}")
    return list(function)


def set_momentum(group, momentum):
    """Of an optimizer with a momentum, or with one among its betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
