#include "engine/ops/conv.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// Attributes of a convolution: parameters first .. first + 3 of its op.
struct Attributes {
  Dims stride, padding, dilation;
  int64_t groups;
};

template <class Call>
Attributes attributes(const Call& call, int first) {
  return {Dims(call.ints(first)), Dims(call.ints(first + 1)), Dims(call.ints(first + 2)), call.integer(first + 3)};
}

// ---- shapes ---------------------------------------------------------------------------------------------------------
void check_attributes(const Attributes& a) {
  for (int64_t s : a.stride) check(s > 0, "non-positive stride is not supported");
  for (int64_t p : a.padding) check(p >= 0, "negative padding is not supported");
  for (int64_t d : a.dilation) check(d > 0, "dilation should be greater than zero");
  check(a.groups > 0, "non-positive groups is not supported");
}

/// Sizes of what filters of size `weight` make of images of size `input`.
Dims convolved_sizes(std::span<const int64_t> input, std::span<const int64_t> weight, const Attributes& a) {
  check_attributes(a);
  check(input.size() == 4, "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: {}",
        to_string(input));
  check(weight.size() == 4, "weight should have at least four dimensions, but got {}", to_string(weight));
  check(weight[0] % a.groups == 0 && weight[0] >= a.groups,
        "Given groups={}, expected weight to be at least {} at dimension 0, but got weight of size {} instead",
        a.groups, a.groups, to_string(weight));
  check(input[1] / a.groups == weight[1] && input[1] % a.groups == 0,
        "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        a.groups, to_string(weight), to_string(input), weight[1] * a.groups, input[1]);
  check(weight[2] > 0 && weight[3] > 0,
        "kernel size should be greater than zero, but got kernel_height: {} kernel_width: {}", weight[2], weight[3]);
  Dims padded, kernel, out{input[0], weight[0]};
  for (size_t i = 0; i < 2; ++i) {
    padded.push_back(size_sum(input[2 + i], size_product(2, a.padding[i])));
    kernel.push_back(size_sum(size_product(a.dilation[i], weight[2 + i] - 1), 1));
  }
  check(
      padded[0] >= kernel[0] && padded[1] >= kernel[1],
      "Calculated padded input size per channel: ({} x {}). Kernel size: ({} x {}). Kernel size can't be greater than "
      "actual input size",
      padded[0], padded[1], kernel[0], kernel[1]);
  for (size_t i = 0; i < 2; ++i) out.push_back((padded[i] - kernel[i]) / a.stride[i] + 1);
  return out;
}

void conv2d_shape(Inference& f) {
  const auto input = f.sizes(0), weight = f.sizes(1);
  Dims out = convolved_sizes(input, weight, attributes(f, 3));
  if (f.has(2))
    check(
        f.rank(2) == 1 && f.sizes(2)[0] == weight[0],
        "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} instead",
        to_string(weight), weight[0], to_string(f.sizes(2)));
  check(f.dtype(0) == f.dtype(1), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(1)));
  check(!f.has(2) || f.dtype(0) == f.dtype(2), "Input type ({}) and bias type ({}) should be the same",
        scalar_type_name(f.dtype(0)), f.has(2) ? scalar_type_name(f.dtype(2)) : "");
  f.result(f.dtype(0), std::move(out));
}
/// The adjoints take what conv2d of the same attributes gives.
void check_adjoint(Inference& f, std::span<const int64_t> input, std::span<const int64_t> weight) {
  if (Dims(f.sizes(0)) != convolved_sizes(input, weight, attributes(f, 3)))
    fail(ErrorKind::RuntimeError,
         "{}: a gradient of size {} doesn't come from images of size {} and filters of size {}", f.op.name,
         to_string(f.sizes(0)), to_string(input), to_string(weight));
  f.result(f.dtype(0), Dims(f.ints(2)));
}
void backward_input_shape(Inference& f) { check_adjoint(f, f.ints(2), f.sizes(1)); }
void backward_weight_shape(Inference& f) { check_adjoint(f, f.sizes(1), f.ints(2)); }

// ---- gradients: conv2d is linear in its input and in its weight; the adjoints are conv2d_backward_input and _weight
// --
void conv2d_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, conv2d_backward_input(g, b.in(1), b.sizes(0), a.stride, a.padding, a.dilation, a.groups));
  if (b.needs(1)) b.set(1, conv2d_backward_weight(g, b.in(0), b.sizes(1), a.stride, a.padding, a.dilation, a.groups));
  if (b.needs(2)) b.set(2, sum(g, Dims{0, 2, 3}));
}
/// r(g, w), the input's gradient: <u, r> = <u * w, g>.
void conv2d_backward_input_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor u = b.grad();
  if (b.needs(0)) b.set(0, conv2d(u, b.in(1), Arg(), a.stride, a.padding, a.dilation, a.groups));
  if (b.needs(1)) b.set(1, conv2d_backward_weight(b.in(0), u, b.sizes(1), a.stride, a.padding, a.dilation, a.groups));
}
/// r(g, x), the weight's gradient: <u, r> = <x * u, g>.
void conv2d_backward_weight_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor u = b.grad();
  if (b.needs(0)) b.set(0, conv2d(b.in(1), u, Arg(), a.stride, a.padding, a.dilation, a.groups));
  if (b.needs(1)) b.set(1, conv2d_backward_input(b.in(0), u, b.sizes(1), a.stride, a.padding, a.dilation, a.groups));
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// Inputs may lack the batch dimension.
void check_rank(const Tensor& input, size_t spatial, std::string_view op) {
  check(input.rank() == spatial + 1 || input.rank() == spatial + 2,
        "Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}", spatial + 1, spatial + 2,
        op, to_string(input.sizes()));
}
/// The two-dimensional attribute in which a one-dimensional one is the width.
Dims with_height(std::span<const int64_t> one, int64_t height) {
  check(one.size() == 1,
        "expected a single integer value or a list of 1 values to match the convolution dimensions, but got {}",
        to_string(one));
  return {height, one[0]};
}

void conv2d_batched_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_rank(x, 2, "conv2d");
  const Attributes a = attributes(c, 3);
  if (x.rank() == 4) return c.result(conv2d(x, c.arg(1), c.arg(2), a.stride, a.padding, a.dilation, a.groups));
  c.result(squeeze(conv2d(unsqueeze(x, 0), c.arg(1), c.arg(2), a.stride, a.padding, a.dilation, a.groups), Dims{0}));
}
void conv1d_of(Composition& c) {
  const Tensor x = c.tensor(0), w = c.tensor(1);
  check_rank(x, 1, "conv1d");
  check(w.rank() == 3, "weight should have at least three dimensions, but got {}", to_string(w.sizes()));
  const Tensor batch = x.rank() == 2 ? unsqueeze(x, 0) : x;
  const Attributes a = attributes(c, 3);
  check(batch.size(1) == w.size(1) * a.groups,
        "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        a.groups, to_string(w.sizes()), to_string(batch.sizes()), w.size(1) * a.groups, batch.size(1));
  const Tensor out = squeeze(conv2d(unsqueeze(batch, 2), unsqueeze(w, 2), c.arg(2), with_height(a.stride, 1),
                                    with_height(a.padding, 0), with_height(a.dilation, 1), a.groups),
                             Dims{2});
  c.result(x.rank() == 2 ? squeeze(out, Dims{0}) : out);
}

/// The adjoint of the convolution with the same weight, plus a bias.
Tensor transposed(Tensor x, const Tensor& w, const Tensor& bias, const Dims& stride, const Dims& padding,
                  const Dims& output_padding, int64_t groups, const Dims& dilation) {
  check_attributes({stride, padding, dilation, groups});
  check(w.rank() == 4, "weight should have at least four dimensions, but got {}", to_string(w.sizes()));
  check(x.size(1) == w.size(0),
        "Given transposed=1, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        to_string(w.sizes()), to_string(x.sizes()), w.size(0), x.size(1));
  Dims out{x.size(0), size_product(w.size(1), groups)}, whole_steps{0, 0};
  for (size_t i = 0; i < 2; ++i) {
    check(output_padding[i] >= 0, "negative output_padding is not supported");
    check(output_padding[i] < std::max(stride[i], dilation[i]),
          "output padding must be smaller than either stride or dilation, but got output_padding_height: {} "
          "output_padding_width: {}",
          output_padding[0], output_padding[1]);
    const auto axis = static_cast<int64_t>(2 + i);
    const int64_t steps = size_product(x.size(axis) - 1, stride[i]),
                  reach = size_product(dilation[i], w.size(axis) - 1);
    out.push_back(
        size_sum(size_sum(steps, size_product(padding[i], -2)), size_sum(reach, size_sum(output_padding[i], 1))));
    whole_steps[i] = output_padding[i] / stride[i];
  }
  if (whole_steps[0] > 0 || whole_steps[1] > 0) x = constant_pad(x, Dims{0, whole_steps[1], 0, whole_steps[0]});
  const Tensor y = conv2d_backward_input(x, w, out, stride, padding, dilation, groups);
  return bias.defined() ? y + reshape(bias, Dims{1, -1, 1, 1}) : y;
}
void conv_transpose2d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_rank(x, 2, "conv_transpose2d");
  const Tensor batch = x.rank() == 3 ? unsqueeze(x, 0) : x;
  const Tensor y = transposed(batch, c.tensor(1), c.tensor(2), Dims(c.ints(3)), Dims(c.ints(4)), Dims(c.ints(5)),
                              c.integer(6), Dims(c.ints(7)));
  c.result(x.rank() == 3 ? squeeze(y, Dims{0}) : y);
}
void conv_transpose1d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_rank(x, 1, "conv_transpose1d");
  const Tensor batch = x.rank() == 2 ? unsqueeze(x, 0) : x;
  const Tensor y =
      squeeze(transposed(unsqueeze(batch, 2), unsqueeze(c.tensor(1), 2), c.tensor(2), with_height(c.ints(3), 1),
                         with_height(c.ints(4), 0), with_height(c.ints(5), 0), c.integer(6), with_height(c.ints(7), 1)),
              Dims{2});
  c.result(x.rank() == 2 ? squeeze(y, Dims{0}) : y);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op conv2d{{.name = "conv2d",
                 .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
                              "int[2] dilation=1, int groups=1) -> Tensor",
                 .doc = "The cross-correlation of images [N, C, H, W] with filters [K, C / groups, R, S].",
                 .example = "terra.nn.functional.conv2d(terra.ones(1, 1, 4, 4), terra.ones(1, 1, 3, 3)).shape",
                 .shape = conv2d_shape,
                 .gradient = conv2d_gradient,
                 .saved = saves({0, 1}),
                 .grad_fn = "ConvolutionBackward0",
                 .samples = {{"randn(2, 3, 6, 5), randn(4, 3, 3, 2), randn(4)"},
                             {"randn(2, 2, 5, 5), randn(3, 2, 3, 3), None, 2, 1"},
                             {"randn(1, 4, 6, 6), randn(6, 2, 3, 3), randn(6), (1, 2), (1, 0), (2, 1), 2"},
                             {"randn(1, 1, 3, 3), randn(1, 1, 1, 1)"}}}};
const Op conv2d_batched{{.name = "conv2d_batched",
                         .signature =
                             "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
                             "int[2] dilation=1, int groups=1) -> Tensor",
                         .doc = "conv2d of images with or without the batch dimension.",
                         .example = "",
                         .flags = kMovesBytes,
                         .composite = conv2d_batched_of,
                         .samples = {{"randn(3, 6, 5), randn(4, 3, 3, 2), randn(4)"}}}};
const Op conv1d{
    {.name = "conv1d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, "
                  "int[1] dilation=1, int groups=1) -> Tensor",
     .doc = "The cross-correlation of sequences [N, C, L] with filters [K, C / groups, R].",
     .example = "terra.nn.functional.conv1d(terra.ones(1, 1, 4), terra.ones(1, 1, 3)).shape",
     .flags = kFunction | kFunctional,
     .composite = conv1d_of,
     .grad_fn = "ConvolutionBackward0",
     .samples = {{"randn(2, 3, 6), randn(4, 3, 3), randn(4)"}, {"randn(3, 6), randn(4, 3, 3), None, 2, 1"}}}};
const Op conv_transpose2d{
    {.name = "conv_transpose2d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
                  "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
     .doc = "The transposed convolution: what conv2d with the same weight does to gradients.",
     .example = "terra.nn.functional.conv_transpose2d(terra.ones(1, 1, 2, 2), terra.ones(1, 1, 2, 2), "
                "stride=2).shape",
     .flags = kFunction | kFunctional,
     .composite = conv_transpose2d_of,
     .grad_fn = "ConvolutionBackward0",
     .samples = {{"randn(2, 3, 4, 4), randn(3, 2, 3, 3), randn(2), 2, 1, 1"},
                 {"randn(1, 2, 3, 3), randn(2, 2, 2, 2)"}}}};
const Op conv_transpose1d{
    {.name = "conv_transpose1d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, "
                  "int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
     .doc = "The transposed convolution of sequences.",
     .example = "terra.nn.functional.conv_transpose1d(terra.ones(1, 1, 2), terra.ones(1, 1, 2)).shape",
     .flags = kFunction | kFunctional,
     .composite = conv_transpose1d_of,
     .grad_fn = "ConvolutionBackward0",
     .samples = {{"randn(2, 3, 4), randn(3, 2, 3), randn(2), 2"}}}};
const Op conv2d_backward_input{{.name = "conv2d_backward_input",
                                .signature =
                                    "(Tensor grad, Tensor weight, int[] input_sizes, int[2] stride, int[2] padding, "
                                    "int[2] dilation, int groups) -> Tensor",
                                .doc = "The gradient of conv2d with respect to its input.",
                                .example = "",
                                .shape = backward_input_shape,
                                .gradient = conv2d_backward_input_gradient,
                                .saved = saves({0, 1}),
                                .samples = {{"randn(2, 4, 4, 4), randn(4, 3, 3, 2), (2, 3, 6, 5), 1, 0, 1, 1"}}}};
const Op conv2d_backward_weight{{.name = "conv2d_backward_weight",
                                 .signature =
                                     "(Tensor grad, Tensor input, int[] weight_sizes, int[2] stride, int[2] padding, "
                                     "int[2] dilation, int groups) -> Tensor",
                                 .doc = "The gradient of conv2d with respect to its weight.",
                                 .example = "",
                                 .shape = backward_weight_shape,
                                 .gradient = conv2d_backward_weight_gradient,
                                 .saved = saves({0, 1}),
                                 .samples = {{"randn(2, 4, 4, 4), randn(2, 3, 6, 5), (4, 3, 3, 2), 1, 0, 1, 1"}}}};

}  // namespace terra::ops
