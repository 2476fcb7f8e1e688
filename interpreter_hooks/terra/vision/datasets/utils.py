"""Files of datasets: whether they are whole, archives, and what takes the place of downloads."""

import bz2
import gzip
import hashlib
import lzma
import os
import shutil
import tarfile
import zipfile

__all__ = [
    "calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive", "download_file_from_google_drive",
    "download_url", "extract_archive", "iterable_to_str", "list_dir", "list_files", "verify_str_arg",
]  # fmt: skip


def calculate_md5(fpath, chunk_size=1024 * 1024):
    digest = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest()


def check_md5(fpath, md5, **kwargs):
    return md5 == calculate_md5(fpath, **kwargs)


def check_integrity(fpath, md5=None):
    """Whether the file is there, and with `md5` whole."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Nothing where the file is there already; else an error, for Terra downloads no data."""
    filename = filename or os.path.basename(url)
    path = os.path.join(os.path.expanduser(root), filename)
    if check_integrity(path, md5):
        return
    state = "is there but damaged (its md5 is another)" if os.path.isfile(path) else "is missing"
    raise RuntimeError(f"{path} {state}, and Terra downloads no data: fetch {url} and put it there.")


def download_file_from_google_drive(file_id, root, filename=None, md5=None):
    download_url(f"https://drive.google.com/file/d/{file_id}", root, filename or file_id, md5)


_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TARS = (".tar", ".tgz", ".tar.gz", ".tbz", ".tbz2", ".tar.bz2", ".tar.xz")


def _unpack(archive, to_path):
    """Everything in a tar archive, if it consists of files and folders that lie below the place."""
    home = os.path.realpath(to_path)
    for member in archive:
        place = os.path.realpath(os.path.join(home, member.name))
        if not (member.isfile() or member.isdir()) or os.path.commonpath([home, place]) != home:
            raise RuntimeError(
                f"{archive.name} is not unpacked: {member.name} in it is a link or leads out of {to_path}"
            )
    archive.extractall(home)


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpacks a tar or zip archive into a folder, or a single compressed file; gives the place."""
    from_path = os.fspath(from_path)
    to_path = os.path.dirname(from_path) if to_path is None else os.fspath(to_path)
    stem, suffix = os.path.splitext(from_path)
    if from_path.endswith(_TARS):
        with tarfile.open(from_path, "r:*") as archive:
            _unpack(archive, to_path)
    elif suffix == ".zip":
        with zipfile.ZipFile(from_path) as archive:
            archive.extractall(to_path)
    elif suffix in _OPENERS:
        to_path = os.path.join(to_path, os.path.basename(stem))
        with _OPENERS[suffix](from_path, "rb") as source, open(to_path, "wb") as target:
            shutil.copyfileobj(source, target)
    else:
        known = sorted({*_TARS, ".zip", *_OPENERS})
        raise RuntimeError(f"Unknown compression or archive type: '{suffix}'.\nKnown suffixes are: '{known}'.")
    if remove_finished:
        os.remove(from_path)
    return to_path


def download_and_extract_archive(url, download_root, extract_root=None, filename=None, md5=None, remove_finished=False):
    """Unpacks the archive where it is there already; else an error, for Terra downloads no data."""
    download_root = os.path.expanduser(download_root)
    filename = filename or os.path.basename(url)
    download_url(url, download_root, filename, md5)
    extract_archive(os.path.join(download_root, filename), extract_root or download_root, remove_finished)


def iterable_to_str(iterable):
    return "'" + "', '".join(map(str, iterable)) + "'"


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """The value, if it is a string and one of the valid ones."""
    if not isinstance(value, str):
        where = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{where}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        message = f"Unknown value '{value}' for argument {arg}. Valid values are {{{iterable_to_str(valid_values)}}}."
        raise ValueError(custom_msg if custom_msg is not None else message)
    return value


def _listed(root, prefix, wanted):
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if wanted(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix else names


def list_dir(root, prefix=False):
    return _listed(root, prefix, os.path.isdir)


def list_files(root, suffix, prefix=False):
    return _listed(root, prefix, lambda path: os.path.isfile(path) and path.endswith(suffix))
