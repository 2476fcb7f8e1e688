# run: --capture=off
# run:
"""Optimizers step parameters that aren't contiguous as they step contiguous ones, and touch nothing around them."""

import terra
from terra import nn, optim

OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.1),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.9),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "Adadelta": lambda p: optim.Adadelta(p, lr=0.1),
}


def transposed(values):
    base = values.t().contiguous()
    return base, base.t()


def sliced(values):
    base = terra.full((values.shape[0], 2 * values.shape[1] + 1), 7.0)
    part = base[:, 1::2]
    part.copy_(values)
    return base, part


LAYOUTS = {"transposed": transposed, "sliced": sliced}


def trained(make, weight, gradient_layout):
    """The weight after some steps, and the parameter."""
    parameter = nn.Parameter(weight)
    optimizer = make([parameter])

    def step(k):
        parameter.grad = gradient_layout(terra.arange(12.0).reshape(3, 4) * 0.1 * (k + 1))
        optimizer.step()

    for k in range(8):
        step(k)
    return parameter


values = terra.arange(12.0).reshape(3, 4) / 7 - 1
for name, make in OPTIMIZERS.items():
    meant = trained(make, values.clone(), lambda g: g)
    for layout_name, layout in LAYOUTS.items():
        for gradient in (lambda g: g, lambda g: transposed(g)[1]):
            base, weight = layout(values)
            around = base.clone()
            parameter = trained(make, weight, gradient)
            assert parameter.stride() == weight.stride() and parameter.data_ptr() == weight.data_ptr(), (name, layout_name)
            assert parameter.tolist() == meant.tolist(), (name, layout_name, parameter.tolist(), meant.tolist())
            if layout is sliced:
                assert base[:, ::2].tolist() == around[:, ::2].tolist(), (name, base)

for name, make in OPTIMIZERS.items():
    shown = nn.Parameter(terra.ones(1).expand(50_000))
    shown.grad = terra.ones(50_000)
    try:
        make([shown]).step()
    except RuntimeError as error:
        assert "more than one element of the written-to tensor refers to a single memory location" in str(error), (name, error)
    else:
        raise AssertionError(f"{name} stepped an expanded parameter")
    assert shown[0].item() == 1.0
print("layouts: ok")
