"""The switch for extra checks of gradients: a backward pass fails at the first operation that makes one of NaN.

While it is on nothing runs captured, so that each operation has a node of its own to be named."""

import warnings

import _terra_C as C

_enabled = False
_checks_nan = True
_capture_before = None


def _switch(enabled, checks_nan):
    global _enabled, _checks_nan, _capture_before
    if enabled and not _enabled:
        _capture_before = C.capture_mode("off")
    elif _enabled and not enabled:
        C.capture_mode(_capture_before)
    _enabled, _checks_nan = enabled, checks_nan
    C._check_for_nan(enabled and checks_nan)


class set_detect_anomaly:
    """Acts at once; as a context manager it restores what was before."""

    def __init__(self, mode, check_nan=True):
        self._before = _enabled, _checks_nan
        _switch(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        _switch(*self._before)
        return False


class detect_anomaly:
    """Context manager: on while it is entered."""

    def __init__(self, check_nan=True):
        self._checks_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self._before = _enabled, _checks_nan
        _switch(True, self._checks_nan)

    def __exit__(self, *exception):
        _switch(*self._before)
        return False
