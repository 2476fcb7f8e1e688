"""torch.torch_version: a version that is a string, and is compared as a version is."""

from .version import torch as _version

__all__ = ["TorchVersion"]

_PATTERN = (
    r"v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?(?:[-_.]?(post|rev|r)[-_.]?(\d*))?"
    r"(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "rc": 2, "c": 2, "pre": 2, "preview": 2}


def _key(text):
    """What orders versions as PEP 440 does: numbers, pre-release, post-release, development release, label. None if it is none."""
    import re  # here, so that `import terra` alone stays fast

    found = re.fullmatch(_PATTERN, text.strip().lower())
    if not found:
        return None
    numbers, stage, stage_number, post, post_number, dev, dev_number, label = found.groups()
    numbers = tuple(int(n) for n in numbers.split("."))
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    if stage:
        before = (_STAGES[stage], int(stage_number or 0))
    else:
        before = (-1, 0) if dev and not post else (3, 0)
    labels = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split("[-_.]", label)) if label else ()
    return (
        numbers, before, int(post_number or 0) if post else -1, (0, int(dev_number or 0)) if dev else (1, 0), bool(label), labels,
    )  # fmt: skip


class TorchVersion(str):
    """A version, compared with another one, with a string such as '2.10', with a tuple such as (2, 10)."""

    __slots__ = ()

    def _keys(self, other):
        if not isinstance(other, str) and hasattr(other, "__iter__"):
            other = ".".join(str(part) for part in other)
        return _key(self), _key(str(other))

    def __lt__(self, other):
        ours, theirs = self._keys(other)
        return str.__lt__(self, other) if ours is None or theirs is None else ours < theirs

    def __le__(self, other):
        ours, theirs = self._keys(other)
        return str.__le__(self, other) if ours is None or theirs is None else ours <= theirs

    def __gt__(self, other):
        ours, theirs = self._keys(other)
        return str.__gt__(self, other) if ours is None or theirs is None else ours > theirs

    def __ge__(self, other):
        ours, theirs = self._keys(other)
        return str.__ge__(self, other) if ours is None or theirs is None else ours >= theirs

    def __eq__(self, other):
        ours, theirs = self._keys(other)
        return str.__eq__(self, other) if ours is None or theirs is None else ours == theirs

    __hash__ = str.__hash__


__version__ = TorchVersion(_version)
