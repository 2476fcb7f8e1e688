"""The gradients of convolutions by themselves."""

import _terra_C as C

from .modules.utils import pair, single, triple

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _flat(sizes):
    """Sizes of a sequence as those of an image of height 1."""
    return (*sizes[:2], 1, *sizes[2:])


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = ((1, *single(stride)), (0, *single(padding)), (1, *single(dilation)), groups)
    gradient = C._ops.conv2d_backward_input(
        grad_output.unsqueeze(2), weight.unsqueeze(2), _flat(input_size), *attributes
    )
    return gradient.squeeze(2)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = ((1, *single(stride)), (0, *single(padding)), (1, *single(dilation)), groups)
    gradient = C._ops.conv2d_backward_weight(
        grad_output.unsqueeze(2), input.unsqueeze(2), _flat(weight_size), *attributes
    )
    return gradient.squeeze(2)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = (pair(stride), pair(padding), pair(dilation), groups)
    return C._ops.conv2d_backward_input(grad_output, weight, input_size, *attributes)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = (pair(stride), pair(padding), pair(dilation), groups)
    return C._ops.conv2d_backward_weight(grad_output, input, weight_size, *attributes)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = (triple(stride), triple(padding), triple(dilation), groups)
    return C._ops.conv3d_backward_input(grad_output, weight, input_size, *attributes)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    attributes = (triple(stride), triple(padding), triple(dilation), groups)
    return C._ops.conv3d_backward_weight(grad_output, input, weight_size, *attributes)
