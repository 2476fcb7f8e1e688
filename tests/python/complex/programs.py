# run: --torch
"""Programs of complex numbers train as in PyTorch, captured as they are by default: a layer of complex weights under SGD and
Adam, a filter in the frequency domain, a loss on spectrograms."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402


class ComplexLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.complex(wave(outputs, inputs), wave(outputs, inputs).flip(0)) * 0.3)
        self.bias = nn.Parameter(torch.zeros(outputs, dtype=torch.complex128))

    def forward(self, z):
        return z @ self.weight.T + self.bias


class SpectralFilter(nn.Module):
    """Each frequency of a signal by a complex number of its own, as in Fourier neural operators."""

    def __init__(self, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.complex(wave(modes), wave(modes).flip(0)) * 0.5)

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        low = spectrum[..., : self.modes] * self.weight
        out = torch.zeros_like(spectrum)
        out[..., : self.modes] = low
        return torch.fft.irfft(out, n=x.size(-1))


def trained(model, optimizer, loss_of, steps=12):
    losses = []

    def step():
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(steps):
        losses.append(step().item())
    return [losses, [p.detach() for p in model.parameters()]]


def programs():
    z = torch.complex(wave(8, 3), wave(8, 3).flip(1))
    wanted = z[:, :2] * (1 - 2j)

    def distance(model):
        return (model(z) - wanted).abs().pow(2).mean()

    for name, make in (
        ("SGD", lambda p: torch.optim.SGD(p, lr=0.05)), ("momentum", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01)),
        ("Adam", lambda p: torch.optim.Adam(p, lr=0.05)), ("AdamW", lambda p: torch.optim.AdamW(p, lr=0.05)),
    ):  # fmt: skip
        model = ComplexLinear(3, 2)
        yield name, trained(model, make(model.parameters()), distance)

    x = wave(4, 16)
    target = torch.roll(x, 1, -1)
    model = SpectralFilter(5)
    yield "filter", trained(model, torch.optim.Adam(model.parameters(), lr=0.1), lambda m: (m(x) - target).square().mean())

    window = torch.hann_window(8, dtype=torch.float64)
    layer = nn.Linear(32, 32, bias=False).double()
    with torch.no_grad():
        layer.weight.copy_(wave(32, 32) * 0.1)
    sound = wave(2, 32)

    def spectrogram(signal):
        return torch.stft(signal, 8, 4, window=window, return_complex=True).abs()

    goal = spectrogram(sound)
    yield "spectrogram", trained(layer, torch.optim.SGD(layer.parameters(), lr=0.01), lambda m: (spectrogram(m(sound)) - goal).abs().mean())[0]


check(list(programs()), __file__)
