"""terra-run --coverage: which names of torch a program uses, by its text, and which are absent."""

import os
import pathlib
import subprocess
import sys
import tempfile

FILES = {
    "train.py": """
        import torch, torch.nn as nn
        import torch.nn.functional as F
        from torch import optim
        from torch.nowhere import thing
        from models.net import Net
        import helpers, json
        raise SystemExit("it ran")
        """,
    "models/__init__.py": "",
    "models/net.py": """
        from torch import nn
        from .parts import block
        from ..helpers import nothing
        Layer = nn.Linear
        class Net(nn.Module):
            def forward(self, x, activation=nn.functional.relu):
                return Layer(activation(x)) + nn.NoSuchLayer(x)
        """,
    "models/parts.py": """
        import torch
        def block(nn, x):
            nn.anything(x)
            torch = x
            return torch.also_anything
        def other():
            return torch.zeros(1, dtype=torch.float32.whatever), torch.Tensor.no_such_method
        """,
    "helpers.py": """
        import torchvision.transforms as T
        try:
            from torch.elsewhere import quick
        except ImportError:
            import torch
            quick = getattr(torch, "not_there", None) or torch.ones
        if hasattr(torch, "compile_it"):
            torch.compile_it()
        T.Resize, T.NoTransform
        """,
    "good.py": "import torch\nprint(torch.ones(2).sum())\n",
    "hollow.py": "import torch\ntorch.onnx.export\n",
    "wrong.py": "def (:\n",
}


def coverage(*arguments):
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def section(text, title):
    """The names of a part of the report, with what stands behind them."""
    rows = text.partition(f"\n{title}\n")[2].partition("\n\n")[0].splitlines()
    return {row.split()[1]: " ".join(row.split()[2:]) for row in rows if row.split()[0].isdigit()}


with tempfile.TemporaryDirectory() as folder:
    for name, text in FILES.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        lines = text.splitlines()
        path.write_text("\n".join(line[8:] if line.startswith(" " * 8) else line for line in lines[lines[:1] == [""] :]))
    os.chdir(folder)

    status, text, _ = coverage("--torch", "--coverage", "train.py", "--epochs", "3")
    assert status == 1 and "it ran" not in text, text
    assert text.startswith("train.py and 4 local files: "), text
    assert section(text, "absent") == {
        "torch.Tensor.no_such_method": "models/parts.py:7",
        "torch.nn.NoSuchLayer": "models/net.py:7",
        "torch.nowhere": "train.py:4",
        "torchvision.transforms.NoTransform": "helpers.py:9",
    }, text
    assert section(text, "absent, and the program is prepared for it (try, hasattr)") == {
        "torch.compile_it": "helpers.py:7, 8",
        "torch.elsewhere": "helpers.py:3",
        "torch.not_there": "helpers.py:6",
    }, text
    there = section(text, "there")
    assert there["torch.nn.Linear"] == "models/net.py:4, 7" and there["torch.optim"] == "train.py:3", there
    assert {"torch.ones", "torch.zeros", "torch.nn.functional.relu", "torchvision.transforms.Resize"} <= set(there), there
    assert not any("anything" in name for name in there), there
    assert "torch.nn.NoSuchLayer is not in Terra yet" in text

    status, text, _ = coverage("--coverage", "good.py")  # the names count with and without --torch
    assert status == 0 and text.startswith("good.py: 2 names of torch, 2 there, 0 absent\n"), text
    status, text, _ = coverage("--coverage", "hollow.py")  # what only says that it is not there is absent
    assert status == 1 and "torch.onnx.export: Terra does not read or write ONNX files" in text, text
    for arguments in (["--coverage"], ["--coverage", "missing.py"], ["--coverage", "wrong.py"]):
        status, text, errors = coverage(*arguments)
        assert status == 2 and errors.startswith("terra-run: "), (arguments, status, text, errors)
assert "--coverage" in coverage("--help-terra")[1]
print("10 passed")
