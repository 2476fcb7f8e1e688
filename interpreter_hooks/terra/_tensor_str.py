"""torch._tensor_str: the text of a tensor in parts, for classes of tensors that print themselves."""

import contextlib

import _terra_C as C

from ._names import lazily


class _Options:
    """The settings of torch.set_printoptions(), as attributes."""

    def __getattr__(self, name):
        options = C.get_printoptions()
        if name not in options:
            raise AttributeError(f"printing has no option {name!r}", name=name)
        return options[name]

    def __setattr__(self, name, value):
        C.set_printoptions(**{**C.get_printoptions(), name: value})


PRINT_OPTS = _Options()


@contextlib.contextmanager
def printoptions(**options):
    """Inside, these options hold."""
    before = C.get_printoptions()
    C.set_printoptions(**{**before, **options})
    try:
        yield
    finally:
        C.set_printoptions(**before)


def _tensor_str(self, indent):
    """The elements, in lines that begin behind `indent` columns."""
    return C._elements_text(self, indent)


def _add_suffixes(tensor_str, suffixes, indent, force_newline):
    """The elements, what else is to be said, and the closing bracket, broken where a line gets too long."""
    parts = [tensor_str]
    last = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or last + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
            force_newline = False
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(parts) + ")"


def _str(self, *, tensor_contents=None):
    if tensor_contents is None:
        return C.Tensor.__repr__(self)
    suffixes = [] if self.dtype in (C.get_default_dtype(), C.int64, C.bool) else [f"dtype={self.dtype}"]
    if self.requires_grad:
        suffixes.append("requires_grad=True" if self.grad_fn is None else f"grad_fn=<{type(self.grad_fn).__name__}>")
    return _add_suffixes("tensor(" + tensor_contents, suffixes, len("tensor("), False)


_str_intern = _str

__getattr__ = lazily(__name__)
