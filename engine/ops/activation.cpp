#include "engine/ops/activation.h"

#include <numbers>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/reduce.h"
#include "engine/ops/refusals.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {

extern const Op hardswish_backward;

namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void floating_shape(Inference& f) {
  if (!is_floating(f.common)) refuse(f.op, f.common);
  rules::elementwise(f);
}
void gelu_shape(Inference& f) {
  check(f.text(1) == "none" || f.text(1) == "tanh", "approximate argument must be either none or tanh.");
  floating_shape(f);
}
void relu_shape(Inference& f) {
  check_kind(f.common != DType::Bool, ErrorKind::NotImplementedError, "Boolean inputs not supported for relu");
  rules::elementwise(f);
}
void hardtanh_shape(Inference& f) {
  check(f.common != DType::Bool, "Bool inputs not supported for hardtanh");
  rules::check_bounds(f);
  rules::elementwise(f);
}
void softshrink_shape(Inference& f) {
  const double lambda = f.arg(1).scalar().to_double();
  check(lambda >= 0, "lambda must be in range [0, 3.40282e+38] for input dtype {}, but found {}",
        scalar_type_name(f.common), lambda);
  floating_shape(f);
}
void softmax_shape(Inference& f) {
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0));
  check_kind(is_floating(f.dtype(0)), ErrorKind::NotImplementedError, "\"{}{}_kernel_impl\" not implemented for '{}'",
             f.op.name, dim + 1 < static_cast<int64_t>(f.rank(0)) ? "" : "_lastdim", scalar_type_name(f.dtype(0)));
  rules::like_first(f);
}

void softmax_backward_shape(Inference& f) {
  wrap_dim(f.integer(2), f.rank(0));
  check(Dims(f.sizes(0)) == Dims(f.sizes(1)), "{}: the gradient has size {}, but the result {}", f.op.name,
        listed(f.sizes(0)), listed(f.sizes(1)));
  rules::like_first(f);
}

// ---- gradients: x is the operand, g the gradient of the result ------------------------------------------------------
void relu_gradient(Backward& b) { b.set(0, threshold_backward(b.grad(), b.out(), 0)); }
void threshold_backward_gradient(Backward& b) {
  b.set(0, threshold_backward(b.grad(), b.arg(1), b.arg(2)));
  if (b.needs(1)) b.set(1, zeros_like(b.grad()));
}
void swish_gradient(Backward& b) { b.set(0, swish_backward(b.grad(), b.arg(0))); }
/// The slope of x s(x) is s (1 + x (1 - s)), which grows by s (1 - s) (2 + x (1 - 2 s)).
void swish_backward_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, swish_backward(b.grad(), b.arg(1)));
  if (!b.needs(1)) return;
  const Tensor x = b.in(1), s = sigmoid(x);
  b.set(1, b.grad() * b.in(0) * (s * (1 - s) * (2 + x * (1 - 2 * s))));
}
void gelu_gradient(Backward& b) { b.set(0, gelu_backward(b.grad(), b.arg(0), b.arg(1))); }
/// gelu(x) = x F(x), F the normal distribution function: its slope F + x f grows by f (2 - x^2). The approximation is
/// x s(v), s the logistic function and v a cubic polynomial.
void gelu_backward_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, gelu_backward(b.grad(), b.arg(1), b.arg(2)));
  if (!b.needs(1)) return;
  const Tensor x = b.in(1), square = x * x;
  if (b.text(2) == "none") {
    const Tensor density = exp(-0.5 * square) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return b.set(1, b.grad() * b.in(0) * density * (2 - square));
  }
  constexpr double kScale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
  const Tensor s = sigmoid(kScale * (x + kCubic * (square * x))), s1 = s * (1 - s), s2 = s1 * (1 - 2 * s);
  const Tensor v1 = kScale * (1 + 3 * kCubic * square), v2 = (6 * kScale * kCubic) * x;
  b.set(1, b.grad() * b.in(0) * (2 * s1 * v1 + x * (s2 * (v1 * v1) + s1 * v2)));
}
void softplus_gradient(Backward& b) {
  const Tensor scaled = mul(b.arg(0), b.arg(1));
  b.set(0, where(gt(scaled, b.arg(2)), b.grad(), b.grad() * sigmoid(scaled)));
}
void leaky_relu_gradient(Backward& b) { b.set(0, where(gt(b.arg(0), 0), b.grad(), mul(b.grad(), b.arg(1)))); }
/// alpha (exp(x) - 1) below 0 has slope y + alpha.
void elu_gradient(Backward& b) {
  const Tensor x = b.in(0);
  b.set(0, where(le(x, 0), b.grad() * mul(exp(where(lt(x, 0), x, 0.0)), b.arg(1)), b.grad()));
}
/// Unlike that of clamp, the gradient passes a NaN.
void hardtanh_gradient(Backward& b) {
  b.set(0, where(logical_or(le(b.arg(0), b.arg(1)), ge(b.arg(0), b.arg(2))), 0.0, b.grad()));
}
void shrink_gradient(Backward& b) { b.set(0, where(le(abs(b.in(0)), b.arg(1)), 0.0, b.grad())); }
void hardsigmoid_gradient(Backward& b) { b.set(0, where(lt(abs(b.in(0)), 3), b.grad() / 6, 0.0)); }
void hardswish_gradient(Backward& b) { b.set(0, hardswish_backward(b.grad(), b.in(0))); }
/// The slope grows by 1 / 3 between its ends.
void hardswish_backward_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, hardswish_backward(b.grad(), b.in(1)));
  if (b.needs(1)) b.set(1, where(lt(abs(b.in(1)), 3), b.grad() * b.in(0) / 3, 0.0));
}
void logsigmoid_gradient(Backward& b) { b.set(0, b.grad() * sigmoid(-b.in(0))); }
void softmax_gradient(Backward& b) { b.set(0, softmax_backward(b.grad(), b.out(), b.arg(1))); }
void log_softmax_gradient(Backward& b) { b.set(0, log_softmax_backward(b.grad(), b.out(), b.arg(1))); }
/// r = y (g - sum(g y))
void softmax_backward_gradient(Backward& b) {
  const Tensor gg = b.grad(), g = b.in(0), y = b.in(1);
  const Dims dim{b.integer(2)};
  if (b.needs(0)) b.set(0, softmax_backward(gg, y, b.arg(2)));
  if (b.needs(1)) b.set(1, gg * (g - sum(g * y, dim, true)) - g * sum(gg * y, dim, true));
}
/// r = g - exp(y) sum(g)
void log_softmax_backward_gradient(Backward& b) {
  const Tensor gg = b.grad(), g = b.in(0), p = exp(b.in(1));
  const Dims dim{b.integer(2)};
  if (b.needs(0)) b.set(0, gg - sum(gg * p, dim, true));
  if (b.needs(1)) b.set(1, -gg * p * sum(g, dim, true));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void silu_of(Composition& c) {
  const Tensor x = c.tensor(0);
  c.result(is_floating(x.dtype()) ? swish(x) : x * sigmoid(x));
}
void relu6_of(Composition& c) { c.result(hardtanh(c.arg(0), 0, 6)); }
void mish_of(Composition& c) { c.result(c.tensor(0) * tanh(softplus(c.arg(0)))); }
void selu_of(Composition& c) {
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  c.result(elu(c.arg(0), kAlpha) * kScale);
}
void celu_of(Composition& c) {
  const double alpha = c.real(1);
  check(alpha != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  const Tensor x = c.tensor(0), negative = lt(x, 0);
  c.result(where(negative, expm1(where(negative, x, 0.0) * (1 / alpha)) * alpha, x));
}
void prelu_of(Composition& c) {
  const Tensor x = kinked(c.tensor(0)), w = c.tensor(1);
  check(x.dtype() == w.dtype(), "prelu: Type promoting not supported. Got {} and {}", scalar_type_name(x.dtype()),
        scalar_type_name(w.dtype()));
  check(w.rank() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}", w.rank());
  check(w.numel() == 1 || x.rank() > 0, "Not allow zero-dim input tensor.");
  check(w.numel() == 1 || (x.rank() >= 2 && x.size(1) == w.numel()),
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel size = {}.",
        w.numel(), x.rank() >= 2 ? x.size(1) : 1);
  Dims sizes(x.rank(), 1);
  if (w.numel() > 1) sizes[1] = w.numel();
  c.result(where(gt(x, 0), x, x * reshape(w, sizes)));
}
void glu_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() > 0, "glu does not support 0-dimensional tensors");
  const int64_t dim = wrap_dim(c.integer(1), x.rank()), n = x.size(dim);
  check(n % 2 == 0, "Halving dimension must be even, but dimension {} is size {}", dim, n);
  c.result(narrow(x, dim, 0, n / 2) * sigmoid(narrow(x, dim, n / 2, n / 2)));
}
void threshold_of(Composition& c) { c.result(where(le(c.arg(0), c.arg(1)), c.arg(2), kinked(c.tensor(0)))); }
void softsign_of(Composition& c) { c.result(c.tensor(0) / (1 + abs(c.tensor(0)))); }
void tanhshrink_of(Composition& c) { c.result(c.tensor(0) - tanh(c.tensor(0))); }
void softmin_of(Composition& c) { c.result(softmax(-c.tensor(0), c.arg(1))); }
Tensor as_dtype(Composition& c) { return c.has(2) ? to_dtype(c.arg(0), c.arg(2)) : c.tensor(0); }
void softmax_dtype_of(Composition& c) { c.result(softmax(as_dtype(c), c.arg(1))); }
void log_softmax_dtype_of(Composition& c) { c.result(log_softmax(as_dtype(c), c.arg(1))); }

// ---- what records share ---------------------------------------------------------------------------------------------
constexpr uint32_t kActivation = kFunction | kFunctional | kInPlace;

OpRecord composed(std::string_view name, std::string_view doc, CompositeRule rule, std::string_view grad_fn,
                  std::string_view signature = "(Tensor self) -> Tensor",
                  std::vector<Sample> samples = {{"randn(3, 4)"}}) {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = "",
          .flags = kFunctional | kInPlace,
          .composite = rule,
          .grad_fn = grad_fn,
          .samples = std::move(samples)};
}
const std::vector<Sample> kAlongDim = {{"randn(3, 4), 1"},  {"randn(2, 3, 4), 0"}, {"randn(4, 3).t(), -1"},
                                       {"randn(2, 70), 1"}, {"randn(()), 0"},      {"randn(0, 3), 1"}};

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op relu{{.name = "relu",
               .signature = "(Tensor self) -> Tensor",
               .doc = "max(x, 0).",
               .example = "terra.relu(terra.tensor([-1.0, 2.0]))",
               .flags = kActivation | kMethod | kElementwise | kCheap | kBarebones,
               .promotion = Promotion::Common,
               .shape = relu_shape,
               .gradient = relu_gradient,
               .saved = saves_result(),
               .samples = {{"randn(3, 4)"}, {"randn(5)[::2]"}, {"randint(-4, 5, (3, 4))", "int", false}}}};
const Op gelu{{.name = "gelu",
               .signature = "(Tensor self, *, str approximate='none') -> Tensor",
               .doc = "x times the normal distribution function of x, or its tanh approximation.",
               .example = "terra.nn.functional.gelu(terra.ones(2))",
               .flags = kFunctional | kElementwise,
               .promotion = Promotion::Common,
               .shape = gelu_shape,
               .gradient = gelu_gradient,
               .saved = saves({0}),
               .samples = {{"randn(3, 4)"}, {"randn(3, 4), approximate='tanh'"}}}};
const Op gelu_backward{{.name = "gelu_backward",
                        .signature = "(Tensor grad, Tensor self, *, str approximate='none') -> Tensor",
                        .doc = "The gradient of gelu.",
                        .example = "",
                        .flags = kElementwise,
                        .promotion = Promotion::Common,
                        .shape = rules::elementwise,
                        .gradient = gelu_backward_gradient,
                        .saved = saves({0, 1}),
                        .samples = {{"randn(3, 4), randn(3, 4)"}, {"randn(3, 4), randn(3, 4), approximate='tanh'"}}}};
const Op softplus{{.name = "softplus",
                   .signature = "(Tensor self, Number beta=1, Number threshold=20) -> Tensor",
                   .doc = "log(1 + exp(beta x)) / beta, x itself where beta x > threshold.",
                   .example = "terra.nn.functional.softplus(terra.zeros(2))",
                   .flags = kFunctional | kElementwise,
                   .promotion = Promotion::Common,
                   .shape = floating_shape,
                   .gradient = softplus_gradient,
                   .saved = saves({0}),
                   .samples = {{"randn(3, 4)"}, {"randn(3, 4) * 3, 2, 1.5"}}}};
const Op leaky_relu{{.name = "leaky_relu",
                     .signature = "(Tensor self, Number negative_slope=0.01) -> Tensor",
                     .doc = "x where x > 0, else negative_slope * x.",
                     .example = "terra.nn.functional.leaky_relu(terra.tensor([-1.0, 2.0]))",
                     .flags = kFunctional | kInPlace | kElementwise | kCheap | kPiecewise,
                     .promotion = Promotion::Common,
                     .shape = floating_shape,
                     .gradient = leaky_relu_gradient,
                     .saved = saves({0}),
                     .samples = {{"randn(3, 4)"}, {"randn(3, 4), 0.2"}}}};
const Op elu{{.name = "elu",
              .signature = "(Tensor self, Number alpha=1) -> Tensor",
              .doc = "x where x > 0, else alpha * (exp(x) - 1).",
              .example = "terra.nn.functional.elu(terra.tensor([-1.0, 2.0]))",
              .flags = kFunctional | kInPlace | kElementwise,
              .promotion = Promotion::Common,
              .shape = floating_shape,
              .gradient = elu_gradient,
              .saved = saves({0}),
              .samples = {{"randn(3, 4)"}, {"randn(3, 4), 0.7"}}}};
const Op threshold_backward{{.name = "threshold_backward",
                             .signature = "(Tensor grad, Tensor self, Number threshold=0) -> Tensor",
                             .doc = "The gradient of relu: grad where self > threshold, else 0.",
                             .example = "",
                             .flags = kElementwise | kCheap,
                             .promotion = Promotion::Common,
                             .shape = rules::elementwise,
                             .gradient = threshold_backward_gradient,
                             .saved = saves({1}),
                             .samples = {{"randn(3, 4), randn(3, 4), 0"}}}};
const Op swish{{.name = "swish",
                .signature = "(Tensor self) -> Tensor",
                .doc = "x * sigmoid(x) of real numbers.",
                .example = "",
                .flags = kElementwise,
                .promotion = Promotion::Common,
                .shape = rules::elementwise,
                .gradient = swish_gradient,
                .saved = saves({0}),
                .samples = {{"randn(3, 4)"}}}};
const Op swish_backward{{.name = "swish_backward",
                         .signature = "(Tensor grad, Tensor self) -> Tensor",
                         .doc = "The gradient of swish.",
                         .example = "",
                         .flags = kElementwise,
                         .promotion = Promotion::Common,
                         .shape = rules::elementwise,
                         .gradient = swish_backward_gradient,
                         .saved = saves({0, 1}),
                         .samples = {{"randn(3, 4), randn(3, 4)"}}}};
const Op silu{{.name = "silu",
               .signature = "(Tensor self) -> Tensor",
               .doc = "x * sigmoid(x).",
               .example = "",
               .flags = kFunctional | kInPlace | kMovesBytes,
               .composite = silu_of,
               .grad_fn = "SiluBackward0",
               .samples = {{"randn(3, 4)"}}}};
const Op hardtanh{{.name = "hardtanh",
                   .signature = "(Tensor self, Number min_val=-1, Number max_val=1) -> Tensor",
                   .doc = "Each element moved into [min_val, max_val].",
                   .example = "",
                   .flags = kFunctional | kInPlace | kElementwise | kCheap | kPiecewise | kBarebones,
                   .promotion = Promotion::Common,
                   .shape = hardtanh_shape,
                   .gradient = hardtanh_gradient,
                   .saved = saves({0}),
                   .samples = {{"randn(3, 4)"}, {"randn(3, 4), -0.3, 0.4"}, {"randint(-9, 9, (3, 4))", "int", false}}}};
const Op relu6{composed("relu6", "Each element moved into [0, 6].", relu6_of, "HardtanhBackward0")};
const Op logsigmoid{{.name = "logsigmoid",
                     .signature = "(Tensor self) -> Tensor",
                     .doc = "log(sigmoid(x)), without overflow.",
                     .example = "",
                     .flags = kFunctional | kElementwise,
                     .promotion = Promotion::Common,
                     .shape = floating_shape,
                     .gradient = logsigmoid_gradient,
                     .saved = saves({0}),
                     .grad_fn = "LogSigmoidBackward0",
                     .samples = {{"randn(3, 4)"}}}};
const Op mish{composed("mish", "x * tanh(softplus(x)).", mish_of, "MishBackward0")};
const Op selu{{.name = "selu",
               .signature = "(Tensor self) -> Tensor",
               .doc = "The self-normalizing elu: scale * elu(x, alpha) with two constants.",
               .example = "terra.selu(terra.tensor([-1.0, 2.0]))",
               .flags = kActivation,
               .composite = selu_of,
               .grad_fn = "EluBackward0",
               .samples = {{"randn(3, 4)"}}}};
const Op celu{composed("celu", "max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).", celu_of, "CeluBackward0",
                       "(Tensor self, Number alpha=1) -> Tensor", {{"randn(3, 4)"}, {"randn(3, 4), 0.5"}})};
const Op hardsigmoid{{.name = "hardsigmoid",
                      .signature = "(Tensor self) -> Tensor",
                      .doc = "x / 6 + 1 / 2 moved into [0, 1].",
                      .example = "",
                      .flags = kFunctional | kInPlace | kElementwise | kCheap | kPiecewise,
                      .promotion = Promotion::Common,
                      .shape = floating_shape,
                      .gradient = hardsigmoid_gradient,
                      .saved = saves({0}),
                      .samples = {{"randn(3, 4) * 3"}}}};
const Op hardswish{{.name = "hardswish",
                    .signature = "(Tensor self) -> Tensor",
                    .doc = "x * hardsigmoid(x).",
                    .example = "",
                    .flags = kFunctional | kInPlace | kElementwise | kCheap,
                    .promotion = Promotion::Common,
                    .shape = floating_shape,
                    .gradient = hardswish_gradient,
                    .saved = saves({0}),
                    .samples = {{"randn(3, 4) * 3"}}}};
const Op hardswish_backward{{.name = "hardswish_backward",
                             .signature = "(Tensor grad, Tensor self) -> Tensor",
                             .doc = "The gradient of hardswish.",
                             .example = "",
                             .flags = kElementwise | kCheap,
                             .promotion = Promotion::Common,
                             .shape = rules::elementwise,
                             .gradient = hardswish_backward_gradient,
                             .saved = saves({0, 1}),
                             .samples = {{"randn(3, 4), randn(3, 4) * 3"}}}};
const Op prelu{{.name = "prelu",
                .signature = "(Tensor self, Tensor weight) -> Tensor",
                .doc = "x where x > 0, else weight * x with one weight, or one for each channel.",
                .example = "terra.prelu(terra.tensor([[-1.0], [2.0]]), terra.tensor([0.25]))",
                .flags = kVisible | kFunctional,
                .composite = prelu_of,
                .grad_fn = "PreluKernelBackward0",
                .samples = {{"randn(3, 4), randn(4)"}, {"randn(2, 3, 4), randn(1)"}}}};
const Op glu{{.name = "glu",
              .signature = "(Tensor self, int dim=-1) -> Tensor",
              .doc = "The first half of dim times the sigmoid of the second.",
              .example = "terra.nn.functional.glu(terra.ones(2))",
              .flags = kFunctional,
              .composite = glu_of,
              .grad_fn = "GluBackward0",
              .samples = {{"randn(3, 4)"}, {"randn(4, 3), 0"}}}};
const Op threshold{composed("threshold", "x where x > threshold, else value.", threshold_of, "ThresholdBackward0",
                            "(Tensor self, Number threshold, Number value) -> Tensor", {{"randn(3, 4), 0.1, 2.0"}})};
const Op softsign{{.name = "softsign",
                   .signature = "(Tensor self) -> Tensor",
                   .doc = "x / (1 + |x|).",
                   .example = "terra.nn.functional.softsign(terra.ones(2))",
                   .flags = kFunctional,
                   .composite = softsign_of,
                   .samples = {{"randn(3, 4)"}}}};
const Op tanhshrink{{.name = "tanhshrink",
                     .signature = "(Tensor self) -> Tensor",
                     .doc = "x - tanh(x).",
                     .example = "terra.nn.functional.tanhshrink(terra.ones(2))",
                     .flags = kFunctional,
                     .composite = tanhshrink_of,
                     .samples = {{"randn(3, 4)"}}}};
const Op softshrink{{.name = "softshrink",
                     .signature = "(Tensor self, float lambd=0.5) -> Tensor",
                     .doc = "x moved by lambd towards 0, 0 where it would pass it.",
                     .example = "terra.nn.functional.softshrink(terra.ones(2))",
                     .flags = kFunctional | kElementwise | kCheap | kPiecewise,
                     .promotion = Promotion::Common,
                     .shape = softshrink_shape,
                     .gradient = shrink_gradient,
                     .saved = saves({0}),
                     .samples = {{"randn(3, 4)"}, {"randn(3, 4), 0.1"}}}};
const Op hardshrink{{.name = "hardshrink",
                     .signature = "(Tensor self, Number lambd=0.5) -> Tensor",
                     .doc = "x where |x| > lambd, else 0.",
                     .example = "terra.nn.functional.hardshrink(terra.ones(2))",
                     .flags = kFunctional | kElementwise | kCheap | kPiecewise,
                     .promotion = Promotion::Common,
                     .shape = floating_shape,
                     .gradient = shrink_gradient,
                     .saved = saves({0}),
                     .samples = {{"randn(3, 4)"}, {"randn(3, 4), 0.1"}}}};

const Op softmax{{.name = "softmax",
                  .signature = "(Tensor self, int dim) -> Tensor",
                  .doc = "exp(x) / sum(exp(x)) along dim, without overflow.",
                  .example = "terra.softmax(terra.zeros(2, 2), 1)",
                  .shape = softmax_shape,
                  .gradient = softmax_gradient,
                  .saved = saves_result(),
                  .reuses = params({0}),
                  .samples = kAlongDim}};
const Op log_softmax{{.name = "log_softmax",
                      .signature = "(Tensor self, int dim) -> Tensor",
                      .doc = "x - log(sum(exp(x))) along dim, without overflow.",
                      .example = "terra.log_softmax(terra.zeros(2, 2), 1)",
                      .shape = softmax_shape,
                      .gradient = log_softmax_gradient,
                      .saved = saves_result(),
                      .reuses = params({0}),
                      .samples = kAlongDim}};
const Op softmax_dtype{{.name = "softmax_dtype",
                        .signature = "(Tensor self, int dim, dtype? dtype=None) -> Tensor",
                        .doc = "softmax of the elements converted to dtype.",
                        .example = "",
                        .composite = softmax_dtype_of,
                        .samples = {{"randn(3, 4), 1, terra.float64"}}}};
const Op log_softmax_dtype{{.name = "log_softmax_dtype",
                            .signature = "(Tensor self, int dim, dtype? dtype=None) -> Tensor",
                            .doc = "log_softmax of the elements converted to dtype.",
                            .example = "",
                            .composite = log_softmax_dtype_of,
                            .samples = {{"randn(3, 4), 1, terra.float64"}}}};
const Op softmin{{.name = "softmin",
                  .signature = "(Tensor self, int dim) -> Tensor",
                  .doc = "softmax of -x.",
                  .example = "terra.nn.functional.softmin(terra.zeros(2, 2), 1)",
                  .flags = kFunctional,
                  .composite = softmin_of,
                  .samples = {{"randn(3, 4), 1"}}}};
const Op softmax_backward{{.name = "softmax_backward",
                           .signature = "(Tensor grad, Tensor out, int dim) -> Tensor",
                           .doc = "The gradient of softmax from its result: out * (grad - sum(grad * out)).",
                           .example = "",
                           .shape = softmax_backward_shape,
                           .gradient = softmax_backward_gradient,
                           .saved = saves({0, 1}),
                           .reuses = params({0, 1}),
                           .samples = {{"randn(3, 4), rand(3, 4), 1"}}}};
const Op log_softmax_backward{{.name = "log_softmax_backward",
                               .signature = "(Tensor grad, Tensor out, int dim) -> Tensor",
                               .doc = "The gradient of log_softmax from its result: grad - exp(out) * sum(grad).",
                               .example = "",
                               .shape = softmax_backward_shape,
                               .gradient = log_softmax_backward_gradient,
                               .saved = saves({0, 1}),
                               .reuses = params({0, 1}),
                               .samples = {{"randn(3, 4), -rand(3, 4), 1"}}}};

}  // namespace terra::ops
