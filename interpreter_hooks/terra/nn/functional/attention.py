"""Attention."""

import _terra_C as C

__all__ = ["scaled_dot_product_attention"]

scaled_dot_product_attention = C._functional.scaled_dot_product_attention
