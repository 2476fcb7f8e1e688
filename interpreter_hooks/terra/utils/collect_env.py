"""python -m torch.utils.collect_env: what a report of an error should say about the machine."""

import platform
import sys


def get_pretty_env_info():
    from .. import __config__, version

    return "\n".join((
        f"Terra version: {version.terra if hasattr(version, 'terra') else version.__version__}", f"Names of PyTorch: {version.__version__}",
        f"OS: {platform.platform()}", f"Python version: {sys.version}", __config__.show(),
    ))  # fmt: skip


def main():
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
