# run: --torch
# run: --torch --capture=stress
"""Tensor.set_: other views of the memory of tensors and storages, and what it refuses; as PyTorch."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")


def numbers(n=6):
    return torch.arange(float(n))


def untyped(n=6):
    return numbers(n).untyped_storage()


def made(*arguments, dtype=torch.float32, **options):
    return torch.empty(0, dtype=dtype).set_(*arguments, **options)


def shared():
    x = numbers()
    y = made(x.untyped_storage(), 1, (3,))
    y.mul_(10)
    return x, y.data_ptr() - x.data_ptr(), y.storage_offset(), y._version > 0


def grown():
    x = numbers()
    y = made(x, 4, (2, 3))
    return y.shape, y.flatten()[:2], y.untyped_storage().nbytes(), x


def leaf():
    return torch.ones(2, requires_grad=True).set_(numbers())


def hot(x, y):
    x.set_(y)
    return x + 1


def often():
    return [hot(torch.zeros(2), numbers(i + 1)).sum().item() for i in range(8)]


CALLS = """
made(untyped(), 1, (2, 2), (2, 1)) | made(untyped()) | made(untyped(), 1, (2, 2)) | made(untyped(), 1, torch.Size([2]), (2,)) | made(numbers())
made() | made(numbers(), 2, (2,), (1,)) | made(numbers().storage()) | made(numbers().storage(), 1, (2,)) | made(untyped(), 2, ()) | made(untyped(), 6, (0,))
made(source=untyped(), storage_offset=1, size=(2,), stride=(1,)) | made(untyped(), 0, (2, 3), (0, 1)) | made(untyped(), 1, (20, 2)).untyped_storage().nbytes()
made(numbers(), dtype=torch.int64) | made(untyped(), dtype=torch.int32).shape | made(untyped(), dtype=torch.float64).shape | made(untyped(3), dtype=torch.float64).shape
made(untyped(), -1, (2, 2)) | made(untyped(), 0, (2, 2), (-1, 1)) | leaf() | shared() | grown() | often()
"""
check(list(outcomes(CALLS, globals())), __file__)

if not sys.argv[1:]:  # other words than PyTorch's
    for call, kind in (
        (lambda: made(3), TypeError), (lambda: made(untyped(), 1), TypeError), (lambda: made(untyped(), "a", (2,)), TypeError),
        (lambda: made(untyped(), 0, (2, 2), (1,)), RuntimeError), (lambda: made(numbers().storage(), dtype=torch.int64), RuntimeError),
        (lambda: made(untyped(), 2**62, (2**62, 2)), RuntimeError), (lambda: made(untyped(), 0, (2**40, 2**40)), RuntimeError),
        (lambda: made(torch.eye(2).to_sparse()), RuntimeError), (lambda: made(untyped(), 0, ("a",)), TypeError),
    ):  # fmt: skip
        try:
            result = call()
        except kind as error:
            assert str(error), kind
        except Exception as error:  # noqa: BLE001
            raise AssertionError(f"{type(error).__name__}: {error}") from error
        else:
            raise AssertionError(f"{result.shape} for what should raise {kind}")
