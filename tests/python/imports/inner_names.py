# run: --torch
"""Names that PyTorch keeps for itself, and that public programs import all the same: copies of its code, workarounds."""

import warnings

warnings.simplefilter("ignore")
LINES = """
from torch.nn.functional import _in_projection, _in_projection_packed, _mha_shape_check, _canonical_mask, _none_or_dtype, _get_softmax_dim, _verify_batch_size
import torch; from torch.nn.functional import _in_projection_packed as f; x, w = torch.ones(2, 4), torch.eye(4).repeat(3, 1); assert [t.sum().item() for t in f(x, x, x, w)] == [8, 8, 8]
import torch; from torch.nn.functional import _canonical_mask as f; m = f(mask=torch.tensor([True, False]), mask_name="m", other_type=None, other_name="", target_type=torch.float32); assert m.tolist() == [float("-inf"), 0]
from torch.nn.modules.container import _addindent; from torch.nn.modules.module import _forward_unimplemented, _global_forward_hooks, _global_backward_hooks
from torch.nn.modules.transformer import _get_seq_len, _detect_is_causal_mask, _generate_square_subsequent_mask as f; assert _detect_is_causal_mask(f(3)) and not _detect_is_causal_mask(f(3) * 0) and _get_seq_len(f(3), True) == 3
from torch.nn.modules.rnn import apply_permutation; from torch.nn.modules.normalization import _shape_t
import torch; from torch import _VF; import torch._VF as vf; assert vf.tanh is torch.tanh and _VF.lstm is torch.lstm
import torch, torch.nn.utils.weight_norm as wn; assert wn is torch.nn.utils.weight_norm and callable(wn)
import torch; from torch.nn.utils.weight_norm import WeightNorm; from torch.nn.utils.spectral_norm import SpectralNorm; assert callable(torch.nn.utils.spectral_norm)
import torch; from torch.nn.parallel.data_parallel import DataParallel; assert callable(torch.nn.parallel.data_parallel)
import torch; from torch.nn.parallel.parallel_apply import parallel_apply, get_a_var; assert torch.nn.parallel.parallel_apply is parallel_apply and get_a_var([{"a": torch.ones(1)}]) == 1
from torch.nn.parallel.replicate import replicate; from torch.nn.parallel._functions import Scatter, Gather; from torch.cuda.comm import broadcast
import torch; from torch.autograd.gradcheck import gradcheck, GradcheckError; assert torch.autograd.gradcheck is gradcheck
from torch.autograd.anomaly_mode import detect_anomaly; from torch.autograd.function import FunctionMeta, _ContextMethodMixin
import torch; from torch.multiprocessing.spawn import spawn; assert torch.multiprocessing.spawn is spawn
from torch.optim.optimizer import Optimizer, required, ParamsT, StateDict, DeviceDict, _use_grad_for_differentiable, _get_value, _stack_if_compiling, _view_as_real
from torch.optim.optimizer import _default_to_fused_or_foreach, _get_scalar_dtype, _capturable_doc, _foreach_doc, _maximize_doc, _differentiable_doc, _params_doc
from torch.optim.lbfgs import _strong_wolfe, _cubic_interpolate; from torch.optim.lr_scheduler import EPOCH_DEPRECATION_WARNING; from torch.optim import _functional
from torch.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _precision_to_scale_tril; from torch.distributions.gamma import _standard_gamma
import torch; from torch._utils import _flatten_dense_tensors as f, _unflatten_dense_tensors as u; t = [torch.ones(2, 2), torch.zeros(3)]; assert [a.shape for a in u(f(t), t)] == [a.shape for a in t]
import torch; from torch._utils import _take_tensors; assert [len(c) for c in _take_tensors([torch.ones(4), torch.ones(4), torch.ones(4), torch.ones(1, dtype=torch.int64)], 32)] == [2, 1, 1]
import torch; from torch._utils import _rebuild_tensor_v2 as r; x = torch.arange(6.0); assert r(x.storage(), 2, (2, 2), (2, 1), False, None).tolist() == [[2, 3], [4, 5]]
from torch._utils import ExceptionWrapper, _get_device_index; assert _get_device_index(3) == 3
from torch._jit_internal import boolean_dispatch, List, Optional, Final, _overload_method, BroadcastingList2; from torch.jit.annotations import BroadcastingList3
import torch; from torch._jit_internal import boolean_dispatch as b; f = b("x", 1, False, lambda a, x=False: 1, lambda a, x=False: 2, __name__, "f"); assert (f(0), f(0, True), f(0, x=True), f.__name__) == (2, 1, 1, "f")
import time, torch; from torch.utils._pytree import is_structseq_class as c, is_structseq as b, is_structseq_instance as a; t = time.localtime(); r = torch.ones(2).max(0); assert a(t) and b(t) and c(type(t)) and b(r) and not a((1,)) and not a(tuple)
import torch; from torch._utils import _get_device_module as g; assert g("cuda") is torch.cuda and g("cpu") is torch.cpu
import torch; assert torch._C._is_tracing() is torch.jit.is_tracing() is False
import torch; from torch.nn.utils._named_member_accessor import swap_tensor as s; m = torch.nn.Linear(2, 1); w = m.weight; assert s(m, "weight", torch.ones(1, 2)) is w and m.weight.sum() == 2 and "weight" in m._parameters
import torch; from torch.nn.utils._named_member_accessor import NamedMemberAccessor as N; n = N(torch.nn.Sequential(torch.nn.Linear(2, 1))); n.set_tensor("0.bias", torch.ones(1)); assert n.get_tensor("0.bias") == 1 and n.check_keys(["0.bias", "x"]) == (["0.weight"], ["x"])
import torch; from torch._tensor import Tensor; assert Tensor is torch.Tensor is torch._C.TensorBase
import torch; torch._C._jit_set_profiling_executor(False); torch._C._jit_set_profiling_mode(False); torch._C._jit_override_can_fuse_on_gpu(True); torch._C._jit_set_nvfuser_enabled(True)
import torch; x = torch.ones(2, 3); assert torch._C._nn.gelu(x).shape == x.shape and torch._C._nn.linear(x, x).tolist() == [[3, 3], [3, 3]] and torch._C._nn.softplus(x)[0, 0] > 1
import torch; torch._inductor.config.coordinate_descent_tuning = True; import torch._inductor.config as c; assert c.coordinate_descent_tuning; c.coordinate_descent_tuning = False
import torch; from functorch import make_functional, vmap, grad; from torch._functorch.apis import vmap as v; from torch._vmap_internals import vmap as w; assert v is w is vmap is torch.func.vmap
from functorch.experimental import replace_all_batch_norm_modules_; from torch._functorch.eager_transforms import jvp, vjp
from torch.hub import _get_torch_home, tqdm, READ_DATA_CHUNK; assert _get_torch_home().endswith("torch") and list(tqdm([1, 2])) == [1, 2]
from torch.utils.data._utils.collate import np_str_obj_array_pattern; from torch.utils.data._utils.pin_memory import pin_memory
from torch.utils.collect_env import get_pretty_env_info; assert "Python version" in get_pretty_env_info()
from torch.serialization import default_restore_location, location_tag; import torch; s = torch.ones(2).storage(); assert default_restore_location(s, "cpu") is s and location_tag(s) == "cpu"
from torch.testing._internal.common_utils import TestCase, run_tests; import torch; t = TestCase(); t.assertEqual(torch.ones(2), torch.ones(2) + 1e-9); t.assertEqual([1.0], [1.0]); t.assertNotEqual(1.0, 2.0)
from torch.distributed.elastic.multiprocessing.errors import record; from torch.distributed.distributed_c10d import _get_default_group, all_reduce; assert record(len)([1]) == 1
import torch.cuda.profiler as p; p.start(); from torch.cuda.amp.grad_scaler import OptState; from torch.cuda.amp.autocast_mode import autocast
from torch.onnx.operators import shape_as_tensor; from torch.onnx.symbolic_helper import parse_args; import torch; assert shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
from torch.nn.attention.flex_attention import _mask_mod_signature, _score_mod_signature; from torch.backends.cuda import SDPBackend
import torch; assert torch._weight_norm(torch.eye(2) * 3, torch.ones(2, 1)).equal(torch.eye(2)) and torch._shape_as_tensor(torch.ones(3)) == 3 and torch._softmax(torch.zeros(2), 0, False)[0] == 0.5
import torch; from torch._higher_order_ops import scan; a = torch.arange(6.0).view(2, 3); s, o = scan(lambda c, x: (c + x, c * x), torch.zeros(2), a, dim=1, reverse=True); assert s.tolist() == [3, 12] and o.tolist() == [[0, 2, 0], [27, 20, 0]]
import torch; v, i, c = torch._unique2(torch.tensor([3, 1, 3]), return_inverse=True); assert v.tolist() == [1, 3] and i.tolist() == [1, 0, 1] and c.numel() == 0
"""

failures = []
for line in LINES.strip().splitlines():
    try:
        exec(line, {"__name__": "m"})
    except Exception as error:
        failures.append(f"{line}\n    {type(error).__name__}: {error}")
assert not failures, "\n".join(failures)
