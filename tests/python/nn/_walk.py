"""What layers are asked for: printed form, names of their state, initial values, outputs, gradients, buffers."""

import torch
from torch import nn


def tensors_of(output):
    return [output] if isinstance(output, torch.Tensor) else list(output)


def walk(cases):
    """cases: (class, arguments, keywords, shapes of inputs). Yields (name, values)."""
    for kind, args, kwargs, shapes in cases:
        torch.manual_seed(1)
        layer = kind(*args, **kwargs)
        name = repr(layer).replace("\n", "\\n")
        yield name, [[f"{k} {tuple(v.shape)}" for k, v in layer.state_dict().items()], list(layer.parameters())]
        data = [torch.randn(shape) for shape in shapes]
        for mode in (True, False):
            layer.train(mode)
            inputs = [x.clone().requires_grad_() for x in data]
            if isinstance(layer, nn.BCEWithLogitsLoss):
                inputs[1] = inputs[1].detach().sigmoid()
            output = layer(*[x * 1 for x in inputs])
            yield f"  train={mode}", output
            output = tensors_of(output)[0]
            (output * torch.linspace(0.5, 1.5, output.numel()).view(output.shape)).sum().backward()
            yield "  gradients", [x.grad for x in (*inputs, *layer.parameters()) if x.grad is not None]
        yield "  buffers and next number", [list(layer.buffers()), torch.rand(1)]
