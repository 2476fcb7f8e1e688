# run: --torch
"""Folders of classes in which there are no images."""

import os
import tempfile

from torchvision.datasets import ImageFolder

os.chdir(tempfile.mkdtemp())
os.makedirs("train/cat")
ImageFolder("train")
