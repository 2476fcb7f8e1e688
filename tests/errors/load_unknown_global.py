# run: --torch
"""A saved object of a type that is not on the list."""

import io
import pathlib

import torch

file = io.BytesIO()
torch.save(pathlib.PurePosixPath("a"), file)
file.seek(0)
torch.load(file)
