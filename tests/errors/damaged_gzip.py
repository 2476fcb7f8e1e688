# run: --torch
"""A compressed image file that is cut off."""

import gzip
import os
import tempfile

from torchvision.datasets import MNIST

os.chdir(tempfile.mkdtemp())
with open("train-labels-idx1-ubyte", "wb") as file:
    file.write(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
with open("train-images-idx3-ubyte.gz", "wb") as file:
    file.write(gzip.compress(bytes(1000))[:20])
MNIST(".")
