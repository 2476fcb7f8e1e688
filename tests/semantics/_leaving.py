"""Ways in which a frame leaves a gradient mode that somebody else has entered. Each gives a product from before it leaves and
one from behind."""
import contextlib


def by_method(mode, product):
    y = product()
    mode.__exit__(None, None, None)
    return y, product()


def with_arguments(mode, product):
    y = product()
    error = (None, None, None)
    mode.__exit__(*error)
    return y, product()


def by_bound_method(mode, product):
    leave = mode.__exit__
    y = product()
    leave(None, None, None)
    return y, product()


def by_class(mode, product):
    y = product()
    type(mode).__exit__(mode, None, None, None)
    return y, product()


def by_getattr(mode, product):
    y = product()
    getattr(mode, "__exit__")(None, None, None)  # noqa: B009
    return y, product()


def by_attribute(mode, product):
    class Box:
        pass

    box = Box()
    box.leave = mode.__exit__
    y = product()
    box.leave(None, None, None)
    return y, product()


def by_stack(mode, product):
    y = product()
    with contextlib.ExitStack() as stack:
        stack.push(mode.__exit__)
    return y, product()


WAYS = by_method, with_arguments, by_bound_method, by_class, by_getattr, by_attribute, by_stack
