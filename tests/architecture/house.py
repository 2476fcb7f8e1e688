# interpreter: python3
"""The repository keeps the rules of the house."""

import pathlib
import sys

from _rules import RULES, House

HERE = pathlib.Path(__file__).resolve().parent


def excuses():
    """long_files.txt: `path: reason` per line."""
    lines = (HERE / "long_files.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


house = House(HERE.parent.parent, excuses())
violations = [(rule, sentence) for rule in RULES for sentence in rule(house)]
for rule, sentence in violations:
    print(f"{rule.__name__.replace('_', ' ')}: {sentence}")
print(f"{len(RULES)} passed" if not violations else f"{len(violations)} violations")
sys.exit(bool(violations))
