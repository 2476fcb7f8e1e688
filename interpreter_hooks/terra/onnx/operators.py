"""Shapes as tensors, which exported graphs would compute."""

import _terra_C as C


def shape_as_tensor(x):
    return C.tensor(x.shape)


def reshape_from_tensor_shape(x, shape):
    return x.reshape(shape.tolist())
