# run: --torch
"""Trained weights, of which there are none."""

import os

from torchvision.models import resnet18

os.environ["TORCH_HOME"] = "/nowhere"
resnet18(weights="DEFAULT")
