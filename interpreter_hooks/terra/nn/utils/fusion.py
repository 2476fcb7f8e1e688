"""A batch norm with fixed statistics taken into the weights of the layer before it."""

import copy

import _terra_C as C


def _factor(weight, running_var, eps, bn_w):
    scale = C.rsqrt(running_var + eps)
    return scale if bn_w is None else bn_w * scale


def _fused(weight, bias, mean, var, eps, gain, offset, dim):
    factor = _factor(weight, var, eps, gain)
    shape = [1] * weight.dim()
    shape[dim] = -1
    bias = C.zeros_like(mean) if bias is None else bias
    moved = (bias - mean) * factor
    moved = moved if offset is None else moved + offset
    trains = weight.requires_grad
    return C.Parameter((weight * factor.reshape(shape)).detach(), trains), C.Parameter(moved.detach(), trains)


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _eval(layer, bn, fuse, *more):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *more
    )
    return fused


def fuse_conv_bn_eval(conv, bn, transpose=False):
    return _eval(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear, bn):
    return _eval(linear, bn, fuse_linear_bn_weights)
