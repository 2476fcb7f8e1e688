#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

// ---- eigenvalues of any square matrix -------------------------------------------------------------------------------
DType complex_result(DType dtype) {
  check(is_inexact(dtype), "Unknown Complex ScalarType for {}", scalar_type_name(dtype));
  check_lapack(dtype, "linalg_eig_out_cpu");
  return complex_dtype_of(dtype);
}
void general_eigenvalues_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  check_square(sizes, "linalg.eig");
  f.result(complex_result(f.dtype(0)), Dims(sizes.first(sizes.size() - 1)));
}
void eig_shape(Inference& f) {
  general_eigenvalues_shape(f);
  f.result(complex_result(f.dtype(0)), Dims(f.sizes(0)));
}
/// The values and, unless `vectors` is undefined, the vectors. LAPACK may not end on what isn't finite.
void find_eigenvalues(const Tensor& A, const Tensor& values, const Tensor& vectors) {
  const GradMode off(false);
  check(known_integer(all(isfinite(A.alias()))) != 0,
        "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const Tensor lost = lost_copy(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    using Z = std::complex<Real<T>>;
    part<int32_t>(info, i, count)[0] = lapack<T>().eig(rows_of(A), part<T>(lost, i, count), part<Z>(values, i, count),
                                                       vectors.defined() ? part<Z>(vectors, i, count) : nullptr);
  });
  check_info(info, "linalg.eig", A.rank() > 2);
}
void eig_host(Args a, Results& out) {
  out = made_by_shape(eig_columns, a);
  find_eigenvalues(a[0].tensor(), out[0], out[1]);
}
void general_eigenvalues_host(Args a, Results& out) {
  out = made_by_shape(general_eigenvalues, a);
  find_eigenvalues(a[0].tensor(), out[0], Tensor());
}
/// dA = V^-H (diag(dw) + K) V^H with K = (V^H dV - V^H V diag(re V^H dV)) / E* off the diagonal and E[i, j] = w[j] -
/// w[i]: vectors keep the length 1, and a loss doesn't depend on their phases.
void eig_gradient(Backward& b) {
  const Tensor w = b.out(0), V = transposed(b.out(1));
  Tensor inner = diag_embed(b.grad(0));
  if (b.has_grad(1)) {
    const Tensor VdV = matmul(mH(V), transposed(b.grad(1))), along = diagonal(VdV, 0, -2, -1);
    const Tensor turning = VdV - matmul(mH(V), V) * unsqueeze(real(along), -2);
    inner = inner + off_diagonal(turning) / conjugate(differences(w));
    inner = free_of_phases(inner, imag(along), "linalg_eig_backward", "eigenvectors", "quantity, so it is");
  }
  b.set(0, linalg_solve_ex(mH(V), matmul(inner, mH(V))));
}
void general_eigenvalues_gradient(Backward& b) {
  const Tensor V = transposed(eig_columns.all(b.in(0))[1]);
  b.set(0, linalg_solve_ex(mH(V), unsqueeze(b.grad(), -1) * mH(V)));
}

// ---- losses that depend on what is free -----------------------------------------------------------------------------
void phases_shape(Inference& f) {
  check(is_floating(f.dtype(1)) && !is_half(f.dtype(1)), "{}: phases are real numbers", f.op.name);
  f.result(f.dtype(0), Dims(f.sizes(0)));
}
void phases_host(Args a, Results& out) {
  const GradMode off(false);
  constexpr double kTolerance = 1e-2;
  check(known_integer(any(gt(abs(a[1].tensor().alias()), kTolerance))) == 0,
        "{}: The {} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function "
        "depends on this {} ill-defined.",
        a[2].text(), a[3].text(), a[4].text());
  out = made_by_shape(free_of_phases, a);
  fill_with(out[0], a[0].tensor());
}
void phases_gradient(Backward& b) { b.set(0, b.grad()); }

// ---- composites -----------------------------------------------------------------------------------------------------
void linalg_eig_of(Composition& c) {
  const auto f = eig_columns.all(c.arg(0));
  c.result(f[0]);
  c.result(transposed(f[1]));
}
void linalg_eigvals_of(Composition& c) {
  check_square(c.tensor(0).sizes(), "linalg.eigvals");
  c.result(general_eigenvalues(c.arg(0)));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op eig_columns{{.name = "eig_columns",
                      .signature = "(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
                      .doc = "The eigenvalues of a square A and, transposed, its eigenvectors.",
                      .example = "",
                      .flags = kHost | kChecksValues | kComplex,
                      .shape = eig_shape,
                      .host = eig_host,
                      .gradient = eig_gradient,
                      .saved = saves_result(0) | saves_result(1),
                      // A loss that depends on the phases of vectors has no gradient.
                      .samples = {{"randn(3, 3)", "float", false},
                                  {"crandn(2, 3, 3).mT", "complex", false},
                                  {"randn(2, 0, 0)", "float", false}}}};
const Op general_eigenvalues{{.name = "general_eigenvalues",
                              .signature = "(Tensor A) -> Tensor",
                              .doc = "The eigenvalues of a square A.",
                              .example = "",
                              .flags = kHost | kChecksValues | kComplex,
                              .shape = general_eigenvalues_shape,
                              .host = general_eigenvalues_host,
                              .gradient = general_eigenvalues_gradient,
                              .saved = saves({0}),
                              .samples = {{"randn(3, 3)", "float", false}, {"crandn(2, 3, 3)", "complex"}}}};
const Op free_of_phases{{.name = "free_of_phases",
                         .signature = "(Tensor self, Tensor phases, str op, str vectors, str consequence) -> Tensor",
                         .doc = "self, if no phase of complex vectors counts: the derivatives by them are zero.",
                         .example = "",
                         .flags = kHost | kChecksValues | kComplex,
                         .shape = phases_shape,
                         .host = phases_host,
                         .gradient = phases_gradient,
                         .samples = {{"crandn(3, 3), zeros(3), 'op', 'vectors', 'phase, so it is'", "complex"}}}};
const Op linalg_eig{{.name = "linalg_eig",
                     .signature = "(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
                     .doc = "The eigenvalues and eigenvectors of a square matrix, as complex numbers in no order.",
                     .example = "terra.linalg.eig(terra.eye(2)).eigenvalues",
                     .flags = kLinalg,
                     .composite = linalg_eig_of,
                     .grad_fn = "LinalgEigBackward0",
                     .samples = {{"randn(2, 3, 3)", "float", false}, {"crandn(3, 3)", "complex", false}}}};
const Op linalg_eigvals{{.name = "linalg_eigvals",
                         .signature = "(Tensor self) -> Tensor",
                         .doc = "The eigenvalues of a square matrix, as complex numbers in no order.",
                         .example = "terra.linalg.eigvals(terra.eye(2))",
                         .flags = kLinalg,
                         .composite = linalg_eigvals_of,
                         .grad_fn = "LinalgEigBackward0",
                         .samples = {{"randn(3, 3)", "float", false}, {"crandn(2, 3, 3)", "complex"}}}};

}  // namespace terra::ops
