#include "engine/ops/loss.h"

#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/index.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// The mean, the sum or every element, as the reduction's name says.
Tensor reduced(const Tensor& loss, std::string_view reduction) {
  if (reduction == "mean") return mean(loss);
  if (reduction == "sum") return sum(loss);
  check_kind(reduction == "none", ErrorKind::ValueError, "{} is not a valid value for reduction", reduction);
  return loss;
}

// ---- negative log likelihood ----------------------------------------------------------------------------------------
/// Scores are [C], [N, C] or [N, C, places...]; a target is a class per sample and place.
Dims target_sizes(std::span<const int64_t> scores) {
  Dims sizes(scores);
  if (!sizes.empty()) sizes.erase(sizes.size() == 1 ? 0 : 1);
  return sizes;
}

void nll_loss_forward_shape(Inference& f) {
  const auto scores = f.sizes(0), target = f.sizes(1);
  check(!scores.empty(), "input tensor should be 1D or 2D");
  check(is_floating(f.dtype(0)), "\"nll_loss_out_frame\" not implemented for '{}'", scalar_type_name(f.dtype(0)));
  check(f.dtype(1) == DType::I64 || f.dtype(1) == DType::U8, "expected scalar type Long but found {}",
        scalar_type_name(f.dtype(1)));
  const Dims wanted = target_sizes(scores);
  check_kind(target.size() != wanted.size() || target.empty() || target[0] == wanted[0], ErrorKind::ValueError,
             "Expected input batch_size ({}) to match target batch_size ({}).", wanted.empty() ? 1 : wanted[0],
             target.empty() ? 1 : target[0]);
  check(Dims(target) == wanted, "size mismatch (got input: {}, target: {})", to_string(scores), to_string(target));
  if (f.has(2)) {
    const int64_t classes = scores.size() == 1 ? scores[0] : scores[1];
    check(f.impl(2).numel == classes,
          "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}",
          classes, to_string(f.sizes(2)));
  }
  f.result(f.dtype(0), f.text(3) == "none" ? Dims(target) : Dims{});
  f.result(f.dtype(0), Dims{});
}

void nll_loss_backward_shape(Inference& f) { f.result(f.dtype(0), Dims(f.ints(4))); }

void nll_loss_forward_gradient(Backward& b) {
  if (b.needs(0))
    b.set(0, nll_loss_backward(b.grad(), b.arg(1), b.arg(2), b.out(1), b.sizes(0), b.arg(3), b.arg(4)));
}

/// The backward is linear in grad: what it scatters, its own gradient gathers.
void nll_loss_backward_gradient(Backward& b) {
  if (!b.needs(0)) return;
  const Tensor target = b.in(1), gg = b.grad();
  const size_t rank = b.out_sizes().size();
  const int64_t class_dim = rank == 1 ? 0 : 1;
  const Tensor ignored = eq(target, b.arg(6));
  const Tensor place = masked_fill(target, ignored, int64_t{0});
  const Tensor picked = rank == 1 ? gather(gg, 0, unsqueeze(place, 0)) : gather(gg, class_dim, unsqueeze(place, 1));
  Tensor weighted = neg(squeeze(picked, class_dim));
  if (b.has(2)) weighted = weighted * view(index_select(b.in(2), 0, reshape(place, {-1})), place.sizes());
  weighted = masked_fill(weighted, ignored, 0.0);
  if (b.text(5) == "none")
    b.set(0, weighted);
  else
    b.set(0, b.text(5) == "mean" ? sum(weighted) / b.in(3) : sum(weighted));
}

void nll_loss_of(Composition& c) {
  c.result(nll_loss_forward(c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4)));
}

// ---- cross entropy --------------------------------------------------------------------------------------------------
/// Targets are probabilities of every class.
Tensor soft_cross_entropy(const Composition& c, const Tensor& log_p, int64_t dim) {
  const double smoothing = c.real(5);
  const int64_t classes = log_p.size(dim);
  Tensor target = c.tensor(1);
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor weighted = log_p * target;
  if (c.has(2)) {
    Dims sizes(log_p.rank(), 1);
    sizes[static_cast<size_t>(dim)] = classes;
    weighted = weighted * view(c.tensor(2), sizes);
  }
  const Tensor loss = neg(sum(weighted, {dim}));
  if (c.text(3) != "mean") return reduced(loss, c.text(3));
  return sum(loss) / static_cast<double>(std::max<int64_t>(log_p.numel() / std::max<int64_t>(classes, 1), 1));
}

/// Class targets with part of the weight spread over all classes.
Tensor smoothed_cross_entropy(const Composition& c, const Tensor& log_p, int64_t dim, double smoothing) {
  const Tensor target = c.tensor(1);
  const auto classes = static_cast<double>(log_p.size(dim));
  const std::string_view reduction = c.text(3);
  const std::vector<Tensor> nll = nll_loss_forward.all(log_p, target, c.arg(2), reduction, c.arg(4));
  Dims per_class(log_p.rank(), 1);
  per_class[static_cast<size_t>(dim)] = log_p.size(dim);
  const Tensor weighted = c.has(2) ? log_p * view(c.tensor(2), per_class) : log_p;
  const Tensor spread = masked_fill(neg(sum(weighted, {dim})), eq(target, c.arg(4)), 0.0);
  Tensor smooth = reduction == "none" ? spread : sum(spread);
  if (reduction == "mean") smooth = smooth / nll[1];
  return nll[0] * (1 - smoothing) + smooth * (smoothing / classes);
}

void cross_entropy_of(Composition& c) {
  const Tensor input = c.tensor(0), target = c.tensor(1);
  const double smoothing = c.real(5);
  check(smoothing >= 0 && smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: {}", smoothing);
  const int64_t dim = input.rank() == 1 ? 0 : 1;
  const Tensor log_p = log_softmax(input, dim);
  if (input.sizes() == target.sizes() && is_floating(target.dtype()))
    c.result(soft_cross_entropy(c, log_p, dim));
  else if (smoothing > 0)
    c.result(smoothed_cross_entropy(c, log_p, dim, smoothing));
  else
    c.result(nll_loss_forward(log_p, c.arg(1), c.arg(2), c.arg(3), c.arg(4)));
}

// ---- distances ------------------------------------------------------------------------------------------------------
void mse_loss_of(Composition& c) {
  const Tensor difference = c.tensor(0) - c.tensor(1);
  c.result(reduced(difference * difference, c.text(2)));
}

void l1_loss_of(Composition& c) { c.result(reduced(abs(c.tensor(0) - c.tensor(1)), c.text(2))); }

/// Quadratic below `knee`, linear with the slope of `scale * knee` above.
Tensor quadratic_then_linear(const Tensor& distance, double knee, double scale) {
  const Tensor inner = distance * distance * (0.5 * scale);
  const Tensor outer = (distance - 0.5 * knee) * (scale * knee);
  return where(lt(distance, knee), inner, outer);
}

void smooth_l1_loss_of(Composition& c) {
  const double beta = c.real(3);
  check(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  const Tensor distance = abs(c.tensor(0) - c.tensor(1));
  c.result(reduced(beta == 0 ? distance : quadratic_then_linear(distance, beta, 1 / beta), c.text(2)));
}

void huber_loss_of(Composition& c) {
  const double delta = c.real(3);
  check(delta > 0, "huber_loss does not support non-positive values for delta.");
  c.result(reduced(quadratic_then_linear(abs(c.tensor(0) - c.tensor(1)), delta, 1), c.text(2)));
}

// ---- probabilities --------------------------------------------------------------------------------------------------
void binary_cross_entropy_of(Composition& c) {
  const Tensor p = c.tensor(0), target = c.tensor(1);
  check_kind(p.sizes() == target.sizes(), ErrorKind::ValueError,
             "Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have "
             "the same size.",
             to_string(target.sizes()), to_string(p.sizes()));
  // The logarithm is kept above -100, as PyTorch does, so that certainty costs a finite amount.
  const Tensor log_p = clamp(log(p), -100.0), log_q = clamp(log1p(neg(p)), -100.0);
  Tensor loss = (target - 1) * log_q - target * log_p;
  if (c.has(2)) loss = loss * c.tensor(2);
  c.result(reduced(loss, c.text(3)));
}

void binary_cross_entropy_with_logits_of(Composition& c) {
  const Tensor x = c.tensor(0), target = c.tensor(1);
  check_kind(x.sizes() == target.sizes(), ErrorKind::ValueError,
             "Target size ({}) must be the same as input size ({})", to_string(target.sizes()), to_string(x.sizes()));
  // log(1 + exp(-x)), from the side that can't overflow.
  const Tensor log_term = log1p(exp(neg(abs(x)))) + clamp(neg(x), 0.0);
  Tensor loss;
  if (c.has(4)) {
    const Tensor log_weight = (c.tensor(4) - 1) * target + 1;
    loss = (1 - target) * x + log_weight * log_term;
  } else {
    loss = (1 - target) * x + log_term;
  }
  if (c.has(2)) loss = loss * c.tensor(2);
  c.result(reduced(loss, c.text(3)));
}

void kl_div_of(Composition& c) {
  const Tensor log_q = c.tensor(0), target = c.tensor(1);
  Tensor loss;
  if (c.flag(3)) {
    loss = exp(target) * (target - log_q);
  } else {
    const Tensor positive = gt(target, 0.0);
    const Tensor entropy = where(positive, target * log(where(positive, target, 1.0)), 0.0);
    loss = entropy - target * log_q;
  }
  c.result(reduced(loss, c.text(2)));
}

OpRecord distance(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                  CompositeRule rule) {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = example,
          .flags = kFunctional,
          .composite = rule,
          .samples = {{"randn(3, 4), randn(3, 4)"}, {"randn(5), randn(5), 'sum'"}, {"randn(2, 2), randn(2, 2), 'none'"}}};
}

const std::vector<Sample> kClassSamples = {
    {"randn(4, 3), randint(0, 3, (4,))"},
    {"randn(3), tensor(1)"},
    {"randn(4, 3), randint(0, 3, (4,)), rand(3) + 0.5"},
    {"randn(4, 3), randint(0, 3, (4,)), None, 'sum'"},
    {"randn(2, 3, 2, 2), randint(0, 3, (2, 2, 2)), None, 'none'"},
    {"randn(4, 3), tensor([0, -100, 2, 1])"},
};

std::vector<Sample> with(std::vector<Sample> samples, std::initializer_list<Sample> more) {
  samples.insert(samples.end(), more);
  return samples;
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op nll_loss_forward{{.name = "nll_loss_forward",
                           .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', "
                                        "int ignore_index=-100) -> (Tensor loss, Tensor total_weight)",
                           .doc = "Minus the score of each target's class, and the total weight of the targets.",
                           .example = "",
                           .flags = kReduction | kChecksValues,
                           .shape = nll_loss_forward_shape,
                           .gradient = nll_loss_forward_gradient,
                           .saved = saves({1, 2}) | saves_result(1),
                           .samples = kClassSamples}};

const Op nll_loss_backward{{.name = "nll_loss_backward",
                            .signature = "(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, "
                                         "int[] input_sizes, str reduction, int ignore_index) -> Tensor",
                            .doc = "The gradient of nll_loss_forward.",
                            .example = "",
                            .flags = kChecksValues,
                            .shape = nll_loss_backward_shape,
                            .gradient = nll_loss_backward_gradient,
                            .saved = saves({1, 2, 3})}};

const Op nll_loss{{.name = "nll_loss",
                   .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', "
                                "int ignore_index=-100) -> Tensor",
                   .doc = "The negative log likelihood of target classes under log-probabilities.",
                   .example = "terra.nn.functional.nll_loss(terra.zeros(2, 3), terra.tensor([0, 2]))",
                   .flags = kFunctional,
                   .composite = nll_loss_of,
                   .samples = kClassSamples}};

const Op cross_entropy{{.name = "cross_entropy",
                        .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', "
                                     "int ignore_index=-100, float label_smoothing=0.0) -> Tensor",
                        .doc = "The negative log likelihood of targets (classes or probabilities) under the softmax of "
                               "scores.",
                        .example = "terra.nn.functional.cross_entropy(terra.zeros(2, 3), terra.tensor([0, 2]))",
                        .flags = kFunctional,
                        .composite = cross_entropy_of,
                        .samples = with(kClassSamples,
                                        {{"randn(4, 3), randn(4, 3).softmax(1)"},
                                         {"randn(4, 3), randint(0, 3, (4,)), rand(3) + 0.5, 'mean', -100, 0.1"},
                                         {"randn(4, 3), tensor([0, -100, 2, 1]), None, 'sum', -100, 0.2"}})}};

const Op mse_loss{distance("mse_loss", "(Tensor self, Tensor target, str reduction='mean') -> Tensor",
                           "The mean squared difference.", "terra.nn.functional.mse_loss(terra.ones(2), terra.zeros(2))",
                           mse_loss_of)};
const Op l1_loss{distance("l1_loss", "(Tensor self, Tensor target, str reduction='mean') -> Tensor",
                          "The mean absolute difference.", "terra.nn.functional.l1_loss(terra.ones(2), terra.zeros(2))",
                          l1_loss_of)};
const Op smooth_l1_loss{distance(
    "smooth_l1_loss", "(Tensor self, Tensor target, str reduction='mean', float beta=1.0) -> Tensor",
    "Squared difference over 2 beta below beta, absolute difference less beta / 2 above.",
    "terra.nn.functional.smooth_l1_loss(terra.ones(2), terra.zeros(2))", smooth_l1_loss_of)};
const Op huber_loss{distance("huber_loss",
                             "(Tensor self, Tensor target, str reduction='mean', float delta=1.0) -> Tensor",
                             "Half the squared difference below delta, linear above.",
                             "terra.nn.functional.huber_loss(terra.ones(2), terra.zeros(2))", huber_loss_of)};

const Op binary_cross_entropy{{.name = "binary_cross_entropy",
                               .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean') -> "
                                            "Tensor",
                               .doc = "The cross entropy of two-class probabilities.",
                               .example = "terra.nn.functional.binary_cross_entropy(terra.tensor([0.5]), terra.ones(1))",
                               .flags = kFunctional,
                               .composite = binary_cross_entropy_of,
                               .samples = {{"rand(3, 4) * 0.8 + 0.1, rand(3, 4)"},
                                           {"rand(5) * 0.8 + 0.1, rand(5), rand(5), 'sum'"}}}};

const Op binary_cross_entropy_with_logits{
    {.name = "binary_cross_entropy_with_logits",
     .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', Tensor? pos_weight=None) -> "
                  "Tensor",
     .doc = "The cross entropy of two-class scores before the sigmoid.",
     .example = "terra.nn.functional.binary_cross_entropy_with_logits(terra.zeros(1), terra.ones(1))",
     .flags = kFunctional,
     .composite = binary_cross_entropy_with_logits_of,
     .samples = {{"randn(3, 4), rand(3, 4)"}, {"randn(3, 4), rand(3, 4), rand(4), 'sum', rand(4) + 0.5"}}}};

const Op kl_div{{.name = "kl_div",
                 .signature = "(Tensor self, Tensor target, str reduction='mean', bool log_target=False) -> Tensor",
                 .doc = "The Kullback-Leibler divergence of log-probabilities from target probabilities.",
                 .example = "terra.nn.functional.kl_div(terra.zeros(2), terra.ones(2))",
                 .flags = kFunctional,
                 .composite = kl_div_of,
                 .samples = {{"randn(3, 4).log_softmax(1), rand(3, 4)"},
                             {"randn(3, 4).log_softmax(1), randn(3, 4).log_softmax(1), 'sum', True"}}}};

}  // namespace terra::ops
