"""Comparing results in tests."""

from .._names import lazily
from .assert_close import assert_close
from .gradcheck import gradcheck

__all__ = ["assert_close", "gradcheck"]

__getattr__ = lazily(__name__)
