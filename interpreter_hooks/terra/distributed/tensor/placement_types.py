"""How tensors of several processes lie over them."""

from ..._names import lazily


class Placement:
    """How a tensor lies over one dimension of the processes."""

    def is_shard(self, dim=None):
        return False

    def is_replicate(self):
        return False

    def is_partial(self, reduce_op=None):
        return False

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self), *vars(self).values()))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class Shard(Placement):
    def __init__(self, dim):
        self.dim = dim

    def is_shard(self, dim=None):
        return dim is None or dim == self.dim


class Replicate(Placement):
    def is_replicate(self):
        return True


class Partial(Placement):
    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def is_partial(self, reduce_op=None):
        return reduce_op is None or reduce_op == self.reduce_op


class _StridedShard(Shard):
    def __init__(self, dim, *, split_factor):
        super().__init__(dim)
        self.split_factor = split_factor


__getattr__ = lazily(__name__)
