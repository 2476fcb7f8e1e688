"""The switch for extra checks of gradients. Terra's errors name the operation without it."""

_enabled = False
_checks_nan = True


class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        global _enabled, _checks_nan
        self._before = _enabled, _checks_nan
        _enabled, _checks_nan = mode, check_nan

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        global _enabled, _checks_nan
        _enabled, _checks_nan = self._before
        return False


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
