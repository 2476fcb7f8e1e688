#include "engine/ops/conv.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/layout.h"
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
  check(a.groups > 0, "non-positive groups is not supported");
  for (int64_t p : a.padding) check(p >= 0, "negative padding is not supported");
  for (int64_t s : a.stride) check(s > 0, "non-positive stride is not supported");
}

void check_dilation(const Attributes& a) {
  for (int64_t d : a.dilation) check(d > 0, "dilation should be greater than zero, but got {}", listed(a.dilation));
}

auto times(std::span<const int64_t> sizes) { return fmt::join(sizes.begin(), sizes.end(), " x "); }

void check_kernel(std::span<const int64_t> kernel) {
  for (int64_t k : kernel) {
    if (kernel.size() == 2)
      check(k > 0, "kernel size should be greater than zero, but got kernel_height: {} kernel_width: {}", kernel[0],
            kernel[1]);
    check(k > 0, "kernel size should be greater than zero, but got: {} (TxHxW)", times(kernel));
  }
}

/// Batches and filters, in the order in which PyTorch looks at them.
void check_filters(std::span<const int64_t> input, std::span<const int64_t> weight, const Attributes& a) {
  check_attributes(a);
  check(weight.size() == input.size(),
        "Expected {0}-dimensional input for {0}-dimensional weight{1}, but got {2}-dimensional input of size {3} "
        "instead",
        weight.size(), listed(weight), input.size(), listed(input));
  check(weight[0] >= a.groups,
        "Given groups={0}, expected weight to be at least {0} at dimension 0, but got weight of size {1} instead",
        a.groups, listed(weight));
  check(weight[0] % a.groups == 0,
        "Given groups={0}, expected weight to be divisible by {0} at dimension 0, but got weight of size [{1}] instead",
        a.groups, listed(weight));
  check(input[1] / a.groups == weight[1] && input[1] % a.groups == 0,
        "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        a.groups, listed(weight), listed(input), weight[1] * a.groups, input[1]);
}
void check_bias(const Tensor& input, const Arg& bias) {
  check(bias.is_none() || input.dtype() == bias.tensor().dtype(),
        "Input type ({}) and bias type ({}) should be the same", c_type_name(input.dtype()),
        bias.is_none() ? "" : c_type_name(bias.tensor().dtype()));
}

/// Sizes of what filters of size `weight` make of inputs of size `input`: images or volumes, as the attributes say.
Dims convolved_sizes(std::span<const int64_t> input, std::span<const int64_t> weight, const Attributes& a) {
  const size_t spatial = a.stride.size();
  check(input.size() == spatial + 2,
        "Expected {}D (unbatched) or {}D (batched) input to conv{}d, but got input of size: {}", spatial + 1,
        spatial + 2, spatial, listed(input));
  check_filters(input, weight, a);
  check_kernel(weight.subspan(2));
  check_dilation(a);
  Dims padded, kernel, out{input[0], weight[0]};
  bool fits = true;
  for (size_t i = 0; i < spatial; ++i) {
    padded.push_back(size_sum(input[2 + i], size_product(2, a.padding[i])));
    kernel.push_back(size_sum(size_product(a.dilation[i], weight[2 + i] - 1), 1));
    fits = fits && padded[i] >= kernel[i];
  }
  check(fits,
        "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual "
        "input size",
        times(padded), times(kernel));
  for (size_t i = 0; i < spatial; ++i) out.push_back((padded[i] - kernel[i]) / a.stride[i] + 1);
  return out;
}

void convolution_shape(Inference& f) {
  const auto input = f.sizes(0), weight = f.sizes(1);
  Dims out = convolved_sizes(input, weight, attributes(f, 3));
  if (f.has(2))
    check(
        f.rank(2) == 1 && f.sizes(2)[0] == weight[0],
        "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} instead",
        listed(weight), weight[0], listed(f.sizes(2)));
  check(f.dtype(0) == f.dtype(1), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(1)));
  check_bias(f.arg(0).tensor(), f.arg(2));
  f.result(f.dtype(0), std::move(out));
}
/// The adjoints take what a convolution of the same attributes gives.
void check_adjoint(Inference& f, std::span<const int64_t> input, std::span<const int64_t> weight) {
  if (Dims(f.sizes(0)) != convolved_sizes(input, weight, attributes(f, 3)))
    fail(ErrorKind::RuntimeError,
         "{}: a gradient of size {} doesn't come from images of size {} and filters of size {}", f.op.name,
         to_string(f.sizes(0)), to_string(input), to_string(weight));
  f.result(f.dtype(0), Dims(f.ints(2)));
}
void backward_input_shape(Inference& f) { check_adjoint(f, f.ints(2), f.sizes(1)); }
void backward_weight_shape(Inference& f) { check_adjoint(f, f.sizes(1), f.ints(2)); }

// ---- gradients: a convolution is linear in its input and in its weight ----------------------------------------------
/// A convolution, and its adjoints with respect to its input and to its weight.
struct Family {
  const Op &forward, &input, &weight;
};
const Family& family(const Attributes& a) {
  static const Family images{conv2d, conv2d_backward_input, conv2d_backward_weight};
  static const Family volumes{conv3d, conv3d_backward_input, conv3d_backward_weight};
  return a.stride.size() == 2 ? images : volumes;
}
Tensor convolved(const Tensor& x, const Tensor& w, const Arg& bias, const Attributes& a) {
  return family(a).forward(x, w, bias, a.stride, a.padding, a.dilation, a.groups);
}
Tensor input_adjoint(const Tensor& g, const Tensor& w, const Dims& sizes, const Attributes& a) {
  return family(a).input(g, w, sizes, a.stride, a.padding, a.dilation, a.groups);
}
Tensor weight_adjoint(const Tensor& g, const Tensor& x, const Dims& sizes, const Attributes& a) {
  return family(a).weight(g, x, sizes, a.stride, a.padding, a.dilation, a.groups);
}

void convolution_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, input_adjoint(g, b.in(1), b.sizes(0), a));
  if (b.needs(1)) b.set(1, weight_adjoint(g, b.in(0), b.sizes(1), a));
  if (b.needs(2)) b.set(2, sum(g, a.stride.size() == 2 ? Dims{0, 2, 3} : Dims{0, 2, 3, 4}));
}
/// r(g, w), the input's gradient: <u, r> = <u * w, g>.
void backward_input_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor u = b.grad();
  if (b.needs(0)) b.set(0, convolved(u, b.in(1), Arg(), a));
  if (b.needs(1)) b.set(1, weight_adjoint(b.in(0), u, b.sizes(1), a));
}
/// r(g, x), the weight's gradient: <u, r> = <x * u, g>.
void backward_weight_gradient(Backward& b) {
  const Attributes a = attributes(b, 3);
  const Tensor u = b.grad();
  if (b.needs(0)) b.set(0, convolved(b.in(1), u, Arg(), a));
  if (b.needs(1)) b.set(1, input_adjoint(b.in(0), u, b.sizes(1), a));
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// Inputs may lack the batch dimension.
void check_rank(const Tensor& input, size_t spatial, std::string_view op) {
  check(input.rank() == spatial + 1 || input.rank() == spatial + 2,
        "Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}", spatial + 1, spatial + 2,
        op, listed(input.sizes()));
}
/// The two-dimensional attribute in which a one-dimensional one is the width.
Dims with_height(std::span<const int64_t> one, int64_t height) {
  check(one.size() == 1,
        "expected a single integer value or a list of 1 values to match the convolution dimensions, but got {}",
        listed(one));
  return {height, one[0]};
}

void batched_of(Composition& c) {
  const Tensor x = c.tensor(0);
  const Attributes a = attributes(c, 3);
  const size_t spatial = a.stride.size();
  check_rank(x, spatial, spatial == 2 ? "conv2d" : "conv3d");
  check_bias(x, c.arg(2));
  if (x.rank() == spatial + 2) return c.result(convolved(x, c.tensor(1), c.arg(2), a));
  c.result(squeeze(convolved(unsqueeze(x, 0), c.tensor(1), c.arg(2), a), Dims{0}));
}
void conv1d_of(Composition& c) {
  const Tensor x = c.tensor(0), w = c.tensor(1);
  check_rank(x, 1, "conv1d");
  check_bias(x, c.arg(2));
  check(w.rank() > 2, "weight should have at least three dimensions");
  const Tensor batch = x.rank() == 2 ? unsqueeze(x, 0) : x;
  const Attributes a = attributes(c, 3);
  check_filters(batch.sizes(), w.sizes(), a);
  const Tensor out = squeeze(conv2d(unsqueeze(batch, 2), unsqueeze(w, 2), c.arg(2), with_height(a.stride, 1),
                                    with_height(a.padding, 0), with_height(a.dilation, 1), a.groups),
                             Dims{2});
  c.result(x.rank() == 2 ? squeeze(out, Dims{0}) : out);
}

/// "stride_height: 1 stride_width: 2 ", as PyTorch lists attributes.
std::string by_axis(std::string_view name, std::span<const int64_t> values) {
  static constexpr std::string_view kAxes[] = {"depth", "height", "width"};
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}_{}: {}", i == 0 ? "" : " ", name, kAxes[3 - values.size() + i], values[i]);
  return text;
}
/// The adjoint of the convolution with the same weight, plus a bias.
Tensor transposed(Tensor x, const Tensor& w, const Tensor& bias, const Attributes& a, const Dims& output_padding) {
  check_attributes(a);
  check_dilation(a);
  const size_t spatial = a.stride.size();
  check(w.rank() == spatial + 2, "weight should have at least {} dimensions, but got {}",
        spatial == 2 ? "four" : "five", listed(w.sizes()));
  check(x.size(1) == w.size(0),
        "Given transposed=1, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        listed(w.sizes()), listed(x.sizes()), w.size(0), x.size(1));
  Dims out{x.size(0), size_product(w.size(1), a.groups)}, further;  // whole steps of the output padding
  for (size_t i = 0; i < spatial; ++i) {
    check(output_padding[i] >= 0, "negative output_padding is not supported");
    if (output_padding[i] >= std::max(a.stride[i], a.dilation[i]))
      fail(ErrorKind::RuntimeError, "output padding must be smaller than either stride or dilation, but got {} {} {}",
           by_axis("output_padding", output_padding), by_axis("stride", a.stride), by_axis("dilation", a.dilation));
    const auto axis = static_cast<int64_t>(2 + i);
    const int64_t steps = size_product(x.size(axis) - 1, a.stride[i]),
                  reach = size_product(a.dilation[i], w.size(axis) - 1);
    out.push_back(
        size_sum(size_sum(steps, size_product(a.padding[i], -2)), size_sum(reach, size_sum(output_padding[i], 1))));
    further.push_back(output_padding[i] / a.stride[i]);
  }
  if (std::any_of(further.begin(), further.end(), [](int64_t steps) { return steps > 0; })) {
    Dims after;
    for (size_t i = spatial; i-- > 0;) {
      after.push_back(0);
      after.push_back(further[i]);
    }
    x = constant_pad(x, after);
  }
  const Tensor y = input_adjoint(x, w, out, a);
  if (!bias.defined()) return y;
  Dims channels(spatial + 2, 1);
  channels[1] = -1;
  return y + reshape(bias, channels);
}
void conv_transpose_of(Composition& c) {
  const Tensor x = c.tensor(0);
  const Attributes a{Dims(c.ints(3)), Dims(c.ints(4)), Dims(c.ints(7)), c.integer(6)};
  const size_t spatial = a.stride.size();
  check_rank(x, spatial, c.op.name);
  const bool single = x.rank() == spatial + 1;
  const Tensor y = transposed(single ? unsqueeze(x, 0) : x, c.tensor(1), c.tensor(2), a, Dims(c.ints(5)));
  c.result(single ? squeeze(y, Dims{0}) : y);
}
void conv_transpose1d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_rank(x, 1, "conv_transpose1d");
  const Tensor batch = x.rank() == 2 ? unsqueeze(x, 0) : x;
  const Attributes a{with_height(c.ints(3), 1), with_height(c.ints(4), 0), with_height(c.ints(7), 1), c.integer(6)};
  const Tensor y = squeeze(
      transposed(unsqueeze(batch, 2), unsqueeze(c.tensor(1), 2), c.tensor(2), a, with_height(c.ints(5), 0)), Dims{2});
  c.result(x.rank() == 2 ? squeeze(y, Dims{0}) : y);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op conv2d{{.name = "conv2d",
                 .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
                              "int[2] dilation=1, int groups=1) -> Tensor",
                 .doc = "The cross-correlation of images [N, C, H, W] with filters [K, C / groups, R, S].",
                 .example = "terra.nn.functional.conv2d(terra.ones(1, 1, 4, 4), terra.ones(1, 1, 3, 3)).shape",
                 .flags = kSameFloats | kKeepsFormat,
                 .shape = convolution_shape,
                 .gradient = convolution_gradient,
                 .saved = saves({0, 1}),
                 .saved_for_others = true,
                 .grad_fn = "ConvolutionBackward0",
                 .seen_absent = params({2}),
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
                         .composite = batched_of,
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
     .seen_absent = params({2}),
     .samples = {{"randn(2, 3, 6), randn(4, 3, 3), randn(4)"}, {"randn(3, 6), randn(4, 3, 3), None, 2, 1"}}}};
const Op conv_transpose2d{
    {.name = "conv_transpose2d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
                  "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
     .doc = "The transposed convolution: what conv2d with the same weight does to gradients.",
     .example = "terra.nn.functional.conv_transpose2d(terra.ones(1, 1, 2, 2), terra.ones(1, 1, 2, 2), "
                "stride=2).shape",
     .flags = kFunction | kFunctional,
     .composite = conv_transpose_of,
     .grad_fn = "ConvolutionBackward0",
     .seen_absent = params({2}),
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
     .seen_absent = params({2}),
     .samples = {{"randn(2, 3, 4), randn(3, 2, 3), randn(2), 2"}}}};
const Op conv2d_backward_input{{.name = "conv2d_backward_input",
                                .signature =
                                    "(Tensor grad, Tensor weight, int[] input_sizes, int[2] stride, int[2] padding, "
                                    "int[2] dilation, int groups) -> Tensor",
                                .doc = "The gradient of conv2d with respect to its input.",
                                .example = "",
                                .flags = kKeepsFormat,
                                .shape = backward_input_shape,
                                .gradient = backward_input_gradient,
                                .saved = saves({0, 1}),
                                .samples = {{"randn(2, 4, 4, 4), randn(4, 3, 3, 2), (2, 3, 6, 5), 1, 0, 1, 1"}}}};
const Op conv2d_backward_weight{{.name = "conv2d_backward_weight",
                                 .signature =
                                     "(Tensor grad, Tensor input, int[] weight_sizes, int[2] stride, int[2] padding, "
                                     "int[2] dilation, int groups) -> Tensor",
                                 .doc = "The gradient of conv2d with respect to its weight.",
                                 .example = "",
                                 .flags = kKeepsFormat,
                                 .shape = backward_weight_shape,
                                 .gradient = backward_weight_gradient,
                                 .saved = saves({0, 1}),
                                 .samples = {{"randn(2, 4, 4, 4), randn(2, 3, 6, 5), (4, 3, 3, 2), 1, 0, 1, 1"}}}};
const Op conv3d{
    {.name = "conv3d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "
                  "int[3] dilation=1, int groups=1) -> Tensor",
     .doc = "The cross-correlation of volumes [N, C, D, H, W] with filters [K, C / groups, Q, R, S].",
     .example = "terra.nn.functional.conv3d(terra.ones(1, 1, 4, 4, 4), terra.ones(1, 1, 3, 3, 3)).shape",
     .flags = kSameFloats | kKeepsFormat,
     .shape = convolution_shape,
     .gradient = convolution_gradient,
     .saved = saves({0, 1}),
     .saved_for_others = true,
     .grad_fn = "ConvolutionBackward0",
     .seen_absent = params({2}),
     .samples = {{"randn(2, 3, 4, 6, 5), randn(4, 3, 2, 3, 2), randn(4)"},
                 {"randn(2, 2, 5, 4, 5), randn(3, 2, 3, 3, 3), None, 2, 1"},
                 {"randn(1, 4, 3, 6, 6), randn(6, 2, 2, 3, 3), randn(6), (1, 1, 2), (1, 1, 0), (1, 2, 1), 2"},
                 {"randn(1, 1, 1, 3, 3), randn(1, 1, 1, 1, 2)"}}}};
const Op conv3d_batched{{.name = "conv3d_batched",
                         .signature =
                             "(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "
                             "int[3] dilation=1, int groups=1) -> Tensor",
                         .doc = "conv3d of volumes with or without the batch dimension.",
                         .example = "",
                         .flags = kMovesBytes,
                         .composite = batched_of,
                         .samples = {{"randn(3, 3, 6, 5), randn(4, 3, 2, 3, 2), randn(4)"}}}};
const Op conv_transpose3d{
    {.name = "conv_transpose3d",
     .signature = "(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "
                  "int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",
     .doc = "The transposed convolution of volumes: what conv3d with the same weight does to gradients.",
     .example = "terra.nn.functional.conv_transpose3d(terra.ones(1, 1, 2, 2, 2), terra.ones(1, 1, 2, 2, 2), "
                "stride=2).shape",
     .flags = kFunction | kFunctional,
     .composite = conv_transpose_of,
     .grad_fn = "ConvolutionBackward0",
     .seen_absent = params({2}),
     .samples = {{"randn(2, 3, 2, 4, 3), randn(3, 2, 2, 3, 3), randn(2), 2, (0, 1, 1), 1"},
                 {"randn(2, 2, 3, 3), randn(2, 2, 2, 1, 2), None, 1, 0, (2, 0, 0), 1, (3, 1, 1)"}}}};
const Op conv3d_backward_input{
    {.name = "conv3d_backward_input",
     .signature = "(Tensor grad, Tensor weight, int[] input_sizes, int[3] stride, int[3] padding, int[3] dilation, int "
                  "groups) -> Tensor",
     .doc = "The gradient of conv3d with respect to its input.",
     .example = "",
     .flags = kKeepsFormat,
     .shape = backward_input_shape,
     .gradient = backward_input_gradient,
     .saved = saves({0, 1}),
     .samples = {{"randn(2, 4, 2, 4, 4), randn(4, 3, 2, 3, 2), (2, 3, 3, 6, 5), 1, 0, 1, 1"}}}};
const Op conv3d_backward_weight{
    {.name = "conv3d_backward_weight",
     .signature = "(Tensor grad, Tensor input, int[] weight_sizes, int[3] stride, int[3] padding, int[3] dilation, int "
                  "groups) -> Tensor",
     .doc = "The gradient of conv3d with respect to its weight.",
     .example = "",
     .flags = kKeepsFormat,
     .shape = backward_weight_shape,
     .gradient = backward_weight_gradient,
     .saved = saves({0, 1}),
     .samples = {{"randn(2, 4, 2, 4, 4), randn(2, 3, 3, 6, 5), (4, 3, 2, 3, 2), 1, 0, 1, 1"}}}};

}  // namespace terra::ops
