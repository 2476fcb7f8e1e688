"""One Python object per tensor while it carries state; the collector takes what is garbage and nothing else."""
import gc
import weakref

import terra
from terra import nn

p = nn.Parameter(terra.ones(3))
(p * 2).sum().backward()
assert p.grad is p.grad
p.grad.note = "kept"
gc.collect()
assert p.grad.note == "kept"
assert type(p) is nn.Parameter and isinstance(p, terra.Tensor)

# An object with state outlives Python's last reference while C++ holds the tensor, and is the same one afterwards.
x = terra.ones(2, requires_grad=True)
y = (x * 3).sum()
x.tag = 1
seen = weakref.ref(x)
x_id = id(x)
del x
gc.collect()
assert seen() is not None and id(seen()) == x_id and seen().tag == 1
y.backward()
assert seen().grad.tolist() == [3.0, 3.0]
del y
gc.collect()
assert seen() is None


class Marked(terra.Tensor):
    pass


m = Marked([1.0, 2.0])
assert type(m) is Marked and type(m + 1) is Marked
m.requires_grad_()
loss = (m * 2).sum()
m_ref = weakref.ref(m)
for _ in range(3):  # ownership goes back and forth any number of times
    m = m_ref()
    m.count = getattr(m, "count", 0) + 1
    del m
    gc.collect()
assert m_ref().count == 3 and type(m_ref()) is Marked
del loss
gc.collect()
assert m_ref() is None

# Cycles through attributes are collected.
t = terra.ones(2)
t.me = t
r = weakref.ref(t)
del t
gc.collect()
assert r() is None

# ... and through hooks of leaves.
t = terra.ones(2, requires_grad=True)
t.register_hook(lambda g, t=t: g)
r = weakref.ref(t)
del t
gc.collect()
assert r() is None, "a leaf and its hook are garbage"

# __class__ can be changed where the layout is the same.
q = terra.ones(2)
q.__class__ = nn.Parameter
assert isinstance(q, nn.Parameter)
assert {q: 1}[q] == 1 and hash(q) == hash(q)
