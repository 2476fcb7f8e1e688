# run: --torch
"""Rarer names of the top level: storages by dtype, cond, the modules of devices, streams, methods that change views."""

import pathlib
import sys
import threading
import warnings

import torch
import torch.utils.checkpoint

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
torch.TypedStorage(5, dtype=torch.float32).size() | torch.TypedStorage([1, 2], dtype=torch.int32).tolist() | torch.TypedStorage(dtype=torch.half).size()
torch.repeat_interleave(torch.tensor([1, 2, 0, 3])) | torch.repeat_interleave(torch.tensor([1, 2]), output_size=3) | torch.repeat_interleave(torch.tensor([1, -2]))
torch.repeat_interleave(torch.tensor([1.0, 2.0])) | torch.repeat_interleave(torch.tensor([[1, 2]])) | torch.repeat_interleave(torch.tensor([1, 2], dtype=torch.int32))
torch.inner(torch.ones(2, 3), torch.tensor(2)) | torch.inner(torch.tensor(2), torch.ones(3)) | torch.inner(torch.ones(3), torch.ones(3).long())
torch.asarray(x.requires_grad_() * 2, requires_grad=False).requires_grad | torch.asarray(x * 2).requires_grad | torch.asarray(x * 2, requires_grad=True).requires_grad
isinstance((x * 2).grad_fn, torch.autograd.graph.Node) | isinstance(3, torch.autograd.graph.Node) | isinstance(x.sin().sum().grad_fn, torch.autograd.graph.Node)
torch.empty(2, 3, 4, 5).dim_order(ambiguity_check=True) | torch.empty(1, 2, 3, 4).dim_order(ambiguity_check=True) | torch.empty(2, 3, 4, 5).dim_order(ambiguity_check="x")
torch.empty(1, 2, 3, 4).dim_order(ambiguity_check=[torch.contiguous_format]) | torch.empty(2, 1, 4, 5).dim_order(ambiguity_check=[torch.contiguous_format, torch.channels_last])
torch.linalg.lstsq(torch.ones(1, 3, 2), torch.ones(2, 3, 1)).rank | torch.linalg.lstsq(torch.eye(3, 2), torch.ones(2, 3, 1))
torch.fake_quantize_per_tensor_affine(torch.tensor([0.05, 0.11, -3.0, 300.0, 0.25]), 0.1, 2, 0, 255)
torch.fake_quantize_per_channel_affine(torch.arange(6.0).view(2, 3), torch.tensor([0.5, 0.3]), torch.tensor([0, 1], dtype=torch.int32), 0, 0, 7)
torch.fake_quantize_per_channel_affine(torch.arange(6.0).view(2, 3), torch.tensor([0.5, 0.3]), torch.tensor([0, 1], dtype=torch.int32), 1, 0, 7)
torch.autograd.grad(torch.fake_quantize_per_tensor_affine(x, 0.5, 1, 1, 2).sum(), x) | torch.fake_quantize_per_tensor_affine(x, 0.5, 0, 1, 2)
decorated(torch.ones(2, requires_grad=True)) | waited()
{"e", "fft", "from_dlpack", "hann_window", "inf", "linalg", "load", "nn", "pi", "ones"} - set(dir(torch))
all(hasattr(torch, name) for name in dir(torch))
torch.sym_int(2.7) | torch.sym_int(-2.7) | torch.sym_float(3) | torch.sym_max(1, 2.0) | torch.sym_max(3, 2) | torch.sym_min(3, 2.0)
torch.sym_not(True) | torch.sym_ite(True, 1, 2) | torch.sym_ite(False, 1, 2) | torch.sym_sum([1, 2, 3]) | torch.sym_sqrt(4)
torch.legacy_contiguous_format | torch.ones_like(torch.ones(2, 3).t(), memory_format=torch.legacy_contiguous_format).stride()
torch._softmax_backward_data(x, x.softmax(0), 0, torch.float32) | torch._log_softmax_backward_data(x, x.log_softmax(0), 0, x.dtype)
torch._cast_Long(x * 5) | torch._cast_Float(x.long()) | torch._cast_Half(x).dtype | torch._cast_Double(x).dtype | torch._cast_Byte(x) | torch._cast_Int(x)
torch._check_tensor_all_with(ValueError, torch.tensor([True])) | torch._check_tensor_all_with(ValueError, torch.tensor([False]), lambda: "no")
torch._utils._element_size(torch.float64) | torch._utils._element_size(torch.bool) | torch._dynamo.is_dynamo_supported() | torch._dynamo.reset_code_caches()
torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2)))
printed(precision=1) | printed(threshold=2, edgeitems=1) | printed()
"""


@torch.utils.checkpoint.checkpoint(use_reentrant=False)
def sine(t):
    return t.sin()


def decorated(t):
    sine(t).sum().backward()
    return sine.__name__, t.grad


def waited():
    future = torch.futures.Future()
    threading.Timer(0.05, lambda: future.set_result(5)).start()
    return future.wait()


def printed(**options):
    with torch._tensor_str.printoptions(**options):
        return str(torch.arange(5) / 3)


def anomalies():
    with torch.autograd.detect_anomaly(check_nan=False):
        yield "inside", (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    yield "outside", (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())


assert callable(torch.Future) and isinstance(torch.ScriptModule, type) and callable(torch.nn.parallel.parallel_apply)
check([*outcomes(ITEMS, globals()), *anomalies()], __file__)
