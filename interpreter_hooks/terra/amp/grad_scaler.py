"""GradScaler: multiplies the loss, so that small gradients of float16 do not vanish, and divides the gradients again."""

import warnings
from enum import Enum

import _terra_C as C

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What has happened to an optimizer since the last update()."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Grows the scale after `growth_interval` steps without infinities and shrinks it after one with them."""

    def __init__(
        self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
    ):  # fmt: skip
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", UserWarning, stacklevel=2
            )
            self._enabled = False
        if self._enabled:
            if not growth_factor > 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if not backoff_factor < 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._scale = float(init_scale)
            self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
            self._growth_interval, self._growth_tracker = growth_interval, 0
            self._has_scaled = False
            self._optimizers = {}  # id of an optimizer -> [its OptState, whether it found an infinity]

    def is_enabled(self):
        return self._enabled

    def scale(self, outputs):
        """A tensor, or an iterable of them, times the scale."""
        if not self._enabled:
            return outputs
        if not self._has_scaled:
            self._has_scaled = True
        if isinstance(outputs, C.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(output) for output in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _check_scaled(self, name):
        if not self._has_scaled:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )

    def _record(self, optimizer):
        return self._optimizers.setdefault(id(optimizer), [OptState.READY, None])

    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale, and notes whether one is not finite."""
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        record = self._record(optimizer)
        if record[0] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if record[0] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        record[1] = self._divide(optimizer, 1.0 / self._scale)
        record[0] = OptState.UNSCALED

    @staticmethod
    def _divide(optimizer, factor):
        found = False
        with C.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is not None:
                        if gradient.dtype == C.float16:
                            raise ValueError("Attempting to unscale FP16 gradients.")
                        gradient.mul_(factor)
                        values = gradient.coalesce()._values() if gradient.is_sparse else gradient
                        found = found or not bool(values.isfinite().all())
        return found

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step, left out when a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        record = self._record(optimizer)
        if record[0] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if record[0] is OptState.READY:
            self.unscale_(optimizer)
        result = None if record[1] else optimizer.step(*args, **kwargs)
        record[0] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Sets the scale for the next step."""
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            found = [record[1] for record in self._optimizers.values() if record[1] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(found):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    self._scale *= self._growth_factor
                    self._growth_tracker = 0
        self._optimizers.clear()

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
