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
from torch._tensor_str import PRINT_OPTS, _tensor_str, _add_suffixes, _str_intern; import torch; assert PRINT_OPTS.threshold == 1000 and _tensor_str(torch.ones(2), 0) == "[1., 1.]"
import torch; assert torch.ops.aten.mm.default(torch.eye(2), torch.ones(2, 2)).sum() == 4 and str(torch.ops.aten.add.Tensor) == "aten.add.Tensor"
import torch; a = torch.ops.aten; assert a.clone.default is a.clone.default and a.slice.Tensor(torch.arange(6), 0, 1, 5, 2).tolist() == [1, 3] and not hasattr(a, "not_an_op")
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
