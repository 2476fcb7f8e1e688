"""The C base of modules: attribute access, calls, state; classes that override parts of it."""
import copy
import pickle

import terra
from terra import nn
from _raises import raises


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(terra.ones(2))
        self.child = nn.Linear(2, 2)
        self.register_buffer("b", terra.zeros(2))
        self.count = 0

    def forward(self, x, *, scale=1):
        self.count += 1
        return (x + self.w + self.b) * scale

m = Plain()
assert list(m._parameters) == ["w"] and list(m._modules) == ["child"] and list(m._buffers) == ["b"]
assert "w" not in m.__dict__ and m.__dict__["count"] == 0 and type(m._parameters) is dict
assert m(terra.ones(2), scale=3).tolist() == [6, 6] and m.count == 1
m.b = terra.ones(2)
assert m._buffers["b"].tolist() == [1, 1]
m.w = None
assert m.w is None and list(m._parameters) == ["w"]
raises(TypeError, "cannot assign 'torch.FloatTensor' as parameter 'w' (torch.nn.Parameter or None expected)", lambda: setattr(m, "w", terra.ones(2)))
raises(TypeError, "cannot assign 'int' as child module 'child' (torch.nn.Module or None expected)", lambda: setattr(m, "child", 3))
raises(AttributeError, "'Plain' object has no attribute 'nothing'", lambda: m.nothing)
m.w = nn.Parameter(terra.ones(2))
raises(TypeError, "as parameter 'w'", lambda: setattr(m, "w", nn.Linear(1, 1)))
m.child = nn.Parameter(terra.ones(1))
assert "child" in m._parameters and "child" not in m._modules, "a parameter takes over the name of anything"
m.child = None
del m.child
m.child = nn.Linear(2, 2)
del m.w
raises(AttributeError, "has no attribute 'w'", lambda: m.w)
object.__setattr__(m, "hidden", nn.Linear(1, 1))
assert "hidden" in m.__dict__ and "hidden" not in m._modules
m.forward = lambda x: x * 10
assert m(terra.ones(1)).tolist() == [10]
m2 = pickle.loads(pickle.dumps(Plain()))
assert list(m2._parameters) == ["w"] and m2.count == 0
m3 = copy.deepcopy(m2)
assert m3.w is not m2.w and m3.child is not m2.child and m3(terra.zeros(2)).tolist() == [1, 1]


class NoInit(nn.Module):
    def __init__(self):
        self.x = nn.Linear(1, 1)

raises(AttributeError, "cannot assign module before Module.__init__() call", NoInit)


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

w = Wrapper(Plain())
assert w.child is w.inner.child and w.w is w.inner.w
raises(AttributeError, "has no attribute 'zzz'", lambda: w.zzz)


class Counting(nn.Module):
    set_names = []

    def __setattr__(self, name, value):
        Counting.set_names.append(name)
        super().__setattr__(name, value)

    def __call__(self, x):
        return "called", x

c = Counting()
c.layer = nn.Linear(1, 1)
assert "layer" in c._modules and Counting.set_names == ["layer"] and c(1) == ("called", 1)


class Later(nn.Module):
    def forward(self, x):
        return x

later = Later()
assert later(5) == 5
Later.__call__ = lambda self, x: x + 1
assert later(5) == 6
del Later.__call__
assert later(5) == 5
handle = later.register_forward_hook(lambda module, args, result: result * 2)
assert later(5) == 10
handle.remove()
assert later(5) == 5
raises(TypeError, "takes 1 positional argument but 2 were given", lambda: nn.Module(1))


class Property(nn.Module):
    @property
    def broken(self):
        return self.missing

    @property
    def fine(self):
        return 3

assert Property().fine == 3
raises(AttributeError, "has no attribute 'broken'", lambda: Property().broken)
raises(NotImplementedError, "forward", lambda: nn.Module()(1))
