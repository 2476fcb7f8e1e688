#include "engine/ops/random_families.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/draws.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

using Args = std::span<const Arg>;
using Results = std::vector<Tensor>;

/// A tensor of `value(i)` for each element i, in the sizes and dtype given: float or double.
template <class Value>
Tensor filled(std::span<const int64_t> sizes, DType dtype, std::string_view name, const Value& value) {
  return drawn(sizes, dtype, name, [&]<class T>(T* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] = value(i, T());
  });
}

/// The elements of a tensor, in order, as doubles.
class Elements {
 public:
  explicit Elements(const Tensor& t) : held_(contiguous(to_dtype(t, DType::F64))) {}
  double operator[](int64_t i) const { return held_->data_as<double>()[i]; }

 private:
  Tensor held_;
};

void check_float(const Tensor& t, std::string_view name) {
  check_kind(is_floating(t.dtype()), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", name,
             scalar_type_name(t.dtype()));
}

/// For ops that take sizes and dtype from their first operand.
void check_like_first(const Tensor& self, const Tensor& other, std::string_view name) {
  check(other.sizes() == self.sizes() && other.dtype() == self.dtype(),
        "{}: every operand must have the sizes {} and the dtype {} of the first one, but got {} and {}", name,
        listed(self.sizes()), scalar_type_name(self.dtype()), listed(other.sizes()), scalar_type_name(other.dtype()));
}

// ---- draws ----------------------------------------------------------------------------------------------------------
void poisson_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_float(self, "poisson_cpu");
  const Elements rates(self);
  for (int64_t i = 0; i < self.numel(); ++i)
    check(rates[i] >= 0, "invalid Poisson rate, expected rate to be non-negative");
  out.push_back(filled(self.sizes(), self.dtype(), "poisson_cpu", [&]<class T>(int64_t i, T) {
    return static_cast<T>(draws_of_one().poisson(state_of(a[1]), rates[i]));
  }));
}
void binomial_host(Args a, Results& out) {
  const Tensor count = a[0].tensor(), p = a[1].tensor();
  check_float(count, "binomial_cpu");
  const Dims sizes = broadcast_sizes(count.sizes(), p.sizes());
  const Elements counts(expand(count, sizes)), ps(expand(p, sizes));
  out.push_back(filled(sizes, count.dtype(), "binomial_cpu", [&]<class T>(int64_t i, T) {
    return static_cast<T>(draws_of_one().binomial(state_of(a[2]), counts[i], ps[i]));
  }));
}
void standard_gamma_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_float(self, "gamma_cpu");
  const Elements alphas(self);
  out.push_back(filled(self.sizes(), self.dtype(), "gamma_cpu", [&]<class T>(int64_t i, T) {
    return std::max(std::numeric_limits<T>::min(),
                    static_cast<T>(draws_of_one().standard_gamma(state_of(a[1]), alphas[i])));
  }));
}
void sample_dirichlet_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_float(self, "dirichlet");
  const Elements alphas(self);
  const int64_t n = self.rank() == 0 ? 1 : self.size(-1);
  std::vector<double> drawn(static_cast<size_t>(self.numel())),
      sums(drawn.size() / static_cast<size_t>(std::max<int64_t>(n, 1)));
  for (size_t i = 0; i < drawn.size(); ++i) {
    drawn[i] = draws_of_one().standard_gamma(state_of(a[1]), alphas[static_cast<int64_t>(i)]);
    sums[i / static_cast<size_t>(n)] += drawn[i];
  }
  out.push_back(filled(self.sizes(), self.dtype(), "dirichlet", [&]<class T>(int64_t i, T) {
    const T share = static_cast<T>(drawn[static_cast<size_t>(i)] / sums[static_cast<size_t>(i / n)]);
    return std::min(std::nextafter(T(1), T(0)), std::max(std::numeric_limits<T>::min(), share));
  }));
}
void cauchy_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double median = a[1].scalar().to_double(), sigma = a[2].scalar().to_double();
  check(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma={}", sigma);
  out.push_back(filled(self.sizes(), self.dtype(), "cauchy_cpu", [&]<class T>(int64_t, T) {
    return static_cast<T>(draws_of_one().cauchy(state_of(a[3]), median, sigma));
  }));
}
void geometric_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double p = a[1].scalar().to_double();
  check(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p={}", p);
  const DType dtype = is_floating(self.dtype()) ? self.dtype() : DType::F64;
  const Tensor drawn = filled(self.sizes(), dtype, "geometric_cpu", [&]<class T>(int64_t, T) {
    return static_cast<T>(draws_of_one().geometric(state_of(a[2]), p));
  });
  out.push_back(dtype == self.dtype() ? drawn : to_dtype(drawn, self.dtype()));
}
void log_normal_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double mean = a[1].scalar().to_double(), deviation = a[2].scalar().to_double();
  check(deviation > 0, "log_normal_ expects std > 0.0, but found std={}", deviation);
  out.push_back(filled(self.sizes(), self.dtype(), "log_normal_cpu", [&]<class T>(int64_t, T) {
    return static_cast<T>(draws_of_one().log_normal(state_of(a[3]), mean, deviation));
  }));
}

// ---- slopes of samples ----------------------------------------------------------------------------------------------
void standard_gamma_grad_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_like_first(self, a[1].tensor(), "_standard_gamma_grad");
  const Elements alphas(self), samples(a[1].tensor());
  out.push_back(filled(self.sizes(), self.dtype(), "_standard_gamma_grad_cpu", [&]<class T>(int64_t i, T) {
    return static_cast<T>(draws_of_one().standard_gamma_slope(alphas[i], samples[i]));
  }));
}
void dirichlet_grad_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  for (const Arg& other : a.subspan(1)) check_like_first(self, other.tensor(), "_dirichlet_grad");
  const Elements samples(self), alphas(a[1].tensor()), totals(a[2].tensor());
  out.push_back(filled(self.sizes(), self.dtype(), "_dirichlet_grad_cpu", [&]<class T>(int64_t i, T) {
    return static_cast<T>(draws_of_one().dirichlet_slope(samples[i], alphas[i], totals[i]));
  }));
}

// ---- shapes and gradients -------------------------------------------------------------------------------------------
void binomial_shape(Inference& f) { f.result(f.dtype(0), broadcast_sizes(f.sizes(0), f.sizes(1))); }

void standard_gamma_gradient(Backward& b) { b.set(0, b.grad() * standard_gamma_grad(b.in(0), b.out())); }

constexpr uint32_t kDraws = kHost | kRandom;

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op poisson{{.name = "poisson",
                  .signature = "(Tensor self, Generator? generator=None) -> Tensor",
                  .doc = "Poisson counts, each of the rate that an element of self is.",
                  .example = "terra.poisson(terra.zeros(2))",
                  .flags = kFunction | kDraws | kChecksValues,
                  .shape = rules::like_first,
                  .host = poisson_host,
                  .gradient = zero_gradient,
                  .samples = {{"rand(5) * 20", "float", false}}}};
const Op binomial{{.name = "binomial",
                   .signature = "(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
                   .doc = "Successes among `count` trials of probability `prob`.",
                   .example = "terra.binomial(terra.tensor([3.0]), terra.tensor([1.0]))",
                   .flags = kFunction | kDraws | kNoGradient,
                   .shape = binomial_shape,
                   .host = binomial_host,
                   .samples = {{"rand(5) * 0 + 20, rand(5)", "float", false}}}};
const Op standard_gamma{{.name = "_standard_gamma",
                         .signature = "(Tensor self, Generator? generator=None) -> Tensor",
                         .doc = "Gamma variables of scale 1, each of the shape that an element of self is.",
                         .example = "terra._standard_gamma(terra.ones(2)).shape",
                         .flags = kFunction | kDraws,
                         .shape = rules::like_first,
                         .host = standard_gamma_host,
                         .gradient = standard_gamma_gradient,
                         .saved = saves({0}) | saves_result(),
                         .grad_fn = "StandardGammaBackward0",
                         .samples = {{"rand(5) + 0.5", "float", false}}}};
const Op standard_gamma_grad{{.name = "_standard_gamma_grad",
                              .signature = "(Tensor self, Tensor output) -> Tensor",
                              .doc = "The derivative of samples of gamma variables in their shapes.",
                              .example = "terra._standard_gamma_grad(terra.ones(1), terra.ones(1))",
                              .flags = kFunction | kHost | kNoGradient,
                              .shape = rules::like_first,
                              .host = standard_gamma_grad_host,
                              .samples = {{"rand(5) + 0.5, rand(5) + 0.5", "float", false}}}};
const Op sample_dirichlet{{.name = "_sample_dirichlet",
                           .signature = "(Tensor self, Generator? generator=None) -> Tensor",
                           .doc = "Shares that add up to 1, of the concentrations in each row.",
                           .example = "terra._sample_dirichlet(terra.ones(2)).shape",
                           .flags = kFunction | kDraws | kNoGradient,
                           .shape = rules::like_first,
                           .host = sample_dirichlet_host,
                           .samples = {{"rand(2, 3) + 0.5", "float", false}}}};
const Op dirichlet_grad{{.name = "_dirichlet_grad",
                         .signature = "(Tensor x, Tensor alpha, Tensor total) -> Tensor",
                         .doc = "The derivative of samples of Beta(alpha, total - alpha) in alpha, over 1 - x.",
                         .example = "terra._dirichlet_grad(terra.rand(1), terra.ones(1), terra.ones(1) * 2).shape",
                         .flags = kFunction | kHost | kNoGradient,
                         .shape = rules::like_first,
                         .host = dirichlet_grad_host,
                         .samples = {{"rand(5) * 0.8 + 0.1, rand(5) + 0.5, rand(5) + 2", "float", false}}}};
const Op cauchy{overwriting("cauchy",
                            "(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor",
                            "Cauchy variables.", "terra.zeros(2).cauchy_().shape", cauchy_host, "randn(5), 1.0, 2.0")};
const Op geometric{overwriting("geometric", "(Tensor self, float p, *, Generator? generator=None) -> Tensor",
                               "Trials until the first success of probability p.",
                               "terra.zeros(2).geometric_(0.5).shape", geometric_host, "randn(5), 0.3")};
const Op log_normal{overwriting("log_normal",
                                "(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor",
                                "e to the power of normal variables.", "terra.zeros(2).log_normal_().shape",
                                log_normal_host, "randn(5), 0.0, 0.5")};

}  // namespace terra::ops
