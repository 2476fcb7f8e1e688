"""What --report and --trace say of a program whose graph ran beside it, or that was left to the frame tier by turns."""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for step in range(60):
    optimizer.zero_grad()
    loss = net(torch.randn(256, 64)).square().mean()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        total += loss.item()
    if step == 40:
        print(net[0].bias.sum() > 100)
"""
ITEM, LOOK = 12, 14  # lines


def lines(said, path):
    return {entry["line"]: entry for entry in said if os.path.samefile(entry["file"], path)}


with tempfile.TemporaryDirectory() as folder:
    path, report, trace = (os.path.join(folder, name) for name in ("program.py", "report.json", "trace.json"))
    with open(path, "w") as file:
        file.write(PROGRAM)
    command = [sys.executable, "--torch", "--capture=coexec", f"--report={report}", f"--trace={trace}", path]
    result = subprocess.run(command, env=os.environ | {"TERRA_RUNNER": "beside"}, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "tensor(False)\n", ""), result
    with open(report) as file:
        said = json.load(file)
    with open(trace) as file:
        events = json.load(file)["traceEvents"]

    (loop,) = said["segments"]
    assert os.path.samefile(loop["file"], path) and loop["line"] == 6, loop
    assert not loop["inline"] and loop["iterations_beside"] >= 50 and loop["jobs"] >= 2 * loop["iterations_beside"], loop
    assert loop["graph_runs"] > 0 and loop["runner_ms"] > 0 and loop["fetches"] >= 10, loop
    assert 0 <= loop["hidden_python_ms"] <= loop["runner_ms"], loop
    assert ITEM in lines(said["waits"], path) or loop["wait_ms"] < loop["runner_ms"] / 20, said["waits"]
    assert abs(sum(entry["ms"] for entry in said["waits"]) - loop["wait_ms"]) < 1e-3 + loop["wait_ms"] / 100, said["waits"]
    assert said["divergences"] > 0 and lines(said["diverged"], path)[LOOK]["times"] == 1, said["diverged"]

    (row,) = [e["tid"] for e in events if e["ph"] == "M" and e["args"]["name"] == "graph runner"]
    jobs = [e for e in events if e.get("cat") == "job"]
    assert 0 <= loop["jobs"] - len(jobs) <= 6, "but for those that were on their way when the program ended"
    assert {e["tid"] for e in jobs} == {row}
    for before, after in zip(jobs, jobs[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-3, "jobs run one after the other"
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert begins.keys() == ends.keys() and len(begins) == len(jobs)
    assert all(begins[k]["ts"] <= ends[k]["ts"] and begins[k]["tid"] != row == ends[k]["tid"] for k in begins)
    waited = [e for e in events if e.get("cat") == "waited"]
    assert len(waited) == sum(entry["times"] for entry in said["waits"])

    by_turns = {"TERRA_RUNNER": "turns", "TERRA_EXACT": "1"}
    command = [sys.executable, "--torch", "--capture=coexec", f"--report={report}", path]
    subprocess.run(command, env=os.environ | by_turns, capture_output=True, check=True, timeout=60)
    with open(report) as file:
        said = json.load(file)
    (loop,) = said["segments"]
    assert loop["iterations_beside"] > 5 and loop["iterations_in_frames"] > 5, loop
    assert loop["iterations"] + loop["iterations_in_frames"] < 60 and said["runs"]["frame"] > 10, said["runs"]
print("1 passed")
