"""Parameters as one vector and back."""

import _terra_C as C

from ..._typename import typename


def parameters_to_vector(parameters):
    pieces = []
    for parameter in parameters:
        pieces.append(parameter.view(-1))
    return C.cat(pieces)


def vector_to_parameters(vec, parameters):
    if not isinstance(vec, C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count
