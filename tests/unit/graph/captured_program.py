"""Writes the program files that file_test.cpp runs: `terra-run captured_program.py FOLDER`."""

import sys

import terra
from terra import nn

folder = sys.argv[1]


class Model(nn.Module):
    """Weights, a buffer that each run writes, a constant, a result in a dict, and Python that no graph knows."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(16, 3)
        self.scale = terra.tensor([1.0, -2.0, 0.5])

    def forward(self, x, *, repeat):
        h = x
        for layer in sorted([self.convolution, self.norm], key=lambda m: type(m).__name__, reverse=True):
            h = layer(h) if layer is not self.norm else h
        h = self.norm(h).relu()
        h = nn.functional.max_pool2d(h, 2)
        for _ in range(repeat):
            h = h * 0.5 + 1
        return {"scores": self.head(h.flatten(1)) * self.scale, "hidden": h}


terra.manual_seed(7)
model = Model()
x = terra.randn(2, 1, 6, 6)
exported = terra.export.export(model, (x,), {"repeat": 2})
terra.export.save(exported, f"{folder}/model.safetensors")
runs = []
for _ in range(2):
    result = exported.module()(x, repeat=2)
    runs += [result["scores"], result["hidden"], model.norm.running_mean.clone()]
expected = terra.export.export(lambda: (x, *runs), ())
terra.export.save(expected, f"{folder}/expected.safetensors")
