"""torch.utils._contextlib: context managers that decorate functions as well, for libraries that make their own."""

import functools
import inspect
import warnings


def generator_in(make, function):
    """A generator whose body runs in a context, and what is between its values doesn't."""

    @functools.wraps(function)
    def decorated(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, argument = generator.send, None
        while True:
            try:
                with make():
                    value = step(argument)
            except StopIteration as end:
                return end.value
            try:
                step, argument = generator.send, (yield value)
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:
                step, argument = generator.throw, error

    return decorated


def context_decorator(ctx, func):
    """func, each call of it in a context: `ctx` is a context manager, or makes one."""
    made = hasattr(ctx, "__enter__") and not isinstance(ctx, type)
    make = (lambda: ctx) if made else ctx
    if isinstance(func, type):
        raise RuntimeError(f"Cannot decorate classes; it is ambiguous whether {func.__name__} or its methods are meant.")
    if inspect.isgeneratorfunction(func):
        return generator_in(make, func)

    @functools.wraps(func)
    def decorated(*args, **kwargs):
        with make():
            return func(*args, **kwargs)

    return decorated


class _DecoratorContextManager:
    """A context manager that is a decorator too: each call has a clone of it."""

    def __call__(self, orig_func):
        if not isinstance(orig_func, type):
            return context_decorator(self.clone, orig_func)
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate the "
            "`__init__` method and nothing else.",
            FutureWarning,
            stacklevel=2,
        )
        return context_decorator(self.clone, lambda *args, **kwargs: orig_func(*args, **kwargs))

    def __enter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __enter__ of its own.")

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError(f"{type(self).__name__} has no __exit__ of its own.")

    def clone(self):
        """Another one of the same meaning; to be overridden where making one takes arguments."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses."""

    def __new__(cls, orig_func=None):
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
