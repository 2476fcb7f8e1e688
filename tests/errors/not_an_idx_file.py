# run: --torch
"""Something else under the name of an image file."""

import os
import tempfile

from torchvision.datasets import MNIST

os.chdir(tempfile.mkdtemp())
for name in ("train-labels-idx1-ubyte", "train-images-idx3-ubyte"):
    with open(name, "wb") as file:
        file.write(b"<html>")
MNIST(".")
