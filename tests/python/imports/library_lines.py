# run: --torch
"""What public libraries import and ask when they are loaded: versions, inner names, ops of PyTorch's own."""

import importlib.metadata
import warnings

warnings.simplefilter("ignore")
LINES = """
import torch; assert torch.__name__ == "torch" and torch.nn.functional.relu and torch.linalg.norm
import torch; assert torch.__version__ >= "2.0" and torch.__version__ > (2, 1, 0) and not torch.__version__ < "2.9"
import torch; assert tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 0)
from torch.torch_version import TorchVersion as V; assert V("2.10") > "2.9" and V("2.0a1") < "2.0" and V("2") == "2.0.0" and V("2.1+cpu") > "2.1"
from torch.torch_version import TorchVersion as V; assert V("x") > "a" and sorted([V("2.10"), V("2.9")])[0] == "2.9" and {V("1.0"): 1}
import torch; assert importlib.metadata.version("torch") == torch.__version__ and importlib.metadata.version("torchvision")
assert all(d.name for d in importlib.metadata.distributions()); importlib.metadata.entry_points(group="of_nobody")
import torch; assert torch.__config__.show() and torch.__config__.parallel_info() and torch.SymInt is int
import torch; torch._check(True); torch._check_index(True, "x"); torch._check_is_size(3, max=3)
from torch.utils.checkpoint import get_device_states, set_device_states, detach_variable, check_backward_validity; assert get_device_states() == ([], [])
import torch; assert not torch.cuda._initialized and torch._C._get_tracing_state() is None and torch._C._get_default_device() == "cpu"
from torch.distributions.utils import _standard_normal, _sum_rightmost; assert _standard_normal((2,), None, None).shape == (2,)
from torch.distributions import *; assert all(k.__doc__ for k in (AbsTransform, TransformedDistribution, Independent))
from torch.serialization import MAP_LOCATION, FILE_LIKE; from torch.optim.optimizer import ParamsT
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support, _device_has_foreach_support
from torch.nn.init import _no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_, _no_grad_fill_, _no_grad_zero_
from torch.futures import Future; Future[int]
import torch; torch.jit._overload(len); torch.jit._overload_method(len)
from torch.utils._pytree import _namedtuple_flatten, _namedtuple_unflatten, _dict_flatten, _list_flatten
from torch.utils.data._utils.collate import default_collate
from torch.utils.data.dataloader import _BaseDataLoaderIter, _SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter, _DatasetKind
from torch.utils.data import DataLoader; import torch.utils.data.dataloader as d; assert isinstance(iter(DataLoader([1])), d._SingleProcessDataLoaderIter)
from torch.utils.data import DataLoader; import torch.utils.data.dataloader as d; assert isinstance(iter(DataLoader([1], num_workers=1)), d._MultiProcessingDataLoaderIter)
from torch.distributed import nn as dist_nn, rpc; from torch.distributed.algorithms.join import Join, Joinable; assert not rpc.is_available()
import torch.distributed.autograd as a; from torch.distributed.autograd import context; assert not a.is_available()
from torch._tensor_str import PRINT_OPTS, _tensor_str, _add_suffixes, _str_intern; import torch; assert PRINT_OPTS.threshold == 1000 and _tensor_str(torch.ones(2), 0) == "[1., 1.]"
import torch; assert torch.ops.aten.mm.default(torch.eye(2), torch.ones(2, 2)).sum() == 4 and str(torch.ops.aten.add.Tensor) == "aten.add.Tensor"
import torch; a = torch.ops.aten; assert a.clone.default is a.clone.default and a.slice.Tensor(torch.arange(6), 0, 1, 5, 2).tolist() == [1, 3] and not hasattr(a, "not_an_op")
from torch._C._functorch import _add_batch_dim, is_batchedtensor, maybe_current_level, get_unwrapped; import torch; assert not is_batchedtensor(torch.ones(1)) and maybe_current_level() is None
import torch; assert not torch._C._are_functorch_transforms_active() and not torch._C._has_xpu and torch._C._get_accelerator().type == "cpu"
import torch; x = torch.arange(3); assert torch._C._is_alias_of(x, x[1:]) and not torch._C._is_alias_of(x, x + 1) and torch._C.Graph and torch._C.Value
import torch; assert torch.functional.einsum is torch.einsum and all(getattr(torch.functional, n) for n in torch.functional.__all__); from torch.functional import tensordot, norm
from torch import TensorType, DeviceObjType, IntType; import torch; assert torch._C.TensorType is TensorType and not isinstance(torch.ones(1), TensorType)
from torch.serialization import DEFAULT_PROTOCOL; assert DEFAULT_PROTOCOL == 2
from torch.ao.quantization import FakeQuantizeBase, ObserverBase; import torch; assert not isinstance(torch.nn.Linear(1, 1), (FakeQuantizeBase, ObserverBase))
from torch.fx.proxy import GraphAppendingTracer, Proxy; import torch; g = torch.fx.Graph(); x = Proxy(g.placeholder("x"), GraphAppendingTracer(g)); g.output((x + 1).node); assert "add" in str(g)
from torch.utils.data._utils.worker import _generate_state, get_worker_info; assert get_worker_info() is None and _generate_state(7, 1) == [4245214700, 4188902809, 2992820876, 349203223]
from torch.jit import _get_trace_graph; from torch.quasirandom import SobolEngine; assert SobolEngine.MAXDIM == 21201
import torch; p = torch.ones(2, requires_grad=True); g = torch.no_grad(); g.__enter__(); p.numpy()[0] = 5; a = p.view(-1).__array__(); g.__exit__(None, None, None); assert p.tolist() == [5, 1] == a.tolist()
from torch.utils.weak import WeakIdKeyDictionary as W, WeakTensorKeyDictionary, WeakIdRef, TensorWeakRef; import torch; a, b = torch.ones(2), torch.ones(2); d = W({a: 1}); d[b] = 2; c = d.copy(); assert d[a] == 1 and len(d) == 2 and d == c and torch.ones(2) not in d and 3 not in d; del a; assert len(d) == 1 and list(d.values()) == [2] and d.pop(b) == 2 and not d and [k is b for k in c] == [True]
from torch.utils._contextlib import _DecoratorContextManager as D; import torch; T = type("T", (D,), dict(__enter__=lambda s: log.append(1), __exit__=lambda s, *e: log.append(2))); log = []; f = T()(lambda: log.append(3)); f(); f(); assert log == [1, 3, 2] * 2, log
from torch.utils._contextlib import context_decorator; import torch; f = context_decorator(torch.no_grad, torch.is_grad_enabled); assert not f() and torch.is_grad_enabled()
from torch.utils.weak import WeakIdRef, TensorWeakRef; import torch; a = torch.ones(2); r = TensorWeakRef(a); assert WeakIdRef(a) == WeakIdRef(a) != WeakIdRef(torch.ones(2)) and r() is a; del a; assert r() is None
import torch; torch._assert_async(torch.tensor(1)); torch._assert_async(torch.tensor(True), "x")
import torch; i = torch.tensor([0, 0, 2]); c = torch._convert_indices_from_coo_to_csr(i, 4); assert c.tolist() == [0, 2, 2, 3, 3]
import torch; r = torch._convert_indices_from_csr_to_coo(torch.tensor([0, 2, 2, 3]), torch.tensor([1, 0, 2])); assert r.tolist() == [[0, 0, 2], [1, 0, 2]]
"""

failures = []
for line in LINES.strip().splitlines():
    try:
        exec(line, {"importlib": importlib})
    except Exception as error:
        failures.append(f"{line}\n    {type(error).__name__}: {error}")
assert not failures, "\n".join(failures)

import torch  # noqa: E402

for call, kind in (
    (lambda: torch._check(False), RuntimeError),
    (lambda: torch._check_index(False, lambda: "text"), IndexError),
    (lambda: torch._check(1), TypeError),
    (lambda: torch._check_tensor_all(torch.tensor([True, False]), "text"), RuntimeError),
    (lambda: torch.distributed.rpc.init_rpc("w"), NotImplementedError),
):
    try:
        call()
    except kind:
        continue
    raise AssertionError(f"{call} raises no {kind.__name__}")


# Libraries of distributions enter divergences for base classes of their own.
class Own:
    pass


class OwnNormal(torch.distributions.Normal, Own):
    pass


@torch.distributions.register_kl(OwnNormal, Own)
def _divergence(p, q):
    return torch.tensor(7.0)


assert torch.distributions.kl_divergence(OwnNormal(0.0, 1.0), OwnNormal(0.0, 1.0)) == 7


# An optimizer around another one, which doesn't call Optimizer.__init__.
class Around(torch.optim.Optimizer):
    def __init__(self, inner):
        self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = {}, {}
        self._patch_step_function()
        self.inner, self.defaults, self.state = inner, inner.defaults, {}

    @property
    def param_groups(self):
        return self.inner.param_groups

    def step(self, closure=None):
        return self.inner.step(closure)


p = torch.nn.Parameter(torch.ones(2))
around = Around(torch.optim.SGD([p], lr=0.5))
p.sum().backward()
around.step()
around.zero_grad()
assert p.tolist() == [0.5, 0.5] and p.grad is None


# A generator in a context: its body is inside, those who use it are not.
from torch.utils._contextlib import context_decorator  # noqa: E402


def echo():
    got = yield torch.is_grad_enabled()
    try:
        got = yield (torch.is_grad_enabled(), got)
    except ValueError:
        yield torch.is_grad_enabled(), "caught"
    return "end"


for thrown in (False, True):
    steps = context_decorator(torch.no_grad, echo)()
    assert next(steps) is False and torch.is_grad_enabled()
    assert steps.send(5) == (False, 5) and torch.is_grad_enabled()
    try:
        assert steps.throw(ValueError()) == (False, "caught") if thrown else steps.send(None)
        assert thrown and torch.is_grad_enabled()
    except StopIteration as end:
        assert not thrown and end.value == "end"
