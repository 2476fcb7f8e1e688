"""torch.utils.weak: references to tensors, and dictionaries by tensors, that don't keep them alive. Tensors are told apart
by what they are, not by their elements, which `==` compares."""

import collections.abc
import weakref

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to those of the same object."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, theirs = self(), other()
        return self is other if mine is None or theirs is None else mine is theirs

    def __ne__(self, other):
        return not self == other


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """A dictionary by objects; an entry goes when its key does."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data, self.ref_type = {}, ref_type
        data = self.data
        self._forget = lambda reference: data.pop(reference, None)
        self.update(dict or {})

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._forget)] = value

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # no weak references to such an object
            return False

    def __iter__(self):
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The weak references to the keys."""
        return list(self.data)

    def copy(self):
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo):
        import copy

        new = type(self)(ref_type=self.ref_type)
        for key, value in self.items():
            new[key] = copy.deepcopy(value, memo)
        return new

    def __or__(self, other):
        new = self.copy()
        new.update(other)
        return new

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other):
        """The same keys, by what they are, with equal values."""
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; equal where the tensors are the same object."""

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
