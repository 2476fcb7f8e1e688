# run: --torch
"""What optimizers refuse of parameters and learning rates, in PyTorch's words."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")


def cases():
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD", "LBFGS"):
        kind = getattr(torch.optim, name)
        a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)

        def two_groups(first, second):
            optimizer = kind(first)
            optimizer.add_param_group({"params": second})
            return optimizer

        for what, make in (
            ("some names", lambda: kind([("a", a), b])),
            ("names", lambda: kind([("a", a), ("b", b)]).param_groups[0]["param_names"]),
            ("names, then none", lambda: two_groups([("a", a)], [b])),
            ("none, then names", lambda: two_groups([a], [("b", b)])),
            ("twice", lambda: two_groups([a], [a])),
            ("rates", lambda: kind([a], lr=torch.tensor([0.1, 0.2]))),
            ("number", lambda: kind([1.0])),
        ):
            try:
                yield f"{name}, {what}", make()
            except Exception as error:
                yield f"{name}, {what}", f"{type(error).__name__} {error}"


check(list(cases()), __file__)
