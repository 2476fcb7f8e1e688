"""What can be wrong with the arguments of an op: tables of changes to one argument of a sample, for hostile.py.

A change is a name and a function from an argument to what stands in its place; None: not for this argument."""

import dataclasses
import random

import terra

DTYPES = [
    terra.bool, terra.uint8, terra.int8, terra.int16, terra.int32, terra.int64, terra.float16, terra.bfloat16,
    terra.float32, terra.float64, terra.complex64, terra.complex128,
]  # fmt: skip
INTEGERS = [0, -1, 1, 2, 7, -6, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**64]
FLOATS = [0.0, -1.0, 1.5, 1e30, 1e300, float("inf"), -float("inf"), float("nan")]
HUGE = 10_000  # an op that returns as many tensors as a number asks for isn't asked for more


def sized(t, shape):
    """The elements of t again and again, in another shape."""
    wanted = 1
    for size in shape:
        wanted *= size
    flat = t.detach().reshape(-1)
    if flat.numel() == 0:
        return terra.ones(shape, dtype=t.dtype)
    return terra.cat([flat] * (wanted // flat.numel() + 1))[:wanted].clone().reshape(shape)


# ---- sizes ----------------------------------------------------------------------------------------------------------
def longer(t, dim):
    if t.dim() == 0:
        return None
    shape = list(t.shape)
    shape[dim] += 1
    return sized(t, shape)


SIZES = [
    ("without rows", lambda t: sized(t, (0, *t.shape[1:])) if t.dim() else None),
    ("without columns", lambda t: sized(t, (*t.shape[:-1], 0)) if t.dim() else None),
    ("without elements", lambda t: sized(t, [0] * max(t.dim(), 1))),
    ("a number", lambda t: sized(t, ()) if t.dim() else None),
    ("one element", lambda t: sized(t, [1] * max(t.dim(), 1))),
    ("a vector", lambda t: t.detach().reshape(-1).clone() if t.dim() != 1 else None),
    ("one more dimension", lambda t: t.detach().unsqueeze(0).clone()),
    ("nine dimensions", lambda t: t.detach().clone().reshape([1] * (9 - t.dim()) + list(t.shape)) if t.dim() < 9 else None),
    ("one more row", lambda t: longer(t, 0)),
    ("one more column", lambda t: longer(t, -1)),
    ("thirty columns", lambda t: sized(t, (*t.shape[:-1], 30)) if t.dim() else None),
    ("thirty columns, no rows", lambda t: sized(t, (0, *t.shape[1:-1], 30)) if t.dim() > 1 else None),
]  # fmt: skip

# ---- dtypes ---------------------------------------------------------------------------------------------------------
KINDS = [
    (str(dtype).split(".")[-1], lambda t, dtype=dtype: t.detach().to(dtype) if t.dtype != dtype else None) for dtype in DTYPES
]


# ---- layouts: the same size, and for the first of them the same elements ---------------------------------------------
def backwards(t):
    """Columns before rows."""
    dims = list(range(t.dim()))[::-1]
    return t.detach().permute(dims).contiguous().permute(dims) if t.dim() > 1 else None


def sliced(t):
    """Every other element of something larger, from its middle on."""
    if t.dim() == 0:
        return None
    room = terra.zeros((*t.shape[:-1], 2 * t.shape[-1] + 1), dtype=t.dtype)
    part = room[..., 1::2]
    part.copy_(t.detach())
    return part


def expanded(t):
    return sized(t, (1, *t.shape[1:])).expand(t.shape) if t.dim() and t.numel() else None


def overlapping(t):
    """Each row begins one element after the one before."""
    return t.detach().clone().as_strided(t.shape, [1] * t.dim()) if t.dim() > 1 and t.numel() else None


LAYOUTS = [("column by column", backwards), ("sliced", sliced), ("expanded", expanded), ("overlapping", overlapping)]


# ---- numbers in place of tensors -------------------------------------------------------------------------------------
NUMBERS = [(repr(number), lambda _, number=number: number) for number in (True, 3, -2.5, 1 - 2j)]

# ---- values ---------------------------------------------------------------------------------------------------------
def filled(value):
    def change(t):
        return terra.full(t.shape, value, dtype=terra.int64) if t.dtype == terra.int64 else None

    return change


INDICES = [(f"all {value}", filled(value)) for value in (-1, -4, 5, 100, 2**31, 2**62, 2**63 - 1, -(2**63))]


# ---- arguments that aren't tensors ------------------------------------------------------------------------------------
def instead_of_number(value):
    integral = [(repr(n), lambda _, n=n: n) for n in INTEGERS]
    floating = [(repr(x), lambda _, x=x: x) for x in (*FLOATS, 2j)]
    return integral + floating if isinstance(value, float) else integral


def instead_of_list(value):
    """Each element replaced, and lists of other lengths."""
    changes = []
    for place in range(len(value)):
        for n in INTEGERS:
            changed = [*value[:place], n, *value[place + 1 :]]
            changes.append((repr(changed), lambda _, changed=changed: changed))
    for n in (0, 2**31, 2**62):
        changed = [n] * len(value)
        changes.append((repr(changed), lambda _, changed=changed: changed))
    for changed in ([], [*value, 1], [*value, 2, 3], [1] * 70):
        changes.append((repr(changed), lambda _, changed=changed: changed))
    return changes


def is_list_of(kind, value):
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, kind) and not isinstance(v, bool) for v in value)


def changes_of(value):
    """[(group, name, change)] for an argument. Groups: tensors of one call may all undergo a change of one group."""
    if isinstance(value, terra.Tensor):
        groups = (("size", SIZES), ("dtype", KINDS), ("layout", LAYOUTS), ("value", INDICES), ("scalar", NUMBERS))
        return [(group, name, change) for group, changes in groups for name, change in changes]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, (int, float)):
        return [("number", name, change) for name, change in instead_of_number(value)]
    if is_list_of(int, value):
        return [("list", name, change) for name, change in instead_of_list(list(value))]
    return []


# ---- cases ----------------------------------------------------------------------------------------------------------
def places_in(args, kwargs):
    """Where arguments stand: (container, key), tensors of lists on their own."""
    for container in (args, kwargs):
        for key in range(len(args)) if container is args else list(kwargs):
            value = container[key]
            if isinstance(value, list) and any(isinstance(v, terra.Tensor) for v in value):
                yield from ((value, i) for i in range(len(value)))
            else:
                yield container, key


@dataclasses.dataclass
class Case:
    """Changes to one call: (place or None for all tensors, group, name of the change)."""

    text: str
    changes: list

    def groups(self):
        return {group for _, group, _ in self.changes}

    def overlaps(self):
        return any(name == "overlapping" for _, _, name in self.changes)


def cases_of(call, pairs):
    """All changes to a call: none, one argument's, all tensors' at once; and some pairs of them."""
    yield Case("as it is", [])
    args, kwargs = call.arguments()
    places = list(places_in(args, kwargs))
    single = [
        (number, group, name)
        for number, (container, key) in enumerate(places)
        for group, name, _ in changes_of(container[key])
    ]
    for number, group, name in single:
        yield Case(f"argument {number} {name}", [(number, group, name)])
    if sum(isinstance(container[key], terra.Tensor) for container, key in places) > 1:
        for group, changes in (("size", SIZES), ("dtype", KINDS), ("layout", LAYOUTS), ("scalar", NUMBERS)):
            for name, _ in changes:
                yield Case(f"all tensors {name}", [(None, group, name)])
    dice = random.Random(str(call))
    for _ in range(min(pairs, len(single) ** 2)):
        first, second = dice.choice(single), dice.choice(single)
        yield Case(f"argument {first[0]} {first[2]}, argument {second[0]} {second[2]}", [first, second])


def changed(call, case):
    """Fresh arguments of the call with the changes made; None if one doesn't apply."""
    args, kwargs = call.arguments()
    for number, group, name in case.changes:
        applied = False
        for at, (container, key) in enumerate(list(places_in(args, kwargs))):
            if number is not None and at != number or number is None and not isinstance(container[key], terra.Tensor):
                continue
            change = next((c for g, n, c in changes_of(container[key]) if (g, n) == (group, name)), None)
            new = change(container[key]) if change else None
            if new is not None:
                container[key] = new
                applied = True
        if not applied:
            return None
    return args, kwargs
