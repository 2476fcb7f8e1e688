"""How the names terra, torch and torchvision are found, with a package of our own making beside a copy of terra-run."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGE = {
    "terra/__init__.py": "from . import nn\n",
    "terra/nn/__init__.py": "from . import functional\nclass Linear:\n    pass\n",
    "terra/nn/functional.py": "",
    "terra/nn/lazy.py": "",
    "terra/broken.py": "import no_such_module\n",
    "terra/vision/__init__.py": "",
    "terra/vision/datasets.py": "",
}

ALIASES = """
import torch, torch.nn as nn, torch.nn.functional as F, torch.nn.lazy, torchvision
from torch.nn import Linear
from torchvision import datasets
import importlib, pickle, sys, terra, threading
assert torch is terra and nn is terra.nn and F is terra.nn.functional
assert sys.modules["torch.nn.lazy"] is sys.modules["terra.nn.lazy"] is torch.nn.lazy
assert (nn.__name__, nn.__spec__.name, nn.__package__) == ("terra.nn",) * 3
assert torchvision is sys.modules["terra.vision"] and datasets.__name__ == "terra.vision.datasets"
assert b"terra.nn" in pickle.dumps(Linear) and pickle.loads(pickle.dumps(Linear)) is terra.nn.Linear
assert pickle.loads(b"ctorch.nn\\nLinear\\n.") is Linear
for name, missing in [("torch.cuda", "torch.cuda"), ("torch.nn.x.y", "torch.nn.x"), ("torch.broken", "no_such_module")]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == missing, error
    else:
        raise AssertionError(name)
assert importlib.reload(terra) is terra and importlib.import_module("torch.nn") is nn
"""

SPAWNED = """
import multiprocessing, torch
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    child = multiprocessing.Process(target=print, args=(torch.nn.Linear,))
    child.start()
    child.join()
"""

with tempfile.TemporaryDirectory() as folder:
    home, elsewhere = pathlib.Path(folder, "home"), pathlib.Path(folder, "elsewhere")
    for name, text in PACKAGE.items():
        path = home / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / "bin").mkdir()
    elsewhere.mkdir()
    program = shutil.copy(os.path.realpath(sys.executable), home / "bin")

    def run(*arguments, **variables):
        return subprocess.run([program, *arguments], cwd=elsewhere, env=os.environ | variables, capture_output=True,
                              text=True)

    def succeeds(*arguments, **variables):
        result = run(*arguments, **variables)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    where = "import terra; print(terra.__file__)"
    ours = str(home / "lib/terra/__init__.py")
    succeeds("--torch", "-c", ALIASES)
    assert succeeds("-ISc", where) == ours
    assert run("-c", "import torch", PYTHONPATH="/nowhere").stderr.rstrip().endswith("No module named 'torch'")

    # A child has the names of its parent, whichever way it was started.
    (elsewhere / "spawned.py").write_text(SPAWNED)
    assert succeeds("--torch", "spawned.py") == "<class 'terra.nn.Linear'>"

    # A folder that merely has our name is not taken for us; a module of the user's is, as anywhere on sys.path.
    (elsewhere / "terra").mkdir()
    assert succeeds("-c", where) == ours
    (elsewhere / "terra.py").write_text("")
    assert succeeds("-c", where) == str(elsewhere / "terra.py")

    # An installed torchvision stays.
    (elsewhere / "torchvision.py").write_text("")
    (elsewhere / "terra.py").unlink()
    which = "import torchvision; print(torchvision.__name__)"
    assert succeeds("--torch", "-c", which) == "torchvision"

    # One with a compiled part, which needs PyTorch's libraries, does not.
    (elsewhere / "torchvision.py").unlink()
    (elsewhere / "torchvision").mkdir()
    (elsewhere / "torchvision/__init__.py").write_text("from . import _C")
    (elsewhere / "torchvision/_C.so").write_bytes(b"")
    assert succeeds("--torch", "-c", which) == "terra.vision"
print("8 passed")
