# run: --torch --capture=off
"""What profiles see of a program that runs plainly: names, nesting, shapes, tables, schedules, as PyTorch's do."""

import json
import pathlib
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import _oracle  # noqa: E402

x = torch.linspace(-1, 1, 12).view(3, 4)
w = torch.linspace(0, 1, 8).view(4, 2).requires_grad_()
items = []


def step():
    with record_function("forward"):
        with record_function("product"):
            y = torch.mm(x, w)
        y = torch.tanh(y)
    y.sum().backward()
    x.mul_(1.0)


def profiled(**wishes):
    with profile(activities=[ProfilerActivity.CPU], **wishes) as p:
        step()
        step()
    return p


NAMES = (
    "forward", "product", "aten::mm", "aten::tanh", "aten::sum", "aten::mul_", "aten::tanh_backward", "MmBackward0", "TanhBackward0",
    "SumBackward0", "torch::autograd::AccumulateGrad", "autograd::engine::evaluate_function: MmBackward0",
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
)  # fmt: skip
p = profiled(record_shapes=True, profile_memory=True)
events = [e for e in p.events() if e.name in NAMES]
shapes = lambda e: "" if e.key in ("aten::sum", "SumBackward0") else e.input_shapes  # noqa: E731  ops with other optional arguments
items += [(e.name, [e.cpu_parent.name if e.cpu_parent else "", shapes(e)]) for e in events]
items += [(a.key, a.count) for a in p.key_averages() if a.key in NAMES]
by_shape = [a for a in p.key_averages(group_by_input_shape=True) if a.key in NAMES]
items += [(a.key, [a.count, shapes(a)]) for a in by_shape]
for e in p.events():
    assert 0 <= e.time_range.start <= e.time_range.end and e.cpu_time_total == e.time_range.elapsed_us()
    assert e.self_cpu_time_total <= e.cpu_time_total + 1e-6 and e.thread > 0 and e.count == 1
    for child in e.cpu_children:
        assert child.cpu_parent is e and e.time_range.start <= child.time_range.start and child.time_range.end <= e.time_range.end
begun = [e.time_range.start for e in p.events()]
assert begun == sorted(begun)
whole = {a.key: a for a in p.key_averages()}
assert whole["forward"].cpu_time_total >= whole["product"].cpu_time_total >= whole["aten::mm"].cpu_time_total / 2
assert whole["aten::mm"].cpu_memory_usage > 0 and abs(sum(a.self_cpu_time_total for a in whole.values()) - p.key_averages().self_cpu_time_total) < 1e-3

# ---- tables ----

for wishes in ({}, {"record_shapes": True}, {"profile_memory": True}, {"record_shapes": True, "profile_memory": True}):
    p = profiled(**wishes)
    lines = p.key_averages(group_by_input_shape="record_shapes" in wishes).table(sort_by="self_cpu_time_total", row_limit=3).split("\n")
    items += [(f"columns {wishes}", lines[1].split()), ("lines", [len(lines), lines[-2].rpartition(" ")[0], lines[-1]])]
    rules = [line for line in lines if set(line) <= set("- ") and line]
    assert len({len(line) for line in lines[:-2]}) == 1 and len(rules) == 3
    assert p.key_averages().table() == p.key_averages().table(row_limit=-1) and "forward" in str(p.key_averages())
for sort in ("cpu_time_total", "cpu_time", "count", "self_cpu_memory_usage", "cpu_memory_usage", "device_time_total", "self_device_time_total"):
    rows = p.key_averages().table(sort_by=sort, header="what took long").split("\n")
    items.append((f"sorted by {sort}", [len(rows) > 10, rows[1]]))
longest = "a name of a part that is longer than the widest column of names, which is cut"
with profile() as p:
    with record_function(longest):
        x.sum()
items.append(("cut", [line.split("  ")[0].strip() for line in p.key_averages().table(max_name_column_width=30).split("\n") if "..." in line]))
items.append(("empty", torch.autograd.profiler_util.EventList().table()))
total = p.key_averages().total_average()
items.append(("total", [total.key, total.count > 1]))

# ---- schedules ----

seen = []


def ready(p):
    seen.append([p.step_num, [(e.name, e.cpu_parent is None) for e in p.events() if "Step" in e.name or e.name in ("aten::mm", "forward")]])


with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as p:
    for _ in range(9):
        with record_function("forward"):
            torch.mm(x, w)
        p.step()
items += [("ready", s) for s in seen]
items.append(("average of steps", [(a.key, a.count) for a in p.key_averages() if "Step" in a.key]))
items.append(("name of a step", [e.trace_name for e in p.events() if "Step" in e.name]))


@record_function("decorated")
def part():
    x.sum()


with torch.autograd.profiler.profile(record_shapes=True) as old:
    part()
    part()
    try:
        with record_function("failing"):
            raise KeyError("x")
    except KeyError:
        pass
with record_function("outside"):
    pass
items.append(("old", [(e.name, e.cpu_parent.name if e.cpu_parent else "") for e in old.function_events if "::" not in e.name]))
with torch.autograd.profiler.profile(enabled=False) as none:
    x.sum()
items.append(("not enabled", none is None))
folder = pathlib.Path(tempfile.mkdtemp())
p = profiled(with_stack=True)
p.export_chrome_trace(str(folder / "trace.json"))
traced = json.loads((folder / "trace.json").read_text())["traceEvents"]
names = {e["name"] for e in traced if e.get("ph") == "X"}
items.append(("traced", [name in names for name in NAMES]))
for act in ("p.key_averages().table(sort_by='nothing')", "profile().events()", "profile().key_averages()"):
    items += [(act, text) for _, text in _oracle.outcomes(act, globals())]

_oracle.check(items, __file__)
print(f"{len(items)} passed")
