"""Comparing results in tests."""

from .._names import lazily
from .assert_close import assert_allclose, assert_close, make_tensor
from ..autograd.gradcheck import gradcheck

__all__ = ["assert_allclose", "assert_close", "gradcheck", "make_tensor"]

__getattr__ = lazily(__name__)
