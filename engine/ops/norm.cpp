#include "engine/ops/norm.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
int64_t channels(std::span<const int64_t> input) { return input.size() < 2 ? 0 : input[1]; }

void check_channel_vector(Inference& f, int i, std::string_view what) {
  if (!f.has(i)) return;
  check(f.impl(i).numel == channels(f.sizes(0)), "{} should contain {} elements not {}", what, channels(f.sizes(0)),
        f.impl(i).numel);
}

void batch_norm_stats_shape(Inference& f) {
  const Dims per_channel{channels(f.sizes(0))};
  for (int i = 0; i < 3; ++i) f.result(f.dtype(0), per_channel);
}

void batch_norm_apply_shape(Inference& f) {
  check_channel_vector(f, 3, "weight");
  check_channel_vector(f, 4, "bias");
  rules::like_first(f);
}

void batch_norm_backward_shape(Inference& f) {
  f.result(f.dtype(1), Dims(f.sizes(1)));
  for (int i = 0; i < 2; ++i) f.result(f.dtype(1), Dims{channels(f.sizes(1))});
}

void layer_norm_shape(Inference& f) {
  const auto input = f.sizes(0), shape = f.ints(1);
  const bool fits = !shape.empty() && shape.size() <= input.size() &&
                    std::equal(shape.begin(), shape.end(), input.end() - static_cast<int64_t>(shape.size()));
  if (!fits) {
    std::string wanted = "[*";
    for (int64_t n : shape) wanted += ", " + std::to_string(n);
    fail(ErrorKind::RuntimeError, "Given normalized_shape={}, expected input with shape {}], but got input of size{}",
         to_string(shape), wanted, to_string(input));
  }
  const Dims rows(input.first(input.size() - shape.size()));
  f.result(f.dtype(0), Dims(input));
  f.result(f.dtype(0), rows);
  f.result(f.dtype(0), rows);
}

void layer_norm_backward_shape(Inference& f) {
  f.result(f.dtype(1), Dims(f.sizes(1)));
  const Dims inner(f.sizes(1).subspan(f.rank(2)));
  f.result(f.dtype(1), inner);
  f.result(f.dtype(1), inner);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
/// Every dimension but the channels.
Dims all_but_channels(size_t rank) {
  Dims dims{0};
  for (size_t i = 2; i < rank; ++i) dims.push_back(static_cast<int64_t>(i));
  return dims;
}

/// A per-channel vector as a tensor that broadcasts over [N, C, ...].
Tensor over_channels(const Tensor& t, size_t rank) {
  Dims sizes(rank, 1);
  sizes[1] = t.numel();
  return view(t, sizes);
}

struct NormGradients {
  Tensor input, weight, bias;
};

/// The gradients written in differentiable ops: x^ = (x - mean(x)) / sqrt(var(x) + eps),
/// dx = invstd (g' - mean(g') - x^ mean(g' x^)) with g' = g w. Means run over `dims`.
NormGradients differentiable(const Tensor& g, const Tensor& x, const Tensor& weight, const Dims& dims, double eps,
                             const Dims& affine_dims) {
  const Tensor centered = x - mean(x, dims, true);
  const Tensor invstd = rsqrt(mean(centered * centered, dims, true) + eps);
  const Tensor normal = centered * invstd;
  const Tensor scaled = weight.defined() ? g * weight : g;
  return {invstd * (scaled - mean(scaled, dims, true) - normal * mean(scaled * normal, dims, true)),
          sum(g * normal, affine_dims), sum(g, affine_dims)};
}

void set_norm_gradients(Backward& b, const NormGradients& g, int weight, int bias) {
  if (b.needs(0)) b.set(0, g.input);
  if (b.needs(weight)) b.set(weight, g.weight);
  if (b.needs(bias)) b.set(bias, g.bias);
}

void batch_norm_apply_gradient(Backward& b) {
  const size_t rank = b.sizes(0).size();
  if (grad_enabled()) {
    const Dims dims = all_but_channels(rank);
    const Tensor weight = b.has(3) ? over_channels(b.in(3), rank) : Tensor();
    set_norm_gradients(b, differentiable(b.grad(), b.in(0), weight, dims, b.real(5), dims), 3, 4);
    return;
  }
  const std::vector<Tensor> g = batch_norm_backward.all(b.grad(), b.in(0), b.in(1), b.in(2), b.arg(3));
  set_norm_gradients(b, {g[0], g[1], g[2]}, 3, 4);
}

void layer_norm_gradient(Backward& b) {
  const int64_t rank = static_cast<int64_t>(b.sizes(0).size()), inner = static_cast<int64_t>(b.ints(1).size());
  if (grad_enabled()) {
    Dims dims, rows;
    for (int64_t i = 0; i < rank; ++i) (i < rank - inner ? rows : dims).push_back(i);
    const Tensor g = b.grad(), x = b.in(0);
    // Without rows there is nothing to sum over: the whole input is one row.
    NormGradients grads = rows.empty() ? differentiable(g, x, b.in(2), dims, b.real(4), dims)
                                       : differentiable(g, x, b.in(2), dims, b.real(4), rows);
    if (rows.empty()) {
      const Tensor centered = x - mean(x, dims, true);
      grads.weight = g * (centered * rsqrt(mean(centered * centered, dims, true) + b.real(4)));
      grads.bias = g;
    }
    set_norm_gradients(b, grads, 2, 3);
    return;
  }
  const std::vector<Tensor> g = layer_norm_backward.all(b.grad(), b.in(0), b.out(1), b.out(2), b.arg(2));
  set_norm_gradients(b, {g[0], g[1], g[2]}, 2, 3);
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// running = (1 - momentum) running + momentum now, in place.
void update_running(const Tensor& running, const Tensor& now, double momentum) {
  if (!running.defined()) return;
  GradMode off(false);
  mul.in_place(running, 1 - momentum);
  add.in_place(running, now, momentum);
}

void batch_norm_of(Composition& c) {
  const Tensor input = c.tensor(0), mean = c.tensor(1), var = c.tensor(2), weight = c.tensor(3), bias = c.tensor(4);
  const bool training = c.flag(5);
  const double momentum = c.real(6), eps = c.real(7);
  check(input.rank() >= 2, "expected at least 2D input (got {}D input)", input.rank());
  check(mean.defined() == var.defined(), "running_mean and running_var must be given together");
  check(!mean.defined() || mean.numel() == input.size(1), "running_mean should contain {} elements not {}",
        input.size(1), mean.defined() ? mean.numel() : 0);
  if (training || !mean.defined()) {
    Tensor batch_mean, invstd, batch_var;
    {
      GradMode off(false);
      const std::vector<Tensor> stats = batch_norm_stats.all(input, eps);
      batch_mean = stats[0], invstd = stats[1], batch_var = stats[2];
    }
    const double n = static_cast<double>(input.numel()) / static_cast<double>(std::max<int64_t>(input.size(1), 1));
    if (training) {
      update_running(mean, batch_mean, momentum);
      update_running(var, n > 1 ? batch_var * (n / (n - 1)) : batch_var, momentum);
    }
    c.result(batch_norm_apply(input, batch_mean, invstd, weight, bias, eps));
    return;
  }
  const size_t rank = input.rank();
  Tensor scale = rsqrt(var + eps);
  if (weight.defined()) scale = scale * weight;
  Tensor out = (input - over_channels(mean, rank)) * over_channels(scale, rank);
  if (bias.defined()) out = out + over_channels(bias, rank);
  c.result(out);
}

void group_norm_of(Composition& c) {
  const Tensor input = c.tensor(0);
  const int64_t groups = c.integer(1);
  check(input.rank() >= 2, "Expected at least 2 dimensions for input tensor but received {}", input.rank());
  check(groups > 0 && input.size(1) % groups == 0,
        "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and "
        "num_groups={}",
        to_string(input.sizes()), groups);
  const int64_t inner = input.size(0) == 0 ? 1 : input.numel() / (input.size(0) * groups);
  const Tensor rows = reshape(input, {input.size(0), groups, inner});
  Tensor out = view(layer_norm(rows, {inner}, std::nullopt, std::nullopt, c.arg(4)), input.sizes());
  if (c.has(2)) out = out * over_channels(c.tensor(2), input.rank());
  if (c.has(3)) out = out + over_channels(c.tensor(3), input.rank());
  c.result(out);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op batch_norm_stats{{.name = "batch_norm_stats",
                           .signature = "(Tensor input, float eps) -> (Tensor mean, Tensor invstd, Tensor var)",
                           .doc = "Mean, 1 / sqrt(var + eps) and biased variance of each channel.",
                           .example = "",
                           .flags = kReduction | kNoGradient,
                           .shape = batch_norm_stats_shape}};

const Op batch_norm_apply{{.name = "batch_norm_apply",
                           .signature = "(Tensor input, Tensor mean, Tensor invstd, Tensor? weight, Tensor? bias, "
                                        "float eps) -> Tensor",
                           .doc = "(input - mean) * invstd * weight + bias, where mean and invstd are the input's own.",
                           .example = "",
                           .shape = batch_norm_apply_shape,
                           .gradient = batch_norm_apply_gradient,
                           .saved = saves({0, 1, 2, 3})}};

const Op batch_norm_backward{{.name = "batch_norm_backward",
                              .signature = "(Tensor grad, Tensor input, Tensor mean, Tensor invstd, Tensor? weight) -> "
                                           "(Tensor input, Tensor weight, Tensor bias)",
                              .doc = "The gradients of batch_norm_apply.",
                              .example = "",
                              .flags = kNoGradient,
                              .shape = batch_norm_backward_shape}};

const Op batch_norm{{.name = "batch_norm",
                     .signature = "(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, "
                                  "Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
                     .doc = "Each channel brought to mean 0 and variance 1, by its own statistics in training (which "
                            "update the running ones in place), by the running ones otherwise.",
                     .example = "terra.nn.functional.batch_norm(terra.ones(4, 2), None, None, training=True)",
                     .flags = kFunctional,
                     .composite = batch_norm_of,
                     .samples = {{"randn(4, 3), zeros(3), ones(3), rand(3) + 0.5, randn(3)"},
                                 {"randn(4, 3), None, None, rand(3) + 0.5, randn(3), True"},
                                 {"randn(2, 3, 4, 2), None, None, None, None, True"},
                                 {"randn(2, 3, 5), zeros(3), ones(3)"}}}};

const Op layer_norm{{.name = "layer_norm",
                                .signature = "(Tensor input, int[] normalized_shape, Tensor? weight=None, "
                                             "Tensor? bias=None, float eps=1e-05) -> Tensor",
                                .doc = "The last dimensions brought to mean 0 and variance 1.",
                                .example = "terra.nn.functional.layer_norm(terra.ones(2, 3), [3])",
                                .flags = kFunctional,
                                .shape = layer_norm_shape,
                                .gradient = layer_norm_gradient,
                                .saved = saves({0, 2}) | saves_result(1) | saves_result(2),
                                .samples = {{"randn(4, 3), [3]"},
                                            {"randn(2, 3, 4), [3, 4], randn(3, 4), randn(3, 4)"},
                                            {"randn(5), [5], randn(5), randn(5)"}}}};

const Op layer_norm_backward{{.name = "layer_norm_backward",
                              .signature = "(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight) -> "
                                           "(Tensor input, Tensor weight, Tensor bias)",
                              .doc = "The gradients of layer_norm.",
                              .example = "",
                              .flags = kNoGradient,
                              .shape = layer_norm_backward_shape}};

const Op group_norm{{.name = "group_norm",
                     .signature = "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
                                  "float eps=1e-05) -> Tensor",
                     .doc = "Each group of channels of each sample brought to mean 0 and variance 1.",
                     .example = "terra.nn.functional.group_norm(terra.ones(2, 4), 2)",
                     .flags = kFunctional,
                     .composite = group_norm_of,
                     .samples = {{"randn(2, 4, 3), 2, randn(4), randn(4)"}, {"randn(2, 4, 2, 2), 4"}}}};

}  // namespace terra::ops
