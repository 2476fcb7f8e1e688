"""Switches of other engines' backends, so that programs that set them run."""


class _Switches:
    """Holds whatever is set; is_available() says whether there is such a backend."""

    def __init__(self, available, **switches):
        self._available = available
        self.__dict__.update(switches)

    def is_available(self):
        return self._available

    def is_built(self):
        return self._available

    def version(self):
        return None


cuda = _Switches(False, matmul=_Switches(False, allow_tf32=False))
cudnn = _Switches(False, enabled=False, benchmark=False, deterministic=True, allow_tf32=False)
mps = _Switches(False)
mkl = _Switches(False)
mkldnn = _Switches(True, enabled=True)
openmp = _Switches(False)
