#include <algorithm>

#include "engine/errors/warnings.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/distances.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

// ---- products of vectors --------------------------------------------------------------------------------------------
/// The two components behind component i, round and round.
Tensor cross_of_broadcast(const Tensor& a, const Tensor& b, int64_t dim) {
  const auto shifted = [dim](const Tensor& t, int64_t by) { return roll(t, Dims{-by}, Dims{dim}); };
  return shifted(a, 1) * shifted(b, 2) - shifted(a, 2) * shifted(b, 1);
}
Tensor cross_along(const Tensor& a, const Tensor& b, int64_t dim) {
  check(a.rank() == b.rank(), "linalg.cross: inputs must have the same number of dimensions.");
  check(a.size(dim) == 3 && b.size(dim) == 3, "linalg.cross: inputs dimension {} must have length 3. Got {} and {}",
        dim, a.size(dim), b.size(dim));
  const Dims sizes = broadcast_sizes(a.sizes(), b.sizes());
  check(a.dtype() == b.dtype(), "expected scalar type {} but found {}", scalar_type_name(a.dtype()),
        scalar_type_name(b.dtype()));
  return cross_of_broadcast(expand(a, sizes), expand(b, sizes), wrap_dim(dim, sizes.size()));
}
void linalg_cross_of(Composition& c) { c.result(cross_along(c.tensor(0), c.tensor(1), c.integer(2))); }
/// Without dim: along the first dimension of size 3.
void cross_of(Composition& c) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  static bool told = false;
  if (c.has(2)) return c.result(cross_along(a, b, c.integer(2)));
  warn_once(
      told,
      "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
      "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a "
      "future release.");
  check(a.rank() == b.rank(), "linalg.cross: inputs must have the same number of dimensions.");
  const auto three = std::find(a.sizes().begin(), a.sizes().end(), 3);
  check(three != a.sizes().end(), "no dimension of size 3 in input");
  c.result(cross_along(a, b, three - a.sizes().begin()));
}
void vecdot_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  check_inexact(x.dtype(), "linalg.vecdot", true);
  check(x.dtype() == y.dtype(),
        "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} instead",
        scalar_type_name(x.dtype()), scalar_type_name(y.dtype()));
  c.result(sum(conjugate(x) * y, Dims{c.integer(2)}));
}
void diagonal_of(Composition& c) { c.result(diagonal(c.arg(0), c.arg(1), c.arg(2), c.arg(3))); }
void trace_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.rank() == 2, "trace: expected a matrix, but got tensor with dim {}", self.rank());
  check_kind(self.dtype() != DType::Bool, ErrorKind::NotImplementedError, "\"trace\" not implemented for 'Bool'");
  c.result(sum(diagonal(self)));
}

// ---- powers as columns ----------------------------------------------------------------------------------------------
/// 1, x, x^2, ... up to n columns.
Tensor powers(const Tensor& x, int64_t n) {
  Dims sizes(x.sizes());
  sizes.push_back(n);
  const Tensor first = ones(with(x.sizes(), {std::min<int64_t>(n, 1)}), x.dtype());
  if (n < 2) return first;
  sizes.back() = n - 1;
  return cat(std::vector{first, cumprod(expand(unsqueeze(x, -1), sizes), -1)}, -1);
}
void linalg_vander_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_kind(!is_half(x.dtype()) && x.dtype() != DType::Bool, ErrorKind::NotImplementedError,
             "linalg.vander supports floating point, complex, and integer tensors, but got {}",
             scalar_type_name(x.dtype()));
  const Tensor vectors = x.rank() ? x : reshape(x, {1});
  const int64_t n = c.has(1) ? c.integer(1) : vectors.size(-1);
  check(n > 1, "N must be greater than 1.");
  c.result(powers(vectors, n));
}
void vander_of(Composition& c) {
  Tensor x = c.tensor(0);
  check(x.rank() == 1, "x must be a one-dimensional tensor.");
  const int64_t n = c.has(1) ? c.integer(1) : x.size(0);
  check(n >= 0, "N must be non-negative.");
  if (is_integral(x.dtype(), true)) x = to_dtype(x, promote_types(x.dtype(), DType::I64));
  const Tensor ascending = powers(x, n);
  c.result(c.flag(2) ? ascending : flip(ascending, {-1}));
}

// ---- distances ------------------------------------------------------------------------------------------------------
/// 0 has slope 0 here rather than infinity.
Tensor sqrt_flat_at_zero(const Tensor& t) {
  const Tensor zero = le(t, 0);
  return where(zero, 0.0, sqrt(where(zero, 1.0, t)));
}
/// |x - y|^2 = |x|^2 + |y|^2 - 2 x y: one product of matrices in place of all differences.
Tensor euclidean_by_product(const Tensor& a, const Tensor& b) {
  const Tensor x = transposed(sum(a * a, Dims{-1}, true)), y = sum(b * b, Dims{-1}, true);
  return sqrt_flat_at_zero(transposed(x) + transposed(y) - 2 * matmul(a, transposed(b)));
}
void cdist_of(Composition& c) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  const double p = c.real(2);
  const std::string_view mode = c.has(3) ? c.text(3) : "use_mm_for_euclid_dist_if_necessary";
  const bool always = mode == "use_mm_for_euclid_dist", never = mode == "donot_use_mm_for_euclid_dist";
  check_kind(always || never || mode == "use_mm_for_euclid_dist_if_necessary", ErrorKind::ValueError,
             "{} is not a valid value for compute_mode", mode);
  for (const auto& [t, name] : {std::pair(a, "X1"), std::pair(b, "X2")})
    check(t.rank() >= 2, "cdist only supports at least 2D tensors, {} got: {}D", name, t.rank());
  check(a.size(-1) == b.size(-1), "X1 and X2 must have the same number of columns. X1: {} X2: {}", a.size(-1),
        b.size(-1));
  for (const auto& [t, name] : {std::pair(a, "X1"), std::pair(b, "X2")})
    check(is_floating(t.dtype()), "cdist only supports floating-point dtypes, {} got: {}", name,
          scalar_type_name(t.dtype()));
  check(a.dtype() == b.dtype(), "expected scalar type {} but found {}", scalar_type_name(a.dtype()),
        scalar_type_name(b.dtype()));
  check_lapack(a.dtype(), "cdist");
  check(p >= 0, "cdist only supports non-negative p values");
  constexpr int64_t kManyRows = 25;
  const bool many = a.size(-2) > kManyRows || b.size(-2) > kManyRows;
  if (p == 2 && (always || (many && !never))) return c.result(euclidean_by_product(a, b));
  const Dims batch = broadcast_sizes(batch_of(a.sizes()), batch_of(b.sizes()));
  c.result(distances(in_batch(a, batch), in_batch(b, batch), p, false));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op linalg_cross{{.name = "linalg_cross",
                       .signature = "(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
                       .doc = "The cross products of vectors of three numbers along dim.",
                       .example = "terra.linalg.cross(terra.tensor([1, 0, 0]), terra.tensor([0, 1, 0]))",
                       .flags = kFunction,
                       .composite = linalg_cross_of,
                       .grad_fn = "LinalgCrossBackward0",
                       .samples = {{"randn(2, 3), randn(1, 3)"}, {"randn(3, 2), randn(3, 2), dim=0"}}}};
const Op cross{{.name = "cross",
                .signature = "(Tensor self, Tensor other, int? dim=None) -> Tensor",
                .doc = "The cross products of vectors of three numbers along dim, the first of size 3 by default.",
                .example = "terra.cross(terra.tensor([1, 0, 0]), terra.tensor([0, 1, 0]))",
                .flags = kVisible,
                .composite = cross_of,
                .grad_fn = "LinalgCrossBackward0",
                .samples = {{"randn(2, 3), randn(2, 3)"}, {"randn(3, 3), randn(3, 3)"}}}};
const Op linalg_vecdot{{.name = "linalg_vecdot",
                        .signature = "(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
                        .doc = "The sums of the products of vectors along dim.",
                        .example = "terra.linalg.vecdot(terra.ones(2, 3), terra.ones(3))",
                        .flags = kFunction,
                        .composite = vecdot_of,
                        .samples = {{"randn(2, 3), randn(3)"}}}};
const Op linalg_diagonal{{.name = "linalg_diagonal",
                          .signature = "(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                          .doc = "The view of a diagonal of the last two dimensions, as the last dimension.",
                          .example = "terra.linalg.diagonal(terra.ones(2, 3, 3)).shape",
                          .flags = kFunction | kMayAlias,
                          .composite = diagonal_of,
                          .samples = {{"randn(2, 3, 4), offset=1"}}}};
const Op trace{{.name = "trace",
                .signature = "(Tensor self) -> Tensor",
                .doc = "The sum of the diagonal of a matrix.",
                .example = "terra.trace(terra.eye(3))",
                .flags = kVisible,
                .composite = trace_of,
                .grad_fn = "TraceBackward0",
                .samples = {{"randn(3, 4)"}}}};
const Op linalg_vander{{.name = "linalg_vander",
                        .signature = "(Tensor x, *, int? N=None) -> Tensor",
                        .doc = "The powers 0, 1, ... of the elements, as the last dimension.",
                        .example = "terra.linalg.vander(terra.tensor([1, 2, 3]))",
                        .flags = kLinalg,
                        .composite = linalg_vander_of,
                        .samples = {{"randn(2, 3)"}, {"randn(3), N=5"}, {"randint(0, 4, (3,))", "int", false}}}};
const Op vander{
    {.name = "vander",
     .signature = "(Tensor x, int? N=None, bool increasing=False) -> Tensor",
     .doc = "The powers of the elements of a vector as rows, from the highest to 0.",
     .example = "terra.vander(terra.tensor([1, 2, 3]))",
     .flags = kFunction,
     .composite = vander_of,
     .samples = {{"randn(3)"}, {"randn(3), 2, True"}, {"randn(3), 0"}, {"randint(0, 4, (3,))", "int", false}}}};
const Op cdist{{.name = "cdist",
                .signature = "(Tensor x1, Tensor x2, float p=2, str? compute_mode=None) -> Tensor",
                .doc = "The distances of all rows of x1 to all rows of x2.",
                .example = "terra.cdist(terra.zeros(2, 3), terra.ones(1, 3))",
                .flags = kFunction | kTakesHalves,
                .composite = cdist_of,
                .grad_fn = "CdistBackward0",
                .samples = {{"randn(3, 4), randn(2, 4)"},
                            {"randn(2, 1, 3, 4), randn(2, 2, 4), 1"},
                            {"randn(30, 2), randn(2, 2)"},
                            {"randn(3, 2), randn(2, 2), 2, 'use_mm_for_euclid_dist'"}}}};

}  // namespace terra::ops
