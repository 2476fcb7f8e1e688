"""torch.hub: models by the hubconf.py of a folder, and files by address."""

import importlib.util
import os
import re
import sys
from urllib.parse import urlparse  # noqa: F401 - libraries of models take it from here

from ._names import lazily

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

_dir = [None]
READ_DATA_CHUNK = 128 * 1024
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def _get_torch_home():
    """$TORCH_HOME, or ~/.cache/torch."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """Where files are kept: $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    return _dir[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    _dir[0] = os.path.expanduser(d)


def _hubconf(folder, source):
    if source != "local":
        raise NotImplementedError(
            f"torch.hub: Terra does not fetch repositories ('{folder}'). Clone it, and give the folder with source='local'."
        )
    spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    for package in getattr(module, "dependencies", ()):
        if importlib.util.find_spec(package) is None:
            raise RuntimeError(f"Missing dependencies: {package}")
    return module


def _entry(module, model):
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, source="github"):
    """The functions of a folder's hubconf.py."""
    module = _hubconf(github, source)
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, source="github"):
    return _entry(_hubconf(github, source), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True, skip_validation=False, **kwargs):
    """What the function `model` of a folder's hubconf.py gives."""
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Writes what is at the address into a file, whole or not at all."""
    import hashlib
    import urllib.request

    partial = f"{dst}.{os.getpid()}.partial"
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url) as response, open(partial, "wb") as file:
            while block := response.read(1 << 20):
                file.write(block)
                digest.update(block)
        if hash_prefix is not None and digest.hexdigest()[: len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(partial, dst)
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    """What torch.load reads of the file at the address, which is kept in hub's folder."""
    from urllib.parse import urlparse

    from .serialization import load as read

    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, match.group(1) if match else None, progress)
    return read(path, map_location=map_location, weights_only=weights_only)


class _Progress:
    """tqdm where it is not installed: says nothing."""

    def __init__(self, iterable=None, *args, **kwargs):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def update(self, n=1):
        """Nothing to show."""

    close = set_postfix = set_description = update


def __getattr__(name):
    if name == "tqdm":
        try:
            from tqdm import tqdm
        except ImportError:
            tqdm = _Progress
        return tqdm
    return _missing(name)


_missing = lazily(__name__)
