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
#include "engine/ops/shape.h"
#include "kernels/cpu/linear_algebra.h"

namespace terra::ops {
namespace {

using Args = std::span<const Arg>;
using Results = std::vector<Tensor>;

/// values[j] - values[i] at (i, j), and 1 on the diagonal.
Tensor differences(const Tensor& values) {
  const Tensor apart = unsqueeze(values, -2) - unsqueeze(values, -1);
  return where(on_diagonal(values.size(-1)), 1.0, apart);
}
Tensor off_diagonal(const Tensor& t) { return where(on_diagonal(t.size(-1)), 0.0, t); }

// ---- singular values ------------------------------------------------------------------------------------------------
void check_svd(Inference& f) {
  check_matrices(f.sizes(0), "linalg.svd");
  check_real(f.dtype(0), "linalg.svd", true);
  check_lapack(f.dtype(0), "linalg_svd_cpu");
}
void svd_shape(Inference& f) {
  check_svd(f);
  const Sizes sizes = f.sizes(0), batch = batch_of(sizes);
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back(), k = std::min(m, n);
  const bool full = f.flag(1);
  f.result(f.dtype(0), with(batch, {full ? m : k, m}));
  f.result(f.dtype(0), with(batch, {k}));
  f.result(f.dtype(0), with(batch, {n, full ? n : k}));
}
void svd_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(svd_columns, a);
  const Tensor lost = lost_copy(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] =
        cpu::linalg::svd(rows_of(A), columns_of(A), a[1].scalar().to_bool(), part<T>(lost, i, count),
                         part<T>(out[1], i, count), part<T>(out[0], i, count), part<T>(out[2], i, count));
  });
  check_info(info, "linalg.svd", A.rank() > 2);
}
/// dA = U (K S + S M + diag(dS)) V^T with K = skew(U^T dU) / E, M = skew(V^T dV) / E and E[i, j] = S[j]^2 - S[i]^2;
/// and what dU and dV have outside of the columns that U and V have.
void svd_gradient(Backward& b) {
  const Tensor S = b.out(1);
  const int64_t k = S.size(-1);
  const Tensor U = columns(transposed(b.out(0)), 0, k), Vh = rows(transposed(b.out(2)), 0, k);
  const int64_t m = U.size(-2), n = Vh.size(-1);
  const auto skew = [](const Tensor& t) { return t - transposed(t); };
  const Tensor E = differences(S * S), across = unsqueeze(S, -2), down = unsqueeze(S, -1);
  Tensor inner = diag_embed(b.grad(1)), outside;
  const auto add = [](Tensor& to, const Tensor& t) { to = to.defined() ? to + t : t; };
  if (b.has_grad(0)) {
    const Tensor dU = columns(transposed(b.grad(0)), 0, k), UdU = matmul(transposed(U), dU);
    inner = inner + skew(UdU) / E * across;
    if (m > k) add(outside, matmul((dU - matmul(U, UdU)) / across, Vh));
  }
  if (b.has_grad(2)) {
    const Tensor dVh = rows(transposed(b.grad(2)), 0, k), VdV = matmul(Vh, transposed(dVh));
    inner = inner + down * (skew(VdV) / E);
    if (n > k) add(outside, matmul(U, (dVh - matmul(transposed(VdV), Vh)) / down));
  }
  const Tensor dA = matmul(matmul(U, inner), Vh);
  b.set(0, outside.defined() ? dA + outside : dA);
}
void singular_values_shape(Inference& f) {
  check_svd(f);
  const Sizes sizes = f.sizes(0);
  f.result(f.dtype(0), with(batch_of(sizes), {std::min(sizes[sizes.size() - 2], sizes.back())}));
}
void singular_values_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(singular_values, a);
  const Tensor lost = lost_copy(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = cpu::linalg::svd<T>(rows_of(A), columns_of(A), false, part<T>(lost, i, count),
                                                           part<T>(out[0], i, count), nullptr, nullptr);
  });
  check_info(info, "linalg.svd", A.rank() > 2);
}
/// U diag(dS) V^T, from vectors that only the gradient needs.
void singular_values_gradient(Backward& b) {
  const auto f = svd_columns.all(b.in(0), false);
  b.set(0, matmul(transposed(f[0]) * unsqueeze(b.grad(), -2), transposed(f[2])));
}

// ---- eigenvalues of symmetric matrices ------------------------------------------------------------------------------
char triangle_of(std::string_view name) {
  const bool known = name == "L" || name == "l" || name == "U" || name == "u";
  check(known, "Expected UPLO argument to be 'L' or 'U', but got {}", name);
  return name == "L" || name == "l" ? 'L' : 'U';
}
void check_eigh(Inference& f) {
  triangle_of(f.text(1));
  check_square(f.sizes(0), "linalg.eigh");
  check_lapack(f.dtype(0), "linalg_eigh_cpu");
  f.result(f.dtype(0), Dims(f.sizes(0).first(f.rank(0) - 1)));
}
void eigh_shape(Inference& f) {
  check_eigh(f);
  f.result(f.dtype(0), Dims(f.sizes(0)));
}
/// The values, and in `matrices`, the columns of A, the vectors if they are asked for.
void find_eigenvalues(const Arg* a, const Tensor& values, const Tensor& matrices, bool vectors) {
  const char triangle = triangle_of(a[1].text());
  const int64_t count = count_of(matrices.sizes());
  const Tensor info = zeros(batch_of(matrices.sizes()), DType::I32);
  each_matrix(matrices, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] =
        cpu::linalg::eigh(rows_of(matrices), triangle, vectors, part<T>(matrices, i, count), part<T>(values, i, count));
  });
  check_info(info, "linalg.eigh", matrices.rank() > 2);
}
void eigh_host(Args a, Results& out) {
  out = made_by_shape(eigh_columns, a);
  fill_with(out[1], transposed(a[0].tensor().alias()));
  find_eigenvalues(a.data(), out[0], out[1], true);
}
/// dA = V (diag(dw) + (V^T dV) / E) V^T with E[i, j] = w[j] - w[i] beside the diagonal.
void eigh_gradient(Backward& b) {
  const Tensor w = b.out(0), V = transposed(b.out(1));
  if (!b.has_grad(1)) return b.set(0, matmul(V * unsqueeze(b.grad(0), -2), transposed(V)));
  const Tensor turning = off_diagonal(matmul(transposed(V), transposed(b.grad(1))) / differences(w));
  b.set(0, matmul(matmul(V, turning + diag_embed(b.grad(0))), transposed(V)));
}
void eigenvalues_host(Args a, Results& out) {
  out = made_by_shape(eigenvalues, a);
  find_eigenvalues(a.data(), out[0], lost_copy(a[0].tensor()), false);
}
void eigenvalues_gradient(Backward& b) {
  const Tensor V = transposed(eigh_columns.all(b.in(0), b.text(1))[1]);
  b.set(0, matmul(V * unsqueeze(b.grad(), -2), transposed(V)));
}

// ---- the inverse of what can be inverted ----------------------------------------------------------------------------
void pseudoinverse_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  f.flag(3) ? check_square(sizes, "linalg.pinv") : check_matrices(sizes, "linalg.pinv");
  check_lapack(f.dtype(0), "linalg_pinv_cpu");
  for (const int bound : {1, 2})
    check(f.dtype(bound) == f.dtype(0) && Dims(f.sizes(bound)) == Dims(batch_of(sizes)),
          "{}: a bound must have the dtype and the batch of A, but got {} {} and {} {}", f.op.name,
          scalar_type_name(f.dtype(bound)), to_string(f.sizes(bound)), scalar_type_name(f.dtype(0)), to_string(sizes));
  f.result(f.dtype(0), turned(sizes));
}
/// The transpose of the result is the pseudoinverse of the transpose, so that rows may stand for columns throughout.
void pseudoinverse_host(Args a, Results& out) {
  const Tensor A = a[0].tensor(), absolute = contiguous(a[1].tensor().alias()),
               relative = contiguous(a[2].tensor().alias());
  out = made_by_shape(pseudoinverse, a);
  const Tensor lost = lost_rows(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const bool symmetric = a[3].scalar().to_bool();
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    const T atol = part<T>(absolute, i, count)[0], rtol = part<T>(relative, i, count)[0];
    T *from = part<T>(lost, i, count), *to = part<T>(out[0], i, count);
    part<int32_t>(info, i, count)[0] =
        symmetric ? cpu::linalg::pseudoinverse_symmetric(rows_of(A), atol, rtol, from, to)
                  : cpu::linalg::pseudoinverse(columns_of(A), rows_of(A), atol, rtol, from, to);
  });
  check_info(info, symmetric ? "linalg.eigh" : "linalg.svd", A.rank() > 2);
}
void pseudoinverse_gradient(Backward& b) { b.set(0, pinv_pullback(b.in(0), b.out(), b.grad())); }

// ---- composites -----------------------------------------------------------------------------------------------------
void no_driver(const Composition& c, int i) {
  check(!c.has(i),
        "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}
void linalg_svd_of(Composition& c) {
  no_driver(c, 2);
  const auto f = svd_columns.all(c.arg(0), c.arg(1));
  c.result(transposed(f[0]));
  c.result(f[1]);
  c.result(transposed(f[2]));
}
void linalg_svdvals_of(Composition& c) {
  no_driver(c, 1);
  c.result(singular_values(c.arg(0)));
}
/// (self, some, compute_uv): V instead of V^T.
void svd_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.rank() >= 2, "linalg.svd: input should have at least 2 dimensions, but has {} dimensions instead",
        self.rank());
  if (c.flag(2)) {
    const auto f = svd_columns.all(self, !c.flag(1));
    c.result(transposed(f[0]));
    c.result(f[1]);
    return c.result(clone(f[2]));
  }
  const int64_t m = self.size(-2), n = self.size(-1);
  c.result(zeros(with(batch_of(self.sizes()), {m, m}), self.dtype()));
  c.result(singular_values(self));
  c.result(transposed(zeros(with(batch_of(self.sizes()), {n, n}), self.dtype())));
}
void linalg_eigh_of(Composition& c) {
  const auto f = eigh_columns.all(c.arg(0), c.arg(1));
  c.result(f[0]);
  c.result(transposed(f[1]));
}
void linalg_eigvalsh_of(Composition& c) { c.result(eigenvalues(c.arg(0), c.arg(1))); }

/// A bound as numbers of a dtype, one for each matrix of a batch.
Tensor bounds(const Arg& bound, Sizes batch, DType dtype) {
  if (!bound.is_tensor()) return full(batch, bound.scalar().to_double(), dtype);
  const Tensor t = bound.tensor();
  return expand(t.dtype() == dtype ? t : to_dtype(t, dtype), batch);
}
struct Tolerance {
  Tensor absolute, relative;
};
/// What a singular value must exceed: atol, and rtol times the largest one. Without either rtol is the rounding error
/// of the larger side.
Tolerance tolerance(const Tensor& a, const Arg& atol, const Arg& rtol) {
  const double epsilon =
      a.dtype() == DType::F64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double usual = epsilon * static_cast<double>(std::max(a.size(-2), a.size(-1)));
  Dims batch(batch_of(a.sizes()));
  for (const Arg* bound : {&atol, &rtol})
    if (bound->is_tensor()) batch = broadcast_sizes(batch, bound->tensor().sizes());
  const Tensor absolute = bounds(atol.is_none() ? Arg(0.0) : atol, batch, a.dtype());
  if (!rtol.is_none()) return {absolute, bounds(rtol, batch, a.dtype())};
  return {absolute, where(gt(absolute, 0), 0.0, full(batch, usual, a.dtype()))};
}

void pinv_by(Composition& c, const Arg& atol, const Arg& rtol, bool hermitian) {
  const Tensor a = c.tensor(0);
  check(a.rank() >= 2 && (a.dtype() == DType::F32 || a.dtype() == DType::F64),
        "linalg.pinv({}{{{}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
        scalar_type_name(a.dtype()), to_string(a.sizes()));
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
  check(a.dtype() == DType::F32 || a.dtype() == DType::F64,
        "This function doesn't handle types other than float and double");
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

/// From dP = -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P (Golub and Pereyra, 1973).
Tensor pinv_pullback(const Tensor& a, const Tensor& inverse, const Tensor& gradient) {
  const Tensor P = inverse, Pt = transposed(P), Gt = transposed(gradient);
  const Tensor left = matmul(matmul(Gt, P), Pt), right = matmul(Pt, matmul(P, Gt));
  return left - matmul(a, matmul(P, left)) + right - matmul(matmul(right, P), a) - matmul(matmul(Pt, gradient), Pt);
}

// ---- records --------------------------------------------------------------------------------------------------------
const Op svd_columns{{.name = "svd_columns",
                      .signature = "(Tensor A, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)",
                      .doc = "A = U diag(S) Vh, U and Vh transposed.",
                      .example = "",
                      .flags = kHost | kChecksValues,
                      .shape = svd_shape,
                      .host = svd_host,
                      .gradient = svd_gradient,
                      .saved = saves_result(0) | saves_result(1) | saves_result(2),
                      .samples = {{"randn(3, 3), False"},
                                  {"randn(2, 4, 3), False"},
                                  {"randn(2, 4, 3).mT, False"},
                                  {"randn(4, 3), True", "float", false},
                                  {"randn(0, 3), True", "float", false}}}};
const Op singular_values{{.name = "singular_values",
                          .signature = "(Tensor A) -> Tensor",
                          .doc = "The singular values of A, in descending order.",
                          .example = "",
                          .flags = kHost | kChecksValues,
                          .shape = singular_values_shape,
                          .host = singular_values_host,
                          .gradient = singular_values_gradient,
                          .saved = saves({0}),
                          .samples = {{"randn(3, 3)"}, {"randn(2, 3, 4)"}}}};
const Op eigh_columns{{.name = "eigh_columns",
                       .signature = "(Tensor A, str UPLO) -> (Tensor eigenvalues, Tensor eigenvectors)",
                       .doc = "The eigenvalues of a symmetric A and, transposed, its eigenvectors.",
                       .example = "",
                       .flags = kHost | kChecksValues,
                       .shape = eigh_shape,
                       .host = eigh_host,
                       .gradient = eigh_gradient,
                       .saved = saves_result(0) | saves_result(1),
                       // One triangle of a symmetric matrix is read, and both get gradients: no element alone moves.
                       .samples = {{"(lambda a: a + a.mT)(randn(3, 3)), 'L'", "float", false},
                                   {"(lambda a: a + a.mT)(randn(2, 4, 4)), 'U'", "float", false}}}};
const Op eigenvalues{{.name = "eigenvalues",
                      .signature = "(Tensor A, str UPLO) -> Tensor",
                      .doc = "The eigenvalues of a symmetric A, in ascending order.",
                      .example = "",
                      .flags = kHost | kChecksValues,
                      .shape = check_eigh,
                      .host = eigenvalues_host,
                      .gradient = eigenvalues_gradient,
                      .saved = saves({0}),
                      .samples = {{"(lambda a: a + a.mT)(randn(2, 3, 3)), 'L'", "float", false}}}};
const Op pseudoinverse{
    {.name = "pseudoinverse",
     .signature = "(Tensor A, Tensor atol, Tensor rtol, bool hermitian) -> Tensor",
     .doc = "The inverse of A between the spaces where it has one, singular values above the bounds.",
     .example = "",
     .flags = kHost | kChecksValues,
     .shape = pseudoinverse_shape,
     .host = pseudoinverse_host,
     .gradient = pseudoinverse_gradient,
     .saved = saves({0}) | saves_result(),
     .samples = {{"randn(3, 4), fixed(0), fixed(1e-6), False"},
                 {"randn(4, 3), fixed(0), fixed(1e-6), False"},
                 {"(lambda a: a + a.mT)(randn(2, 3, 3)), fixed(0, 0), fixed(0, 0), True", "float", false}}}};
const Op linalg_svd{{.name = "linalg_svd",
                     .signature = "(Tensor A, bool full_matrices=True, *, str? driver=None) -> "
                                  "(Tensor U, Tensor S, Tensor Vh)",
                     .doc = "A = U diag(S) Vh with orthonormal columns of U and rows of Vh, and S descending.",
                     .example = "terra.linalg.svd(terra.eye(2)).S",
                     .flags = kLinalg,
                     .composite = linalg_svd_of,
                     .grad_fn = "LinalgSvdBackward0",
                     .samples = {{"randn(2, 3, 4), False"}, {"randn(3, 3)"}}}};
const Op svd{{.name = "svd",
              .signature = "(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
              .doc = "self = U diag(S) V.T with orthonormal columns of U and V; all columns where not `some`.",
              .example = "terra.svd(terra.eye(2)).S",
              .flags = kLinalgAndMethod,
              .composite = svd_of,
              .samples = {{"randn(4, 3)"}, {"randn(4, 3), compute_uv=False"}}}};
const Op linalg_svdvals{{.name = "linalg_svdvals",
                         .signature = "(Tensor A, *, str? driver=None) -> Tensor",
                         .doc = "The singular values of A, in descending order.",
                         .example = "terra.linalg.svdvals(terra.eye(2))",
                         .flags = kLinalg,
                         .composite = linalg_svdvals_of,
                         .grad_fn = "LinalgSvdBackward0",
                         .samples = {{"randn(2, 3, 4)"}}}};
const Op linalg_eigh{{.name = "linalg_eigh",
                      .signature = "(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
                      .doc = "The eigenvalues, ascending, and the eigenvectors of a symmetric matrix, of which one "
                             "triangle is read.",
                      .example = "terra.linalg.eigh(terra.eye(2)).eigenvalues",
                      .flags = kLinalg,
                      .composite = linalg_eigh_of,
                      .grad_fn = "LinalgEighBackward0",
                      .samples = {{"(lambda a: a + a.mT)(randn(2, 3, 3))", "float", false}}}};
const Op linalg_eigvalsh{{.name = "linalg_eigvalsh",
                          .signature = "(Tensor self, str UPLO='L') -> Tensor",
                          .doc = "The eigenvalues of a symmetric matrix, of which one triangle is read, ascending.",
                          .example = "terra.linalg.eigvalsh(terra.eye(2))",
                          .flags = kLinalg,
                          .composite = linalg_eigvalsh_of,
                          .grad_fn = "LinalgEighBackward0",
                          .samples = {{"(lambda a: a + a.mT)(randn(3, 3))", "float", false}}}};
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
