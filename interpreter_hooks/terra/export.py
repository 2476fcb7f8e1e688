"""torch.export: what a module does to tensors of some sizes, in a file that runs without the module, and without Python.

    program = torch.export.export(model, (x,))
    torch.export.save(program, "model.pt2")
    y = torch.export.load("model.pt2").module()(x)

The file is a safetensors file: its metadata hold the graph as text, its tensors are the parameters, buffers and constants.
C++ programs run it with graph/file/program_runner.h, no interpreter in the process. A program stands for calls with tensors
of the dtypes and sizes that it was made with; numbers and strings among the arguments are part of it. It computes no
gradients. Writes to buffers and arguments are made. What needs an element of a tensor in Python (`if x.sum() > 0`, x.item(),
x.numpy()) is refused, with its line.
"""

import base64
import inspect

import _terra_C as C

from ._missing_parts import sentences
from ._names import lazily

__all__ = ["ExportedProgram", "export", "load", "save"]

_ARGUMENT, _PARAMETER, _BUFFER, _CONSTANT = range(4)

globals().update(
    sentences(
        "torch.export",
        ("Dim", "draft_export", "export_for_training", "register_dataclass", "unflatten"),
        "a program that is exported has the sizes and containers that it was made with",
    )
)


class ExportedProgram:
    """A program and its state: made by export() and load()."""

    def __init__(self, handle, structure, example_inputs=None):
        self._handle = handle
        self._structure = structure
        self._example_inputs = example_inputs

    def _bound(self, *roles):
        found = {name: tensor for name, role, tensor in C.program_parts(self._handle)[3] if role in roles}
        return found | {other: found[name] for other, name in self._structure["aliases"].items() if name in found}

    @property
    def name(self):
        return C.program_parts(self._handle)[0]

    @property
    def state_dict(self):
        return self._bound(_PARAMETER, _BUFFER)

    @property
    def constants(self):
        return self._bound(_CONSTANT)

    @property
    def example_inputs(self):
        return self._example_inputs

    def named_parameters(self):
        yield from self._bound(_PARAMETER).items()

    def parameters(self):
        yield from self._bound(_PARAMETER).values()

    def named_buffers(self):
        yield from self._bound(_BUFFER).items()

    def buffers(self):
        yield from self._bound(_BUFFER).values()

    def module(self, check_guards=True):
        """A module with the program's parameters and buffers whose forward runs it."""
        return _module_class()(self)

    def run_decompositions(self, decomp_table=None, decompose_custom_triton_ops=False):
        """The program itself: its graph is made of primitives."""
        return self

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.")

    def _bytes(self, extra):
        from ._files.program import encoded

        return C.program_to_file(self._handle, encoded(**self._structure | {"extra": extra}))

    def __reduce__(self):
        return _from_bytes, (self._bytes({}), f"a copy of {self.name}")

    def __str__(self):
        """The text in the file."""
        return C.program_parts(self._handle)[2]

    def _run(self, args, kwargs):
        from ._files.program import difference, flattened, rebuilt

        tensors = []
        given = flattened([list(args), kwargs], "argument", tensors)
        for what, one, other in zip(("the arguments", "the keywords"), self._structure["arguments"][1], given[1]):
            if found := difference(one, other, what):
                raise TypeError(f"{self.name}: {found}")
        if C.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            raise RuntimeError(
                f"{self.name}: an exported program computes no gradients, and an argument requires one: "
                "call it under torch.no_grad()"
            )
        return rebuilt(self._structure["results"], C.program_run(self._handle, tensors))


def _put(module, name, kind, tensor):
    """Registers a tensor below submodules as its name has them."""
    from .nn import Module

    *path, last = name.split(".")
    for part in path:
        if part not in module._modules:
            module.add_module(part, Module())
        module = module._modules[part]
    if kind == _PARAMETER:
        module.register_parameter(last, tensor)
    else:
        module.register_buffer(last, tensor, persistent=kind == _BUFFER)


def _module_class():
    from .nn import Module, Parameter

    global _module_class

    class ProgramModule(Module):
        """Runs an exported program. Its state is the program's: what is copied into it, the program reads."""

        def __init__(self, program):
            super().__init__()
            self.__dict__["_program"] = program
            for name, role, tensor in C.program_parts(program._handle)[3]:
                if role == _ARGUMENT:
                    continue
                if role == _PARAMETER and not isinstance(tensor, Parameter):
                    tensor = Parameter(tensor, requires_grad=False)
                for same in (name, *(other for other, of in program._structure["aliases"].items() if of == name)):
                    _put(self, same, role, tensor)

        def forward(self, *args, **kwargs):
            return self._program._run(args, kwargs)

        def _apply(self, fn, recurse=True):
            if any(fn(tensor) is not tensor for tensor in (*self.parameters(), *self.buffers())):
                raise NotImplementedError(f"{self._program.name}: the tensors of an exported program stay what they are")
            return self

        def __reduce__(self):
            return ExportedProgram.module, (self._program,)

        def train(self, mode=True):
            raise NotImplementedError("Calling train() is not supported yet.")

        def eval(self):
            raise NotImplementedError("Calling eval() is not supported yet.")

    def found():
        return ProgramModule

    _module_class = found
    return ProgramModule


def traced_module(program):
    """Its module as torch.jit has it: train() and eval() change nothing, as in what was traced."""

    class TracedProgram(_module_class()):
        def __reduce__(self):
            return traced_module, (self._program,)

        def train(self, mode=True):
            return self

        def eval(self):
            return self

    return TracedProgram(program)


# ---- making ----------------------------------------------------------------------------------------------------------
def _name_of(function):
    return getattr(function, "__qualname__", None) or type(function).__name__


def _names_of_tensors(function, args, kwargs):
    """{id of a tensor: the parameter that it comes through}"""
    from ._files.program import flattened

    try:
        given = inspect.signature(getattr(function, "forward", function)).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    names = {}
    for name, value in given.items():
        tensors = []
        flattened(value, name, tensors)
        for i, tensor in enumerate(tensors):
            names.setdefault(id(tensor), name if len(tensors) == 1 else f"{name}_{i}")
    return names


def _own_tensors(function):
    """[(name, tensor, role)] of a module, and {other name: name} of those that have several."""
    if not hasattr(function, "named_parameters"):
        return [], {}
    persistent = function.state_dict(keep_vars=True)
    parameters = function.named_parameters(remove_duplicate=False)
    found = [(name, tensor, _PARAMETER) for name, tensor in parameters]
    for name, tensor in function.named_buffers(remove_duplicate=False):
        found.append((name, tensor, _BUFFER if name in persistent else _CONSTANT))
    own, names, aliases = [], {}, {}
    for name, tensor, role in found:
        if id(tensor) in names:
            aliases[name] = names[id(tensor)]
        else:
            names[id(tensor)] = name
            own.append((name, tensor, role))
    return own, aliases


class _AsItWas:
    """Puts back what a call writes: the tensors and the random state."""

    def __init__(self, tensors):
        self._tensors = tensors

    def __enter__(self):
        from .random import get_rng_state

        self._random = get_rng_state()
        self._before = [(tensor, tensor._version, tensor.detach().clone()) for tensor in self._tensors]

    def __exit__(self, *exception):
        from .random import set_rng_state

        set_rng_state(self._random)
        with C.no_grad():
            for tensor, version, value in self._before:
                if tensor._version != version:
                    tensor.copy_(value)
        return False


def export(mod, args=(), kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(), **_):
    """The program that mod(*args, **kwargs) runs, of a module or a function. It is called once, with copies of the
    arguments, and without gradients; what the call writes to the module's tensors is put back."""
    from ._files.program import flattened, rebuilt

    if not callable(mod):
        raise ValueError(f"torch.export.export() takes a module or a function, not {type(mod).__name__}")
    if not isinstance(args, tuple):
        raise TypeError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if dynamic_shapes:
        raise NotImplementedError("torch.export.export: dynamic_shapes: a program has the sizes that it was made with")
    tensors = []
    structure = flattened([list(args), kwargs or {}], "argument", tensors)
    names = _names_of_tensors(mod, args, kwargs or {})
    copies = [tensor.detach().clone() for tensor in tensors]
    results = []

    def call():
        positional, keywords = rebuilt(structure, copies)
        found = []
        results.append(flattened(mod(*positional, **keywords), "result", found))
        return found

    own, aliases = _own_tensors(mod)
    bound = [(names.get(id(t), f"args_{i}"), copies[i], _ARGUMENT) for i, t in enumerate(tensors)] + own
    before = C.capture_mode("off")
    try:
        with _AsItWas([tensor for _, tensor, _ in own]):
            handle = C.program_trace(_name_of(mod), bound, call)
    except NotImplementedError as error:
        if str(error).startswith("torch.export"):
            raise
        raise NotImplementedError(
            f"torch.export.export: {_name_of(mod)} can't become a program that runs without Python: {error}"
        ) from None
    finally:
        C.capture_mode(before)
    said = {"arguments": structure, "results": results[0], "aliases": aliases}
    return ExportedProgram(handle, said, (args, kwargs or {}))


# ---- files -----------------------------------------------------------------------------------------------------------
def save(ep, f, *, extra_files=None, opset_version=None, pickle_protocol=2):
    """Writes a program to a path or file object; with extra files, {name: text}."""
    from ._files.archive import opened

    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead."
        )
    extra = {}
    for name, data in (extra_files or {}).items():
        extra[name] = base64.b64encode(data.encode() if isinstance(data, str) else data).decode()
    data = ep._bytes(extra)
    file, _, ours = opened(f, "wb")
    try:
        file.write(data)
    finally:
        if ours:
            file.close()


def load(f, *, extra_files=None, expected_opset_version=None):
    """Reads what save() wrote. The keys of `extra_files` get the contents of the extra files of these names."""
    from ._files.archive import opened

    file, description, ours = opened(f, "rb")
    try:
        data = file.read()
    finally:
        if ours:
            file.close()
    made = _from_bytes(data, description)
    kept = made._structure.pop("extra", {})
    for name in extra_files or {}:
        if name in kept:
            extra_files[name] = base64.b64decode(kept[name]).decode()
    return made


def _from_bytes(data, description):
    from ._files.program import decoded

    handle = C.program_from_file(data, description)
    return ExportedProgram(handle, decoded(C.program_parts(handle)[1], description))


__getattr__ = lazily(__name__)
