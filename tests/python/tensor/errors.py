"""Wrong calls: type and words."""
import terra
from _raises import raises

a = terra.ones(2, 3)

raises(TypeError, "add() got an unexpected keyword argument 'foo'", lambda: a.add(a, foo=1))
raises(TypeError, 'matmul() missing 1 required positional arguments: "other"', lambda: terra.matmul(a))
raises(TypeError, "relu(): argument 'input' (position 1) must be Tensor, not list", lambda: terra.relu([1.0]))
raises(TypeError, "add(): argument 'other' (position 1) must be Tensor, not str", lambda: a.add("x"))
raises(TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'", lambda: a + "x")
raises(TypeError, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'", lambda: a + None)
raises(TypeError, "'<' not supported between instances of 'Tensor' and 'NoneType'", lambda: a < None)
raises(TypeError, "got multiple values for argument 'other'", lambda: a.add(a, other=a))
raises(TypeError, "argument 'dtype' must be torch.dtype, not str", lambda: terra.zeros(1, dtype="float32"))
raises(TypeError, "must be bool, not int", lambda: a.amax(0, keepdim=1))
raises(AttributeError, "'Tensor' object has no attribute 'foo'", lambda: a.foo)
raises(RuntimeError, "Expected one of cpu", lambda: terra.zeros(1, device="nowhere"))
raises(RuntimeError, "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1", lambda: a + terra.ones(4))
raises(OverflowError, "int too big to convert", lambda: a + 2**70)
raises(TypeError, "received an invalid combination of arguments - got (Tensor, str)", lambda: terra.max(a, "x"))
assert (a == None) is False and (a != "x") is True  # noqa: E711
assert terra.add(input=a, other=a).sum() == 12
assert a.sum(axis=0, keepdims=True).shape == (1, 3)
out = terra.empty(0)
assert terra.add(a, a, out=out) is out and out.shape == (2, 3)
