"""Transcripts against PyTorch's. A test builds a list of (name, value) with `import torch`; PyTorch's values lie beside it
in a .txt file. Where TERRA_TORCH_PYTHON names a python that has PyTorch, its values are computed anew.

    PYTHON tests/python/nn/layers.py record     # with PyTorch: writes the file"""

import os
import pathlib
import re
import subprocess
import sys

import torch

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+|nan|inf)(?![\w])")
RELATIVE, ABSOLUTE = 1e-4, 1e-5


def text_of(value):
    if isinstance(value, torch.Tensor):
        kind = str(value.dtype).split(".")[-1]
        return f"{kind}{list(value.shape)} " + text_of(value.detach().flatten().tolist())
    if isinstance(value, float):
        return f"{value:.6e}" if 0 < abs(value) < 1e-3 else f"{value:.7g}"
    if isinstance(value, complex):
        return f"<{text_of(value.real)} {text_of(value.imag)}>"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return str(value).replace("terra.", "torch.").replace("\n", "\\n")


def same(want, got):
    if NUMBER.sub("#", want) != NUMBER.sub("#", got):
        return False
    for a, b in zip(NUMBER.findall(want), NUMBER.findall(got)):
        if a != b:
            x, y = float(a), float(b)
            if not abs(x - y) <= ABSOLUTE + RELATIVE * abs(x):
                return False
    return True


def wave(*size):
    """Numbers that are the same everywhere."""
    count = 1
    for n in size:
        count *= n
    i = torch.arange(count, dtype=torch.float64)
    return (torch.sin(i * 1.7) + 0.3 * torch.cos(i * i * 0.31)).reshape(size)


def outcomes(expressions, names):
    """(text, value or error) of expressions over these names, which stand in lines, divided by bars."""
    for text in (part.strip() for line in expressions.strip().split("\n") for part in line.split(" | ")):
        try:
            yield text, eval(text, names)
        except Exception as error:
            yield text, f"{type(error).__name__} {error}"


def check(items, path):
    """Compares the items with the file beside `path`, or writes it."""
    lines = [f"{name}: {text_of(value)}" for name, value in items]
    path = pathlib.Path(path)
    recorded = path.with_suffix(".txt")
    if sys.argv[1:] == ["record"]:
        recorded.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    if sys.argv[1:] == ["print"]:
        print("\n".join(lines))
        return
    oracle = os.environ.get("TERRA_TORCH_PYTHON")
    if oracle:
        result = subprocess.run([oracle, str(path), "print"], capture_output=True, text=True, check=True)
        wanted = result.stdout.rstrip("\n").split("\n")
    else:
        wanted = recorded.read_text(encoding="utf-8").rstrip("\n").split("\n")
    wrong = [(w, g) for w, g in zip(wanted, lines) if not same(w, g)]
    for want, got in wrong[:10]:
        print(f"PyTorch: {want[:400]}\nours:    {got[:400]}\n", file=sys.stderr)
    assert not wrong and len(wanted) == len(lines), f"{len(wrong)} of {len(wanted)} lines differ, {len(lines)} lines"
    print(f"{len(lines)} passed")
