# run: --torch TERRA_EXACT=1
"""What profiles see of a captured step: runs of its graph, with steps that come from lines of the program."""

import pathlib
import tempfile

import torch
import torch.nn as nn
from torch.profiler import profile, record_function

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x, t = torch.randn(5, 6), torch.tensor([0, 1, 2, 1, 0])


def train_step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x) * 2 + 1, t)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(30):
    train_step()
with profile(record_shapes=True, with_stack=True) as p:
    for _ in range(4):
        with record_function("iteration"):
            train_step()
graphs = [e for e in p.events() if e.name == "terra::graph train_step"]
assert len(graphs) == 4 and all(e.cpu_parent.name == "iteration" for e in graphs), [e.name for e in p.events()]
for graph in graphs:
    steps = [e.name for e in graph.cpu_children]
    assert steps.count("aten::linear") == 2 and any(name.startswith("terra::fused(") for name in steps), steps
    first = next(e for e in graph.cpu_children if e.name == "aten::linear")
    assert first.input_shapes[:3] == [[5, 6], [8, 6], [8]] and "linear.py" in first.stack[0] and first.stack[0].endswith("train_step")
    assert any(__file__ in e.stack[0] for e in graph.cpu_children)
outside = [e for e in p.events() if e.name == "iteration"]
assert len(outside) == 4 and all("captured.py" in e.stack[0] and e.cpu_time_total > 0 for e in outside)
averages = {a.key: a for a in p.key_averages()}
assert averages["terra::graph train_step"].count == 4 and averages["aten::linear"].count == 8
assert averages["iteration"].cpu_time_total >= averages["terra::graph train_step"].cpu_time_total
by_line = p.key_averages(group_by_stack_n=1)
assert sum(a.count for a in by_line if a.key == "aten::linear") == 8 and "Source Location" in by_line.table(row_limit=3)
path = pathlib.Path(tempfile.mkdtemp()) / "stacks.txt"
p.export_stacks(str(path), "self_cpu_time_total")
assert all(line.rpartition(" ")[2].isdigit() for line in path.read_text().splitlines())

# Parts that are marked inside of what is captured: seen while a profile runs, before and behind it nothing is missed.


def marked(x):
    with record_function("outer"):
        y = net(x)
        with record_function("inner"):
            return y.sum() * 2


def count_marked():
    with profile() as p:
        for _ in range(12):
            marked(x)
    return [(a.key, a.count) for a in p.key_averages() if a.key in ("outer", "inner")]


for _ in range(20):
    wanted = marked(x)
assert count_marked() == [("outer", 12), ("inner", 12)], count_marked()
for _ in range(20):
    assert marked(x).equal(wanted)
assert count_marked() == [("outer", 12), ("inner", 12)]

# Profiles inside of each other see what runs while they do, of the inner one the parts outside of it are unknown.
with profile() as outer:
    with record_function("around"):
        with profile() as inner, record_function("within"):
            x.sum()
    x.mean()
assert [e.name for e in inner.events() if "::" not in e.name] == ["within"] and inner.events()[0].cpu_parent is None
names = [e.name for e in outer.events()]
assert names[:2] == ["around", "within"] and "aten::mean" in names and outer.events()[1].cpu_parent.name == "around"
# What runs without a profile is not seen, and a part that was entered before stays unseen.
with record_function("early"):
    with profile() as p:
        train_step()
assert all(e.name != "early" for e in p.events())
before = len(p.events())
train_step()
assert len(p.events()) == before
print("23 passed")
