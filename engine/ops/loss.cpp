#include "engine/ops/loss.h"

#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- gradients ------------------------------------------------------------------------------------------------------
void parabola_gradient(Backward& b) {
  const Arg& knee = b.arg(1);
  b.set(0, b.grad() * clamp(b.in(0), -knee.scalar().to_double(), knee));
}

void check_reduction(std::string_view reduction) {
  check_kind(reduction == "mean" || reduction == "sum" || reduction == "none", ErrorKind::ValueError,
             "{} is not a valid value for reduction", reduction);
}
Tensor reduced(const Tensor& loss, std::string_view reduction) {
  check_reduction(reduction);
  return reduction == "mean" ? mean(loss) : reduction == "sum" ? sum(loss) : loss;
}

// ---- distances ------------------------------------------------------------------------------------------------------
void mse_loss_of(Composition& c) {
  const Tensor d = c.tensor(0) - c.tensor(1);
  c.result(reduced(d * d, c.text(2)));
}
void l1_loss_of(Composition& c) { c.result(reduced(abs(c.tensor(0) - c.tensor(1)), c.text(2))); }
void smooth_l1_loss_of(Composition& c) {
  const double beta = c.real(3);
  check(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  const Tensor d = c.tensor(0) - c.tensor(1);
  if (beta == 0) return c.result(reduced(abs(d), c.text(2)));
  const Tensor loss = parabola_with_lines(d, beta);
  c.result(reduced(beta == 1 ? loss : loss / beta, c.text(2)));
}
void huber_loss_of(Composition& c) {
  const double delta = c.real(3);
  check(delta > 0, "huber_loss does not support non-positive values for delta.");
  const Tensor loss = parabola_with_lines(c.tensor(0) - c.tensor(1), delta);
  const DType dtype = c.tensor(0).dtype();
  c.result(reduced(is_floating(dtype) && loss.dtype() != dtype ? to_dtype(loss, dtype) : loss, c.text(2)));
}

// ---- probabilities --------------------------------------------------------------------------------------------------
/// t (log t - x), 0 where t is 0.
void kl_div_of(Composition& c) {
  const Tensor x = c.tensor(0), t = c.tensor(1);
  check(!is_integral(x.dtype(), true) && !is_integral(t.dtype(), true), "kl_div: Integral inputs not supported.");
  const Tensor empty = eq(t, 0);
  const Tensor loss = c.flag(3) ? exp(t) * (t - x) : where(empty, 0.0, t * (log(where(empty, 1.0, t)) - x));
  if (c.text(2) == "batchmean")  // of a number: its mean
    return c.result(sum(loss) / static_cast<double>(x.rank() == 0 ? 1 : x.size(0)));
  c.result(reduced(loss, c.text(2)));
}
void check_same_size(const Tensor& input, const Tensor& target) {
  check_kind(input.sizes() == target.sizes(), ErrorKind::ValueError,
             "Using a target size (torch.Size({})) that is different to the input size (torch.Size({})) is deprecated. "
             "Please ensure they have the same size.",
             listed(target.sizes()), listed(input.sizes()));
}
/// log x, but at least -100; flat where it was cut.
Tensor cut_log(const Tensor& x) { return maximum(log(clamp(x, 1e-45)), -100.0); }
void binary_cross_entropy_of(Composition& c) {
  const Tensor x = c.tensor(0), t = c.tensor(1);
  check_same_size(x, t);
  check(t.dtype() == x.dtype(), "Found dtype {} but expected {}", scalar_type_name(t.dtype()),
        scalar_type_name(x.dtype()));
  if (x.numel() > 0) {
    const Tensor right = to_dtype(all(logical_and(ge(x, 0), le(x, 1))), DType::I64);
    // In a graph a division by zero ends the run; eager execution says why.
    if (right->is_symbolic())
      floor_divide(ones_like(right), right);
    else if (!right.device().is_meta())
      check(known_integer(right) != 0, "all elements of input should be between 0 and 1");
  }
  Tensor loss = -(t * cut_log(x) + (1 - t) * cut_log(1 - x));
  if (c.has(2)) loss = loss * c.tensor(2);
  c.result(reduced(loss, c.text(3)));
}
void binary_cross_entropy_with_logits_of(Composition& c) {
  const Tensor x = c.tensor(0), t = c.tensor(1);
  check_kind(x.sizes() == t.sizes(), ErrorKind::ValueError,
             "Target size (torch.Size({})) must be the same as input size (torch.Size({}))", listed(t.sizes()),
             listed(x.sizes()));
  check(!is_integral(t.dtype(), true), "result type {} can't be cast to the desired output type {}",
        scalar_type_name(x.dtype()), scalar_type_name(t.dtype()));
  Tensor log_weight = logsigmoid(x);
  if (c.has(4)) log_weight = log_weight * ((c.tensor(4) - 1) * t + 1);
  Tensor loss = (1 - t) * x - log_weight;
  if (c.has(2)) loss = loss * c.tensor(2);
  c.result(reduced(loss, c.text(3)));
}

// ---- classes: scores [C], [N, C] or [N, C, d...], targets the same without C ----------------------------------------
int64_t class_dim(size_t rank) { return rank == 1 ? 0 : 1; }

void check_targets(std::span<const int64_t> scores, std::span<const int64_t> targets) {
  check_kind(!scores.empty(), ErrorKind::ValueError, "Expected 1 or more dimensions (got 0)");
  check(scores.size() > 2 || targets.size() < 2, "0D or 1D target tensor expected, multi-target not supported");
  check(scores.size() == targets.size() + 1,
        "Expected target to have one dimension less than the input (no class dimension), but got input of size {} and "
        "target of size {}",
        listed(scores), listed(targets));
  if (scores.size() == 1) return;
  check_kind(scores[0] == targets[0], ErrorKind::ValueError,
             "Expected input batch_size ({}) to match target batch_size ({}).", scores[0], targets[0]);
  Dims expected{scores[0]};
  for (size_t i = 2; i < scores.size(); ++i) expected.push_back(scores[i]);
  const bool fits = std::equal(expected.begin(), expected.end(), targets.begin());
  check(fits || scores.size() != 3, "Expected target size {}, got {}", listed(expected), listed(targets));
  check(fits, "size mismatch (got input: {}, target: {})", listed(scores), listed(targets));
}
/// Scores, their targets (parameter 1) and the weights of classes (parameter 2), if any.
void check_classes(Inference& f, std::span<const int64_t> scores) {
  check_targets(scores, f.sizes(1));
  check(f.dtype(1) == DType::I64 || f.dtype(1) == DType::U8, "expected target dtype to be Long or Byte, but got {}",
        scalar_type_name(f.dtype(1)));
  const int64_t classes = scores[static_cast<size_t>(class_dim(scores.size()))];
  if (!f.has(2)) return;
  check(f.rank(2) == 1 && f.sizes(2)[0] == classes,
        "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}",
        classes, listed(f.sizes(2)));
  check(f.dtype(2) == f.dtype(0), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(2)));
}
void nll_loss_shape(Inference& f) {
  check_reduction(f.text(3));
  check_classes(f, f.sizes(0));
  f.result(f.dtype(0), f.text(3) == "none" ? Dims(f.sizes(1)) : Dims{});
  f.result(f.dtype(0), Dims{});
}
/// The gradient of the loss of such scores, and the total weight.
void check_loss_gradient(Inference& f, std::span<const int64_t> scores) {
  check_reduction(f.text(5));
  check_classes(f, scores);
  check(f.text(5) == "none" ? Dims(f.sizes(0)) == Dims(f.sizes(1)) : f.impl(0).numel == 1,
        "{}: a gradient of size {} isn't that of a loss with reduction '{}' of targets of size {}", f.op.name,
        listed(f.sizes(0)), f.text(5), listed(f.sizes(1)));
  check(f.dtype(3) == f.dtype(0), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(3)));
  check(f.impl(3).numel == 1, "{}: total_weight is one number, but has size {}", f.op.name, listed(f.sizes(3)));
}
void nll_loss_backward_shape(Inference& f) {
  check_loss_gradient(f, f.ints(4));
  f.result(f.dtype(0), Dims(f.ints(4)));
}
void nll_loss_gradient(Backward& b) {
  b.set(0, nll_loss_backward(b.grad(), b.arg(1), b.arg(2), b.out(1), b.sizes(0), b.arg(3), b.arg(4)));
}
/// The loss is linear in the scores, so its gradient's gradient is the loss itself.
void nll_loss_backward_gradient(Backward& b) {
  b.set(0, nll_loss_forward(b.grad(), b.arg(1), b.arg(2), b.arg(5), b.arg(6)));
}
void cross_entropy_backward_shape(Inference& f) {
  check(f.rank(4) == 1 || f.rank(4) == 2, "cross_entropy_backward expects scores [C] or [N, C], but got {}",
        listed(f.sizes(4)));
  check_loss_gradient(f, f.sizes(4));
  check(f.dtype(4) == f.dtype(0), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(4)));
  f.result(f.dtype(4), Dims(f.sizes(4)));
}
/// d out = d(g - exp(log_p) * sum(g)) with g = nll_loss_backward(grad): linear in grad, and through exp(log_p) in
/// log_p.
void cross_entropy_backward_gradient(Backward& b) {
  const Tensor g = nll_loss_backward(b.arg(0), b.arg(1), b.arg(2), b.arg(3), b.sizes(4), b.arg(5), b.arg(6));
  const int64_t dim = class_dim(b.sizes(4).size());
  const Tensor p = exp(b.arg(4)), total = sum(g, {dim}, true);
  if (b.needs(0)) {
    const Tensor through = sub(b.grad(), sum(mul(b.grad(), p), {dim}, true));
    b.set(0, nll_loss_forward(through, b.arg(1), b.arg(2), b.arg(5), b.arg(6)));
  }
  if (b.needs(4)) b.set(4, neg(mul(mul(b.grad(), p), total)));
}
void nll_loss_of(Composition& c) { c.result(nll_loss_forward(c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4))); }

/// Targets are probabilities, of the sizes of the scores: - sum over classes of weight * target * log p.
Tensor soft_cross_entropy(const Tensor& log_p, const Tensor& target, const Tensor& weight, std::string_view reduction,
                          double smoothing) {
  const int64_t dim = class_dim(log_p.rank()), classes = log_p.size(dim);
  Tensor t = target;
  if (smoothing > 0) t = t * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor terms = log_p * t;
  if (weight.defined()) {
    Dims sizes(log_p.rank(), 1);
    sizes[static_cast<size_t>(dim)] = classes;
    terms = terms * reshape(weight, sizes);
  }
  check_reduction(reduction);
  if (reduction == "none") return -sum(terms, Dims{dim});
  const Tensor total = -sum(terms);
  return reduction == "sum" ? total : total / (static_cast<double>(log_p.numel()) / static_cast<double>(classes));
}
/// With smoothing s: (1 - s) nll + s / C times the loss against all classes alike.
Tensor smoothed_cross_entropy(const Tensor& log_p, const Tensor& target, const Tensor& weight,
                              std::string_view reduction, int64_t ignored, double smoothing) {
  const int64_t dim = class_dim(log_p.rank()), classes = log_p.size(dim);
  const auto nll = nll_loss_forward.all(log_p, target, weight, reduction, ignored);
  Tensor all_alike = log_p;
  if (weight.defined()) {
    Dims sizes(log_p.rank(), 1);
    sizes[static_cast<size_t>(dim)] = classes;
    all_alike = all_alike * reshape(weight, sizes);
  }
  all_alike = where(eq(target, ignored), 0.0, -sum(all_alike, Dims{dim}));
  if (reduction == "sum") all_alike = sum(all_alike);
  if (reduction == "mean") all_alike = sum(all_alike) / nll[1];
  return nll[0] * (1 - smoothing) + all_alike * (smoothing / static_cast<double>(classes));
}
void cross_entropy_of(Composition& c) {
  const Tensor scores = c.tensor(0), target = c.tensor(1), weight = c.tensor(2);
  const double smoothing = c.real(5);
  check(smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: {}", smoothing);
  check(scores.rank() > 0, "Expected the input of cross_entropy to have a class dimension, but got a number");
  const Tensor log_p = log_softmax(scores, class_dim(scores.rank()));
  if (scores.sizes() == target.sizes()) {
    check(is_floating(target.dtype()), "Expected floating point type for target with class probabilities, got {}",
          scalar_type_name(target.dtype()));
    check(c.integer(4) < 0, "ignore_index is not supported for floating point target");
    return c.result(soft_cross_entropy(log_p, target, weight, c.text(3), smoothing));
  }
  if (smoothing > 0) return c.result(smoothed_cross_entropy(log_p, target, weight, c.text(3), c.integer(4), smoothing));
  c.result(nll_loss_forward(log_p, target, weight, c.arg(3), c.arg(4)));
}

std::string_view nll_loss_name(std::span<const Arg> args) {
  const size_t rank = args[0].tensor().rank();
  if (rank == 3 || rank > 4) return args[3].text() == "none" ? "ViewBackward0" : "NllLoss2DBackward0";
  return rank == 4 ? "NllLoss2DBackward0" : "NllLossBackward0";
}

/// Of probabilities the mean is a sum, divided by a number.
std::string_view cross_entropy_name(std::span<const Arg> args) {
  return is_floating(args[1].tensor().dtype()) && args[3].text() == "mean" ? "DivBackward1" : "";
}

OpRecord distance(std::string_view name, std::string_view doc, CompositeRule rule, std::string_view grad_fn,
                  std::string_view signature, std::string_view example) {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = example,
          .flags = kFunctional,
          .composite = rule,
          .grad_fn = grad_fn,
          .samples = {{"randn(3, 4), randn(3, 4)"},
                      {"randn(3, 4), randn(3, 4), reduction='sum'"},
                      {"randn(3), randn(3), reduction='none'"}}};
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op parabola_with_lines{{.name = "parabola_with_lines",
                              .signature = "(Tensor self, float knee) -> Tensor",
                              .doc = "x * x / 2 where |x| <= knee, then straight on: knee * (|x| - knee / 2).",
                              .example = "",
                              .flags = kElementwise,
                              .promotion = Promotion::Floating,
                              .shape = rules::elementwise,
                              .gradient = parabola_gradient,
                              .saved = saves({0}),
                              .samples = {{"randn(3, 4), 1.0"}, {"randn(3, 4), 0.3"}}}};
const Op mse_loss{distance("mse_loss", "The mean squared difference.", mse_loss_of, "MseLossBackward0",
                           "(Tensor self, Tensor target, str reduction='mean') -> Tensor",
                           "terra.nn.functional.mse_loss(terra.ones(2), terra.zeros(2))")};
const Op l1_loss{distance("l1_loss", "The mean absolute difference.", l1_loss_of, "",
                          "(Tensor self, Tensor target, str reduction='mean') -> Tensor",
                          "terra.nn.functional.l1_loss(terra.ones(2), terra.zeros(2))")};
const Op smooth_l1_loss{
    distance("smooth_l1_loss", "The mean of d * d / (2 beta) where |d| < beta, else |d| - beta / 2.", smooth_l1_loss_of,
             "SmoothL1LossBackward0", "(Tensor self, Tensor target, str reduction='mean', float beta=1.0) -> Tensor",
             "terra.nn.functional.smooth_l1_loss(terra.ones(2), terra.zeros(2))")};
const Op huber_loss{distance("huber_loss", "The mean of d * d / 2 where |d| <= delta, else delta * (|d| - delta / 2).",
                             huber_loss_of, "HuberLossBackward0",
                             "(Tensor self, Tensor target, str reduction='mean', float delta=1.0) -> Tensor",
                             "terra.nn.functional.huber_loss(terra.ones(2), terra.zeros(2))")};
const Op kl_div{{.name = "kl_div",
                 .signature = "(Tensor self, Tensor target, str reduction='mean', bool log_target=False) -> Tensor",
                 .doc = "target * (log(target) - self) for log probabilities self.",
                 .example = "terra.nn.functional.kl_div(terra.zeros(2), terra.ones(2), reduction='batchmean')",
                 .flags = kFunctional,
                 .composite = kl_div_of,
                 .samples = {{"randn(3, 4), rand(3, 4)"},
                             {"randn(3, 4), randn(3, 4), 'sum', True"},
                             {"randn(3, 4), rand(3, 4), 'batchmean'"}}}};
const Op binary_cross_entropy{
    {.name = "binary_cross_entropy",
     .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor",
     .doc = "-(target * log(p) + (1 - target) * log(1 - p)), logarithms cut at -100.",
     .example = "terra.nn.functional.binary_cross_entropy(terra.tensor([0.5]), terra.ones(1))",
     .flags = kFunctional | kChecksValues,
     .composite = binary_cross_entropy_of,
     .grad_fn = "BinaryCrossEntropyBackward0",
     .samples = {{"rand(3, 4) * 0.8 + 0.1, rand(3, 4)"},
                 {"rand(3, 4) * 0.8 + 0.1, rand(3, 4), fixed(0.3, 0.5, 0.9, 1.5), 'sum'"}}}};
const Op binary_cross_entropy_with_logits{
    {.name = "binary_cross_entropy_with_logits",
     .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', "
                  "Tensor? pos_weight=None) -> Tensor",
     .doc = "binary_cross_entropy of sigmoid(self), without overflow.",
     .example = "terra.nn.functional.binary_cross_entropy_with_logits(terra.zeros(1), "
                "terra.ones(1))",
     .flags = kFunctional,
     .composite = binary_cross_entropy_with_logits_of,
     .grad_fn = "BinaryCrossEntropyWithLogitsBackward0",
     .samples = {{"randn(3, 4), rand(3, 4)"},
                 {"randn(3, 4), rand(3, 4), fixed(0.3, 0.5, 0.9, 1.5), 'none', fixed(2.0, 0.5, 1.0, 3.0)"}}}};
const Op nll_loss{{.name = "nll_loss",
                   .signature =
                       "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', int ignore_index=-100) "
                       "-> Tensor",
                   .doc = "Minus the log probability of the target class, averaged by weight.",
                   .example = "terra.nn.functional.nll_loss(terra.zeros(1, 3), terra.tensor([1]))",
                   .flags = kFunctional | kMovesBytes,
                   .composite = nll_loss_of,
                   .grad_fn_of = nll_loss_name,
                   .samples = {{"randn(4, 3), terra.tensor([0, 2, 1, 1])"},
                               {"randn(4, 3), terra.tensor([0, -100, 1, 1]), fixed(0.3, 0.5, 0.9), 'sum'"},
                               {"randn(2, 3, 2), terra.tensor([[0, 2], [1, 1]]), None, 'none'"}}}};
const Op nll_loss_forward{
    {.name = "nll_loss_forward",
     .signature = "(Tensor self, Tensor target, Tensor? weight, str reduction, int ignore_index) -> Tensor",
     .doc = "nll_loss; a second result is the total weight.",
     .example = "",
     .flags = kChecksValues,
     .shape = nll_loss_shape,
     .gradient = nll_loss_gradient,
     .saved = saves({1, 2}) | saves_result(1),
     .grad_fn = "NllLossBackward0",
     .samples = {{"randn(4, 3), terra.tensor([0, 2, 1, 1]), fixed(0.3, 0.5, 0.9), 'mean', 2"}}}};
const Op nll_loss_backward{
    {.name = "nll_loss_backward",
     .signature = "(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, int[] input_sizes, "
                  "str reduction, int ignore_index) -> Tensor",
     .doc = "The gradient of nll_loss.",
     .example = "",
     .flags = kChecksValues,
     .shape = nll_loss_backward_shape,
     .gradient = nll_loss_backward_gradient,
     .saved = saves({1, 2}),
     .samples = {{"randn(4), terra.tensor([0, 2, 1, 1]), None, fixed(4.0), (4, 3), 'none', -100"}}}};
const Op cross_entropy_backward{
    {.name = "cross_entropy_backward",
     .signature = "(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, Tensor log_p, str reduction, "
                  "int ignore_index) -> Tensor",
     .doc = "log_softmax_backward of nll_loss_backward in one pass.",
     .example = "",
     .flags = kChecksValues,
     .shape = cross_entropy_backward_shape,
     .gradient = cross_entropy_backward_gradient,
     .saved = saves({0, 1, 2, 3, 4}),
     .reuses = params({4}),
     .samples = {{"randn(4), terra.tensor([0, 2, 1, 1]), None, fixed(4.0), -rand(4, 3), 'none', 1"},
                 {"fixed(1.5), terra.tensor([0, 2]), fixed(0.3, 0.5, 0.9), fixed(1.2), -rand(2, 3), 'mean', -100"}}}};
const Op cross_entropy{
    {.name = "cross_entropy",
     .signature = "(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', int "
                  "ignore_index=-100, float label_smoothing=0.0) -> Tensor",
     .doc = "nll_loss of log_softmax(self); targets may be class numbers or class probabilities.",
     .example = "terra.nn.functional.cross_entropy(terra.zeros(1, 3), terra.tensor([1]))",
     .flags = kFunctional,
     .composite = cross_entropy_of,
     .grad_fn_of = cross_entropy_name,
     .samples = {{"randn(4, 3), terra.tensor([0, 2, 1, 1])"},
                 {"randn(4, 3), terra.tensor([0, 2, -100, 1]), fixed(0.3, 0.5, 0.9), label_smoothing=0.1"},
                 {"randn(4, 3), rand(4, 3)"},
                 {"randn(2, 3, 2), terra.tensor([[0, 2], [1, 1]]), reduction='sum'"},
                 {"randn(3), terra.tensor(1)"}}}};

}  // namespace terra::ops
