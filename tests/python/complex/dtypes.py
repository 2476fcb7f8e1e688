# run: --torch --capture=off
"""complex64 and complex128 as dtypes: creation, conversion, promotion, printing, numbers, files and numpy, as PyTorch's."""

import copy
import io
import pathlib
import pickle
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
Z = torch.tensor([1 + 2j, 3 - 4.5j])
D = torch.tensor([[1 + 2j, -0.5j], [1e-3, 4 + 1j]], dtype=torch.complex128)
ONE = torch.tensor(1 + 2j)
X = torch.tensor([1.0, -2.0])
DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64, torch.complex64,
    torch.complex128,
]  # fmt: skip
COMPLEX = DTYPES[-2:]


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def repeated(draw):
    torch.manual_seed(3)
    return draw()


EXPRESSIONS = """
torch.zeros(2, dtype=torch.complex64)|torch.ones(2, dtype=torch.cfloat)|torch.full((2,), 1 + 2j)|torch.full((2,), 1, dtype=torch.cdouble)
torch.full((1,), 1j, dtype=torch.float64)|torch.full((1,), 1j, dtype=torch.int32)|torch.full((1,), 1 + 0j, dtype=torch.float32)
torch.empty(2, dtype=torch.complex64).shape|torch.eye(2, dtype=torch.complex64)|torch.tensor([1, 2.5, 1j])|torch.tensor(1j)
torch.tensor([1 + 2j], dtype=torch.complex128)|torch.tensor([True, 1j])|torch.tensor([[1j], [2.0]])|torch.tensor(1j, dtype=torch.float32)
torch.tensor(1 + 0j, dtype=torch.float32)|torch.tensor(1j, dtype=torch.int64)|torch.tensor([1j, 0], dtype=torch.bool)|torch.as_tensor([1j])
torch.zeros_like(Z)|torch.ones_like(X, dtype=torch.complex64)|Z.new_zeros(2)|Z.new_full((2,), 2j)|Z.new_tensor([1.0, 2])
repeated(lambda: torch.randn(5, dtype=torch.complex64))|repeated(lambda: torch.randn(40, dtype=torch.complex128))
repeated(lambda: torch.rand(3, dtype=torch.complex64))|repeated(lambda: torch.randn_like(D))|repeated(lambda: torch.zeros(3, dtype=torch.complex64).normal_(0, 2))
repeated(lambda: torch.nn.functional.dropout(torch.ones(6, dtype=torch.complex64), 0.5))|repeated(lambda: torch.nn.Linear(2, 2, dtype=torch.cfloat).weight)
repeated(lambda: torch.zeros(2, 3, dtype=torch.complex64).uniform_(1, 2))|repeated(lambda: torch.rand_like(Z))
Z.dtype|Z.is_complex()|torch.is_complex(X)|X.is_complex()|Z.is_floating_point()|torch.complex64.is_complex|torch.float32.is_complex
torch.complex64.is_floating_point|torch.complex128.itemsize|Z.element_size()|Z.is_signed()|Z.type()|Z.is_conj()|Z.conj().resolve_conj().is_conj()
torch.complex64.to_real()|torch.float64.to_complex()|torch.int64.to_real()|torch.int64.to_complex()|torch.complex128.to_complex()
torch.finfo(torch.complex64)|torch.finfo(torch.complex128).eps
ONE.item()|complex(ONE)|float(ONE)|int(ONE)|bool(ONE)|bool(torch.tensor(0j))|float(torch.tensor(2 + 0j))|Z.tolist()|ONE.tolist()|D.tolist()
complex(torch.tensor(2.5))|complex(torch.tensor(True))|Z.item()|(1 + 2j) in Z|5j in Z
Z.to(torch.float32)|Z.to(torch.int64)|Z.to(torch.bool)|X.to(torch.complex64)|torch.tensor([3, -1]).cdouble()|X.cfloat()|Z.cdouble()|D.cfloat()
Z.double()|Z.half()|torch.tensor([1.5], dtype=torch.float16).to(torch.complex64)|torch.tensor([True]).cfloat()|Z.type_as(D)|X.type(torch.complex64)
torch.zeros(2).copy_(Z)|torch.zeros(2, dtype=torch.int64).copy_(Z)|torch.zeros(2, dtype=torch.complex128).copy_(X)|Z.clone().fill_(3j)|X.clone().fill_(1j)
Z.clone().copy_(X)|Z.clone().zero_()|X.clone().fill_(2 + 0j)|Z.contiguous()|D.t().contiguous()|D.clone()
repr(Z)|str(D)|repr(ONE)|repr(torch.tensor([1 + 2j, 3]))|repr(torch.tensor([1e-10 + 2j, 1e8j]))|repr(torch.zeros(0, dtype=torch.complex64))
repr(torch.tensor([complex('nan+infj'), complex(-0.0, -0.0)]))|repr(torch.tensor([[1.5 + 2.25j, -1000.123 - 2j], [1j, 0]]))
repr(torch.full((1100,), 1 + 2j))|repr(torch.tensor([1e5 + 2j, 1.5e-5j]))|repr(torch.tensor([1 + 2j], requires_grad=True))|f"{ONE}"
D[0]|D[:, 1]|D[1, 0]|D[torch.tensor([1, 0])]|D[D.abs() > 2]|torch.cat([Z, X])|torch.stack([Z, X])|torch.where(X > 0, Z, X)|torch.where(X > 0, X, 1j)
torch.gather(D, 1, torch.tensor([[1], [0]]))|D.flip(0)|D.roll(1, 0)|torch.tril(D)|torch.triu(D, 1)|D.repeat(1, 2)|D.T|D.permute(1, 0)|D.reshape(4)
D.diagonal()|torch.diag(Z)|D.flatten()|D.unsqueeze(0).shape|D.expand(2, 2, 2).shape|D.index_select(0, torch.tensor([1]))|Z.masked_fill(X > 0, 2j)
X.masked_fill(X > 0, 2j)|torch.masked_select(Z, X > 0)|Z.index_add(0, torch.tensor([0, 0]), Z)|torch.zeros(3, dtype=torch.complex64).scatter_add(0, torch.tensor([0, 2]), Z)
torch.zeros(3, dtype=torch.complex64).scatter(0, torch.tensor([0, 2]), Z)|Z.nonzero()|torch.tensor([0j, 1j]).nonzero()|D.unbind(0)[1]|D.chunk(2)[0]|D.split(1, 1)[1]
torch.nn.functional.pad(Z, (1, 1))|torch.nn.functional.pad(Z, (1, 0), value=2.5)|torch.linspace(0, 1, 3, dtype=torch.float32).cfloat()
torch.nn.functional.embedding(torch.tensor([1, 0]), D)|D.count_nonzero()|D.any()|D.all()|torch.isreal(torch.tensor([1 + 0j, 1j]))|torch.isreal(X)
torch.arange(3, dtype=torch.complex64)|torch.randint(0, 3, (2,), dtype=torch.complex64)|torch.randperm(3, dtype=torch.complex64)
torch.equal(Z, Z.clone())|torch.allclose(Z, Z + 1e-9)|torch.isclose(Z, Z + 1)|torch.isnan(torch.tensor([complex('nan'), 1j]))|torch.isfinite(torch.tensor([complex('infj'), 1j]))
torch.isinf(torch.tensor([complex('infj'), 1j]))|Z == Z.conj()|Z != Z|Z == 1|Z == 1 + 2j|torch.eq(Z, X)|Z.logical_not()|torch.logical_and(Z, X)
torch.complex(X, X)|torch.complex(X.double(), X.double())|torch.complex(X, X.double())|torch.complex(X.long(), X)|torch.polar(X.abs(), X)|torch.polar(X, X.double())
torch.can_cast(torch.complex64, torch.float64)|torch.can_cast(torch.float64, torch.complex64)|torch.can_cast(torch.complex128, torch.complex64)
"""


def expressions():
    for line in EXPRESSIONS.strip().split("\n"):
        for text in line.split("|"):
            yield text, said(lambda: eval(text))


def promotions():
    tensors = [torch.ones(2).to(t) for t in DTYPES] + [torch.ones(()).to(t) for t in DTYPES]
    numbers = [True, 2, 2.5, 1j]
    for t in DTYPES:
        yield f"promote_types {t}", [torch.promote_types(t, u) for u in DTYPES]
        yield f"can_cast {t}", [torch.can_cast(t, u) for u in DTYPES]
    for name, given in [("dims", torch.ones(2)), ("no dims", torch.ones(()))]:
        for t in DTYPES:
            yield f"result_type {name} {t}", [torch.result_type(given.to(t), o) for o in tensors + numbers]
    for default in (torch.float64, torch.float32):
        torch.set_default_dtype(default)
        yield f"with default {default}", [torch.result_type(torch.ones(2, dtype=torch.int64), 1j), torch.tensor(1j).dtype, torch.full((1,), 1j).dtype]


def kept(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    return torch.load(stream)


def files():
    for t in (Z, D, D.t(), ONE, D[:, 1]):
        for name, through in (("save", kept), ("pickle", lambda v: pickle.loads(pickle.dumps(v))), ("copy", copy.deepcopy)):
            again = through(t)
            yield f"{name} {list(t.shape)}", [again, again.dtype, torch.equal(again, t)]
    yield "state dict", kept({"z": torch.nn.Parameter(Z)})["z"]


def arrays():
    import numpy as np

    for t in (Z, D, D.t(), ONE):
        array = t.numpy()
        yield f"numpy {list(t.shape)}", [str(array.dtype), array.tolist(), array.strides]
    array = np.array([[1 + 2j, 3], [4j, 5]])
    back = torch.from_numpy(array)
    array[0, 0] = 7j
    yield "from_numpy", [back, torch.tensor(array.astype("complex64")), torch.as_tensor(array[:, 1]).dtype]
    yield "numpy scalar", [torch.tensor(np.complex64(1 + 2j)), torch.ones(2) * np.complex128(2j)]


check([*expressions(), *promotions(), *files(), *arrays()], __file__)
