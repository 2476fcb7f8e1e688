"""Functions that import and, when called, say in a sentence that they are not there; classes that nothing is one of."""


class NoInstances(type):
    """The metaclass of classes that programs ask about: isinstance(x, DTensor) is False for every x."""

    def __instancecheck__(cls, instance):
        return False


def sentence(name, because="it is not in Terra yet"):
    """A function of that name that raises NotImplementedError."""

    def absent(*args, **kwargs):
        raise NotImplementedError(f"{name}: {because}.")

    absent.__name__ = absent.__qualname__ = name.rpartition(".")[2]
    absent.__doc__ = f"Raises: {because}."
    absent.absent_because = f"{name}: {because}"
    return absent


def sentences(prefix, names, because="it is not in Terra yet"):
    """{name: function that raises} for several."""
    return {name: sentence(f"{prefix}.{name}", because) for name in names}
