# run: --torch
"""Rarer names of the top level: storages by dtype, cond, the modules of devices, streams, methods that change views."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

warnings.simplefilter("ignore")
x = wave(6).abs() + 0.5

ITEMS = """
torch.FloatStorage([1.0, 2.5]).tolist() | torch.LongStorage(3).size() | torch.IntStorage([1, 2]).dtype | torch.Storage([2]).dtype
isinstance(torch.ones(2).storage(), torch.FloatStorage) | isinstance(torch.ones(2).storage(), torch.DoubleStorage)
torch.ComplexFloatStorage([1j]).tolist() | torch.BoolStorage([True]).nbytes() | torch.storage.TypedStorage is torch.TypedStorage
torch.cond(torch.tensor(True), lambda a, b: a + b, lambda a, b: a - b, (x, x)) | torch.cond(False, torch.sin, torch.cos, (x,))
torch.xpu.is_available() | torch.xpu.device_count() | torch.xpu.memory_allocated() | torch.xpu.synchronize.__name__
torch.accelerator.memory_allocated() | torch.accelerator.empty_cache() | len(torch.accelerator.memory_stats())
torch.get_device_module("cpu").__name__.split(".")[-1] | torch.get_device_module(torch.device("cpu")).is_available()
torch.is_anomaly_enabled() | torch.is_anomaly_check_nan_enabled() | torch.Stream(device="cpu").device
x.clone().as_strided_((2, 2), (1, 2), 1) | x.clone().polygamma_(2) | torch.ones(4).as_strided_((2,), (2,)).stride()
torch.return_types.cummax.__name__ | type(x.view(2, 3).cummin(0)) is torch.return_types.cummin | torch.return_types.frexp.__name__
torch.return_types.mode is type(x.mode()) | torch.return_types.nanmedian is type(x.view(2, 3).nanmedian(0))
issubclass(torch.AcceleratorError, RuntimeError) | torch.GradScaler is torch.amp.GradScaler
torch.LongTensor([1]).storage().tolist()
{"e", "fft", "from_dlpack", "hann_window", "inf", "linalg", "load", "nn", "pi", "ones"} - set(dir(torch))
all(hasattr(torch, name) for name in dir(torch))
"""


def anomalies():
    with torch.autograd.detect_anomaly(check_nan=False):
        yield "inside", (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    yield "outside", (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())


assert callable(torch.Future) and isinstance(torch.ScriptModule, type) and callable(torch.nn.parallel.parallel_apply)
check([*outcomes(ITEMS, globals()), *anomalies()], __file__)
