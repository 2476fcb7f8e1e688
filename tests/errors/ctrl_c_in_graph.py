# run: --torch
"""Ctrl-C in the middle of captured steps: the interrupted step happened as a whole or not at all."""

import os
import signal
import threading

import torch

layer = torch.nn.Linear(256, 256, bias=False)
layer.weight.data.fill_(0.0)
steps = 0


def step(x):
    global steps
    for _ in range(20):
        y = layer(x).relu()
    layer.weight.data.add_(1.0)
    steps += 1
    return y.sum()


x = torch.ones(64, 256)
for _ in range(20):
    step(x)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        step(x)
except KeyboardInterrupt:
    values = set(layer.weight.flatten().tolist())
    whole = len(values) == 1 and abs(values.pop() - steps) <= 1
    raise RuntimeError(f"interrupted, steps whole: {whole}") from None
