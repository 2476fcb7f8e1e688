#include <algorithm>

#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

Tensor skew(const Tensor& t) { return t - mH(t); }

// ---- singular values ------------------------------------------------------------------------------------------------
void check_svd(Inference& f) {
  check_matrices(f.sizes(0), "linalg.svd");
  check_inexact(f.dtype(0), "linalg.svd", true);
  check_lapack(f.dtype(0), "linalg_svd_cpu");
}
void svd_shape(Inference& f) {
  check_svd(f);
  const Sizes sizes = f.sizes(0), batch = batch_of(sizes);
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back(), k = std::min(m, n);
  const bool full = f.flag(1);
  f.result(f.dtype(0), with(batch, {full ? m : k, m}));
  f.result(real_dtype_of(f.dtype(0)), with(batch, {k}));
  f.result(f.dtype(0), with(batch, {n, full ? n : k}));
}
void svd_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(svd_columns, a);
  const Tensor lost = lost_copy(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] =
        lapack<T>().svd(rows_of(A), columns_of(A), a[1].scalar().to_bool(), part<T>(lost, i, count),
                        part<Real<T>>(out[1], i, count), part<T>(out[0], i, count), part<T>(out[2], i, count));
  });
  check_info(info, "linalg.svd", A.rank() > 2);
}
/// dA = U (K S + S M + diag(dS)) V^H with K = skew(U^H dU) / E, M = skew(V^H dV) / E and E[i, j] = S[j]^2 - S[i]^2;
/// and what dU and dV have outside of the columns that U and V have. Of complex matrices the phases of U's columns turn
/// against those of V's: the diagonal of K is im(U^H dU) / S, and a loss must not depend on the phases of both.
void svd_gradient(Backward& b) {
  const Tensor S = b.out(1);
  const int64_t k = S.size(-1);
  const Tensor U = columns(transposed(b.out(0)), 0, k), Vh = rows(transposed(b.out(2)), 0, k);
  const int64_t m = U.size(-2), n = Vh.size(-1);
  const Tensor E = differences(S * S), across = unsqueeze(S, -2), down = unsqueeze(S, -1);
  Tensor inner = diag_embed(b.grad(1)), outside, phases;
  const auto add = [](Tensor& to, const Tensor& t) { to = to.defined() ? to + t : t; };
  if (b.has_grad(0)) {
    const Tensor dU = columns(transposed(b.grad(0)), 0, k), UdU = matmul(mH(U), dU);
    inner = inner + off_diagonal(skew(UdU)) / E * across;
    if (is_complex(U.dtype())) {
      phases = imag(diagonal(UdU, 0, -2, -1));
      inner = inner + diag_embed(complex(zeros_like(S), phases / S));
    }
    if (m > k) add(outside, matmul((dU - matmul(U, UdU)) / across, Vh));
  }
  if (b.has_grad(2)) {
    const Tensor dVh = rows(transposed(b.grad(2)), 0, k), VdV = matmul(Vh, mH(dVh));
    inner = inner + down * (off_diagonal(skew(VdV)) / E);
    if (is_complex(U.dtype())) add(phases, imag(diagonal(VdV, 0, -2, -1)));
    if (n > k) add(outside, matmul(U, (dVh - matmul(mH(VdV), Vh)) / down));
  }
  if (phases.defined())
    inner = free_of_phases(inner, phases, "svd_backward", "singular vectors", "phase term, making it");
  const Tensor dA = matmul(matmul(U, inner), Vh);
  b.set(0, outside.defined() ? dA + outside : dA);
}
void singular_values_shape(Inference& f) {
  check_svd(f);
  const Sizes sizes = f.sizes(0);
  f.result(real_dtype_of(f.dtype(0)), with(batch_of(sizes), {std::min(sizes[sizes.size() - 2], sizes.back())}));
}
void singular_values_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(singular_values, a);
  const Tensor lost = lost_copy(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = lapack<T>().svd(rows_of(A), columns_of(A), false, part<T>(lost, i, count),
                                                       part<Real<T>>(out[0], i, count), nullptr, nullptr);
  });
  check_info(info, "linalg.svd", A.rank() > 2);
}
/// U diag(dS) V^H, from vectors that only the gradient needs.
void singular_values_gradient(Backward& b) {
  const auto f = svd_columns.all(b.in(0), false);
  b.set(0, matmul(transposed(f[0]) * unsqueeze(b.grad(), -2), transposed(f[2])));
}

// ---- eigenvalues of Hermitian matrices ------------------------------------------------------------------------------
char triangle_of(std::string_view name) {
  const bool known = name == "L" || name == "l" || name == "U" || name == "u";
  check(known, "Expected UPLO argument to be 'L' or 'U', but got {}", name);
  return name == "L" || name == "l" ? 'L' : 'U';
}
void check_eigh(Inference& f) {
  triangle_of(f.text(1));
  check_square(f.sizes(0), "linalg.eigh");
  check_lapack(f.dtype(0), "linalg_eigh_cpu");
  f.result(real_dtype_of(f.dtype(0)), Dims(f.sizes(0).first(f.rank(0) - 1)));
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
    part<int32_t>(info, i, count)[0] = lapack<T>().eigh(rows_of(matrices), triangle, vectors,
                                                        part<T>(matrices, i, count), part<Real<T>>(values, i, count));
  });
  check_info(info, "linalg.eigh", matrices.rank() > 2);
}
void eigh_host(Args a, Results& out) {
  out = made_by_shape(eigh_columns, a);
  fill_with(out[1], transposed(a[0].tensor().alias()));
  find_eigenvalues(a.data(), out[0], out[1], true);
}
/// dA = V (diag(dw) + skew(V^H dV) / 2E) V^H with E[i, j] = w[j] - w[i]: spread over both triangles of the Hermitian A.
void eigh_gradient(Backward& b) {
  const Tensor w = b.out(0), V = transposed(b.out(1));
  if (!b.has_grad(1)) return b.set(0, matmul(V * unsqueeze(b.grad(0), -2), mH(V)));
  const Tensor VdV = matmul(mH(V), transposed(b.grad(1)));
  Tensor turning = 0.5 * skew(VdV) / differences(w);
  if (is_complex(V.dtype()))
    turning = free_of_phases(turning, imag(diagonal(VdV, 0, -2, -1)), "linalg_eigh_backward", "eigenvectors",
                             "quantity, so it is");
  b.set(0, matmul(matmul(V, turning + diag_embed(b.grad(0))), mH(V)));
}
void eigenvalues_host(Args a, Results& out) {
  out = made_by_shape(eigenvalues, a);
  find_eigenvalues(a.data(), out[0], lost_copy(a[0].tensor()), false);
}
void eigenvalues_gradient(Backward& b) {
  const Tensor V = transposed(eigh_columns.all(b.in(0), b.text(1))[1]);
  b.set(0, matmul(V * unsqueeze(b.grad(), -2), mH(V)));
}

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
/// (self, some, compute_uv): V instead of V^H.
void svd_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.rank() >= 2, "linalg.svd: input should have at least 2 dimensions, but has {} dimensions instead",
        self.rank());
  if (c.flag(2)) {
    const auto f = svd_columns.all(self, !c.flag(1));
    c.result(transposed(f[0]));
    c.result(f[1]);
    return c.result(is_complex(self.dtype()) ? conjugate(f[2]) : clone(f[2]));
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

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op svd_columns{{.name = "svd_columns",
                      .signature = "(Tensor A, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)",
                      .doc = "A = U diag(S) Vh, U and Vh transposed.",
                      .example = "",
                      .flags = kHost | kChecksValues | kComplex,
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
                          .flags = kHost | kChecksValues | kComplex,
                          .shape = singular_values_shape,
                          .host = singular_values_host,
                          .gradient = singular_values_gradient,
                          .saved = saves({0}),
                          .samples = {{"randn(3, 3)"}, {"randn(2, 3, 4)"}}}};
const Op eigh_columns{{.name = "eigh_columns",
                       .signature = "(Tensor A, str UPLO) -> (Tensor eigenvalues, Tensor eigenvectors)",
                       .doc = "The eigenvalues of a Hermitian A and, transposed, its eigenvectors.",
                       .example = "",
                       .flags = kHost | kChecksValues | kComplex,
                       .shape = eigh_shape,
                       .host = eigh_host,
                       .gradient = eigh_gradient,
                       .saved = saves_result(0) | saves_result(1),
                       // One triangle of a symmetric matrix is read, and both get gradients: no element alone moves.
                       .samples = {{"(lambda a: a + a.mT)(randn(3, 3)), 'L'", "float", false},
                                   {"(lambda a: a + a.mT)(randn(2, 4, 4)), 'U'", "float", false}}}};
const Op eigenvalues{{.name = "eigenvalues",
                      .signature = "(Tensor A, str UPLO) -> Tensor",
                      .doc = "The eigenvalues of a Hermitian A, in ascending order.",
                      .example = "",
                      .flags = kHost | kChecksValues | kComplex,
                      .shape = check_eigh,
                      .host = eigenvalues_host,
                      .gradient = eigenvalues_gradient,
                      .saved = saves({0}),
                      .samples = {{"(lambda a: a + a.mT)(randn(2, 3, 3)), 'L'", "float", false}}}};
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
              .grad_fn = "LinalgSvdBackward0",
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
                      .doc = "The eigenvalues, ascending, and the eigenvectors of a Hermitian matrix, of which one "
                             "triangle is read.",
                      .example = "terra.linalg.eigh(terra.eye(2)).eigenvalues",
                      .flags = kLinalg,
                      .composite = linalg_eigh_of,
                      .grad_fn = "LinalgEighBackward0",
                      .samples = {{"(lambda a: a + a.mT)(randn(2, 3, 3))", "float", false}}}};
const Op linalg_eigvalsh{{.name = "linalg_eigvalsh",
                          .signature = "(Tensor self, str UPLO='L') -> Tensor",
                          .doc = "The eigenvalues of a Hermitian matrix, of which one triangle is read, ascending.",
                          .example = "terra.linalg.eigvalsh(terra.eye(2))",
                          .flags = kLinalg,
                          .composite = linalg_eigvalsh_of,
                          .grad_fn = "LinalgEighBackward0",
                          .samples = {{"(lambda a: a + a.mT)(randn(3, 3))", "float", false}}}};
}  // namespace terra::ops
