"""Comparing results in tests."""

from .assert_close import assert_close
from .gradcheck import gradcheck

__all__ = ["assert_close", "gradcheck"]
