"""Which virtual environment terra-run is in, and that its prefix is /usr whatever Python made the environment."""

import os
import pathlib
import subprocess
import sys
import tempfile

SHOW = "import sys; print(sys.prefix, sys.base_prefix, sys.executable, [p for p in sys.path if 'packages' in p][:1])"
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


def environment(folder, name, config):
    root = pathlib.Path(folder, name)
    packages = root / "lib" / f"python{MINOR}" / "site-packages"
    packages.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "pyvenv.cfg").write_text(f"home = /opt/other/bin\ninclude-system-site-packages = false\n{config}\n")
    return str(root), str(packages)


def shown(program=sys.executable, active=None, flags=("-c",)):
    variables = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    if active:
        variables["VIRTUAL_ENV"] = active
    run = subprocess.run([program, *flags, SHOW], env=variables, capture_output=True, text=True, check=True)
    return run.stdout.strip()


with tempfile.TemporaryDirectory() as folder:
    plain = shown()
    assert plain.startswith(f"/usr /usr {sys.executable} "), plain
    for name, config in {"venv": f"version = {MINOR}.7", "virtualenv": f"version_info = {MINOR}.0.final.0"}.items():
        root, packages = environment(folder, name, config)
        expected = f"{root} /usr {sys.executable} {[packages]}"
        assert shown(active=root) == expected, shown(active=root)
        assert shown(active=root, flags=("-I", "-c")) == expected
        # Started through a link in the environment's bin folder, as made by `terra-run -m venv`.
        link = os.path.join(root, "bin", "python")
        os.symlink(sys.executable, link)
        assert shown(link) == f"{root} /usr {link} {[packages]}"
        assert shown(link, active=os.path.join(folder, "elsewhere")) == shown(link)
    for name, config in {"old": "version = 3.9.1", "longer": f"version = {MINOR}1.0", "silent": ""}.items():
        root, _ = environment(folder, name, config)
        assert shown(active=root) == plain
    assert shown(active=os.path.join(folder, "none")) == plain
print("13 passed")
