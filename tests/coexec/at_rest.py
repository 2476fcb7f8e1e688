"""A program that is left alone runs as it would without co-execution: its gradients take no more memory, and it says the
same."""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """\
import torch
x = torch.ones(16, 1 << 16, requires_grad=True)
for row in x.unbind(): (row * row).sum().backward(retain_graph=True)
x.grad = None
sum((row * row).sum() for row in x.unbind()).backward()
print(x.grad.sum().item())
"""


def run(path, capture):
    report = f"{path}.{capture}.json"
    command = [sys.executable, "--torch", f"--capture={capture}", f"--report={report}", path]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, ""), result
    with open(report) as file:
        said = json.load(file)
    assert said["ops"]["stub"] == 0, said["ops"]
    return result.stdout, said["peak_tensor_bytes"]


os.environ.pop("TERRA_RUNNER", None)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "program.py")
    with open(path, "w") as file:
        file.write(PROGRAM)
    plain, left_alone = run(path, "off"), run(path, "coexec")
    assert plain == left_alone, (plain, left_alone)
print("1 passed")
