# run: --torch TERRA_EXACT=1 TERRA_RUNNER=inline
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=beside
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=turns
"""What is put off and computed together holds no more memory at once than op by op: a result goes with its last reader."""
import torch
from torch import nn

import terra
from _harness import compare, run_tests

DEPTH, SHARE = 24, 1.3  # of the peak of plain execution: the bytes of an iteration's inputs and of what runs ahead


def peak():
    return terra.capture.stats()["peak_tensor_bytes"]


def chain():
    """Nothing is kept: two results are alive at a time, of DEPTH."""
    said, x = [], torch.randn(1 << 18)
    for _ in range(12):
        h = x
        for _ in range(DEPTH):
            h = torch.sin(h + 0.5)
        x = h
        said.append(x.sum().item())
    return said


def training():
    """The backward pass gives back, layer by layer, what the forward pass has saved."""
    layers = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(DEPTH // 2)))
    optimizer, said = torch.optim.SGD(layers.parameters(), lr=0.01), []
    for _ in range(12):
        loss = layers(torch.randn(2048, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        said.append(loss.item())
    return said


peaks = []


def bounded(program):
    def test():
        compare(watched)
        plain, coexec = peaks[-2:]
        assert coexec <= plain * SHARE, f"{coexec >> 20} MB co-executed, {plain >> 20} MB op by op"

    def watched():
        said = program()
        peaks.append(peak())
        return said

    test.__name__ = watched.__name__ = program.__name__
    return test


run_tests([bounded(chain), bounded(training)])
