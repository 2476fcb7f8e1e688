#include <algorithm>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"

namespace terra::ops {
namespace {

// ---- the inverse of what can be inverted ----------------------------------------------------------------------------
void pseudoinverse_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  f.flag(3) ? check_square(sizes, "linalg.pinv") : check_matrices(sizes, "linalg.pinv");
  check_lapack(f.dtype(0), "linalg_pinv_cpu");
  for (const int bound : {1, 2})
    check(f.dtype(bound) == real_dtype_of(f.dtype(0)) && Dims(f.sizes(bound)) == Dims(batch_of(sizes)),
          "{}: a bound must have the real dtype and the batch of A, but got {} {} and {} {}", f.op.name,
          scalar_type_name(f.dtype(bound)), listed(f.sizes(bound)), scalar_type_name(f.dtype(0)), listed(sizes));
  f.result(f.dtype(0), turned(sizes));
}
/// The transpose of the result is the pseudoinverse of the transpose: rows may stand for columns. The lower triangle of
/// A is the upper one of the transpose.
void pseudoinverse_host(Args a, Results& out) {
  const Tensor A = a[0].tensor(), absolute = contiguous(a[1].tensor().alias()),
               relative = contiguous(a[2].tensor().alias());
  out = made_by_shape(pseudoinverse, a);
  const bool hermitian = a[3].scalar().to_bool();
  const Tensor lost = lost_rows(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    const Real<T> atol = *part<Real<T>>(absolute, i, count), rtol = *part<Real<T>>(relative, i, count);
    T *from = part<T>(lost, i, count), *to = part<T>(out[0], i, count);
    part<int32_t>(info, i, count)[0] = hermitian
                                           ? lapack<T>().pseudoinverse_hermitian(rows_of(A), atol, rtol, from, to)
                                           : lapack<T>().pseudoinverse(columns_of(A), rows_of(A), atol, rtol, from, to);
  });
  check_info(info, hermitian ? "linalg.eigh" : "linalg.svd", A.rank() > 2);
}
void pseudoinverse_gradient(Backward& b) { b.set(0, pinv_pullback(b.in(0), b.out(), b.grad())); }

/// A bound as numbers of a dtype, one for each matrix of a batch. One beyond the dtype's numbers is infinite.
Tensor bounds(const Arg& bound, Sizes batch, DType dtype) {
  if (!bound.is_tensor()) return to_dtype(full(batch, bound.scalar().to_double(), DType::F64), dtype);
  const Tensor t = bound.tensor();
  return expand(t.dtype() == dtype ? t : to_dtype(t, dtype), batch);
}
struct Tolerance {
  Tensor absolute, relative;
};
/// What a singular value must exceed: atol, and rtol times the largest one. Without either rtol is the rounding error
/// of the larger side.
Tolerance tolerance(const Tensor& a, const Arg& atol, const Arg& rtol) {
  const double usual = epsilon_of(a.dtype()) * static_cast<double>(std::max(a.size(-2), a.size(-1)));
  const DType real = real_dtype_of(a.dtype());
  Dims batch(batch_of(a.sizes()));
  for (const Arg* bound : {&atol, &rtol})
    if (bound->is_tensor()) batch = broadcast_sizes(batch, bound->tensor().sizes());
  const Tensor absolute = bounds(atol.is_none() ? Arg(0.0) : atol, batch, real);
  if (!rtol.is_none()) return {absolute, bounds(rtol, batch, real)};
  return {absolute, where(gt(absolute, 0), 0.0, full(batch, usual, real))};
}

void pinv_by(Composition& c, const Arg& atol, const Arg& rtol, bool hermitian) {
  const Tensor a = c.tensor(0);
  check(a.rank() >= 2 && is_inexact(a.dtype()) && !is_half(a.dtype()),
        "linalg.pinv({}{{{}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
        scalar_type_name(a.dtype()), listed(a.sizes()));
  if (hermitian) check_square(a.sizes(), "linalg.pinv");
  const Tolerance t = tolerance(a, atol, rtol);
  const Tensor A = in_batch(a, t.absolute.sizes());
  c.result(pseudoinverse(A, detach(t.absolute), detach(t.relative), hermitian));
}
void linalg_pinv_of(Composition& c) { pinv_by(c, c.arg(1), c.arg(2), c.flag(3)); }
void linalg_pinv_rcond_of(Composition& c) { pinv_by(c, Arg(0.0), c.arg(1), c.flag(2)); }
void pinverse_of(Composition& c) { pinv_by(c, Arg(0.0), c.arg(1), false); }

void rank_by(Composition& c, const Arg& atol, const Arg& rtol, bool hermitian) {
  constexpr std::string_view kName = "torch.linalg.matrix_rank";
  const Tensor a = c.tensor(0);
  check_matrices(a.sizes(), kName, "input");
  check(is_inexact(a.dtype()) && !is_half(a.dtype()), "This function doesn't handle types other than float and double");
  if (hermitian) check_square(a.sizes(), kName);
  const Tolerance t = tolerance(a, atol, rtol);
  if (a.numel() == 0) return c.result(zeros(t.absolute.sizes(), DType::I64));
  const Tensor values = hermitian ? abs(eigenvalues(a, "L")) : singular_values(a);
  const Tensor bound = maximum(t.absolute, t.relative * amax(values, Dims{-1}));
  c.result(sum(gt(values, unsqueeze(bound, -1)), Dims{-1}));
}
void matrix_rank_of(Composition& c) { rank_by(c, c.arg(1), c.arg(2), c.flag(3)); }
void matrix_rank_tol_of(Composition& c) { rank_by(c, c.arg(1), Arg(0.0), c.flag(2)); }

}  // namespace

/// From dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P (Golub and Pereyra, 1973).
Tensor pinv_pullback(const Tensor& a, const Tensor& inverse, const Tensor& gradient) {
  const Tensor P = inverse, Ph = mH(P), Gh = mH(gradient);
  const Tensor left = matmul(matmul(Gh, P), Ph), right = matmul(Ph, matmul(P, Gh));
  return left - matmul(a, matmul(P, left)) + right - matmul(matmul(right, P), a) - matmul(matmul(Ph, gradient), Ph);
}

// ---- records --------------------------------------------------------------------------------------------------------
const Op pseudoinverse{
    {.name = "pseudoinverse",
     .signature = "(Tensor A, Tensor atol, Tensor rtol, bool hermitian) -> Tensor",
     .doc = "The inverse of A between the spaces where it has one, singular values above the bounds.",
     .example = "",
     .flags = kHost | kChecksValues | kComplex,
     .shape = pseudoinverse_shape,
     .host = pseudoinverse_host,
     .gradient = pseudoinverse_gradient,
     .saved = saves({0}) | saves_result(),
     .samples = {{"randn(3, 4), fixed(0), fixed(1e-6), False"},
                 {"randn(4, 3), fixed(0), fixed(1e-6), False"},
                 {"(lambda a: a + a.mT)(randn(2, 3, 3)), fixed(0, 0), fixed(0, 0), True", "float", false}}}};
const Op linalg_pinv{{.name = "linalg_pinv",
                      .signature = "(Tensor self, *, Tensor|Number? atol=None, Tensor|Number? rtol=None, bool "
                                   "hermitian=False) -> Tensor",
                      .doc = "The pseudoinverse: singular values up to atol, or rtol times the largest, count as zero.",
                      .example = "terra.linalg.pinv(terra.ones(2, 3))",
                      .flags = kTakesHalves,
                      .composite = linalg_pinv_of,
                      .grad_fn = "LinalgPinvBackward0",
                      .samples = {{"randn(2, 3, 4)"}, {"randn(4, 3), atol=0.01, rtol=fixed(0.1)"}}}};
const Op linalg_pinv_rcond{{.name = "linalg_pinv_rcond",
                            .signature = "(Tensor self, Tensor|Number rcond, bool hermitian=False) -> Tensor",
                            .doc = "The pseudoinverse: singular values up to rcond times the largest count as zero.",
                            .example = "",
                            .flags = kTakesHalves,
                            .composite = linalg_pinv_rcond_of,
                            .grad_fn = "LinalgPinvBackward0",
                            .samples = {{"randn(4, 3), 0.001"}}}};
const Op pinverse{{.name = "pinverse",
                   .signature = "(Tensor self, float rcond=1e-15) -> Tensor",
                   .doc = "The pseudoinverse: singular values up to rcond times the largest count as zero.",
                   .example = "terra.pinverse(terra.ones(2, 3))",
                   .flags = kLinalgAndMethod,
                   .composite = pinverse_of,
                   .grad_fn = "LinalgPinvBackward0",
                   .samples = {{"randn(4, 3)"}}}};
const Op linalg_matrix_rank{{.name = "linalg_matrix_rank",
                             .signature = "(Tensor self, *, Tensor|Number? atol=None, Tensor|Number? rtol=None, bool "
                                          "hermitian=False) -> Tensor",
                             .doc = "How many singular values exceed atol, and rtol times the largest.",
                             .example = "terra.linalg.matrix_rank(terra.ones(2, 3))",
                             .flags = kNoGradient | kTakesHalves,
                             .composite = matrix_rank_of,
                             .samples = {{"randn(2, 3, 4)", "float", false}}}};
const Op linalg_matrix_rank_tol{{.name = "linalg_matrix_rank_tol",
                                 .signature = "(Tensor self, Tensor|Number tol, bool hermitian=False) -> Tensor",
                                 .doc = "How many singular values exceed tol.",
                                 .example = "",
                                 .flags = kNoGradient | kTakesHalves,
                                 .composite = matrix_rank_tol_of,
                                 .samples = {{"randn(3, 4), 0.5", "float", false}}}};

}  // namespace terra::ops
