# run: --torch
"""Import lines as public programs have them, one by one, and what is said of names that aren't there."""

import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
LINES = """
import torch.backends.cudnn as cudnn; cudnn.benchmark = True; cudnn.deterministic = False
import torch.backends.mkldnn, torch.backends.mps, torch.backends.openmp, torch.backends.cuda, torch.backends.mkl
torch.backends.cuda.matmul.allow_tf32 = True; torch.backends.cudnn.allow_tf32 = True
from torch.cuda.amp import autocast, GradScaler, custom_fwd, custom_bwd
from torch.amp import autocast, GradScaler
from torch.cuda.amp import grad_scaler; assert issubclass(grad_scaler.GradScaler, torch.amp.GradScaler)
from torch.cuda.amp.grad_scaler import GradScaler, OptState; from torch.amp.grad_scaler import OptState as Same; assert OptState is Same
from torch.cuda.amp.autocast_mode import autocast, custom_fwd, custom_bwd; from torch.amp.autocast_mode import autocast
from torch.cuda.amp.common import amp_definitely_not_available; assert amp_definitely_not_available()
from torch.cpu.amp.autocast_mode import autocast; from torch.cpu.amp.grad_scaler import GradScaler
import torch.cuda; torch.cuda.empty_cache(); torch.cuda.manual_seed_all(1); assert torch.cuda.device_count() == 0
from torch.nn.parallel import DataParallel, DistributedDataParallel as DDP
from torch.nn import DataParallel
import torch.distributed as dist; assert dist.is_available() and not dist.is_initialized()
import torch.multiprocessing as mp; mp.set_sharing_strategy("file_system"); mp.get_context("spawn").Queue
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.writer import SummaryWriter
from torch.nn.utils import weight_norm, spectral_norm, remove_weight_norm
from torch.nn.utils.parametrizations import weight_norm, spectral_norm, orthogonal
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence, PackedSequence
import torch.nn.utils.prune as prune
import torch.nn.utils.parametrize as P
from torch.nn.utils.stateless import functional_call
from torch.jit import script, trace, ScriptModule, Final
import torch.utils.model_zoo as model_zoo, torch.utils.cpp_extension; torch.version.cuda
from torch.nn.modules.utils import _ntuple, _quadruple, _reverse_repeat_tuple, _list_with_default
from torch.nn.modules.activation import MultiheadAttention; from torch.nn.modules.container import ModuleList, ParameterList
from torch.nn.modules.batchnorm import _BatchNorm, SyncBatchNorm; from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd, LazyConv2d; from torch.nn.modules.linear import LazyLinear
from torch.nn.modules.pooling import _MaxPoolNd, _AvgPoolNd, _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _MaxUnpoolNd, _LPPoolNd
from torch.nn.modules.padding import _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd
from torch.nn.modules.transformer import _get_activation_fn, _get_clones, TransformerEncoderLayer, TransformerDecoder
from torch.nn.modules.lazy import LazyModuleMixin; from torch.nn.parameter import UninitializedParameter, Buffer, is_lazy
from torch.nn.modules.module import _addindent, _IncompatibleKeys; from torch.nn.modules.loss import _Loss, _WeightedLoss, CTCLoss
from torch.nn.modules import pixelshuffle, channelshuffle, fold, adaptive; from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.nn.common_types import _size_1_t, _size_2_t, _size_3_t; from torch.nn import grad; from torch.nn import _reduction as _Reduction
assert isinstance(torch.nn.MaxPool2d(2), torch.nn.modules.pooling._MaxPoolNd) and torch.nn.functional._Reduction.get_enum("sum") == 2
assert torch.eye(2).trace() == 2 and torch.tensor([float("nan")]).nan_to_num() == 0
from torch.fx import symbolic_trace, GraphModule, Interpreter, Node; from torch.fx.passes.shape_prop import ShapeProp
import torch.autograd.forward_ad as fwAD; from torch.autograd.graph import save_on_cpu, Node, register_multi_grad_hook
import torch.cpu; from torch.cpu.amp import autocast; from torch.amp import custom_fwd, custom_bwd, is_autocast_available
import torch.nested, torch.masked, torch.futures, torch.ops; from torch.ao.quantization import QuantStub, quantize_dynamic
from torch.distributions import LKJCholesky, Wishart, LogisticNormal; from torch.distributions.wishart import Wishart
import torch.fx, torch.onnx, torch.hub, torch.export, torch._dynamo, torch.compiler
from torch.func import vmap, grad, functional_call
from torch.optim.swa_utils import AveragedModel, SWALR
from torch.profiler import profile, record_function, ProfilerActivity, schedule, tensorboard_trace_handler
import torch.autograd.profiler as profiler
from torch.hub import load_state_dict_from_url
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch._C import _log_api_usage_once
from torch.types import Number, Device
from torch.storage import UntypedStorage
from torch.overrides import TorchFunctionMode, has_torch_function, handle_torch_function
from torch.utils._pytree import tree_map
from torch.library import custom_op
import torch.sparse; from torch.sparse import mm, FloatTensor, softmax; from torch.optim import SparseAdam; torch.sparse_coo, torch.sparse_csr
import torch.linalg; from torch.linalg import inv, norm, LinAlgError; assert issubclass(torch._C._LinAlgError, RuntimeError)
import copy, pickle; assert pickle.loads(pickle.dumps(torch.linalg.norm)) is torch.linalg.norm is copy.deepcopy(torch.linalg.norm)
from torch.utils.benchmark import Timer
from torch import inf, nan, pi, newaxis
from torch.testing import assert_allclose
import torch.return_types; assert isinstance(torch.ones(2, 2).max(0), torch.return_types.max)
torch.set_float32_matmul_precision("high"); assert torch.get_float32_matmul_precision() == "high"
torch.use_deterministic_algorithms(True); assert torch.are_deterministic_algorithms_enabled()
torch.set_default_device("cpu"); assert torch.get_default_device() == torch.device("cpu")
torch.set_default_tensor_type(torch.DoubleTensor); assert torch.ones(1).dtype == torch.float64
torch.set_default_tensor_type("torch.FloatTensor"); assert torch.ones(1).dtype == torch.float32
assert torch.ones(1).get_device() == -1 and torch.ones(1).pin_memory().equal(torch.ones(1)) and torch.ones(1).allclose(torch.ones(1))
assert not torch.is_complex(torch.ones(1)) and not torch.is_autocast_enabled()
assert isinstance(torch.compile(torch.nn.Linear(1, 1), mode="max-autotune")._orig_mod, torch.nn.Linear)
""".strip().split("\n")
for line in LINES:
    exec("import torch; " + line, {})


def message(code):
    try:
        exec("import torch, torch.distributed as dist; " + code, {})
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return "nothing was raised"


def says(code, kind, *words):
    found = message(code)
    assert found.startswith(kind + ": ") and all(word in found for word in words), (code, found)


says("torch.linalg.cholesk", "AttributeError", "the nearest name that is there is torch.linalg.cholesky")
says("torch.lstsq(torch.eye(2), torch.eye(2))", "RuntimeError", "torch.linalg.lstsq")
says("torch.not_there", "AttributeError", "torch.not_there is not in Terra yet")
says("torch.tensr", "AttributeError", "torch.tensr is not in Terra yet; the nearest name that is there is torch.tensor")
says("torch.nn.Linaer", "AttributeError", "torch.nn.Linaer is not in Terra yet", "torch.nn.Linear")
says("torch.nn.functional.rellu", "AttributeError", "torch.nn.functional.relu")
says("torch.optim.Adan", "AttributeError", "torch.optim.Adan is not in Terra yet", "torch.optim.Adam")
says("torch.backends.xyz", "AttributeError", "torch.backends.xyz is not in Terra yet")
says("from torch import not_there", "ImportError", "not_there")
says("import torch.not_there", "ModuleNotFoundError", "not_there")
says("torch.onnx.export(None, None, 'x')", "NotImplementedError", "torch.onnx.export: Terra does not read or write ONNX files.")
says("torch.jit.save(None, 'x')", "TypeError", "takes a function or a module")
says("torch.ops.aten.not_an_op", "AttributeError", "object has no attribute 'not_an_op'")
says("torch.ops.not_mine.add", "AttributeError", "torch.ops.not_mine.add is not in Terra")
says("torch.export.export(None, ())", "ValueError", "torch.export.export() takes a module or a function")
says("torch.export.Dim('batch')", "NotImplementedError", "torch.export.Dim")
says("torch.hub.load('owner/name', 'model')", "NotImplementedError", "owner/name", "source='local'")
says("torch.cuda.current_device()", "AssertionError", "cpu")
says("torch.cuda.FloatTensor(1)", "TypeError", "torch.cuda.FloatTensor")
says("torch.cuda.Stream()", "AssertionError", "CUDA")
says("torch.set_default_device('cuda')", "RuntimeError", "cuda")
says("torch.set_default_tensor_type('torch.cuda.FloatTensor')", "TypeError", "torch.cuda.FloatTensor")
says("torch.set_default_tensor_type(torch.LongTensor)", "TypeError", "floating-point")
says("torch.set_float32_matmul_precision('no')", "RuntimeError", "highest")
says("dist.init_process_group('gloo', rank=0, world_size=4, store=dist.HashStore())", "RuntimeError", "several processes are not there yet")
says("dist.init_process_group('nccl', rank=0, world_size=1, store=dist.HashStore())", "RuntimeError", "nccl", "gloo")
says("dist.get_rank()", "ValueError", "init_process_group")
import torch

assert not hasattr(torch, "not_there") and not hasattr(torch.nn, "not_there") and getattr(torch.optim, "no", 3) == 3

# Nothing of all this is loaded by the import itself.
LIGHT = "import sys, terra; print(*sorted(m for m in sys.modules if m.startswith('terra.')))"
loaded = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True).stdout.split()
assert set(loaded) == {"terra._functions", "terra._legacy", "terra._overridable", "terra._tensor_methods", "terra.version"}, loaded

# Every name of the tables leads somewhere.
import terra._names

for name in [*terra._names.MODULES, *terra._names.CONSTANTS, *terra._names._HOME]:
    getattr(torch, name)
for package in ("backends", "cuda", "utils", "nn", "nn.utils", "nn.parallel", "optim", "autograd", "utils.tensorboard", "_dynamo"):
    module = sys.modules.get("terra." + package) or __import__("terra." + package, fromlist=["x"])
    cells = dict(zip(module.__getattr__.__code__.co_freevars, module.__getattr__.__closure__))
    for name in [*cells["submodules"].cell_contents, *cells["homes"].cell_contents]:
        getattr(module, name)
print(f"{len(LINES)} passed")
