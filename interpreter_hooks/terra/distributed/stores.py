"""Stores: where processes would leave values for one another. Of one process they are dicts."""


class Store:
    """Values by key, as bytes."""

    def __init__(self, *_, **__):
        self._values = {}

    def set(self, key, value):
        self._values[key] = value.encode() if isinstance(value, str) else bytes(value)

    def get(self, key):
        if key not in self._values:
            raise RuntimeError(f"the store has no key '{key}', and there is no other process that could set it")
        return self._values[key]

    def add(self, key, amount):
        total = int(self._values.get(key, b"0")) + amount
        self._values[key] = str(total).encode()
        return total

    def wait(self, keys, timeout=None):
        for key in keys:
            self.get(key)

    def check(self, keys):
        return all(key in self._values for key in keys)

    def delete_key(self, key):
        return self._values.pop(key, None) is not None

    def num_keys(self):
        return len(self._values)


class HashStore(Store):
    """A store inside this process."""


class FileStore(Store):
    """A store that takes the name of a file; with one process the file is not needed."""

    def __init__(self, file_name, world_size=-1):
        super().__init__()
        _single(world_size)


class TCPStore(Store):
    """A store that takes an address; with one process nobody listens there."""

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=None, wait_for_workers=True, **_):
        super().__init__()
        _single(world_size)


class PrefixStore(Store):
    """Another store, with a prefix before the keys."""

    def __init__(self, prefix, store):
        super().__init__()
        self._values = _Prefixed(prefix, store)


class _Prefixed(dict):
    def __init__(self, prefix, store):
        super().__init__()
        self._prefix, self._store = prefix + "/", store

    def __contains__(self, key):
        return self._store.check([self._prefix + key])

    def __getitem__(self, key):
        return self._store.get(self._prefix + key)

    def __setitem__(self, key, value):
        self._store.set(self._prefix + key, value)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def pop(self, key, default=None):
        value = self.get(key, default)
        self._store.delete_key(self._prefix + key)
        return value

    def __len__(self):
        return self._store.num_keys()


def _single(world_size):
    if world_size is not None and world_size > 1:
        raise RuntimeError(f"a store for {world_size} processes was asked for; Terra has groups of one process")
