#include "engine/ops/statistics.h"

#include <algorithm>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/matmul.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- integrals ------------------------------------------------------------------------------------------------------
void check_no_bool(const Tensor& t, std::string_view op, std::string_view which) {
  check_kind(t.dtype() != DType::Bool, ErrorKind::NotImplementedError,
             "{}: received a bool input for {}, but bool is not supported", op, which);
}
/// The sums of neighbours along dim.
struct Neighbours {
  Neighbours(const Tensor& y, int64_t given)
      : dim(wrap_dim(given, y.rank())), steps(std::max<int64_t>(y.size(dim) - 1, 0)) {
    sums = narrow(y, dim, std::min<int64_t>(y.size(dim), 1), steps) + narrow(y, dim, 0, steps);
  }
  int64_t dim, steps;
  Tensor sums;
};
/// How far the places x are apart, as y's dimension dim has them.
Tensor gaps(const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.rank() != 1) {
    const int64_t n = x.rank() ? x.size(dim) : 0;
    return n < 2 ? narrow(x, dim, 0, 0) : narrow(x, dim, 1, n - 1) - narrow(x, dim, 0, n - 1);
  }
  check(x.size(0) == y.size(dim), "{}: There must be one `x` value for each sample point", "trapezoid");
  const int64_t n = std::max<int64_t>(x.size(0) - 1, 0);
  Tensor apart = narrow(x, 0, std::min<int64_t>(x.size(0), 1), n) - narrow(x, 0, 0, n);
  for (size_t d = static_cast<size_t>(dim) + 1; d < y.rank(); ++d) apart = unsqueeze(apart, -1);
  return apart;
}
Tensor halved(const Tensor& t) { return t / 2.0; }
void check_curve(const Composition& c, std::string_view op) {
  check_kind(c.tensor(0).rank() > 0, ErrorKind::IndexError, "Dimension specified as {} but tensor has no dimensions",
             c.integer(2));
  check_no_bool(c.tensor(0), op, "`y`");
}
void trapezoid_of(Composition& c) {
  check_curve(c, "trapezoid");
  const Neighbours n(c.tensor(0), c.integer(2));
  c.result(halved(mul(sum(n.sums, Dims{n.dim}), c.arg(1))));
}
void trapezoid_x_of(Composition& c) {
  check_curve(c, "trapezoid");
  check_no_bool(c.tensor(1), "trapezoid", "`x` or `y`");
  const Neighbours n(c.tensor(0), c.integer(2));
  c.result(halved(sum(n.sums * gaps(c.tensor(1), c.tensor(0), n.dim), Dims{n.dim})));
}
void cumulative_trapezoid_of(Composition& c) {
  check_curve(c, "cumulative_trapezoid");
  const Neighbours n(c.tensor(0), c.integer(2));
  c.result(halved(mul(cumsum(n.sums, n.dim), c.arg(1))));
}
void cumulative_trapezoid_x_of(Composition& c) {
  check_curve(c, "cumulative_trapezoid");
  check_no_bool(c.tensor(1), "cumulative_trapezoid", "`x` or `y`");
  const Neighbours n(c.tensor(0), c.integer(2));
  c.result(halved(cumsum(n.sums * gaps(c.tensor(1), c.tensor(0), n.dim), n.dim)));
}

// ---- covariance -----------------------------------------------------------------------------------------------------
/// One weight for each of n observations.
Tensor checked_weights(const Tensor& w, int64_t n, std::string_view name, bool integral) {
  check(w.rank() <= 1, "cov(): expected {} to have one or fewer dimensions but got {} with {} dimensions", name, name,
        w.rank());
  check(integral ? is_integral(w.dtype()) : is_floating(w.dtype()),
        "cov(): expected {} to have {} dtype but got {} with {} dtype", name, integral ? "integral" : "floating point",
        name, scalar_type_name(w.dtype()));
  check(w.numel() == n,
        "cov(): expected {} to have the same numel as there are observations in the input but got {} != {}", name,
        w.numel(), n);
  check(w.numel() == 0 || w.device().is_meta() || known_integer(to_dtype(any(lt(w, 0)), DType::I64)) == 0,
        "cov(): {} cannot be negative", name);
  return w.rank() == 0 ? reshape(w, {1}) : w;
}
Tensor covariance(const Tensor& self, int64_t correction, const Arg& fweights, const Arg& aweights) {
  check(self.rank() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        self.rank());
  check_kind(self.dtype() != DType::Bool, ErrorKind::NotImplementedError,
             "cov(): bool dtype is not supported for input");
  Tensor x = self.rank() < 2 ? reshape(self, {1, -1}) : self;
  if (!is_inexact(x.dtype())) x = to_dtype(x, default_dtype());
  const DType real_dtype = real_dtype_of(x.dtype());
  const int64_t n = x.size(1);
  Tensor w;
  if (!fweights.is_none()) w = checked_weights(fweights.tensor(), n, "fweights", true);
  if (!aweights.is_none()) {
    const Tensor a = checked_weights(aweights.tensor(), n, "aweights", false);
    w = w.defined() ? w * a : a;
  }
  Tensor degrees, weighted;
  if (w.defined()) {
    const Tensor total = sum(w);
    const Tensor mean = sum(x * w, Dims{1}, true) / total;
    x = x - mean;
    weighted = x * w;
    const Tensor lost = aweights.is_none() ? ones(Dims{}, real_dtype) : sum(w * aweights.tensor()) / total;
    degrees = total - static_cast<double>(correction) * lost;
  } else {
    x = x - mean(x, Dims{1}, true);
    weighted = x;
    degrees = full(Dims{}, static_cast<double>(n - correction), real_dtype);
  }
  const Tensor product = mm(weighted.dtype() == x.dtype() ? x : to_dtype(x, weighted.dtype()), conjugate(t(weighted)));
  return squeeze(product / clamp_min(to_dtype(degrees, real_dtype_of(product.dtype())), 0));
}
void cov_of(Composition& c) { c.result(covariance(c.tensor(0), c.integer(1), c.arg(2), c.arg(3))); }
void corrcoef_of(Composition& c) {
  check(c.tensor(0).rank() <= 2,
        "corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        c.tensor(0).rank());
  const Tensor covariances = covariance(c.tensor(0), 1, Arg(), Arg());
  if (covariances.rank() == 0) return c.result(covariances / covariances);
  const bool is_pair = is_complex(covariances.dtype());
  const Tensor variances = diagonal(covariances), deviations = sqrt(is_pair ? real(variances) : variances);
  const Tensor ratios = covariances / unsqueeze(deviations, 1) / unsqueeze(deviations, 0);
  if (!is_pair) return c.result(clamp(ratios, -1.0, 1.0));
  c.result(complex(clamp(real(ratios), -1.0, 1.0), clamp(imag(ratios), -1.0, 1.0)));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op trapezoid{{.name = "trapezoid",
                    .signature = "(Tensor y, *, Number dx=1, int dim=-1) -> Tensor",
                    .doc = "The area below points that are dx apart along dim, joined by straight lines.",
                    .example = "terra.trapezoid(terra.tensor([1.0, 2.0, 3.0]))",
                    .composite = trapezoid_of,
                    .grad_fn = "MulBackward1",
                    .samples = {{"randn(3, 4)"}, {"randn(3, 4), dx=0.5, dim=0"}, {"randn(1)"}}}};
const Op trapezoid_x{{.name = "trapezoid_x",
                      .signature = "(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                      .doc = "The area below points at x along dim, joined by straight lines.",
                      .example = "",
                      .composite = trapezoid_x_of,
                      .samples = {{"randn(3, 4), randn(4)"}, {"randn(3, 4), randn(3, 4), dim=0"}}}};
const Op cumulative_trapezoid{{.name = "cumulative_trapezoid",
                               .signature = "(Tensor y, *, Number dx=1, int dim=-1) -> Tensor",
                               .doc = "The area below points that are dx apart along dim, up to each of them.",
                               .example = "terra.cumulative_trapezoid(terra.tensor([1.0, 2.0, 3.0]))",
                               .composite = cumulative_trapezoid_of,
                               .grad_fn = "CumsumBackward0",
                               .samples = {{"randn(3, 4)"}, {"randn(3, 4), dx=0.5, dim=0"}}}};
const Op cumulative_trapezoid_x{{.name = "cumulative_trapezoid_x",
                                 .signature = "(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                                 .doc = "The area below points at x along dim, up to each of them.",
                                 .example = "",
                                 .composite = cumulative_trapezoid_x_of,
                                 .samples = {{"randn(3, 4), randn(4)"}}}};
const Op cov{
    {.name = "cov",
     .signature = "(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
     .doc = "The covariances of variables, which are rows; observations are columns and may have weights.",
     .example = "terra.cov(terra.tensor([[1.0, 2.0], [2.0, 4.0]]))",
     .flags = kVisible,
     .composite = cov_of,
     .samples = {{"randn(3, 4)"}, {"randn(5), correction=0"}, {"randn(2, 3), aweights=rand(3)", "float", false}}}};
const Op corrcoef{{.name = "corrcoef",
                   .signature = "(Tensor self) -> Tensor",
                   .doc = "The correlation coefficients of variables, which are rows.",
                   .example = "terra.corrcoef(terra.tensor([[1.0, 2.0], [2.0, 4.0]]))",
                   .flags = kVisible,
                   .composite = corrcoef_of,
                   .samples = {{"randn(3, 4)"}}}};

}  // namespace terra::ops
