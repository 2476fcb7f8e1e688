# run: --torch
"""What functions refuse, by class: targets of out=, windows, filters, lists of dimensions. A
line is run alone, and captured where it is called often; both say what PyTorch says, up to the types an overload lists."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F  # noqa: F401

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

CALLS = """
torch.gather(ones(2, 2), 1, places(2, 2), out=ones(2, 2).double())
torch.multinomial(ones(1, 2), 2, out=ones(1, 2))
torch.complex(ones(2).double(), ones(2).double(), out=ones(2) + 0j)
torch.mm(ones(2, 2), ones(2, 2), out=ones(2, 2).double())
torch.index_select(ones(2, 2), 0, places(1), out=ones(1, 2).double())
torch.topk(ones(4), 2, out=(ones(2).double(), places(2)))
torch.argmax(ones(4), out=ones(()))
torch.abs(ones(4), out=ones(4).double())
torch.signbit(ones(4), out=ones(4))
torch.add(ones(4), 1, out=ones(4).double())
torch.gather(a := ones(6), 0, places(3), out=a)
torch.gather(a := places(6), 0, places(1), out=a[:1])
torch.take(a := ones(6), places(6), out=a)
torch.masked_select(a := ones(6), ones(6) > 0, out=a)
torch.masked_select(ones(6) > 0, a := ones(6) > 0, out=a)
torch.index_select(ones(3, 6), 1, places(2), out=ones(6).expand(2, 6))
torch.kthvalue(a := ones(10), 5, out=(a, places(())))
torch.topk(a := ones(10), 5, out=(a[:5], places(5)))
torch.cat([ones(0), a := ones(4, 6)], out=a)
torch.cat([(a := ones(4, 6))[:2]], out=a[2:])
torch.cat([(a := ones(4, 6))[:2]], out=a[1:3])
torch.maximum((a := ones(4))[1:], ones(3), out=a[:3])
torch.sort(a := ones(3), out=(a, places(3)))[0]
torch.special.zeta(2, 3)
torch.add(ones(3, grad=True), 1, out=ones(3))
torch.sum(ones(3, grad=True), 0, out=ones(()))
torch.max(ones(3, grad=True), 0, out=(ones(()), places(())))
torch.cat([ones(3, grad=True)], out=ones(3))
torch.exp(ones(3), out=ones(3, grad=True))
torch.argmax(ones(3, grad=True), 0, out=places(()))
torch.gt(ones(3, grad=True), 0, out=ones(3) > 0)
torch.no_grad()(torch.add)(ones(3, grad=True), 1, out=ones(3))
F.linear(ones(2, 3), ones(4, 5), ones(4))
F.linear(ones(2, 2, 3), ones(4, 5))
ones(2, 3) @ ones(2, 3)
ones(3) @ ones(2, 3)
torch.addmm(ones(2), ones(2, 3), ones(2, 3))
torch.lerp(ones(2), ones(2).double(), 0.5)
torch.lerp(ones(2), ones(2), ones(2).double())
torch.lerp(ones(2), ones(2), ones(()).double())
torch.lerp(ones(2).half(), ones(2), 0.5)
torch.baddbmm(ones(1, 2, 2), ones(1, 2, 2).double(), ones(1, 2, 2))
torch.baddbmm(ones(1, 2, 2).double(), ones(1, 2, 2), ones(1, 2, 2))
torch.addmv(ones(2), ones(2, 2).double(), ones(2))
torch.addmv(ones(2).double(), ones(2, 2), ones(2))
torch.mm(ones(2, 3), ones(3))
torch.mm(ones(3), ones(3, 3))
torch.addmm(ones(2), ones(2, 3), ones(3))
torch.addmm(ones(2), ones(2), ones(3, 3))
~ones(2)
ones(0).median()
torch.meshgrid(ones(2), ones(3), indexing="ij")[1]
torch.randperm(-1)
setattr(ones(2), "grad", ones(3))
torch.tensor([1], requires_grad=True)
torch.zeros(2, dtype=torch.int32, requires_grad=True)
places(1).requires_grad_()
setattr(places(1), "requires_grad", True)
torch.nn.Parameter(places(1))
torch.nn.utils.rnn.pad_sequence([])
torch.einsum("ij->kk", ones(2, 2))
torch.einsum(ones(2, 3), [0, 1], ones(3, 2), [1, 2], [0, 2])
torch.einsum(ones(2, 3), [..., 1])
torch.einsum(ones(2, 3), [0, 52])
(ones(2) > 0) - 2
2 - (ones(2) > 0)
ones(2) - (ones(2) > 0)
(ones(2) > 0) - True
(ones(2) > 0) - (ones(2) > 0)
torch.rsub(ones(2) > 0, 1)
(ones(2) > 0).sub_(1)
ones(4)[::0]
ones(4)[::-1]
ones(3, 4, 5)[[[0, 1], [1, 2]]].shape
ones(3, 4, 5)[[[0, 1], slice(1, 3)]].shape
ones(3, 4)[[0, None]].shape
ones(3, 4)[[0, 1]].shape
ones(3, 4)[[[0], [1]]].shape
ones(3, 4).broadcast_to(2, 3, 4).shape
torch.var_mean(ones(3))
torch.std_mean(ones(3, 2), 0)
torch.maximum(ones(3), 2)
torch.minimum(2, ones(3))
ones(3).maximum(2)
torch.maximum(input=ones(3), other=2)
torch.max(2, ones(3))
torch.max(ones(3), 2.5)
torch.min(2, 3)
torch.linspace(ones(1), 3, 4)
torch.linspace(0, ones(2, 1), 4)
torch.linspace(ones(2), ones(()), 4)
torch.linspace(0, 3, 1.0)
torch.linspace(0, 3)
torch.logspace(ones(1), 3, 4)
torch.logspace(0, 3, 1.0)
torch.logspace(0, 3, 4, dtype=torch.bool)
torch.narrow(ones(4), 0, ones(()), 2)
torch.narrow(ones(4), 0, places(1), 2)
torch.narrow(ones(4), 0, 1.0, 2)
ones(4).narrow(0, ones(()) > 0, 1)
torch.narrow_copy(ones(4), 0, 0, -1)
torch.Tensor.__rdiv__(2, 3)
torch.linspace(0, 9, 7, dtype=torch.float32, out=ones(7).double())
torch.arange(3, dtype=torch.int32, out=ones(3))
torch.zeros(2, dtype=torch.int64, out=ones(2))
F.max_pool2d(ones(0, 1, 49), 2, 50, -1)
F.max_pool2d(ones(0, 1, 49), 2, 50, 4)
F.max_pool2d(ones(1, 4, 4), 2, 0)
F.max_pool2d(ones(1, 4, 4), 2, (1, -1))
F.max_pool2d(ones(1, 4, 4), 2, dilation=0)
F.avg_pool2d(ones(0, 1, 49), (3, 2), 50, -1)
F.max_pool3d(ones(0, 1, 49, 50), 2, 50, 4)
F.avg_pool3d(ones(0, 1, 49, 50), 2, 50, -1)
F.max_pool3d(ones(4, 4), 2, padding=-1)
F.max_pool1d(ones(3), 1)
F.max_pool1d(ones(1, 3), 0)
F.max_pool1d(ones(1, 3), 2, 0)
F.max_pool1d(ones(1, 3), 2, padding=-1)
F.max_pool1d(ones(1, 3), 2, padding=2)
F.max_pool1d(ones(1, 3), 2, dilation=0)
F.max_pool1d(ones(1, 3), (2, 2))
F.max_pool1d(ones(1, 4), 9, 9, 0, 9, True)
F.max_pool1d(ones(1, 4), 5)
F.max_pool1d(ones(1, 3), 8608480567731124087, padding=1250999896764, dilation=1250999896764)
F.max_pool1d(ones(1, 3), 9, return_indices=True)
F.max_unpool3d(ones(1, 1, 4, 4, 4), places(1, 1, 4, 4, 4), 3, 0)
F.max_unpool1d(ones(8), places(8), 3)
F.conv1d(ones(1, 1, 4), ones(1, 2, 2), ones(1), stride=-1)
F.conv1d(ones(1, 1, 4), ones(1, 2, 2), ones(1), padding=-1)
F.conv1d(ones(2, 2, 4), ones(2, 2, 2), ones(2), padding="same", groups=3)
F.conv1d(ones(2, 2, 4), ones(2, 2, 2), ones(2), groups=-1)
F.conv1d(ones(1, 1, 4), ones(1, 1, 2), ones(1) + 0j)
F.conv1d(ones(1, 1, 4), ones(1, 1, 4, 3), padding="same")
F.conv2d(ones(4, 5), ones(1, 1, 2, 2), padding="same")
F.conv3d(ones(1, 1, 3, 4, 5), ones(1, 1, 4, 3), padding="same")
F.conv2d(ones(1, 1, 4, 4), ones(3, 1, 2, 2), groups=2)
F.conv2d(ones(1, 1, 4, 4), ones(1, 1, 2, 2), ones(1).double())
F.conv2d(ones(1, 1, 4, 4), ones(1, 1, 1, 1), dilation=0)
F.group_norm(ones(1, 0, 2), 1)
F.group_norm(ones(1, 2, 0), 1)
F.rms_norm(ones(1, 2, 3), ())
F.rms_norm(ones(1, 2, 3), (1, 2, 3), ones(1, 2))
F.multi_margin_loss(ones(5, 4), ones(5))
F.linear_cross_entropy(ones(2, 3), ones(2, 4), places(2))
F.linear_cross_entropy(ones(2, 3), ones(2, 3), ones(2, 2), ignore_index=1)
F.linear_cross_entropy(ones(3), ones(2, 4, 3), ones(2, 4))
F.linear_cross_entropy(ones(2, 3), ones(2, 3), places(2), linear_bias=ones(3))
torch.movedim(ones(2, 3, 4), (0, -3), (1, 0))
torch.movedim(ones(2, 3, 4), (1, 0), (0, -3))
torch.roll(ones(5), ())
ones(10, 5, 10).sum_to_size(10, 10)
ones(5).sum_to_size(1, 5)
torch.mean(ones(3), dtype=torch.int64)
torch.mean(ones(3), 0, dtype=torch.int64)
torch.mean(places(3), 0)
torch.multinomial(ones(2**24 + 1), 3)
torch.multinomial(torch.tensor([1.0, -1.0]), 2, True)
torch.multinomial(torch.tensor([1.0, float("inf")]), 2, True)
torch.multinomial(torch.tensor([1.0, float("nan")]), 2, True)
torch.multinomial(torch.tensor([1.0, -1.0]), 2)
torch._chunk_cat([ones(2, 3), ones(4)], -1, 3)
torch.as_strided_scatter(ones(4, 4), ones(2, 2), [2, 2], [200, 200], 0)
torch.signal.windows.hann(3, layout=torch.sparse_coo)
torch.signal.windows.kaiser(3, layout=torch.sparse_coo)
torch._unsafe_masked_index(torch.arange(6.0), torch.tensor([True, False]), [torch.tensor([2, 60])], 7.0)
torch._unsafe_masked_index_put_accumulate(ones(4), ones(2) > 0, [torch.tensor([1, 60])], ones(2))
torch._native_batch_norm_legit(torch.arange(4.0).reshape(2, 2), None, None, True, 0.1, 1e-5)
torch._segment_reduce(torch.arange(4.0), "sum", lengths=torch.tensor([1, 3]))
torch._segment_reduce(torch.arange(6.0).reshape(2, 3), "mean", lengths=torch.tensor([[1, 2], [0, 3]]), axis=1, initial=1)
""".strip().splitlines()


def ones(*size, grad=False):
    return torch.ones(*size, requires_grad=grad)


def places(*size):
    return torch.zeros(*size, dtype=torch.int64)


def said(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0].split(' combination of arguments')[0]}"


items = []
for line in CALLS:
    function = eval("lambda: " + line)
    first = said(function)
    items.append((line, first))
    for _ in range(7):
        last = said(function)
    if str(last) != str(first):
        items.append((f"{line} the eighth time", last))
check(items, __file__)
