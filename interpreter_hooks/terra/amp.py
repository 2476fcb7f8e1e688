"""Mixed precision, as far as the CPU has it: none. Programs that ask for it run in full precision."""

import functools

__all__ = ["GradScaler", "autocast"]


class autocast:
    """A context in which nothing is cast."""

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        self.device_type = device_type

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inside


class GradScaler:
    """Scales by one: float32 gradients do not underflow where half ones would."""

    def __init__(self, device="cpu", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._enabled = False

    def scale(self, outputs):
        return outputs

    def unscale_(self, optimizer):
        """Gradients are not scaled."""

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """The scale stays one."""

    def get_scale(self):
        return 1.0

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        """Nothing is kept."""
