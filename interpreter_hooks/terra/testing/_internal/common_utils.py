"""Tests as PyTorch's own are written."""

import unittest

import _terra_C as C

from ..assert_close import assert_close, make_tensor  # noqa: F401

IS_WINDOWS = IS_MACOS = TEST_WITH_ROCM = TEST_CUDA = False
TEST_NUMPY = True


class TestCase(unittest.TestCase):
    """A test in which assertEqual compares tensors, numbers and containers of both within tolerances."""

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, exact_device=False):
        if isinstance(x, (C.Tensor, float, complex)) or isinstance(y, (C.Tensor, float, complex)) or _holds_tensors(x):
            if isinstance(x, C.Tensor) != isinstance(y, C.Tensor):
                x, y = (v if isinstance(v, C.Tensor) else C.tensor(v) for v in (x, y))
                exact_dtype = False
            assert_close(x, y, atol=atol, rtol=rtol, equal_nan=equal_nan, check_dtype=exact_dtype, check_stride=False, msg=msg)
        else:
            super().assertEqual(x, y, msg)

    def assertNotEqual(self, x, y, msg=None, **tolerances):
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, **tolerances)


def _holds_tensors(value):
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(each, (C.Tensor, float, complex)) or _holds_tensors(each) for each in values)


def run_tests(argv=None):
    unittest.main(argv=argv)
