"""no_grad and friends as context managers and decorators; .grad, hooks, autograd.grad."""
import terra

x = terra.ones(2, requires_grad=True)
with terra.no_grad():
    assert not terra.is_grad_enabled() and not (x * 2).requires_grad
    with terra.enable_grad():
        assert (x * 2).requires_grad
assert terra.is_grad_enabled()


@terra.no_grad()
def f(t):
    """doc"""
    return t * 2


class Model:
    @terra.no_grad()
    def method(self, t):
        return self, t * 2


assert not f(x).requires_grad and f.__name__ == "f" and f.__doc__ == "doc"
model = Model()
assert model.method(x)[0] is model and not model.method(x)[1].requires_grad
try:
    with terra.no_grad():
        raise ValueError
except ValueError:
    pass
assert terra.is_grad_enabled()
terra.set_grad_enabled(False)
assert not terra.is_grad_enabled()
terra.set_grad_enabled(True)
with terra.set_grad_enabled(False):
    assert not terra.is_grad_enabled()
assert terra.is_grad_enabled()

y = x * 3
assert y.grad_fn.name() == "MulBackward0" and type(y.grad_fn).__name__ == "MulBackward0"
assert not y.is_leaf and x.is_leaf and x.grad_fn is None
assert y.grad_fn.next_functions[0][0].variable is x
calls = []
handle = x.register_hook(lambda g: calls.append(g.tolist()) or g * 10)
y.sum().backward()
assert calls == [[3.0, 3.0]] and x.grad.tolist() == [30.0, 30.0]
handle.remove()
x.grad = None
(x * 3).sum().backward()
assert len(calls) == 1 and x.grad.tolist() == [3.0, 3.0]
z = x.detach()
assert not z.requires_grad and z.data_ptr() == x.data_ptr()
x.data = terra.zeros(2)
assert x.tolist() == [0, 0] and x.requires_grad
try:
    x.grad = terra.ones(3)
except RuntimeError:
    pass
else:
    raise AssertionError
