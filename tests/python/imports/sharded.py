# run: --torch
"""FSDP, checkpoints and meshes of a group of one process: the module trains as it does alone, a checkpoint comes back in
place, and what needs others says so."""

import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy, StateDictType, fully_shard
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy


def refused(call, kind, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("accepted")


refused(lambda: FSDP(nn.Linear(2, 1)), ValueError, "Default process group has not been initialized")
mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
assert dist.is_initialized() and mesh.shape == (1, 1) and mesh.ndim == 2 and mesh["data"].ndim == 1
assert mesh.get_coordinate() == [0, 0] and mesh.get_group("model").size() == 1 and mesh.get_local_rank("data") == 0
refused(lambda: init_device_mesh("cpu", (2,)), RuntimeError, "groups of one process")
refused(lambda: mesh["pipe"], KeyError, "pipe")

torch.manual_seed(0)
alone = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
torch.manual_seed(0)
wrapped = FSDP(
    nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), sharding_strategy=ShardingStrategy.FULL_SHARD,
    auto_wrap_policy=size_based_auto_wrap_policy, device_id=None,
)  # fmt: skip
x = torch.randn(5, 3)
optimizers = []
for model in (alone, wrapped, fully_shard(alone, mesh=mesh)):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizers.append(optimizer)
    if model is wrapped or not optimizers[1:]:
        model(x).pow(2).sum().backward()
        optimizer.step()
for a, b in zip(alone.parameters(), wrapped.module.parameters()):
    assert a.equal(b)
assert wrapped.clip_grad_norm_(0.5) > 0.5 and StateDictType.FULL_STATE_DICT
assert fully_shard(alone) is alone and transformer_auto_wrap_policy(nn.Linear(1, 1), False, 0, {nn.Linear})
refused(lambda: FSDP(alone, mixed_precision=MixedPrecision(param_dtype=torch.bfloat16)), NotImplementedError, "autocast")

with tempfile.TemporaryDirectory() as folder:
    dcp.save({"model": alone.state_dict(), "optimizer": optimizers[0], "step": 3}, checkpoint_id=folder)
    other = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    state = {"model": other.state_dict(), "step": 0}
    dcp.load(state, storage_reader=dcp.FileSystemReader(folder))
    assert state["step"] == 3 and all(a.equal(b) for a, b in zip(alone.parameters(), other.parameters()))
    refused(lambda: dcp.load({"nothing": 1}, checkpoint_id=folder), RuntimeError, "Missing key in checkpoint")
    refused(lambda: dcp.load({"model": {"0.weight": torch.ones(1)}}, checkpoint_id=folder), ValueError, "size (1,)")
refused(lambda: dcp.load({}, checkpoint_id=folder), RuntimeError, "no checkpoint that Terra wrote")
refused(lambda: dcp.async_save({}), NotImplementedError, "torch.distributed.checkpoint.async_save")
refused(lambda: dist.P2POp(dist.isend, x, 0), NotImplementedError, "nobody to exchange messages with")
dist.destroy_process_group()
print("passed")
