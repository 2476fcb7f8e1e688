# run: --torch
"""torch.export: what can't become a program, calls that a program doesn't fit, damaged files: a sentence each."""

import io

import torch
from torch import nn

passed = 0


def refuses(kind, start, function, *args, **kwargs):
    global passed
    try:
        function(*args, **kwargs)
    except kind as error:
        assert type(error) is kind, error
        assert start in str(error), f"{error}\ndoes not have\n{start}"
        passed += 1
    else:
        raise AssertionError(f"nothing was raised where {start!r} was expected")


def decides(x):
    return x if x.sum() > 0 else -x


def reads(x):
    return x * x.sum().item()


def numbers(x):
    return torch.from_numpy(x.numpy())


def draws(x):
    return x + torch.rand(2, generator=torch.Generator())


def learns(x):
    w = torch.ones(2, requires_grad=True)
    with torch.enable_grad():
        (w * x).sum().backward()
    return w.grad


export, here = torch.export.export, __file__.rpartition("/")[2]
x = torch.ones(2)
refuses(NotImplementedError, "torch.export.export: decides can't become a program that runs without Python: an element of a "
        "tensor decides what Python does (", export, decides, (x,))
refuses(NotImplementedError, f"{here}:25)", export, decides, (x,))
refuses(NotImplementedError, "an element of a tensor becomes a number of Python", export, reads, (x,))
refuses(NotImplementedError, "numpy() leads out of the program", export, numbers, (x,))
refuses(NotImplementedError, "a generator of its own", export, draws, (x,))
refuses(NotImplementedError, "it computes gradients", export, learns, (x,))
refuses(NotImplementedError, "in-place change of a shape leads out of", export, lambda x: x.unsqueeze_(0), (x,))
refuses(NotImplementedError, "sizes of what nonzero() gives", export, lambda x: x.nonzero(), (x,))
refuses(NotImplementedError, "result is a set", export, lambda x: {1}, (x,))
refuses(NotImplementedError, "argument[0][0] is a object", export, lambda x: x, (object(),))
refuses(NotImplementedError, "dynamic_shapes", export, lambda x: x, (x,), dynamic_shapes={"x": {0: None}})
refuses(TypeError, "Expecting `args` to be a tuple", export, lambda x: x, x)
refuses(ValueError, "takes a module or a function", export, 3, (x,))


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.zeros(4))
        self.register_buffer("two", self.one[1:])

    def forward(self, x):
        self.one += 1
        return self.two + x


refuses(NotImplementedError, "shares its memory with", export, Shared(), (torch.ones(3),))
table = torch.zeros(2)
refuses(NotImplementedError, "writes into a tensor that was taken for a constant", export, lambda x: table.add_(x), (x,))

# ---- calls -----------------------------------------------------------------------------------------------------------
program = export(lambda x, *, mode="a", n=1: x * n, (x,), {"mode": "a", "n": 2})
module = program.module()
refuses(ValueError, "argument 'x' is float32 [3]: the program was made for float32 [2]", module, torch.ones(3), mode="a", n=2)
refuses(ValueError, "float64 [2]", module, x.double(), mode="a", n=2)
refuses(TypeError, "the keywords['n'] is 3 where the program has 2", module, x, mode="a", n=3)
refuses(TypeError, "the keywords has 0 items where the program has 2", module, x)
refuses(TypeError, "the arguments has 2 items where the program has 1", module, x, x, mode="a", n=2)
refuses(RuntimeError, "computes no gradients", module, x.clone().requires_grad_(), mode="a", n=2)
refuses(RuntimeError, "Unable to call ExportedProgram directly", program, x)
refuses(NotImplementedError, "train()", module.train)
refuses(NotImplementedError, "stay what they are", export(nn.Linear(2, 2), (x,)).module().double)
writes = export(lambda x, y: (x.add_(1), y), (torch.zeros(3, 3), torch.zeros(3, 3))).module()
square = torch.zeros(3, 3)
refuses(ValueError, "'y' shares its memory with 'x', which the program writes", writes, square, square.view(3, 3))
refuses(ValueError, "argument 'x' has strides [1, 3]: the program writes it", writes, square.t(), torch.zeros(3, 3))
assert not square.any()

# ---- files -----------------------------------------------------------------------------------------------------------
file = io.BytesIO()
torch.export.save(export(nn.Linear(2, 2), (torch.ones(1, 2),)), file, extra_files={"note": "über", "raw": b"bytes"})
data = file.getvalue()
extra = {"note": None, "raw": None, "other": None}
torch.export.load(io.BytesIO(data), extra_files=extra)
assert extra == {"note": "über", "raw": "bytes", "other": None}
for at in range(0, len(data), 7):
    refuses(RuntimeError, "the file object is damaged or no safetensors file: ", torch.export.load, io.BytesIO(data[:at]))
    changed = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
    refuses(RuntimeError, "the file object is damaged or no safetensors file: ", torch.export.load, io.BytesIO(changed))
refuses(FileNotFoundError, "no-such-file", torch.export.load, "no-such-file.pt2")
refuses(TypeError, "must be an instance of 'ExportedProgram'", torch.export.save, nn.Linear(1, 1), io.BytesIO())

print(f"{passed} passed")
