#include "engine/ops/arithmetic.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

Tensor hermitian(const Tensor& t) { return 0.5 * (t + mH(t)); }

// ---- S Z + Z S = G --------------------------------------------------------------------------------------------------
void lyapunov_shape(Inference& f) {
  check_square(f.sizes(0), f.op.name, "S");
  check_lapack(f.dtype(0), "linalg_eigh_cpu");
  check(f.dtype(0) == f.dtype(1) && Dims(f.sizes(0)) == Dims(f.sizes(1)),
        "{}: S and G must be of one dtype and of equal sizes, but got {} {} and {} {}", f.op.name,
        scalar_type_name(f.dtype(0)), listed(f.sizes(0)), scalar_type_name(f.dtype(1)), listed(f.sizes(1)));
  rules::like_first(f);
}
/// The equation of the transposes is of the same form: rows may stand for columns.
void lyapunov_host(Args a, Results& out) {
  out = made_by_shape(lyapunov, a);
  fill_with(out[0], a[1].tensor());
  const Tensor S = lost_rows(a[0].tensor()), info = zeros(batch_of(S.sizes()), DType::I32);
  const int64_t count = count_of(S.sizes());
  each_matrix(S, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] =
        lapack<T>().lyapunov(rows_of(S), part<T>(S, i, count), part<T>(out[0], i, count));
  });
  check_info(info, "linalg.eigh", S.rank() > 2);
}
/// The map from G to Z is its own adjoint, and S dZ + dZ S = dG - dS Z - Z dS.
void lyapunov_gradient(Backward& b) {
  const Tensor Z = b.out(), dG = lyapunov(b.in(0), b.grad());
  if (b.needs(0)) b.set(0, -matmul(dG, mH(Z)) - matmul(mH(Z), dG));
  if (b.needs(1)) b.set(1, dG);
}

// ---- X X = A --------------------------------------------------------------------------------------------------------
void square_root_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.matrix_sqrth");
  check_inexact(f.dtype(0), "linalg.matrix_sqrth");
  rules::like_first(f);
}
void square_root_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(linalg_matrix_sqrth, a);
  fill_with(out[0], A);  // by rows: the lower triangle is the upper one of the transpose
  const Tensor info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = lapack<T>().square_root(rows_of(A), part<T>(out[0], i, count));
  });
  check_info(info, "linalg.eigh", A.rank() > 2);
}
/// From X dX + dX X = dA, spread over both triangles of the Hermitian A.
void square_root_gradient(Backward& b) { b.set(0, lyapunov(b.out(), hermitian(b.grad()))); }

// ---- A = U H --------------------------------------------------------------------------------------------------------
void polar_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  check_matrices(sizes, "linalg.polar");
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back();
  check(m >= n, "linalg.polar: input must have at least as many rows as columns, but got {} by {} matrices", m, n);
  check_inexact(f.dtype(0), "linalg.polar", true);
  check_lapack(f.dtype(0), "linalg_svd_cpu");
  f.result(f.dtype(0), Dims(sizes));
  f.result(f.dtype(0), with(batch_of(sizes), {n, n}));
}
/// Of the transpose, A^T = H U^T.
void polar_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(linalg_polar, a);
  const Tensor lost = lost_rows(A), info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = lapack<T>().polar(columns_of(A), rows_of(A), part<T>(lost, i, count),
                                                         part<T>(out[0], i, count), part<T>(out[1], i, count));
  });
  check_info(info, "linalg.svd", A.rank() > 2);
}
/// With dA = dU H + U dH the turning W = U^H dU solves H W + W H = U^H dA - dA^H U, dH = U^H dA - W H, and outside of
/// U's columns dU is dA H^-1.
void polar_gradient(Backward& b) {
  const Tensor U = b.out(0), H = b.out(1), dU = b.grad(0), dH = hermitian(b.grad(1));
  const Tensor UdU = matmul(mH(U), dU), Z = lyapunov(H, UdU - matmul(dH, H));
  Tensor dA = matmul(U, dH + Z - mH(Z));
  if (U.size(-2) > U.size(-1)) dA = dA + conjugate(solve_columns(H, mH(dU - matmul(U, UdU)), ""));
  b.set(0, dA);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op lyapunov{{.name = "lyapunov",
                   .signature = "(Tensor S, Tensor G) -> Tensor",
                   .doc = "The Z with S Z + Z S = G for a Hermitian S.",
                   .example = "",
                   .flags = kHost | kChecksValues | kComplex,
                   .shape = lyapunov_shape,
                   .host = lyapunov_host,
                   .gradient = lyapunov_gradient,
                   .saved = saves({0}) | saves_result(),
                   // One triangle of a symmetric matrix is read, and both get gradients: no element alone moves.
                   .samples = {{"(lambda a: a @ a.mT + terra.eye(3))(randn(3, 3)), randn(3, 3)", "float", false}}}};
const Op linalg_matrix_sqrth{
    {.name = "linalg_matrix_sqrth",
     .signature = "(Tensor self) -> Tensor",
     .doc = "The Hermitian positive X with X X = self for such a self, of which the lower triangle is read.",
     .example = "terra.linalg.matrix_sqrth(terra.eye(2) * 4)",
     .flags = kFunction | kHost | kChecksValues | kComplex,
     .shape = square_root_shape,
     .host = square_root_host,
     .gradient = square_root_gradient,
     .saved = saves_result(),
     .grad_fn = "LinalgMatrixSqrthBackward0",
     .samples = {{"(lambda a: a @ a.mT + terra.eye(3))(randn(2, 3, 3))", "float", false}}}};
const Op linalg_polar{{.name = "linalg_polar",
                       .signature = "(Tensor A) -> (Tensor U, Tensor H)",
                       .doc = "A = U H with orthonormal columns of U and a Hermitian H without negative eigenvalues.",
                       .example = "terra.linalg.polar(terra.eye(2) * -2).U",
                       .flags = kFunction | kHost | kChecksValues | kComplex,
                       .shape = polar_shape,
                       .host = polar_host,
                       .gradient = polar_gradient,
                       .saved = saves_result(0) | saves_result(1),
                       .grad_fn = "LinalgPolarBackward0",
                       .samples = {{"randn(3, 3)"}, {"randn(2, 4, 3)"}, {"randn(2, 0)", "float", false}}}};

}  // namespace terra::ops
