"""The switch for extra checks of gradients. Terra's errors name the operation without it."""

_enabled = False


class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        global _enabled
        self._before = _enabled
        _enabled = mode

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        global _enabled
        _enabled = self._before
        return False


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
