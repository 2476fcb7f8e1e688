# run: --torch --capture=off
"""What in-place forms and out= refuse of operands in the memory that they write, and what they compute, as PyTorch's.
(Where PyTorch looks for no overlap and its loops read what they have written, ours read first: that isn't here.)"""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

later, sooner = slice(1, None), slice(None, -1)
index = torch.arange(9)
mask = torch.arange(9) % 2 == 0

# v: ten numbers; m: a 4 x 4 matrix. Each line is one statement, then what to show.
CASES = """
v[1:].add_(v[:-1]) | v[1:].sub_(v[:-1]) | v[1:].mul_(v[:-1]) | v[1:].div_(v[:-1]) | v[1:].pow_(v[:-1]) | v[1:].copy_(v[:-1])
v[1:].eq_(v[:-1]) | v[1:].fmod_(v[:-1]) | v[1:].remainder_(v[:-1]) | v[1:].atan2_(v[:-1]) | v[1:].hypot_(v[:-1])
v[1:].lerp_(v[:-1], 0.5) | v[1:].addcmul_(v[:-1], v[:-1]) | v[1:].clamp_(v[:-1]) | v[1:].clamp_(max=v[:-1])
v[1:].clamp_min_(v[:-1]) | v[1:].masked_fill_(mask, v[3]) | v[1:].fill_(v[3]) | v[1:].add_(v[3]) | v.add_(v[3]) | v.div_(v[9])
v.add_(v) | v[1:].add_(v[1:]) | v[:5].add_(v[5:]) | v[::2].add_(v[1::2]) | v[2:].add_(v[:-2].clone()) | v.copy_(v.flip(0))
v.index_put_((torch.arange(10),), v) | v[1:].index_put_((index,), v[:-1]) | v.index_put_((torch.arange(10),), v + 1)
v.scatter_(0, torch.arange(10), v) | v[1:].scatter_(0, index, v[:-1]) | v.scatter_add_(0, torch.arange(10), v)
v.index_add_(0, torch.arange(10), v) | v[1:].index_add_(0, index, v[:-1]) | v.index_add_(0, torch.arange(10), v + 1)
m.add_(m.t()) | m.t().mul_(m.t()) | m[1:].add_(m[:-1]) | m.sub_(m[0]) | m.as_strided((3, 3), (1, 1)).add_(0) | m.copy_(m.t())
torch.add(v[:-1], 1, out=v[1:]) | torch.add(v, 1, out=v)
v[:1].expand(4).add_(1) | v[:1].expand(4).copy_(v[:4]) | v[:1].expand(4).relu_() | v[:1].expand(1).add_(1) | v[:0].expand(4, 0).add_(1)
m[:1, :1].expand(4, 4).addmm_(m, m) | v[:1].expand(4).index_add_(0, index[:2], v[:2]) | v[:1].expand(4).scatter_(0, index[:2], 1.0)
v[:1].expand(4).fill_(7) | v[:1].expand(4).fill_(v[3])
v.__setitem__(later, v[sooner]) | v.__setitem__(index, v[1:]) | v.__setitem__(v > 3, v[3]) | v.__setitem__(torch.arange(10), v.flip(0))
"""

items = []
for text in (part.strip() for line in CASES.strip().split("\n") for part in line.split("|")):
    v, m = torch.arange(1.0, 11.0), torch.arange(16.0).reshape(4, 4)
    try:
        eval(text)
        items.append((text, (v, m)))
    except Exception as error:
        items.append((text, f"{type(error).__name__}: {str(error)[:80]}"))
check(items, __file__)
