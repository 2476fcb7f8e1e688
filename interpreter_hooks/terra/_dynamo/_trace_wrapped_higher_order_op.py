"""What code that PyTorch's compiler traces says of its indexing."""

from .._names import lazily


class TransformGetItemToIndex:
    """A context in which x[i] with a tensor i is an index that vmap maps; here it is one everywhere."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


__getattr__ = lazily(__name__)
