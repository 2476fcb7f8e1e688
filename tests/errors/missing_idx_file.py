# run: --torch
"""A folder without the data."""

from torchvision.datasets import MNIST

MNIST("/nowhere")
