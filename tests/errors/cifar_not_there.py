# run: --torch
"""A folder without the data, and nothing is downloaded."""

from torchvision.datasets import CIFAR10

CIFAR10("/nowhere", download=True)
