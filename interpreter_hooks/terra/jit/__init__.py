"""torch.jit: marks for a compiler that Terra does without. Hot code is captured as it runs, with or without them.

script and trace give a callable that does what the function or module does, on the same parameters; control flow stays
that of Python. save writes the graph that torch.fx makes of it, which load reads without the program; of what was traced
and has none, because Python decides by sizes, it writes the program of the examples (torch.export)."""

import contextlib
import functools
import typing

from .._missing_parts import sentences
from .._names import lazily
from ..nn import Module

_T = typing.TypeVar("_T")
_NO_CODE = (
    "Terra compiles no TorchScript: print(*terra.capture.graphs(f)) shows what a function runs as, and "
    "torch.fx.symbolic_trace(f).code what it does to tensors"
)


class _Script:
    """What scripted functions and modules have besides."""

    code = graph = inlined_graph = _NO_CODE

    def graph_for(self, *args, **kwargs):
        return _NO_CODE

    def save(self, f, _extra_files=None):
        save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        import io

        buffer = io.BytesIO()
        save(self, buffer, _extra_files)
        return buffer.getvalue()


class ScriptModule(_Script, Module):
    """A module like any other."""

    @property
    def original_name(self):
        return getattr(type(self), "_original_name", type(self).__name__)

    def _get_name(self):
        return self.original_name


class RecursiveScriptModule(ScriptModule):
    """What script() makes of a module: another module over the same members."""


class TracedModule(ScriptModule):
    """What trace() makes of a module inside another."""


class TopLevelTracedModule(TracedModule):
    """What trace() makes of a module."""


class ScriptFunction(_Script):
    """What script() and trace() make of a function."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", type(function).__name__)

    @property
    def qualified_name(self):
        return f"{self.__module__}.{self.name}"

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)


@functools.cache
def _script_class(kind, script_kind):
    names = {"__module__": script_kind.__module__, "_original_name": kind.__name__}
    return type(script_kind.__name__, (kind, script_kind), names)


def _as_script(value, script_kind):
    if isinstance(value, (_Script, type)) or not callable(value):
        return value
    if not isinstance(value, Module):
        return ScriptFunction(value)
    kind = _script_class(type(value), script_kind)
    module = kind.__new__(kind)
    module.__dict__.update(value.__dict__)
    return module


class TracerWarning(Warning):
    """Never given: nothing is fixed by a trace."""


class Error(RuntimeError):
    """Never raised: Python runs."""


class Final(typing.Generic[_T]):
    """Final[int]: an attribute that does not change."""


class Attribute(typing.NamedTuple):
    value: object
    type: object


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """A function as a ScriptFunction, a module as a ScriptModule; a class is given back."""
    return _as_script(obj, RecursiveScriptModule)


def trace(func=None, example_inputs=None, *_, example_kwarg_inputs=None, **__):
    """Calls it once with the examples, as a trace would: what it gives keeps the control flow of Python."""
    examples = _try(func, example_inputs, example_kwarg_inputs)
    made = _as_script(func, TopLevelTracedModule)
    if examples and callable(made):
        made.__dict__["_examples"] = examples
    return made


def _try(func, example_inputs, example_kwarg_inputs=None):
    """The arguments that it was called with: (positional, by keyword)."""
    from .._C import Tensor, no_grad

    if example_inputs is None and example_kwarg_inputs is None:
        return None
    args, kwargs = (), example_kwarg_inputs or {}
    if example_kwarg_inputs is None:
        args = (example_inputs,) if isinstance(example_inputs, (Tensor, dict)) else tuple(example_inputs)
    with no_grad():
        func(*args, **kwargs)
    return args, kwargs


def trace_module(mod, inputs, *_, **__):
    """Calls the methods once with their examples and gives the module back."""
    for name, example in inputs.items():
        _try(getattr(mod, name), example)
    return _as_script(mod, TopLevelTracedModule)


def script_if_tracing(fn):
    return fn


def script_method(fn):
    return fn


def export(fn):
    return fn


def interface(obj):
    return obj


def ignore(drop=False, **_):
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    return fn


def annotate(the_type, the_value):
    return the_value


def isinstance(obj, target_type):
    import builtins

    return builtins.isinstance(obj, typing.get_origin(target_type) or target_type)


def is_scripting():
    return False


def is_tracing():
    return False


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    return mod


def optimize_for_inference(mod, other_methods=None):
    return mod


def enable_onednn_fusion(enabled):
    """Fusion is the engine's own."""


def onednn_fusion_enabled():
    return False


def set_fusion_strategy(strategy):
    return strategy


def fork(func, *args, **kwargs):
    """Calls at once: a future that is done."""
    from ..futures import Future

    future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future):
    return future.wait()


@contextlib.contextmanager
def optimized_execution(should_optimize):
    yield


@contextlib.contextmanager
def fuser(name):
    yield


class strict_fusion(contextlib.nullcontext):
    """A context in which everything would have to fuse."""


# ---- files -----------------------------------------------------------------------------------------------------------
def save(m, f, _extra_files=None):
    """Writes the graph of a function or module with its members, and extra files: {name: text or bytes}."""
    import io

    from .. import fx
    from .._files.archive import ArchiveWriter, opened
    from ..serialization import save as save_object

    program = m.__wrapped__ if isinstance(m, ScriptFunction) else m
    if not callable(program):
        raise TypeError(f"torch.jit.save() takes a function or a module, not {type(m).__name__}")
    try:
        module = fx.symbolic_trace(program)
    except (fx.proxy.TraceError, RuntimeError, TypeError, NotImplementedError) as error:
        if _saved_as_traced(m, program, f, _extra_files):
            return
        raise NotImplementedError(
            f"torch.jit.save: {getattr(m, 'original_name', type(m).__name__)} can't be written as a graph, because its flow "
            f"of control depends on tensors ({error}). torch.save(model.state_dict(), f) writes its parameters."
        ) from error
    module.train(getattr(program, "training", True))
    buffer = io.BytesIO()
    save_object(module, buffer)
    file, _, ours = opened(f, "wb")
    try:
        archive = ArchiveWriter(file, "terra")
        archive.write("module.pt", buffer.getvalue())
        for name, data in (_extra_files or {}).items():
            archive.write(f"extra/{name}", data.encode() if isinstance(data, str) else data)
        archive.close()
    finally:
        if ours:
            file.close()


def _saved_as_traced(m, program, f, extra_files):
    """Writes the program that the examples run; False where there are none, or elements of tensors decide."""
    from .. import export

    if not (examples := m.__dict__.get("_examples")):
        return False
    try:
        made = export.export(program, *examples)
    except NotImplementedError:
        return False
    export.save(made, f, extra_files=extra_files)
    return True


def _load_traced(file, extra_files):
    """A program that was written so, as the module that trace() would give."""
    from .. import export

    texts = dict.fromkeys(extra_files or ())
    made = export.load(file, extra_files=texts)
    for name, text in texts.items():
        if text is not None:
            extra_files[name] = text.encode()
    return _as_script(export.traced_module(made), TopLevelTracedModule)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Reads what save() wrote: only files from somebody you trust, for they may hold code. The keys of `_extra_files` get the
    contents of the extra files of these names."""
    import io

    from .._files.archive import ArchiveReader, opened
    from ..serialization import load as load_object

    file, description, ours = opened(f, "rb")
    try:
        start = file.tell()
        is_program = file.read(9)[8:] == b"{"
        file.seek(start)
        if is_program:
            return _load_traced(file, _extra_files)
        archive = ArchiveReader(file, description)
        if not archive.has("module.pt"):
            raise NotImplementedError(
                f"torch.jit.load: Terra does not read or write TorchScript files, and {description} is none that its own "
                "torch.jit.save wrote. torch.save(model.state_dict()) and torch.load are there."
            )
        module = load_object(io.BytesIO(archive.read("module.pt")), map_location, weights_only=False)
        for name in _extra_files or {}:
            if archive.has(f"extra/{name}"):
                _extra_files[name] = archive.read(f"extra/{name}")
    finally:
        if ours:
            file.close()
    return _as_script(module, RecursiveScriptModule)


def _overload(function):
    """A form of a function for TorchScript's eyes: the last definition of the name is the one that is called."""
    return function


_overload_method = _overload

globals().update(sentences("torch.jit", ("CompilationUnit", "_get_trace_graph", "export_opnames")))

__getattr__ = lazily(__name__, ("annotations",))
