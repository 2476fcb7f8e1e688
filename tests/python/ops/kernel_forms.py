# run: --torch
"""Functions that take the arguments of PyTorch's kernels, histograms of points, files as memory: as PyTorch's."""

import os
import pathlib
import sys
import tempfile
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

warnings.simplefilter("ignore")
FILE = os.path.join(tempfile.mkdtemp(), "numbers")


def seeded(function, *arguments):
    torch.manual_seed(3)
    return function(*arguments)


def written():
    """What a shared mapping leaves in the file, and a private one doesn't."""
    shared, private = torch.from_file(FILE, True, 4), torch.from_file(FILE, False, 4)
    shared[1], private[2] = 7, 9
    return shared.clone(), private, torch.from_file(FILE, size=2, dtype=torch.float64).dtype, len(open(FILE, "rb").read())


def outcome_without_path(function, *arguments):
    try:
        return function(*arguments)
    except RuntimeError as error:
        return str(error).replace(FILE, "FILE")


NAMES = {
    "torch": torch, "x": wave(2, 4, 6), "w": wave(4, 3), "i": torch.tensor([0, 1, 2, 1]), "o": torch.tensor([0, 2, 2]), "ends": torch.tensor([0, 2, 4]), "wave": wave,
    "points": wave(9, 2), "seeded": seeded, "written": written, "FILE": FILE, "grid": wave(1, 2, 3, 2), "image": wave(1, 2, 4, 4),
    "volume": wave(1, 1, 2, 3, 4), "places": wave(1, 2, 2, 2, 3), "calm": outcome_without_path, "ones": torch.ones,
}  # fmt: skip
items = list(
    outcomes(
        """
torch.embedding_bag(w, i, o) | torch.embedding_bag(w, i, o, False, 1) | torch.embedding_bag(w, i, o, False, 2)
torch.embedding_bag(w, i, o, False, 0, False, wave(4)) | torch.embedding_bag(w, i, ends, False, 0, False, None, True)
torch.embedding_bag(w, i, o, False, 1, False, None, False, 1) | torch.embedding_bag(w.float(), i, ends, False, 2, False, None, True)[0] | torch.embedding_bag(w.float(), i, o)
torch.embedding_renorm_(w.clone(), i, 0.5, 2.0) | torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
torch.native_group_norm(x, wave(4), wave(4), 2, 4, 6, 2, 1e-5) | torch.native_batch_norm(x, None, None, wave(4), wave(4) ** 2, False, 0.1, 1e-5)[0]
torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5, out=[x.new_zeros(n) for n in (x.shape, 4, 4)])
torch.convolution(x, wave(2, 4, 3), None, (2,), (1,), (1,), False, (0,), 1) | torch.convolution(x, wave(4, 2, 3), wave(2), (2,), (1,), (1,), True, (1,), 1)
torch.convolution(image, wave(2, 1, 3, 3), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 2) | torch._chunk_cat([ones(2, 2), ones(3, 2)], 0, 2)
torch.grid_sampler_2d(image, grid, 0, 0, False) | torch.grid_sampler_2d(image, grid, 1, 1, True) | torch.grid_sampler_3d(volume, places, 0, 2, False)
seeded(torch.feature_dropout_, x.clone(), 0.5, True) | seeded(torch.alpha_dropout_, x.clone(), 0.5, True)
seeded(torch.feature_alpha_dropout_, x.clone(), 0.5, True) | torch.feature_dropout_(x.clone(), 0.5, False)
torch.native_dropout(x, 0.5, False)[1].all() | torch.native_dropout(x, 1.0, True)
torch.histogramdd(points, 3) | torch.histogramdd(points, [2, 3], density=True) | torch.histogramdd(points, [2, 3], range=[-1.0, 1.0, 0.0, 0.5])
torch.histogramdd(points, [torch.tensor([-1.0, 0.0, 2.0]).double(), torch.tensor([-1.0, 1.0]).double()], weight=wave(9))
torch.histogramdd(points.reshape(3, 3, 2), 2, weight=ones(3, 3).double()) | torch.histogramdd(ones(0, 2), 2) | torch.histogramdd(ones(3, 1), 2)
torch.histogramdd(points, [2]) | torch.histogramdd(points, [2, 0]) | torch.histogramdd(points, [2, 2], range=[0.0, 1.0])
torch.histogramdd(points, [2, 2], range=[3.0, 1.0, 0.0, 1.0]) | torch.histogramdd(ones(3, 2), 2, weight=ones(2)) | torch.histogramdd(ones(3), 2) | torch.histogramdd(i[:, None], 2)
torch.from_file(FILE, shared=True, size=4) | written() | calm(torch.from_file, FILE, False, 40)
torch.from_file("/there/is/no/such", size=2) | torch.from_file(FILE, size=0)
""",
        NAMES,
    )
)
check(items, __file__)
