"""What layers of quantized networks compute: exact sums of products of integers, and the roundings that PyTorch's make of them."""

import _terra_C as C

from ..nn import functional as F
from .kinds import limits
from .tensor import _rounded, _single, chosen_parameters, dequantize, made, quantize_per_tensor


def _centered(tensor):
    """The integers, counted from their zero point: exact as float64."""
    values = tensor._values.double()
    if tensor._axis is None:
        return values - tensor._zero_point
    sizes = [1] * values.dim()
    sizes[tensor._axis] = -1
    return values - tensor._zero_point.double().view(sizes)


def _weight_scales(weight):
    """One scale, or one for each output."""
    return C.tensor(weight._scale, dtype=C.float32) if weight._axis is None else weight._scale.float()


def _requantized(sums, factor, bias, scale, zero_point, dtype, relu):
    """Sums of products of integers as integers of another scale. `factor`: what one of the sums' units is."""
    numbers = sums.round().float()
    if bias is not None:
        numbers = numbers + bias.detach() / factor
    counted = (numbers * (factor / _single(scale))).round() + zero_point
    return made(_rounded(counted.clamp(min=zero_point) if relu else counted, dtype), float(scale), int(zero_point))


def linear(input, weight, bias, scale, zero_point, relu=False):
    sums = _centered(input) @ _centered(weight).t()
    return _requantized(sums, _single(input._scale) * _weight_scales(weight), bias, scale, zero_point, input.dtype, relu)


def linear_dynamic(input, weight, bias, reduce_range=True):
    """Of numbers: they are quantized to 8 bits, or 7, by their own range, and the result is numbers again."""
    input = input.detach()
    low, high = (each.item() for each in C.aminmax(input)) if input.numel() else (0.0, 0.0)
    scale, zero_point = chosen_parameters(low, high, 0, 127 if reduce_range else 255)
    quantized = quantize_per_tensor(input, scale, zero_point, C.quint8)
    sums = _centered(quantized) @ _centered(weight).t()
    result = sums.round().float() * (_single(scale) * _weight_scales(weight))
    return result if bias is None else result + bias.detach()


def convolution(input, weight, bias, stride, padding, dilation, groups, scale, zero_point, relu=False):
    convolve = (F.conv1d, F.conv2d, F.conv3d)[weight.dim() - 3]
    sums = convolve(_centered(input), _centered(weight), None, stride, padding, dilation, groups)
    sizes = [-1] + [1] * (weight.dim() - 2)
    factor = _single(input._scale) * _weight_scales(weight)
    factor = factor if weight._axis is None else factor.view(sizes)
    bias = None if bias is None else bias.detach().view(sizes)
    return _requantized(sums, factor, bias, scale, zero_point, input.dtype, relu)


def _of_numbers(function):
    def of_two(a, b, scale, zero_point):
        return quantize_per_tensor(function(dequantize(a), dequantize(b)), scale, zero_point, a.dtype)

    return of_two


add, mul, matmul = _of_numbers(C.add), _of_numbers(C.mul), _of_numbers(C.matmul)
add_relu = _of_numbers(lambda a, b: C.relu(a + b))


def cat(tensors, dim, scale, zero_point):
    return quantize_per_tensor(C.cat([dequantize(t) for t in tensors], dim), scale, zero_point, tensors[0].dtype)


def add_scalar(tensor, number):
    """The number, as a multiple of the scale, moves the zero point as far as the range allows; then the scale grows."""
    count, (least, greatest) = round(number / tensor._scale), limits(tensor.dtype)
    zero_point = tensor._zero_point - count
    if least <= zero_point <= greatest:
        return made(tensor._values.clone(), tensor._scale, zero_point)
    reach, end = (greatest - zero_point, least) if zero_point < least else (zero_point - least, greatest)
    numbers = (tensor._values.float() - tensor._zero_point + count) * _single(tensor._scale)
    return quantize_per_tensor(numbers, reach / (greatest - least) * tensor._scale, end, tensor.dtype)


def mul_scalar(tensor, number):
    if number > 0:
        return made(tensor._values.clone(), tensor._scale * number, tensor._zero_point)
    if number == 0:
        return made(C.zeros_like(tensor._values), 1.0, 0)
    least, greatest = limits(tensor.dtype)
    return made((least + greatest) - tensor._values, -tensor._scale * number, least + greatest - tensor._zero_point)


def fused_moving_avg_obs_fake_quant(
    input, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min, quant_max, ch_axis,
    per_row_fake_quant=False, symmetric_quant=False,
):  # fmt: skip
    """Follows the range of its inputs in running_min and running_max, chooses scale and zero_point, and rounds as they say."""
    if observer_on.item():
        with C.no_grad():
            _follow(input.detach(), running_min, running_max, averaging_const, ch_axis if per_row_fake_quant else None)
            pairs = zip(running_min.reshape(-1).tolist(), running_max.reshape(-1).tolist())
            chosen = [chosen_parameters(low, high, quant_min, quant_max, symmetric_quant) for low, high in pairs]
            for tensor, values in zip((scale, zero_point), zip(*chosen)):
                tensor.resize_(len(values)).copy_(C.tensor(values, dtype=tensor.dtype))
    if not fake_quant_on.item():
        return input
    from .. import _rare_functions as rare

    if per_row_fake_quant:
        return rare.fake_quantize_per_channel_affine(input, scale, zero_point, ch_axis, quant_min, quant_max)
    return rare.fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max)


def _follow(input, running_min, running_max, constant, axis):
    if axis is None:
        low, high = C.aminmax(input)
    else:
        low, high = C.aminmax(input.transpose(0, axis).flatten(1), dim=1)
    if running_min.numel() != low.numel():
        running_min.resize_(low.shape).fill_(float("inf"))
        running_max.resize_(high.shape).fill_(-float("inf"))
    for running, found in ((running_min, low), (running_max, high)):
        running.copy_(C.where(running.isinf(), found, running + constant * (found - running)))
