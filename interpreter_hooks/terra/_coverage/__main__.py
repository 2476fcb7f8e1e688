"""terra-run --coverage SCRIPT: the report. Exit status 0: all names are there, 1: some are absent, 2: nothing could be
read."""

import importlib
import inspect
import pathlib
import sys
import types
import warnings

from .uses import read

PACKAGES = {"torch": "terra", "torchvision": "terra.vision", "terra": "terra"}
MOST_LINES = 6


# ---- the program -----------------------------------------------------------------------------------------------------
def module_files(folder, imported):
    """The files beside the program, or in packages there, that an import may run."""
    parts = [part for part in imported.module.split(".") if part]
    for below in [parts, *[[*parts, name] for name in imported.names]]:
        for count in range(1, len(below) + 1):
            stem = folder.joinpath(*below[:count])
            yield from (path for path in (stem / "__init__.py", stem.with_name(stem.name + ".py")) if path.is_file())


def files_of(script):
    """{file: its uses}, the script first, and the files that could not be read with their reasons."""
    found, failed, waiting = {}, {}, [script]
    while waiting:
        path = waiting.pop(0)
        if path in found or path in failed:
            continue
        try:
            uses, imports = read(path.read_text(encoding="utf-8"), str(path), PACKAGES)
        except (OSError, SyntaxError, ValueError) as error:
            failed[path] = error
            continue
        found[path] = uses
        for imported in imports:
            folders = [script.parent] if imported.level == 0 else [path.parents[imported.level - 1]]
            for folder in folders:
                waiting.extend(module_files(folder, imported))
    return found, failed


# ---- Terra -----------------------------------------------------------------------------------------------------------
def resolved(name):
    """(what it is in Terra, null) or (null, why it is absent). Attributes of instances are not looked at."""
    root, _, rest = name.partition(".")
    path = PACKAGES[root]
    value = importlib.import_module(path)
    for part in rest.split(".") if rest else ():
        if isinstance(value, types.ModuleType):
            path += "." + part
            try:
                value = attribute(value, part, path)
            except (AttributeError, ImportError) as error:
                return None, str(error)
        elif isinstance(value, type) and not part.startswith("__"):
            try:
                value = inspect.getattr_static(value, part)
            except AttributeError:
                return None, f"{value.__name__} has no attribute {part} in Terra"
        else:
            break
    return value, getattr(value, "absent_because", None)


def attribute(module, name, path):
    try:
        return getattr(module, name)
    except AttributeError:
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError:
            pass
        raise


# ---- the report ------------------------------------------------------------------------------------------------------
def places(uses, folder):
    """'train.py:3, 7, model.py:12': at most MOST_LINES of them."""
    lines = sorted({(str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path), use.line)
                    for path, use in uses})  # fmt: skip
    shown, before = [], None
    for path, line in lines[:MOST_LINES]:
        shown.append(str(line) if path == before else f"{path}:{line}")
        before = path
    more = len(lines) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def print_names(title, names, uses, folder, reasons):
    if not names:
        return
    print(f"\n{title}")
    width = max(map(len, names))
    for name in names:
        print(f"  {len(uses[name]):4} {name:{width}}  {places(uses[name], folder)}")
        if reasons.get(name):
            print(f"       {reasons[name]}")


def below_absent(name, reasons):
    """torch.foo.bar where torch.foo is absent already."""
    while "." in name:
        name = name.rpartition(".")[0]
        if reasons.get(name):
            return True
    return False


def main(arguments):
    if not arguments:
        print("terra-run: --coverage needs a script behind it.", file=sys.stderr)
        return 2
    script = pathlib.Path(arguments[0]).absolute()
    found, failed = files_of(script)
    for path, error in failed.items():
        print(f"terra-run: {path} can't be read: {error}", file=sys.stderr)
    if script in failed:
        return 2
    uses = {}
    for path, of_file in found.items():
        for use in of_file:
            uses.setdefault(use.name, []).append((path, use))
    reasons = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in uses:
            reasons[name] = resolved(name)[1]
    there = sorted(name for name in uses if reasons[name] is None)
    absent = sorted(name for name in uses if reasons[name] is not None and not below_absent(name, reasons))
    careful = [name for name in absent if all(use.guarded for _, use in uses[name])]
    absent = [name for name in absent if name not in careful]
    others = len(found) - 1
    count = len(there) + len(absent) + len(careful)
    print(
        f"{script.name}{f' and {others} local file' if others else ''}{'s' if others > 1 else ''}: "
        f"{count} names of torch, {len(there)} there, {len(absent)} absent"
        + (f", {len(careful)} absent where the program is prepared for it" if careful else "")
    )
    print_names("absent", absent, uses, script.parent, reasons)
    print_names("absent, and the program is prepared for it (try, hasattr)", careful, uses, script.parent, reasons)
    print_names("there", there, uses, script.parent, {})
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
