#include "engine/ops/norm.h"

#include <limits>

#include <fmt/ranges.h>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/layout.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// Weights and statistics are of the input's dtype; those of 16-bit floats may be float32.
void check_parameters(const Tensor& x, std::initializer_list<Tensor> parameters) {
  const DType wanted = is_half(x.dtype()) ? DType::F32 : x.dtype();
  for (const Tensor& p : parameters)
    check(!p.defined() || p.dtype() == x.dtype() || p.dtype() == wanted,
          "mixed dtype (CPU): expect parameter to have scalar type of {}", scalar_type_name(wanted));
}

// ---- batch norm: channels are dimension 1 ---------------------------------------------------------------------------
Dims all_but_channel(size_t rank) {
  Dims dims{0};
  for (size_t i = 2; i < rank; ++i) dims.push_back(static_cast<int64_t>(i));
  return dims;
}
/// A vector over channels, against the elements of x.
Tensor per_channel(const Tensor& v, const Tensor& x) {
  Dims sizes(x.rank(), 1);
  sizes[1] = x.size(1);
  return reshape(v, sizes);
}

void stats_shape(Inference& f) {
  check(f.rank(0) >= 2, "Expected at least 2D input for batch norm, but got input of size {}", listed(f.sizes(0)));
  for (int i = 0; i < 3; ++i) f.result(f.dtype(0), Dims{f.sizes(0)[1]});
}
void apply_shape(Inference& f) {
  check(f.rank(0) >= 2, "Expected at least 2D input for batch norm, but got input of size {}", listed(f.sizes(0)));
  static constexpr std::string_view kNames[] = {"", "running_mean", "running_var", "weight", "bias"};
  for (int i = 1; i <= 4; ++i)
    check(!f.has(i) || f.impl(i).numel == f.sizes(0)[1], "{} should contain {} elements not {}", kNames[i],
          f.sizes(0)[1], f.has(i) ? f.impl(i).numel : 0);
  rules::like_first(f);
}
/// What several operands have in common.
void check_numels(Inference& f, std::initializer_list<int> operands, int64_t numel) {
  for (int i : operands)
    check(!f.has(i) || f.impl(i).numel == numel, "{}: {} should contain {} elements, but has {}", f.op.name,
          f.op.sig().params[static_cast<size_t>(i)].name, numel, f.has(i) ? f.impl(i).numel : 0);
}
void check_gradient_size(Inference& f) {
  check(Dims(f.sizes(0)) == Dims(f.sizes(1)), "{}: the gradient has size {}, but the input {}", f.op.name,
        listed(f.sizes(0)), listed(f.sizes(1)));
}
void batch_norm_backward_shape(Inference& f) {
  check_gradient_size(f);
  check(f.rank(1) >= 2, "Expected at least 2D input for batch norm, but got input of size {}", listed(f.sizes(1)));
  check_numels(f, {2, 3, 4}, f.sizes(1)[1]);
  f.result(f.dtype(1), Dims(f.sizes(1)));
  for (int i = 0; i < 2; ++i) f.result(f.dtype(1), Dims{f.sizes(1)[1]});
}

struct Gradients {
  Tensor input, weight, bias;
};
/// In ops, from x alone, so that it can be differentiated again. With y = (x - m) s over n elements:
///   bias: sum g    weight: sum g y    input: w s (g - (sum g + y sum g y) / n)
Gradients batch_norm_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, const Arg& eps) {
  const Dims dims = all_but_channel(x.rank());
  const Tensor centered = x - mean(x, dims, true);
  const Tensor scale = rsqrt(add(mean(centered * centered, dims, true), eps));
  const Tensor y = centered * scale;
  const Tensor sum_g = sum(g, dims, true), sum_gy = sum(g * y, dims, true);
  const double n = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
  Tensor input = scale * (g - (sum_g + y * sum_gy) / n);
  if (weight.defined()) input = input * per_channel(weight, x);
  return {input, reshape(sum_gy, {-1}), reshape(sum_g, {-1})};
}
void apply_gradient(Backward& b) {
  const Tensor g = b.grad(), x = b.in(0);
  if (b.flag(5)) {
    Gradients r;
    if (grad_enabled()) {
      r = batch_norm_gradients(g, x, b.in(3), b.arg(6));
    } else {
      const auto all = batch_norm_backward.all(g, x, b.arg(1), b.arg(2), b.arg(3));
      r = {all[0], all[1], all[2]};
    }
    b.set(0, r.input);
    b.set(3, r.weight);
    b.set(4, r.bias);
    return;
  }
  const Dims dims = all_but_channel(x.rank());
  const Tensor scale = per_channel(b.in(2), x);
  if (b.needs(0)) b.set(0, g * (b.has(3) ? scale * per_channel(b.in(3), x) : scale));
  if (b.needs(3)) b.set(3, sum(g * ((x - per_channel(b.in(1), x)) * scale), dims));
  if (b.needs(4)) b.set(4, sum(g, dims));
}

/// running = (1 - momentum) running + momentum observed
void follow(const Tensor& running, const Tensor& observed, double momentum) {
  if (!running.defined()) return;
  mul.in_place(running, 1 - momentum);
  add.in_place(running, observed, momentum);
}
/// 16-bit floats are computed in float32 from end to end; only what runs on is kept as it is.
Tensor widened(const Tensor& t) { return t.defined() && is_half(t.dtype()) ? to_dtype(t, DType::F32) : t; }

void batch_norm_of(Composition& c) {
  const Tensor x = widened(c.tensor(0)), running_mean = c.tensor(1), running_var = c.tensor(2);
  const Tensor weight = widened(c.tensor(3)), bias = widened(c.tensor(4));
  const auto finish = [&c](const Tensor& y) {
    const DType dtype = c.tensor(0).dtype();
    c.result(y.dtype() == dtype ? y : to_dtype(y, dtype));
  };
  const bool training = c.flag(5);
  const double momentum = c.real(6), eps = c.real(7);
  check_parameters(c.tensor(0), {c.tensor(3), c.tensor(4)});
  if (!training) {
    check_parameters(c.tensor(0), {running_mean, running_var});
    check(running_mean.defined(), "running_mean must be defined in evaluation mode");
    check(running_var.defined(), "running_var must be defined in evaluation mode");
    const Tensor scale = rsqrt(widened(running_var) + eps);
    return finish(batch_norm_apply(x, widened(running_mean), scale, weight, bias, false, eps));
  }
  const int64_t n = x.rank() >= 2 && x.size(1) > 0 ? x.numel() / x.size(1) : 0;
  check_kind(n != 1 || x.rank() < 2, ErrorKind::ValueError,
             "Expected more than 1 value per channel when training, got input size torch.Size({})", listed(x.sizes()));
  std::vector<Tensor> stats;
  {
    const GradMode no_gradient(false);  // batch_norm_apply accounts for them
    stats = batch_norm_stats.all(x, eps);
    if (n > 0) {
      follow(running_mean, stats[0], momentum);
      follow(running_var, stats[2] * (static_cast<double>(n) / static_cast<double>(n - 1)), momentum);
    }
  }
  finish(batch_norm_apply(x, stats[0], stats[1], weight, bias, true, eps));
}

// ---- layer norm: over the last dimensions ---------------------------------------------------------------------------
Dims last_dims(size_t count) {
  Dims dims;
  for (size_t i = count; i > 0; --i) dims.push_back(-static_cast<int64_t>(i));
  return dims;
}

void check_normalized(std::span<const int64_t> shape, std::span<const int64_t> sizes) {
  check(!shape.empty(),
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
        "but got normalized_shape = {}",
        listed(shape));
  check(sizes.size() >= shape.size() &&
            std::equal(shape.begin(), shape.end(), sizes.end() - static_cast<int64_t>(shape.size())),
        "Given normalized_shape={}, expected input with shape [*, {}], but got input of size{}", listed(shape),
        fmt::join(shape, ", "), listed(sizes));
}
void check_normalizing(std::string_view parameter, std::span<const int64_t> sizes, std::span<const int64_t> shape) {
  check(std::ranges::equal(sizes, shape),
        "Expected {0} to be of same shape as normalized_shape, but got {0} of shape {1} and normalized_shape = {2}",
        parameter, listed(sizes), listed(shape));
}
void layer_norm_shape(Inference& f) {
  const auto shape = f.ints(1), sizes = f.sizes(0);
  check_normalized(shape, sizes);
  static constexpr std::string_view kNames[] = {"", "", "weight", "bias"};
  for (int i : {2, 3}) {
    check(!f.has(i) || f.dtype(i) == f.dtype(0), "mixed dtype (CPU): expect parameter to have scalar type of {}",
          scalar_type_name(f.dtype(0)));
    if (f.has(i)) check_normalizing(kNames[i], f.sizes(i), shape);
  }
  rules::like_first(f);
  const Dims rows(sizes.first(sizes.size() - shape.size()));
  f.result(f.dtype(0), rows);
  f.result(f.dtype(0), rows);
}
void layer_norm_backward_shape(Inference& f) {
  const auto sizes = f.sizes(1), shape = f.ints(5);
  check_gradient_size(f);
  check_normalized(shape, sizes);
  check_numels(f, {2, 3}, checked_numel(sizes.first(sizes.size() - shape.size())));
  check_numels(f, {4}, checked_numel(shape));
  f.result(f.dtype(1), Dims(f.sizes(1)));
  for (int i = 0; i < 2; ++i) f.result(f.dtype(1), Dims(f.ints(5)));
}

/// In ops, as batch_norm_gradients, with the weight inside the mean.
Gradients layer_norm_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, const Dims& shape,
                               const Arg& eps) {
  const Dims dims = last_dims(shape.size());
  const Tensor centered = x - mean(x, dims, true);
  const Tensor scale = rsqrt(add(mean(centered * centered, dims, true), eps));
  const Tensor y = centered * scale;
  const Tensor gw = weight.defined() ? g * weight : g;
  const Tensor input = scale * (gw - mean(gw, dims, true) - y * mean(gw * y, dims, true));
  return {input, sum_to_size(g * y, shape), sum_to_size(g, shape)};
}
/// Of a norm whose results are y, mean and rstd: by its kernel, or in ops where the gradient has gradients in turn.
void set_gradients(Backward& b, const Op& kernel, const auto& in_ops) {
  Gradients r;
  if (grad_enabled()) {
    r = in_ops();
  } else {
    const auto all = kernel.all(b.grad(), b.in(0), b.out(1), b.out(2), b.arg(2), b.arg(1));
    r = {all[0], all[1], all[2]};
  }
  b.set(0, r.input);
  b.set(2, r.weight);
  b.set(3, r.bias);
}
void layer_norm_gradient(Backward& b) {
  set_gradients(b, layer_norm_backward,
                [&] { return layer_norm_gradients(b.grad(), b.in(0), b.in(2), Dims(b.ints(1)), b.arg(4)); });
}

// ---- group norm: channels are dimension 1 ---------------------------------------------------------------------------
void check_groups(Inference& f, int input, int64_t groups) {
  const auto sizes = f.sizes(input);
  check(sizes.size() >= 2 && sizes[1] > 0 && groups > 0 && sizes[1] % groups == 0,
        "{}: channels of an input of size {} don't come in {} groups", f.op.name, listed(sizes), groups);
}
void group_norm_rows_shape(Inference& f) {
  check_groups(f, 0, f.integer(1));
  check_numels(f, {2, 3}, f.sizes(0)[1]);
  f.result(f.dtype(0), Dims(f.sizes(0)));
  for (int i = 0; i < 2; ++i) f.result(f.dtype(0), Dims{f.sizes(0)[0], f.integer(1)});
}
void group_norm_backward_shape(Inference& f) {
  check_gradient_size(f);
  check_groups(f, 1, f.integer(5));
  check_numels(f, {2, 3}, size_product(f.sizes(1)[0], f.integer(5)));
  check_numels(f, {4}, f.sizes(1)[1]);
  f.result(f.dtype(1), Dims(f.sizes(1)));
  for (int i = 0; i < 2; ++i) f.result(f.dtype(1), Dims{f.sizes(1)[1]});
}
/// In ops: rows without weights, which the gradient passes before.
Gradients group_norm_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, int64_t groups, const Arg& eps) {
  int64_t length = x.size(1) / groups;
  for (size_t i = 2; i < x.rank(); ++i) length *= x.sizes()[i];
  const Dims rows{x.size(0), groups, length}, channels = all_but_channel(x.rank());
  const Tensor each = reshape(x, rows), centered = each - mean(each, {2}, true);
  const Tensor y = reshape(centered * rsqrt(add(mean(centered * centered, {2}, true), eps)), x.sizes());
  const Tensor through = reshape(weight.defined() ? g * per_channel(weight, x) : g, rows);
  const Tensor input = layer_norm_gradients(through, each, Tensor(), Dims{length}, eps).input;
  return {reshape(input, x.sizes()), sum(g * y, channels), sum(g, channels)};
}
void group_norm_rows_gradient(Backward& b) {
  set_gradients(b, group_norm_backward,
                [&] { return group_norm_gradients(b.grad(), b.in(0), b.in(2), b.integer(1), b.arg(4)); });
}
void group_norm_of(Composition& c) {
  const Tensor x = widened(c.tensor(0));
  const int64_t groups = c.integer(1);
  check_parameters(c.tensor(0), {c.tensor(2), c.tensor(3)});
  check(x.rank() >= 2, "Expected at least 2 dimensions for input tensor but received {}", x.rank());
  check(x.size(1) > 0, "Expected number of channels to be greater than 0, got {}", x.size(1));
  for (size_t i = 2; i < x.rank(); ++i) check(x.sizes()[i] > 0, "Expected HxW to be greater than 0, got 0");
  check(
      groups > 0 && x.size(1) % groups == 0,
      "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={}",
      listed(x.sizes()), groups);
  for (int i : {2, 3}) {
    if (!c.has(i)) continue;
    const Tensor scale = c.tensor(i);
    check(scale.rank() == 1 && scale.size(0) == x.size(1),
          "Expected {0} to be a vector of size equal to the number of channels in input, but got {0} of shape {1} and "
          "input of shape {2}",
          i == 2 ? "weight" : "bias", listed(scale.sizes()), listed(x.sizes()));
  }
  const Tensor y = group_norm_rows(x, groups, widened(c.tensor(2)), widened(c.tensor(3)), c.arg(4));
  c.result(to_dtype(y, c.tensor(0).dtype()));
}

void rms_norm_of(Composition& c) {
  const Tensor x = c.tensor(0);
  const auto shape = c.ints(1);
  check_normalized(shape, x.sizes());
  if (c.has(2)) check_normalizing("weight", c.tensor(2).sizes(), shape);
  const double smallest =
      x.dtype() == DType::F64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const Tensor y = x * rsqrt(add(mean(x * x, last_dims(shape.size()), true), c.has(3) ? c.arg(3) : Arg(smallest)));
  c.result(c.has(2) ? y * c.tensor(2) : y);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op batch_norm{
    {.name = "batch_norm",
     .signature = "(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? "
                  "bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
     .doc = "Every channel with mean 0 and variance 1 (of the batch if training, else the running ones), "
            "times weight plus bias; training updates the running ones.",
     .example = "terra.nn.functional.batch_norm(terra.randn(4, 2), None, None, training=True).shape",
     .flags = kFunctional | kMovesBytes,
     .composite = batch_norm_of,
     .seen_absent = params({3, 4}),
     .samples = {{"randn(4, 3, 2, 2), None, None, randn(3), randn(3), True"},
                 {"randn(5, 3), None, None, None, None, True"},
                 {"randn(4, 3, 5), fixed(0.1, 0.2, -0.3), fixed(1.5, 0.7, 1.0), randn(3), randn(3), False"}}}};
const Op batch_norm_stats{{.name = "batch_norm_stats",
                           .signature = "(Tensor input, float eps) -> (Tensor mean, Tensor invstd, Tensor var)",
                           .doc = "Mean, 1 / sqrt(variance + eps) and variance of every channel.",
                           .example = "",
                           .flags = kNoGradient | kReduction,
                           .shape = stats_shape,
                           .samples = {{"randn(4, 3, 2, 2), 1e-5", "float", false}}}};
const Op batch_norm_apply{
    {.name = "batch_norm_apply",
     .signature = "(Tensor input, Tensor mean, Tensor invstd, Tensor? weight, Tensor? bias, bool "
                  "training, float eps) -> Tensor",
     .doc = "(input - mean) * invstd * weight + bias for every channel; training says that mean and "
            "invstd are those of input, whose gradient flows through them.",
     .example = "",
     .flags = kKeepsFormat,
     .shape = apply_shape,
     .gradient = apply_gradient,
     .saved = saves({0, 1, 2, 3}),
     .grad_fn = "NativeBatchNormBackward0",
     .samples = {{"randn(4, 3, 2, 2), zeros(3), ones(3), randn(3), randn(3), False, 1e-5", "float", false}}}};
const Op batch_norm_backward{
    {.name = "batch_norm_backward",
     .signature = "(Tensor grad, Tensor input, Tensor mean, Tensor invstd, Tensor? weight) -> "
                  "(Tensor input_grad, Tensor weight_grad, Tensor bias_grad)",
     .doc = "The gradients of batch_norm in training.",
     .example = "",
     .flags = kNoGradient | kKeepsFormat,
     .shape = batch_norm_backward_shape,
     .samples = {{"randn(4, 3, 2, 2), randn(4, 3, 2, 2), zeros(3), ones(3), randn(3)", "float", false}}}};
const Op layer_norm{
    {.name = "layer_norm",
     .signature = "(Tensor input, int[1] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
                  "eps=1e-05) -> Tensor",
     .doc = "Every slice of the last dimensions with mean 0 and variance 1, times weight plus bias.",
     .example = "terra.nn.functional.layer_norm(terra.randn(4, 2), (2,)).shape",
     .flags = kFunctional,
     .shape = layer_norm_shape,
     .gradient = layer_norm_gradient,
     .saved = saves({0, 2}) | saves_result(1) | saves_result(2),
     .grad_fn = "NativeLayerNormBackward0",
     .seen_absent = params({2, 3}),
     .samples = {
         {"randn(4, 5), (5,), randn(5), randn(5)"}, {"randn(2, 3, 4), (3, 4)"}, {"randn(3, 4), (4,), randn(4)"}}}};
const Op layer_norm_backward{
    {.name = "layer_norm_backward",
     .signature = "(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int[] "
                  "normalized_shape) -> (Tensor input_grad, Tensor weight_grad, Tensor bias_grad)",
     .doc = "The gradients of layer_norm.",
     .example = "",
     .flags = kNoGradient,
     .shape = layer_norm_backward_shape,
     .samples = {{"randn(4, 5), randn(4, 5), zeros(4), ones(4), randn(5), (5,)", "float", false}}}};
const Op group_norm{
    {.name = "group_norm",
     .signature = "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) "
                  "-> Tensor",
     .doc = "Every group of channels of every sample with mean 0 and variance 1, times weight plus bias.",
     .example = "terra.nn.functional.group_norm(terra.randn(2, 4, 3), 2).shape",
     .flags = kFunctional | kKeepsFormat | kMovesBytes,
     .composite = group_norm_of,
     .grad_fn = "NativeGroupNormBackward0",
     .seen_absent = params({2, 3}),
     .samples = {{"randn(2, 4, 3), 2, randn(4), randn(4)"}, {"randn(2, 4, 2, 2), 4"}}}};
const Op group_norm_rows{
    {.name = "group_norm_rows",
     .signature = "(Tensor input, int groups, Tensor? weight, Tensor? bias, float eps) -> Tensor",
     .doc = "group_norm of checked operands.",
     .example = "",
     .shape = group_norm_rows_shape,
     .gradient = group_norm_rows_gradient,
     .saved = saves({0, 2}) | saves_result(1) | saves_result(2),
     .samples = {{"randn(2, 4, 3), 2, randn(4), randn(4), 1e-5"}, {"randn(2, 4, 2, 2), 4, None, None, 1e-5"}}}};
const Op group_norm_backward{
    {.name = "group_norm_backward",
     .signature = "(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int groups) -> (Tensor "
                  "input_grad, Tensor weight_grad, Tensor bias_grad)",
     .doc = "The gradients of group_norm.",
     .example = "",
     .flags = kNoGradient,
     .shape = group_norm_backward_shape,
     .samples = {{"randn(2, 4, 3), randn(2, 4, 3), zeros(2, 2), ones(2, 2), randn(4), 2", "float", false}}}};
const Op rms_norm{
    {.name = "rms_norm",
     .signature = "(Tensor input, int[1] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     .doc = "Every slice of the last dimensions with mean square 1, times weight.",
     .example = "terra.nn.functional.rms_norm(terra.randn(4, 2), (2,)).shape",
     .flags = kFunction | kFunctional,
     .composite = rms_norm_of,
     .samples = {{"randn(4, 5), (5,), randn(5)"}, {"randn(2, 3, 4), (3, 4), None, 0.1"}}}};

}  // namespace terra::ops
