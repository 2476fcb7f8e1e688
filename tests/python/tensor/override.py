"""__torch_function__: subclasses and foreign objects take over calls."""
import terra


class Logged(terra.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Logged.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


x = Logged([1.0, 2.0])
y = x + 1
assert type(y) is Logged and y.tolist() == [2.0, 3.0]
assert type(terra.relu(x)) is Logged and type(terra.ones(2) * x) is Logged
assert type(terra.stack([terra.ones(2), x])) is Logged and type(x[0]) is Logged
assert {"relu", "stack", "__getitem__"} <= set(Logged.calls), Logged.calls


class Foreign:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args), sorted(kwargs or {})


assert terra.add(Foreign(), 2, alpha=3) == ("add", 2, ["alpha"])
assert terra.add(terra.ones(1), Foreign()) == ("add", 2, [])


class Plain(terra.Tensor):
    __torch_function__ = terra._C._disabled_torch_function_impl


assert type(Plain([1.0]) + 1) is terra.Tensor
p = terra.nn.Parameter(terra.ones(2))
assert type(p + 1) is terra.Tensor and type(p.detach()) is terra.Tensor
