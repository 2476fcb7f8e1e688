# run: --capture=off
# timeout: 600
"""Every sample of every op record: kernels = reference loops, 16-bit floats, numeric first and second gradients, in-place
forms and gradients through them; and the examples run."""

import random
import sys

import _terra_C as C
import terra
from _samples import all_close, close, is_inexact, numbers_of, parts_of, samples, tensors_in

only = sys.argv[1:]
failures = []
passed = 0


def judge(call, what, holds, detail=""):
    global passed
    if holds:
        passed += 1
    else:
        failures.append(f"{call}: {what} {detail}")


def guarded(call, what, check):
    """Runs check() -> (holds, detail); an exception is a failure."""
    try:
        holds, detail = check()
    except Exception as error:
        holds, detail = False, f"raised {type(error).__name__}: {error}"
    judge(call, what, holds, detail)


# ---- kernels = reference -------------------------------------------------------------------------------------------
TOLERANCE = {"float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}


def evaluated(call, reference):
    C._use_reference_kernels(reference)
    try:
        args, kwargs = call.arguments()
        terra.manual_seed(7)
        results = tensors_in(call.run(args, kwargs))
        return [(str(t.dtype), tuple(t.shape), numbers_of(t)) for t in results + tensors_in(args)]
    finally:
        C._use_reference_kernels(False)


def same_as_reference(call):
    relative, absolute = TOLERANCE[str(call.dtype).split(".")[-1]]
    ours, meant = evaluated(call, False), evaluated(call, True)
    for a, b in zip(ours, meant):
        if a[:2] != b[:2] or not all_close(a[2], b[2], relative, absolute):
            return False, f"\n    kernel    {a}\n    reference {b}"
    return len(ours) == len(meant), ""


# ---- 16-bit floats = float32 rounded -------------------------------------------------------------------------------
ROUNDING = {terra.float16: 4e-3, terra.bfloat16: 3e-2}


def moved(value, dtype):
    """The argument with its floating tensors converted."""
    if isinstance(value, terra.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v, dtype) for v in value)
    return value


REFUSING = ("float and double", "float, double", "float or double")


def results_in_halves(call, args, kwargs):
    """None where the op takes no 16-bit floats, as PyTorch's takes none."""
    terra.manual_seed(7)
    try:
        return tensors_in(call.run(args, kwargs))
    except RuntimeError as error:
        if isinstance(error, NotImplementedError) or any(words in str(error) for words in REFUSING):
            return None
        raise


IN_HALVES = {
    terra.float16: {terra.float32: terra.float16, terra.complex64: terra.complex32},
    terra.bfloat16: {terra.float32: terra.bfloat16},
}  # {dtype of the operands: {dtype of a result for float32: its dtype here}}


def rounds_like_float32(call, half):
    args, kwargs = call.arguments()
    args, kwargs = moved(args, half), {k: moved(v, half) for k, v in kwargs.items()}
    rounded = results_in_halves(call, args, kwargs)
    if rounded is None:
        return True, ""
    terra.manual_seed(7)
    exact = tensors_in(call.run(moved(args, terra.float32), {k: moved(v, terra.float32) for k, v in kwargs.items()}))
    for a, b in zip(rounded, exact):
        if a.dtype != IN_HALVES[half].get(b.dtype, b.dtype) or a.shape != b.shape:
            return False, f"gives {a.dtype} {list(a.shape)} where float32 gives {b.dtype} {list(b.shape)}"
        if not all_close(numbers_of(a), numbers_of(b), ROUNDING[half], ROUNDING[half]):
            return False, f"\n    16 bits {numbers_of(a)}\n    32 bits {numbers_of(b)}"
    return len(rounded) == len(exact), ""


# ---- 16-bit floats: what would overflow on the way doesn't show -----------------------------------------------------
LARGEST = 65504.0


def enlarged(value, change):
    """The argument with its floating tensors changed and rounded to float16."""
    if isinstance(value, terra.Tensor):
        return change(value).to(terra.float16) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(enlarged(v, change) for v in value)
    return value


# Squares of the first overflow, sums of the second.
MAGNITUDES = {"x 300": lambda t: t * 300, "x 20000": lambda t: (t.abs() * 20000).clamp(max=60000)}


def accumulates(call, change):
    """Results for float16 are those for float32, rounded, wherever those are in the range of float16."""
    args, kwargs = call.arguments()
    args, kwargs = enlarged(args, change), {k: enlarged(v, change) for k, v in kwargs.items()}
    try:
        terra.manual_seed(7)
        exact = tensors_in(call.run(moved(args, terra.float32), {k: moved(v, terra.float32) for k, v in kwargs.items()}))
    except RuntimeError:
        return True, ""  # such arguments are out of the question (probabilities)
    rounded = results_in_halves(call, args, kwargs)
    if rounded is None:
        return True, ""
    for a, b in zip(rounded, exact):
        if not b.is_floating_point():
            continue
        pairs = [(x, y) for x, y in zip(numbers_of(a), numbers_of(b)) if abs(y) <= LARGEST]
        if not all(close(x, y, 2e-3, 1e-6) for x, y in pairs):
            return False, f"\n    16 bits {numbers_of(a)}\n    32 bits {numbers_of(b)}"
    return len(rounded) == len(exact), ""


# ---- gradients -----------------------------------------------------------------------------------------------------
STEP = 1e-5
CHECKED_ELEMENTS = 24


class Problem:
    """The loss sum(result * weight) as a function of the floating tensors among the arguments, and of the weights. Complex
    numbers are pairs of real ones, in arguments and results."""

    def __init__(self, call):
        self.call = call
        self.args, self.kwargs = call.arguments(dtype=terra.float64)
        self.parts = {}  # real parts of the complex arguments, by the identity of those
        self.inputs = [self.part(t) for t in tensors_in(self.args) + tensors_in(self.kwargs) if is_inexact(t)]
        self.inputs = [t for t in self.inputs if t.numel() > 0 and not hasattr(t, "is_fixed")]
        self.inputs = [t for t in self.inputs if 0 not in t.stride()]  # moving an element moves one element
        dice = random.Random(3)
        results = self.results()
        self.weights = [
            terra.tensor([dice.gauss(0, 1) for _ in range(t.numel())], dtype=terra.float64).reshape(t.shape) for t in results
        ]
        self.probes = [
            terra.tensor([dice.gauss(0, 1) for _ in range(t.numel())], dtype=terra.float64).reshape(t.shape)
            for t in self.inputs
        ]
        self.dice = dice

    def part(self, t):
        return self.parts.setdefault(id(t), parts_of(t)) if t.is_complex() else t

    def given(self, value):
        """An argument with its complex tensors made of their parts."""
        if isinstance(value, terra.Tensor):
            return terra.view_as_complex(self.parts[id(value)]) if value.is_complex() else value
        if isinstance(value, (list, tuple)):
            return type(value)(self.given(v) for v in value)
        return value

    def results(self):
        args, kwargs = self.given(self.args), {k: self.given(v) for k, v in self.kwargs.items()}
        return [parts_of(t) for t in tensors_in(self.call.run(args, kwargs)) if is_inexact(t)]

    def loss(self):
        total = terra.zeros((), dtype=terra.float64)
        for result, weight in zip(self.results(), self.weights):
            total = total + (result * weight).sum()
        return total

    def gradients(self, create_graph=False):
        for t in self.inputs:
            t.requires_grad_(True)
        loss = self.loss()
        if not self.inputs or not loss.requires_grad:
            return [None] * len(self.inputs)
        return terra.autograd.grad(loss, self.inputs, create_graph=create_graph, allow_unused=True)

    def probed(self, create_graph=False):
        """The derivative of the loss along the probes."""
        total = terra.zeros((), dtype=terra.float64)
        for g, probe in zip(self.gradients(create_graph), self.probes):
            if g is not None:
                total = total + (g * probe).sum()
        return total

    def compare(self, function, variables, gradients, tolerance):
        """Central differences of `function` by some elements of the variables."""
        for number, (t, g) in enumerate(zip(variables, gradients)):
            flat = t.detach()
            places = list(range(t.numel()))
            if len(places) > CHECKED_ELEMENTS:
                places = self.dice.sample(places, CHECKED_ELEMENTS)
            given = [0.0] * t.numel() if g is None else numbers_of(g)
            if g is not None and (g.shape != t.shape or g.dtype != t.dtype):
                return False, f"gradient {number} is {g.dtype} {list(g.shape)} for {t.dtype} {list(t.shape)}"
            for place in places:
                index = []
                rest = place
                for size in reversed(t.shape):
                    index.insert(0, rest % size)
                    rest //= size
                before = flat[tuple(index)].item()
                values = []
                for moved in (before + STEP, before - STEP):
                    with terra.no_grad():
                        flat[tuple(index)] = moved
                    values.append(function().item())
                with terra.no_grad():
                    flat[tuple(index)] = before
                numeric = (values[0] - values[1]) / (2 * STEP)
                if not abs(numeric - given[place]) <= tolerance * max(1.0, abs(numeric), abs(given[place])):
                    return False, f"input {number} at {index}: numeric {numeric:.9g}, computed {given[place]:.9g}"
        return True, ""


def first_gradient(call):
    problem = Problem(call)
    gradients = problem.gradients()

    def value():
        with terra.no_grad():
            return problem.loss()

    return problem.compare(value, problem.inputs, gradients, 1e-6)


def second_gradient(call):
    problem = Problem(call)
    for w in problem.weights:
        w.requires_grad_(True)
    derivative = problem.probed(create_graph=True)
    variables = problem.inputs + problem.weights
    gradients = [None] * len(variables)
    if variables and derivative.requires_grad:
        gradients = terra.autograd.grad(derivative, variables, allow_unused=True)
    return problem.compare(lambda: problem.probed(), variables, gradients, 1e-5)


# ---- in-place forms ------------------------------------------------------------------------------------------------
def in_place(call):
    args, kwargs = call.arguments()
    if not isinstance(args[0], terra.Tensor):
        return True, ""
    terra.manual_seed(7)
    plain = tensors_in(call.run(args, kwargs))[0]
    if plain.shape != args[0].shape or (plain.dtype != args[0].dtype and args[0].is_floating_point() is False):
        return True, ""
    args, kwargs = call.arguments()
    target = args[0] = args[0].clone()
    version = target._version
    terra.manual_seed(7)
    result = getattr(C._ops, call.record["name"] + "_")(*args, **kwargs)
    wanted = plain.to(target.dtype)
    if result is not target or numbers_of(target) != numbers_of(wanted) and "nan" not in str(numbers_of(wanted)):
        return False, f"gives {numbers_of(target)} instead of {numbers_of(wanted)}"
    return target._version > version, "the version didn't change"


def gradient_in_place(call):
    """The in-place form of a value that was computed gives the gradients of the plain form: it must not overwrite what they
    are computed from."""

    def gradients(run):
        args, kwargs = call.arguments(dtype=terra.float64)
        leaves = [t.requires_grad_(True) for t in tensors_in(args) if is_inexact(t)]
        args[0] = args[0] * 1
        terra.manual_seed(7)
        result = parts_of(run(args, kwargs))
        weights = terra.linspace(0.5, 1.5, result.numel(), dtype=terra.float64).reshape(result.shape)
        return result, terra.autograd.grad((result * weights).sum(), leaves, allow_unused=True)

    first = call.arguments(dtype=terra.float64)[0][0]
    if not isinstance(first, terra.Tensor) or not is_inexact(first):
        return True, ""
    plain, meant = gradients(lambda args, kwargs: tensors_in(call.run(args, kwargs))[0])
    if plain.shape != parts_of(first).shape or plain.dtype != terra.float64:
        return True, ""
    _, given = gradients(lambda args, kwargs: getattr(C._ops, call.record["name"] + "_")(*args, **kwargs))
    for a, b in zip(given, meant):
        a, b = (terra.zeros(()) if g is None or not g.any() else g for g in (a, b))
        if not all_close(numbers_of(a), numbers_of(b), 1e-12, 1e-12):
            return False, f"gives {a} instead of {b}"
    return True, ""


def is_about_complex(call):
    """There are no complex numbers of 16-bit parts."""
    return "crandn" in call.text or call.record["name"] == "view_as_complex"


def chosen(record):
    return not only or record["name"] in only


for call in samples():
    if not chosen(call.record):
        continue
    guarded(call, "kernel = reference:", lambda: same_as_reference(call))
    if call.record["in_place"]:
        guarded(call, "in place:", lambda: in_place(call))
for call in samples(("float32",)):
    if chosen(call.record) and call.differentiable and "float64" not in call.text and not is_about_complex(call):
        for half in ROUNDING:
            guarded(call, f"{half}:", lambda: rounds_like_float32(call, half))
        for magnitude, change in MAGNITUDES.items():
            guarded(call, f"float16 {magnitude}:", lambda: accumulates(call, change))
for call in samples(("float64",)):
    if chosen(call.record) and call.differentiable:
        guarded(call, "first gradient:", lambda: first_gradient(call))
        guarded(call, "second gradient:", lambda: second_gradient(call))
        if call.record["in_place"]:
            guarded(call, "gradient in place:", lambda: gradient_in_place(call))
for record in C.op_records():
    if chosen(record) and record["example"]:

        def runs(example=record["example"]):
            *statements, last = example.split("\n")
            names = {"terra": terra}
            exec("\n".join(statements), names)
            return eval(last, names) is not None, "is None"

        guarded(record["name"], "example:", runs)

for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} passed, {len(failures)} failed" if failures else f"{passed} passed")
sys.exit(bool(failures))
