"""Ways in which a program makes false what a captured call rests on, by what kind of place that is.

A target names a place of a program and something else that could be there. `mutators(target)` are the ways to put it
there, take away what is there, or hide it; each is a function without arguments. One that the place doesn't allow
raises, plainly as under capture. `kept` are the objects whose state a program puts back."""
import builtins
import collections
import functools
import types


class Target:
    def __init__(self, *kept):
        self.kept = kept

    def mutators(self):
        """{name: function}: the methods whose names begin with `by_`."""
        return {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("by_")}


class PutBack:
    """A function that puts something back, among what is kept."""

    def __init__(self, function):
        self.function = function


class Callable:
    """Something callable that is no function."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function(None, *args)


class Attribute(Target):
    """What `owner.name` gives."""

    def __init__(self, owner, name, other):
        super().__init__(owner, *type(owner).__mro__[:-1])
        self.owner, self.name, self.other = owner, name, other

    def getter(self, data):
        other = self.other
        spaces = {"__get__": lambda s, o, c=None: other}
        if data:
            spaces["__set__"] = lambda s, o, v: None
        return type("Getter", (), spaces)()

    def by_assigning(self):
        setattr(self.owner, self.name, self.other)

    def by_deleting(self):
        delattr(self.owner, self.name)

    def by_its_dict(self):
        vars(self.owner)[self.name] = self.other

    def by_updating_its_dict(self):
        vars(self.owner).update({self.name: self.other})

    def by_popping_from_its_dict(self):
        vars(self.owner).pop(self.name)

    def by_another_dict(self):
        self.owner.__dict__ = {**vars(self.owner), self.name: self.other}

    def by_no_dict(self):
        del self.owner.__dict__

    def by_object_setattr(self):
        object.__setattr__(self.owner, self.name, self.other)

    def by_c_code(self):
        list(map(setattr, [self.owner], [self.name], [self.other]))

    def by_another_type(self):
        setattr(self.owner, self.name, "other")

    def by_a_property_of_the_class(self):
        setattr(type(self.owner), self.name, property(lambda s: self.other))

    def by_a_property_of_a_base(self):
        setattr(type(self.owner).__mro__[-2], self.name, property(lambda s: self.other))

    def by_a_data_descriptor(self):
        setattr(type(self.owner), self.name, self.getter(True))

    def by_a_descriptor_and_deleting(self):
        setattr(type(self.owner), self.name, self.getter(False))
        vars(self.owner).pop(self.name, None)

    def by_the_class(self):
        setattr(type(self.owner), self.name, self.other)

    def by_getattribute(self):
        type(self.owner).__getattribute__ = lambda s, n: self.other if n == self.name else object.__getattribute__(s, n)

    def by_getattribute_of_a_base(self):
        type(self.owner).__mro__[-2].__getattribute__ = (
            lambda s, n: self.other if n == self.name else object.__getattribute__(s, n))

    def by_getattr_and_deleting(self):
        type(self.owner).__getattr__ = lambda s, n: self.other
        delattr(self.owner, self.name)

    def by_getattr(self):
        type(self.owner).__getattr__ = lambda s, n: self.other

    def by_another_class(self):
        other = self.other
        self.owner.__class__ = type("Sub", (type(self.owner),), {self.name: property(lambda s: other)})


class Method(Target):
    """What a class has under a name that is looked up on classes, `more`: names that are looked up as well."""

    def __init__(self, cls, name, other, instance=None, more=()):
        super().__init__(cls, *cls.__mro__[1:-1], *([] if instance is None else [instance]))
        self.cls, self.name, self.other, self.instance, self.more = cls, name, other, instance, more

    def mutators(self):
        found = super().mutators()
        for name in self.more:
            found[f"adding_{name}"] = functools.partial(setattr, self.cls, name, self.other)
            found[f"adding_{name}_to_a_base"] = functools.partial(setattr, self.cls.__mro__[-2], name, self.other)
        return found

    def by_replacing(self):
        setattr(self.cls, self.name, self.other)

    def by_type_setattr(self):
        type.__setattr__(self.cls, self.name, self.other)

    def by_c_code(self):
        list(map(setattr, [self.cls], [self.name], [self.other]))

    def by_deleting(self):
        delattr(self.cls, self.name)

    def by_none(self):
        setattr(self.cls, self.name, None)

    def by_a_callable(self):
        setattr(self.cls, self.name, Callable(self.other))

    def by_a_class_method(self):
        setattr(self.cls, self.name, classmethod(self.other))

    def by_a_base(self):
        setattr(self.cls.__mro__[-2], self.name, self.other)

    def by_the_next_base(self):
        setattr(self.cls.__mro__[1], self.name, self.other)

    def by_a_base_and_deleting(self):
        setattr(self.cls.__mro__[-2], self.name, self.other)
        delattr(self.cls, self.name)

    def by_other_bases(self):
        base = type("OtherBase", self.cls.__bases__, {self.name: self.other})
        if self.name in vars(self.cls):
            delattr(self.cls, self.name)
        self.cls.__bases__ = (base,)

    def by_the_instance(self):
        vars(self.instance)[self.name] = functools.partial(self.other, self.instance)

    def by_another_class(self):
        self.instance.__class__ = type("Sub", (type(self.instance),), {self.name: self.other})

    def by_its_code(self):
        vars(self.cls)[self.name].__code__ = self.other.__code__

    def by_its_defaults(self):
        function = vars(self.cls)[self.name]
        function.__defaults__ = (7,) * function.__code__.co_argcount

    def by_more_defaults_than_parameters(self):
        vars(self.cls)[self.name].__defaults__ = (7,) * 40

    def by_getattribute(self):
        self.cls.__getattribute__ = (lambda s, n: functools.partial(self.other, s) if n == self.name
                                     else object.__getattribute__(s, n))

    def by_something_else_of_the_class(self):
        self.cls.something_else = 1


class Items(Target):
    """Contents of a list or deque."""

    def __init__(self, items, other):
        super().__init__(items)
        self.items, self.other = items, other

    def by_assigning(self):
        self.items[0] = self.other

    def by_appending(self):
        self.items.append(self.other)

    def by_inserting(self):
        self.items.insert(0, self.other)

    def by_deleting(self):
        del self.items[0]

    def by_reversing(self):
        self.items.reverse()

    def by_clearing(self):
        self.items.clear()

    def by_extending(self):
        self.items.extend([self.other] * 3)

    def by_a_slice(self):
        self.items[:1] = [self.other, self.other]

    def by_another_type(self):
        self.items[-1] = "other"

    def by_c_code(self):
        list.__setitem__(self.items, 0, self.other)

    def by_rotating(self):
        self.items.rotate(1)


class Keys(Target):
    """Contents of a dict or set; `key` is one that is there."""

    def __init__(self, keys, key, other):
        super().__init__(keys)
        self.keys, self.key, self.other = keys, key, other

    def by_assigning(self):
        self.keys[self.key] = self.other

    def by_deleting(self):
        del self.keys[self.key]

    def by_discarding(self):
        self.keys.discard(self.key)

    def by_adding(self):
        self.keys["zz"] = self.other

    def by_adding_elements(self):
        self.keys.update(range(40, 60))

    def by_order(self):
        self.keys[self.key] = self.keys.pop(self.key)

    def by_moving_to_the_end(self):
        self.keys.move_to_end(self.key)

    def by_clearing(self):
        self.keys.clear()

    def by_updating(self):
        self.keys.update({self.key: self.other})

    def by_an_equal_key(self):
        value = self.keys.pop(self.key)
        self.keys[float(self.key)] = value

    def by_c_code(self):
        dict.__setitem__(self.keys, self.key, self.other)

    def by_another_type(self):
        self.keys[self.key] = "other"

    def by_its_factory(self):
        self.keys.default_factory = lambda: self.other


class Cell(Target):
    """What a closure refers to."""

    def __init__(self, function, name, other):
        self.cell = function.__closure__[function.__code__.co_freevars.index(name)]
        super().__init__(self.cell)
        self.other = other

    def by_assigning(self):
        self.cell.cell_contents = self.other

    def by_deleting(self):
        del self.cell.cell_contents

    def by_another_type(self):
        self.cell.cell_contents = "other"


class Function(Target):
    """A function of the program that is called."""

    def __init__(self, function, other):
        super().__init__(function)
        self.function, self.other = function, other

    def by_its_code(self):
        self.function.__code__ = self.other.__code__

    def by_code_of_other_arity(self):
        self.function.__code__ = (lambda a, b, c, d, e, f=1: a).__code__

    def by_code_of_no_arity(self):
        self.function.__code__ = (lambda *a: a[0] * 4).__code__

    def by_its_defaults(self):
        self.function.__defaults__ = (5,)

    def by_no_defaults(self):
        self.function.__defaults__ = None

    def by_many_defaults(self):
        self.function.__defaults__ = (1, 2, 3, 4, 5) * 8

    def by_its_keyword_defaults(self):
        self.function.__kwdefaults__ = {"k": 9, "zz": 1}

    def by_a_keyword_default(self):
        self.function.__kwdefaults__["k"] = 9

    def by_deleting_a_keyword_default(self):
        del self.function.__kwdefaults__["k"]


class Class(Target):
    """The class of an object."""

    def __init__(self, instance, other):
        super().__init__(instance)
        self.instance, self.other = instance, other

    def by_assigning(self):
        self.instance.__class__ = self.other

    def by_object_setattr(self):
        object.__setattr__(self.instance, "__class__", self.other)


class Name(Target):
    """A name in a namespace: globals, builtins, a module."""

    def __init__(self, space, name, other):
        def put_back():
            self.builtins.pop(name, None)
            self.builtins.update(before)
        found = space.get("__builtins__", builtins)
        self.builtins = found if isinstance(found, dict) else vars(found)
        before = {name: self.builtins[name]} if name in self.builtins else {}
        super().__init__(space, PutBack(put_back))
        self.space, self.name, self.other = space, name, other

    def by_assigning(self):
        self.space[self.name] = self.other

    def by_deleting(self):
        del self.space[self.name]

    def by_another_type(self):
        self.space[self.name] = "other"

    def by_builtins(self):
        self.builtins[self.name] = self.other

    def by_updating(self):
        self.space.update(**{self.name: self.other})


class Module(Target):
    """An attribute that a module has, or lacks."""

    def __init__(self, module, name, other):
        super().__init__(module)
        self.module, self.name, self.other = module, name, other

    def by_assigning(self):
        setattr(self.module, self.name, self.other)

    def by_deleting(self):
        delattr(self.module, self.name)

    def by_its_dict(self):
        vars(self.module)[self.name] = self.other

    def by_another_class(self):
        other = self.other
        self.module.__class__ = type("Special", (types.ModuleType,), {self.name: property(lambda s: other)})

    def by_a_class_with_getattribute(self):
        other = self.other
        self.module.__class__ = type("Special", (types.ModuleType,), {"__getattribute__": lambda s, n: other})

    def by_getattr(self):
        self.module.__getattr__ = lambda name: self.other

    def by_getattr_and_deleting(self):
        self.module.__getattr__ = lambda name: self.other
        delattr(self.module, self.name)


class Calls(Target):
    """Anything else: functions by name that change it, and one that puts it back."""

    def __init__(self, put_back, **changes):
        super().__init__(PutBack(put_back))
        self.changes = changes

    def mutators(self):
        return self.changes


def snapshot(kept):
    """A function that puts back the state of objects as it is now."""
    back = [keeper(thing) for thing in kept]

    def put_back():
        for step in reversed(back):
            step()
    return put_back


def keeper(thing):
    if isinstance(thing, PutBack):
        return thing.function
    if isinstance(thing, type):
        return keep_class(thing)
    if isinstance(thing, (list, collections.deque)):
        items = list(thing)
        return lambda: (thing.clear(), thing.extend(items))
    if isinstance(thing, dict):
        entries, factory = list(thing.items()), getattr(thing, "default_factory", None)
        return lambda: (dict.clear(thing) if type(thing) is dict else thing.clear(), thing.update(entries),
                        hasattr(thing, "default_factory") and setattr(thing, "default_factory", factory))
    if isinstance(thing, set):
        elements = list(thing)
        return lambda: (thing.clear(), thing.update(elements))
    if isinstance(thing, types.CellType):
        contents = thing.cell_contents
        return lambda: setattr(thing, "cell_contents", contents)
    if isinstance(thing, types.FunctionType):
        parts = [(name, getattr(thing, name)) for name in ("__code__", "__defaults__", "__kwdefaults__")]
        named = dict(thing.__kwdefaults__ or {})
        return lambda: ([setattr(thing, *part) for part in parts],
                        thing.__kwdefaults__ and (thing.__kwdefaults__.clear(), thing.__kwdefaults__.update(named)))
    return keep_instance(thing)


def keep_class(cls):
    names, bases = dict(vars(cls)), cls.__bases__

    def put_back():
        if cls.__bases__ != bases:
            cls.__bases__ = bases
        now = dict(vars(cls))
        for name in now.keys() - names.keys():
            type.__delattr__(cls, name)
        for name, value in names.items():
            if name not in now or now[name] is not value:
                type.__setattr__(cls, name, value)
        for value in names.values():
            if isinstance(value, types.FunctionType) and value in kept:
                kept[value]()
    kept = {value: keeper(value) for value in names.values() if isinstance(value, types.FunctionType)}
    return put_back


def space_of(thing):
    """Its own attributes, whatever its class makes of looking at them."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None


def keep_instance(thing):
    cls, entries = type(thing), list((space_of(thing) or {}).items())
    slots = [(n, getattr(thing, n)) for n in vars(cls).get("__slots__", ()) if hasattr(thing, n)]

    def put_back():
        if type(thing) is not cls:
            object.__setattr__(thing, "__class__", cls)
        space = space_of(thing)
        if space is not None and [(k, id(v)) for k, v in space.items()] != [(k, id(v)) for k, v in entries]:
            space.clear()
            space.update(entries)
        for slot in slots:
            object.__setattr__(thing, *slot)
    return put_back
