"""Averages of a model's weights: over points of the training (SWA) or with decaying weights (EMA)."""

import copy
import math

import _terra_C as C

from .._names import lazily
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .lr_scheduler import LRScheduler

__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn"]


def _checked(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay=0.999):
    """average <- decay * average + (1 - decay) * present."""
    _checked(decay)

    def average(averaged, current, num_averaged):
        with C.no_grad():
            return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn():
    """The mean of all present values so far."""

    def average(averaged, current, num_averaged):
        with C.no_grad():
            return averaged + (current - averaged) / (num_averaged + 1)

    return average


def get_ema_multi_avg_fn(decay=0.999):
    """The same for lists of tensors, in place."""
    _checked(decay)

    def average(averaged_list, current_list, num_averaged=None):
        with C.no_grad():
            for averaged, current in zip(averaged_list, current_list):
                if averaged.is_floating_point():
                    averaged.lerp_(current.to(averaged.dtype), 1 - decay)
                else:
                    averaged.copy_(averaged * decay + current * (1 - decay))

    return average


def get_swa_multi_avg_fn():
    """The same for lists of tensors, in place."""

    def average(averaged_list, current_list, num_averaged):
        weight = 1 / (float(num_averaged) + 1)
        with C.no_grad():
            for averaged, current in zip(averaged_list, current_list):
                if averaged.is_floating_point():
                    averaged.lerp_(current.to(averaged.dtype), weight)
                else:
                    averaged.copy_(averaged + (current - averaged) * weight)

    return average


class AveragedModel(Module):
    """A copy of a model, under the name `module`, whose parameters are the average; buffers too with use_buffers, else
    they are copied."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", C.tensor(0, dtype=C.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _tensors(self, module):
        tensors = list(module.parameters())
        return tensors + list(module.buffers()) if self.use_buffers else tensors

    def update_parameters(self, model):
        """Takes the model's present values into the average."""
        averaged = [tensor.detach() for tensor in self._tensors(self.module)]
        current = [tensor.detach() for tensor in self._tensors(model)]
        if self.n_averaged == 0:
            for into, value in zip(averaged, current):
                into.copy_(value)
        elif self.avg_fn is not None:
            for into, value in zip(averaged, current):
                into.copy_(self.avg_fn(into, value, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, self.n_averaged)
        if not self.use_buffers:
            for into, value in zip(self.module.buffers(), model.buffers()):
                into.detach().copy_(value.detach())
        self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Runs the batches through the model so that its batch norms have the statistics of its present weights."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    with C.no_grad():
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(batch.to(device) if device is not None else batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


def _linear(t):
    return t


def _cosine(t):
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(LRScheduler):
    """Goes from the present rates to swa_lr in anneal_epochs steps, and stays there."""

    _SHAPES = {"cos": _cosine, "linear": _linear}

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, optimizer.param_groups has {len(optimizer.param_groups)}")
        if anneal_strategy not in self._SHAPES:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = rate
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        step = self._step_count - 1
        length = max(1, self.anneal_epochs)
        if self.anneal_epochs == 0:
            step = max(1, step)
        shape = self._SHAPES[self._anneal_strategy]
        before = shape(max(0, min(1, (step - 1) / length)))
        now = shape(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates


__getattr__ = lazily(__name__)
