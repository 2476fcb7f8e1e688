"""Passes over graphs."""

from ..._names import lazily

__getattr__ = lazily(__name__, ("shape_prop",))
