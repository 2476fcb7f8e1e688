#include "engine/ops/products.h"

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/composed.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

void inner_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  if (x.rank() == 0 || y.rank() == 0) return c.result(x * y);
  check(x.dtype() == y.dtype(), "both inputs should have same dtype");
  check(x.size(-1) == y.size(-1),
        "inner() the last dimension must match on both input tensors but got shapes {} and {}", listed(x.sizes()),
        listed(y.sizes()));
  const auto leading = [](const Tensor& v) { return std::span<const int64_t>(v.sizes()).first(v.rank() - 1); };
  const auto rows = [&](const Tensor& v) { return reshape(v, Dims{checked_numel(Dims(leading(v))), v.size(-1)}); };
  Dims sizes(leading(x));
  for (int64_t size : leading(y)) sizes.push_back(size);
  c.result(reshape(mm(rows(x), t(rows(y))), sizes));
}

/// beta * self + alpha * product; what beta 0 is multiplied with doesn't count, NaN neither.
Tensor added(const Composition& c, const Tensor& product, const Scalar& beta, const Scalar& alpha) {
  const Tensor grown = is_value(alpha, 1) ? product : mul(product, alpha);
  const Tensor self = expand(c.tensor(0), product.sizes());
  return is_value(beta, 0) ? grown : (is_value(beta, 1) ? self : mul(self, beta)) + grown;
}
/// A factor of integers loses its fraction.
Scalar factor_of(const Arg& factor, DType dtype) {
  const Scalar& number = factor.scalar();
  if (is_inexact(dtype) || number.is_complex()) return number;
  return Scalar(number.to_int());
}
Tensor added_product(const Composition& c, const Tensor& product) {
  return added(c, product, factor_of(c.arg(3), product.dtype()), factor_of(c.arg(4), product.dtype()));
}
void addr_of(Composition& c) {
  for (int i : {1, 2})
    check(c.tensor(i).rank() == 1, "addr: Expected 1-D argument vec{}, but got {}-D", i, c.tensor(i).rank());
  const Tensor outer = unsqueeze(c.tensor(1), 1) * unsqueeze(c.tensor(2), 0);
  const Scalar &beta = c.arg(3).scalar(), &alpha = c.arg(4).scalar();
  check(is_inexact(outer.dtype()) || (!beta.is_float() && !alpha.is_float()),
        "For integral input tensors, argument {} must not be a floating point number.",
        beta.is_float() ? "beta" : "alpha");
  const bool flags = outer.dtype() == DType::Bool;
  c.result(added(c, outer, flags ? Scalar(beta.to_bool()) : beta, flags ? Scalar(alpha.to_bool()) : alpha));
}
void addmv_of(Composition& c) {
  const Tensor self = c.tensor(0), matrix = c.tensor(1), vector = c.tensor(2);
  check(matrix.rank() == 2 && vector.rank() == 1 && self.rank() <= 1,
        "vector + matrix @ vector expected, got {}, {}, {}", self.rank(), matrix.rank(), vector.rank());
  check(matrix.size(1) == vector.size(0) && (self.numel() == matrix.size(0) || self.numel() == 1),
        "size mismatch, got input ({}), mat ({}x{}), vec ({})", self.rank() ? self.size(0) : 1, matrix.size(0),
        matrix.size(1), vector.size(0));
  check(self.dtype() == matrix.dtype() && matrix.dtype() == vector.dtype(),
        "addmv input tensors must have the same dtype, but got {}, {}, and {}", scalar_type_name(self.dtype()),
        scalar_type_name(matrix.dtype()), scalar_type_name(vector.dtype()));
  c.result(added_product(c, mv(matrix, vector)));
}
void addbmm_of(Composition& c) {
  const Tensor a = c.tensor(1), b = c.tensor(2);
  check(a.rank() == 3, "batch1 must be a 3D tensor");
  check(b.rank() == 3, "batch2 must be a 3D tensor");
  check(a.size(0) == b.size(0), "batch1 and batch2 must have same number of batches, got {} and {}", a.size(0),
        b.size(0));
  check(a.size(2) == b.size(1), "Incompatible matrix sizes for bmm ({}x{} and {}x{})", a.size(1), a.size(2), b.size(1),
        b.size(2));
  check_same_dtypes(c.tensor(0).dtype(), a.dtype(), b.dtype());
  const Tensor product = sum(bmm(a, b), Dims{0});  // of integers: in int64
  c.result(added_product(c, product.dtype() == a.dtype() ? product : to_dtype(product, a.dtype())));
}

void dist_of(Composition& c) {
  const Tensor difference = c.tensor(0) - c.tensor(1);
  check_kind(is_inexact(difference.dtype()), ErrorKind::NotImplementedError,
             "norm(): input dtype should be either floating point or complex. Got {} instead.",
             scalar_type_name(difference.dtype()));
  c.result(linalg_vector_norm(difference, c.arg(2)));
}
/// Slices of dim that are longer than maxnorm, made that long.
void renorm_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const double p = c.real(1), longest = c.real(3);
  check(is_inexact(self.dtype()), "expected a floating point tensor, but got {}", scalar_type_name(self.dtype()));
  check(p > 0, "renorm: non-positive-norm not supported");
  check(longest >= 0, "renorm: expected maxnorm to be >= 0 but got {}", longest);
  check(self.rank() > 1, "renorm: input needs at least 2 dimensions, got {} dimensions", self.rank());
  const int64_t dim = wrap_dim(c.integer(2), self.rank());
  Dims others;
  for (int64_t d = 0; d < static_cast<int64_t>(self.rank()); ++d)
    if (d != dim) others.push_back(d);
  const Tensor norm = linalg_vector_norm(self, c.arg(1), others, true), long_ = gt(norm, longest);
  c.result(self * where(long_, longest / (where(long_, norm, 1.0) + 1e-7), 1.0));
}

OpRecord product(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                 CompositeRule rule, std::vector<Sample> samples, uint32_t flags = kVisible,
                 std::string_view grad_fn = "") {
  return composed(name, signature, doc, example, rule, std::move(samples), flags, grad_fn);
}

}  // namespace

const Op inner{product("inner", "(Tensor self, Tensor other) -> Tensor",
                       "The sums of products along the last dimensions, of each line with each.",
                       "terra.inner(terra.ones(3), terra.ones(3))", inner_of,
                       {{"randn(3), randn(3)"}, {"randn(2, 3), randn(4, 3)"}, {"randn(2, 3), randn(())"}})};
const Op addr{product("addr", "(Tensor self, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1) -> Tensor",
                      "beta * self + alpha * the outer product of two vectors.",
                      "terra.addr(terra.zeros(2, 2), terra.ones(2), terra.ones(2))", addr_of,
                      {{"randn(3, 4), randn(3), randn(4)"}, {"randn(4), randn(3), randn(4), beta=2, alpha=0.5"}},
                      kVisibleInPlace, "AddrBackward0")};
const Op addmv{product("addmv", "(Tensor self, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1) -> Tensor",
                       "beta * self + alpha * mat @ vec.", "terra.addmv(terra.zeros(2), terra.eye(2), terra.ones(2))",
                       addmv_of,
                       {{"randn(3), randn(3, 4), randn(4)"}, {"randn(1), randn(3, 4), randn(4), beta=2, alpha=0.5"}},
                       kVisibleInPlace, "AddmvBackward0")};
const Op addbmm{
    product("addbmm", "(Tensor self, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1) -> Tensor",
            "beta * self + alpha * the sum of the products of two batches of matrices.",
            "terra.addbmm(terra.zeros(2, 2), terra.ones(3, 2, 2), terra.ones(3, 2, 2))", addbmm_of,
            {{"randn(3, 4), randn(2, 3, 2), randn(2, 2, 4)"}, {"randn(4), randn(2, 3, 2), randn(2, 2, 4), beta=0"}},
            kVisibleInPlace, "AddbmmBackward0")};
const Op dist{product("dist", "(Tensor self, Tensor other, Number p=2) -> Tensor", "The p-norm of self - other.",
                      "terra.dist(terra.zeros(2), terra.ones(2))", dist_of,
                      {{"randn(3, 4), randn(4)"}, {"randn(3), randn(3), 1"}, {"randn(3), randn(3), float('inf')"}},
                      kVisible, "DistBackward0")};
const Op renorm{product("renorm", "(Tensor self, Number p, int dim, Number maxnorm) -> Tensor",
                        "The slices of dim whose p-norm is above maxnorm brought down to it.",
                        "terra.renorm(terra.ones(2, 2), 2, 0, 1)", renorm_of,
                        {{"randn(3, 4), 2, 0, 1.5"}, {"randn(3, 4), 1, 1, 0.5"}}, kVisibleInPlace, "RenormBackward0")};

}  // namespace terra::ops
