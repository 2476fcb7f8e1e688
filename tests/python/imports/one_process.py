# run: --torch
"""A group of one process, wrappers for several devices, and processes that share tensors."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

x = torch.arange(6.0).view(2, 3)


def group():
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="localhost", MASTER_PORT="29500")
    dist.init_process_group("gloo")
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_initialized()) == (0, 1, "gloo", True)
    t = x.clone()
    dist.all_reduce(t, op=dist.ReduceOp.SUM)
    dist.broadcast(t, src=0)
    dist.barrier()
    work = dist.all_reduce(t, async_op=True)
    assert work.wait() and t.equal(x)
    parts = [torch.zeros(2, 3)]
    dist.all_gather(parts, t)
    assert parts[0].equal(x)
    row = torch.zeros(2, 3)
    dist.reduce_scatter(row, [x])
    assert row.equal(x)
    objects = [None]
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    model = DistributedDataParallel(nn.Linear(3, 1))
    with model.no_sync():
        model(x).sum().backward()
    assert model.module.weight.grad.equal(x.sum(0, keepdim=True))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    for wrong in (lambda: dist.init_process_group("gloo"), lambda: dist.new_group([0, 1]), lambda: dist.broadcast(t, src=1)):
        try:
            wrong()
        except ValueError:
            continue
        raise AssertionError("nothing was raised")
    dist.destroy_process_group()
    assert not dist.is_initialized()
    dist.init_process_group("gloo", init_method=f"file://{tempfile.mkdtemp()}/f", rank=0, world_size=1)
    dist.destroy_process_group()
    store = dist.PrefixStore("p", dist.HashStore())
    store.set("k", "v")
    assert store.get("k") == b"v" and store.add("n", 2) == 2


def data_parallel():
    torch.manual_seed(0)
    model = nn.DataParallel(nn.Linear(3, 2), device_ids=[0])
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    assert model(x).equal(model.module(x))


def add_one(i, shared, answers):
    shared += 1
    answers.put((i, shared.sum().item()))


def fails(i):
    raise ValueError(f"process {i} has had enough")


def fill(model, row):
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(7.0)
    row[0] = 9.0


def processes():
    shared = torch.zeros(3).share_memory_()
    assert shared.is_shared() and not torch.zeros(1).is_shared()
    answers = mp.get_context("spawn").SimpleQueue()
    mp.spawn(add_one, (shared, answers), nprocs=1)
    assert answers.get() == (0, 3.0) and shared.tolist() == [1.0, 1.0, 1.0]
    model = nn.Linear(2, 1)
    model.share_memory()
    child = mp.get_context("fork").Process(target=fill, args=(model, shared))
    child.start()
    child.join()
    assert child.exitcode == 0 and shared.tolist() == [9.0, 1.0, 1.0]
    assert model.weight.tolist() == [[7.0, 7.0]] and model.bias.tolist() == [7.0]
    queue = mp.SimpleQueue()
    queue.put(x[:, 1])
    arrived = queue.get()
    assert arrived.equal(x[:, 1]) and arrived.is_shared()
    parameter = nn.Parameter(torch.ones(2))
    queue.put(parameter)
    arrived = queue.get()
    assert isinstance(arrived, nn.Parameter) and arrived.requires_grad
    try:
        queue.put(parameter * 2)
    except RuntimeError as e:
        assert "detach()" in str(e)
    else:
        raise AssertionError("a tensor with history was sent")
    try:
        mp.spawn(fails, nprocs=1)
    except mp.ProcessRaisedException as e:
        assert "process 0 has had enough" in str(e) and e.error_index == 0
    else:
        raise AssertionError("nothing was raised")


if __name__ == "__main__":
    for test in (group, data_parallel, processes):
        test()
    print("3 passed")
