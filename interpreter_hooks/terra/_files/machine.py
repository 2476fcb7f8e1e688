"""A machine for the pickle opcodes that saved tensors and state dicts consist of.

It never imports and never calls anything but the functions and types in its table of names: a file can make it fail,
and nothing else. Opcodes and limits as in PyTorch's restricted reader, protocol 2."""

import struct
from collections import OrderedDict
from pickle import UnpicklingError

import _terra_C as C

MARK = object()
DEEPEST = 1_000_000  # entries of the memo: files have one per object


class Machine:
    def __init__(self, file, find_name, load_persistent):
        self._read = file.read
        self._find_name = find_name
        self._load_persistent = load_persistent
        self._stack = []
        self._memo = {}

    def run(self):
        """The object that the program builds."""
        while True:
            opcode = self._take(1)[0]
            action = ACTIONS.get(opcode)
            if action is None:
                raise UnpicklingError(f"Weights only load failed: unsupported operand {opcode} in the pickle of the file")
            if action is stop:
                return self._pop()
            action(self)

    def _take(self, count):
        data = self._read(count)
        if len(data) != count:
            raise UnpicklingError("the pickle of the file ends in the middle")
        return data

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self):
        line = bytearray()
        while (byte := self._take(1)) != b"\n":
            line += byte
        return line.decode("utf-8")

    def _push(self, value):
        self._stack.append(value)

    def _pop(self):
        if not self._stack:
            raise UnpicklingError("the pickle of the file takes from an empty stack")
        return self._stack.pop()

    def _since_mark(self):
        items = []
        while (item := self._pop()) is not MARK:
            items.append(item)
        return items[::-1]

    def _top(self, kinds):
        if not self._stack or not isinstance(self._stack[-1], kinds):
            raise UnpicklingError("the pickle of the file adds items to something that is no container")
        return self._stack[-1]

    def _remember(self, key):
        if len(self._memo) >= DEEPEST:
            raise UnpicklingError("the pickle of the file refers to too many objects")
        self._memo[key] = self._stack[-1]

    def _recall(self, key):
        if key not in self._memo:
            raise UnpicklingError(f"the pickle of the file recalls entry {key}, which it never made")
        self._push(self._memo[key])


def stop(machine):
    raise AssertionError("not called: Machine.run ends here")


def global_(machine):
    module, name = machine._line(), machine._line()
    machine._push(machine._find_name(module, name))


def reduce(machine):
    arguments, function = machine._pop(), machine._pop()
    if not isinstance(arguments, tuple) or not callable(function):
        raise UnpicklingError("the pickle of the file calls something that is no function")
    machine._push(function(*arguments))


def new_object(machine):
    arguments, kind = machine._pop(), machine._pop()
    if not isinstance(arguments, tuple) or not isinstance(kind, type):
        raise UnpicklingError("the pickle of the file makes an instance of something that is no type")
    machine._push(kind.__new__(kind, *arguments))


def build(machine):
    state = machine._pop()
    target = machine._stack[-1] if machine._stack else None
    if isinstance(target, OrderedDict) and isinstance(state, dict):
        target.__dict__.update(state)  # _metadata of a state_dict
    elif isinstance(target, C.Parameter) or hasattr(type(target), "__setstate__"):
        target.__setstate__(state)
    elif isinstance(state, dict) and hasattr(target, "__dict__"):
        target.__dict__.update(state)
    else:
        raise UnpicklingError(f"Weights only load failed: cannot set the state of {type(target).__name__}")


def append(machine):
    item = machine._pop()
    machine._top(list).append(item)


def appends(machine):
    items = machine._since_mark()
    machine._top(list).extend(items)


def set_item(machine):
    value, key = machine._pop(), machine._pop()
    machine._top(dict)[key] = value


def set_items(machine):
    items = machine._since_mark()
    target = machine._top(dict)
    for key, value in zip(items[::2], items[1::2]):
        target[key] = value


def add_items(machine):
    items = machine._since_mark()
    machine._top(set).update(items)


def tuple_of(count):
    def action(machine):
        items = [machine._pop() for _ in range(count)]
        machine._push(tuple(items[::-1]))

    return action


def constant(value):
    return lambda machine: machine._push(value)


def fresh(kind):
    return lambda machine: machine._push(kind())


def number(form):
    return lambda machine: machine._push(machine._number(form))


def text(machine):
    machine._push(machine._take(machine._number("<I")).decode("utf-8", "surrogatepass"))


def short_text(machine):
    machine._push(machine._take(machine._number("<B")).decode("utf-8", "surrogatepass"))


def short_bytes(machine):
    machine._push(machine._take(machine._number("<B")).decode("latin-1"))


def long_integer(machine):
    machine._push(int.from_bytes(machine._take(machine._number("<B")), "little", signed=True))


def persistent(machine):
    machine._push(machine._load_persistent(machine._pop()))


def remember(form):
    return lambda machine: machine._remember(machine._number(form))


def recall(form):
    return lambda machine: machine._recall(machine._number(form))


ACTIONS = {
    ord("\x80"): lambda machine: machine._take(1),  # PROTO
    ord("."): stop,
    ord("("): constant(MARK),
    ord("c"): global_,
    ord("R"): reduce,
    ord("\x81"): new_object,
    ord("b"): build,
    ord("a"): append,
    ord("e"): appends,
    ord("s"): set_item,
    ord("u"): set_items,
    ord("\x90"): add_items,
    ord("t"): lambda machine: machine._push(tuple(machine._since_mark())),
    ord("\x85"): tuple_of(1),
    ord("\x86"): tuple_of(2),
    ord("\x87"): tuple_of(3),
    ord("N"): constant(None),
    ord("\x88"): constant(True),
    ord("\x89"): constant(False),
    ord(")"): constant(()),
    ord("]"): fresh(list),
    ord("}"): fresh(dict),
    ord("\x8f"): fresh(set),
    ord("J"): number("<i"),
    ord("K"): number("<B"),
    ord("M"): number("<H"),
    ord("G"): number(">d"),
    ord("\x8a"): long_integer,
    ord("X"): text,
    ord("\x8c"): short_text,
    ord("U"): short_bytes,
    ord("Q"): persistent,
    ord("h"): recall("<B"),
    ord("j"): recall("<I"),
    ord("q"): remember("<B"),
    ord("r"): remember("<I"),
}
