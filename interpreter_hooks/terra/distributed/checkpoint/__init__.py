"""Checkpoints of several processes in a folder: of one process a single file of it, which terra.save writes."""

import os

from ..._missing_parts import sentences
from ..._names import lazily
from ...serialization import load as _load
from ...serialization import save as _save

__all__ = ["FileSystemReader", "FileSystemWriter", "load", "save"]

_FILE = "__0_0.pt"


class FileSystemWriter:
    def __init__(self, path, *_, **__):
        self.path = os.fspath(path)


class FileSystemReader:
    def __init__(self, path, *_, **__):
        self.path = os.fspath(path)


def _folder(checkpoint_id, storage, what):
    if checkpoint_id is None and storage is None:
        raise ValueError(f"torch.distributed.checkpoint: neither checkpoint_id nor {what} says where the checkpoint is")
    return os.fspath(checkpoint_id) if checkpoint_id is not None else storage.path


def _plain(value):
    """The state of what has one."""
    return value.state_dict() if hasattr(value, "state_dict") else value


def save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, **_):
    """Writes the values, and the states of modules and optimizers among them, into a folder."""
    folder = _folder(checkpoint_id, storage_writer, "storage_writer")
    os.makedirs(folder, exist_ok=True)
    _save({name: _plain(value) for name, value in state_dict.items()}, os.path.join(folder, _FILE))


def _fill(into, source, name):
    """Tensors are filled in place; the value for everything else."""
    if hasattr(into, "copy_"):
        if into.shape != source.shape:
            raise ValueError(f"{name} has the size {tuple(into.shape)}, and {tuple(source.shape)} in the checkpoint")
        into.detach().copy_(source)
        return into
    if isinstance(into, dict):
        for key, value in into.items():
            if key not in source:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.{key}")
            into[key] = _fill(value, source[key], f"{name}.{key}")
        return into
    return source


def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, **_):
    """Fills the tensors of `state_dict` in place, and replaces its other values."""
    path = os.path.join(_folder(checkpoint_id, storage_reader, "storage_reader"), _FILE)
    if not os.path.exists(path):
        raise RuntimeError(f"{path} is no checkpoint that Terra wrote: PyTorch's own folders can't be read yet")
    saved = _load(path)
    for name, value in state_dict.items():
        if name not in saved:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
        if hasattr(value, "load_state_dict"):
            value.load_state_dict(saved[name])
        else:
            state_dict[name] = _fill(value, saved[name], name)


_WHY = "it is not in Terra yet; save() and load() are"
globals().update(sentences("torch.distributed.checkpoint", ("async_save", "load_state_dict", "save_state_dict"), _WHY))

__getattr__ = lazily(__name__)
