# run: --torch
"""Loading a file that is something else."""

import io

import torch

torch.load(io.BytesIO(b"hello"))
