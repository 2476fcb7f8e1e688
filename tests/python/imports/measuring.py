# run: --torch
"""Profilers over wall time, Timer, marks for compilers, ops of the program's own, overrides, hub's folders."""

import json
import os
import pathlib
import tempfile
import time
import warnings

import torch
import torch.nn as nn
import torch.overrides
from torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule

warnings.simplefilter("ignore")
x = torch.arange(6.0).view(2, 3)
folder = pathlib.Path(tempfile.mkdtemp())


def profilers():
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        for _ in range(3):
            with record_function("outer"):
                time.sleep(0.002)
                with record_function("inner"):
                    time.sleep(0.004)
    averages = {event.key: event for event in prof.key_averages()}
    outer, inner = averages["outer"], averages["inner"]
    assert (outer.count, inner.count) == (3, 3)
    assert outer.cpu_time_total >= inner.cpu_time_total >= 12000 and inner.self_cpu_time_total == inner.cpu_time_total
    assert abs(outer.self_cpu_time_total - (outer.cpu_time_total - inner.cpu_time_total)) < 1
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=2)
    assert table.index("outer") < table.index("inner") and "Self CPU time total" in table
    prof.export_chrome_trace(str(folder / "trace.json"))
    assert {e["name"] for e in json.loads((folder / "trace.json").read_text())["traceEvents"]} == {"outer", "inner"}
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(i) for i in range(5)] == [
        ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE, ProfilerAction.NONE,
    ]  # fmt: skip
    ready, steps = [], []

    def on_ready(prof):
        ready.append([e.name for e in prof.events()])
        steps.append((prof.step_num, prof.current_action))

    with profile(schedule=plan, on_trace_ready=on_ready) as prof:
        for _ in range(6):
            x.sum()
            prof.step()
    assert ready == [["ProfilerStep*", "aten::sum"] * 2], ready
    assert steps == [(4, ProfilerAction.NONE)], steps
    with torch.autograd.profiler.profile() as old, torch.autograd.profiler.record_function("part"):
        x.sum()
    assert "part" in old.key_averages().table()


def timers():
    from torch.utils.benchmark import Compare, Timer

    timer = Timer("y.sum()", setup="y = x + 1", globals={"x": x}, label="sum", description="ours", num_threads=1)
    once, many = timer.timeit(50), timer.blocked_autorange(min_run_time=0.02)
    assert 0 < once.median < 0.1 and many.number_per_run >= 1 and sum(many.raw_times) >= 0.02
    assert "sum" in repr(many) and "ours" in str(Compare([once, many]))


def marks():
    @torch.jit.script
    def double(a):
        return a * 2

    assert double(x).equal(x * 2) and torch.jit.trace(double, (x,))(x).equal(x * 2)

    class Net(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward(self, a):
            return a + 1

        @torch.jit.ignore
        def other(self):
            return 5

        @torch.jit.unused
        @torch.jit.export
        def more(self):
            return 6

    assert Net()(x).equal(x + 1) and (Net().other(), Net().more()) == (5, 6)
    assert not torch.jit.is_scripting() and not torch.compiler.is_compiling()
    assert torch.compile(double, fullgraph=True)(x).equal(x * 2) and torch._dynamo.optimize("eager")(double) is double
    assert torch.compiler.disable(double)(x).equal(x * 2)
    layer = nn.Linear(3, 1)
    assert torch.compiler.disable(layer) is layer and layer(x).shape == (2, 1)
    torch.compiler.reset()
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        nn.functional.scaled_dot_product_attention(x, x, x)


def own_ops():
    @torch.library.custom_op("mine::cube", mutates_args=())
    def cube(a: torch.Tensor) -> torch.Tensor:
        return a * a * a

    try:
        cube(x.requires_grad_()).sum().backward()
    except RuntimeError as error:
        assert "no autograd formula was registered" in str(error)
    else:
        raise AssertionError("a gradient of an op without a backward")
    cube.register_autograd(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
    )
    cube(x).sum().backward()
    assert x.grad.equal(3 * x.detach() ** 2)
    x.requires_grad_(False)


def overriding():
    class Logged:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "taken"

    @torch.overrides.wrap_torch_function(lambda a: (a,))
    def f(a):
        return "plain"

    assert f(x) == "plain" and f(Logged()) == "taken"
    assert torch.overrides.has_torch_function((x, Logged())) and not torch.overrides.has_torch_function((x, nn.Parameter(x)))
    assert torch.overrides.is_tensor_like(Logged()) and not torch.overrides.is_tensor_like(3)

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunctionSubclass():
                return type(func(*args, **(kwargs or {}))).__name__

    assert x.as_subclass(Own) + 1 == "Own" or x.as_subclass(Own) + 1 == "Tensor"
    assert isinstance(x + 1, torch.Tensor)


def hub():
    (folder / "hubconf.py").write_text("def net(n):\n    'A number.'\n    return n + 1\n", encoding="utf-8")
    assert torch.hub.load(str(folder), "net", 4, source="local") == 5
    assert torch.hub.list(str(folder), source="local") == ["net"] and torch.hub.help(str(folder), "net", source="local") == "A number."
    torch.save({"w": x}, folder / "weights.pt")
    torch.hub.set_dir(str(folder / "cache"))
    for _ in range(2):
        loaded = torch.hub.load_state_dict_from_url((folder / "weights.pt").as_uri(), progress=False)
        assert loaded["w"].equal(x)
        if os.path.exists(folder / "weights.pt"):
            os.remove(folder / "weights.pt")  # the second time it comes from the cache


tests = (profilers, timers, marks, own_ops, overriding, hub)
for test in tests:
    test()
print(f"{len(tests)} passed")
