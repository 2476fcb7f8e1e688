# run: --torch
"""An image file that is cut off."""

import os
import struct
import tempfile

from torchvision.datasets import MNIST

os.chdir(tempfile.mkdtemp())
with open("train-labels-idx1-ubyte", "wb") as file:
    file.write(struct.pack(">II", 0x801, 2) + bytes([3, 4]))
with open("train-images-idx3-ubyte", "wb") as file:
    file.write(struct.pack(">IIII", 0x803, 2, 28, 28) + bytes(1000))
MNIST(".")
