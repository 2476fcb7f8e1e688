# run: --torch
"""torch.multiprocessing: the names of sharing strategies, and what says that memory is shared."""

import pathlib
import sys
import warnings

import torch
import torch.multiprocessing as mp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")
shared, own = torch.ones(3).share_memory_(), torch.ones(3)
LINES = """
sorted(mp.get_all_sharing_strategies()) | mp.get_sharing_strategy()
mp.set_sharing_strategy("file_system") | mp.get_sharing_strategy() | torch.ones(2).share_memory_().is_shared()
mp.set_sharing_strategy("file_descriptor") | mp.get_sharing_strategy()
shared.is_shared() | shared.storage().is_shared() | shared.untyped_storage().is_shared() | shared[1:].is_shared()
own.is_shared() | own.storage().is_shared() | own.untyped_storage().is_shared()
"""
items = list(outcomes(LINES, globals()))
try:
    mp.set_sharing_strategy("pigeon")
except AssertionError as error:
    items.append(("pigeon", str(error).split("{")[0]))
check(items, __file__)
