"""torch.testing._comparison: where PyTorch keeps assert_close."""

from .assert_close import assert_allclose, assert_close  # noqa: F401
