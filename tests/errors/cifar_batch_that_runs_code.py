# run: --torch
"""A batch that would call a function of the system."""

import os
import pickle
import tempfile

from torchvision.datasets.cifar import read_batch


class Call:
    def __reduce__(self):
        return os.system, ("echo run",)


os.chdir(tempfile.mkdtemp())
with open("data_batch_1", "wb") as file:
    pickle.dump({"data": Call()}, file)
read_batch("data_batch_1")
