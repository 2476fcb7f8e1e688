#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

// ---- A = L L^H ------------------------------------------------------------------------------------------------------
void cholesky_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.cholesky");
  check_lapack(f.dtype(0), "cholesky_cpu");
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I32, Dims(batch_of(f.sizes(0))));
}
void cholesky_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(cholesky_columns, a);
  fill_with(out[0], transposed(A.alias()));
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(out[1], i, count)[0] = lapack<T>().cholesky(rows_of(A), part<T>(out[0], i, count));
  });
  check_info(out[1], a[1].text(), A.rank() > 2);
}
/// dA = L^-H S L^-1 / 2 with the Hermitian S that has the lower triangle of L^H dL. It is spread over both triangles of
/// the Hermitian A.
void cholesky_gradient(Backward& b) {
  const Tensor L = transposed(b.out()), S = hermitian_from(tril(matmul(mH(L), transposed(b.grad()))));
  const Tensor inner = solve_triangular(mH(L), S, true);
  b.set(0, 0.5 * solve_triangular(L, inner, false, false));
}

void cholesky_inverse_shape(Inference& f) {
  check_square(f.sizes(0), "cholesky_inverse");
  check_lapack(f.dtype(0), "cholesky_inverse_out_cpu");
  f.result(f.dtype(0), Dims(f.sizes(0)));
}
void cholesky_inverse_host(Args a, Results& out) {
  const Tensor L = a[0].tensor();
  out = made_by_shape(cholesky_inverse_lower, a);
  fill_with(out[0], transposed(L.alias()));
  const Tensor info = zeros(batch_of(L.sizes()), DType::I32);
  const int64_t count = count_of(L.sizes());
  each_matrix(L, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = lapack<T>().cholesky_inverse(rows_of(L), part<T>(out[0], i, count));
  });
  check_info(info, "cholesky_inverse", L.rank() > 2);
}
/// X = (L L^H)^-1, and so dX = -X (dL L^H + L dL^H) X. As PyTorch does, this lets all of L count, though one triangle
/// of it is read.
void cholesky_inverse_gradient(Backward& b) {
  const Tensor X = transposed(b.out()), dX = transposed(b.grad()), inner = matmul(matmul(X, dX + mH(dX)), X);
  b.set(0, -matmul(inner, b.in(0)));
}

void cholesky_solve_shape(Inference& f) {
  check_operands(f, true, "cholesky_solve_cpu");
  f.result(f.dtype(1), turned(f.sizes(1)));
}
void cholesky_solve_host(Args a, Results& out) {
  const Tensor L = lost_copy(a[0].tensor()), B = a[1].tensor();
  out = made_by_shape(cholesky_solve_columns, a);
  fill_with(out[0], transposed(B.alias()));
  const int64_t count = count_of(L.sizes());
  each_matrix(L, [&]<class T>(int64_t i, T) {
    lapack<T>().cholesky_solve(rows_of(B), columns_of(B), part<const T>(L, i, count), part<T>(out[0], i, count));
  });
}
/// X = A^-1 B: dB = A^-H dX, dA = -dB X^H. A = L L^H in all of L, as above.
void cholesky_solve_gradient(Backward& b) {
  const Tensor L = b.in(0), X = transposed(b.out());
  const Tensor dB = transposed(cholesky_solve_columns(L, transposed(b.grad())));
  if (b.needs(1)) b.set(1, dB);
  if (!b.needs(0)) return;
  const Tensor dA = matmul(dB, mH(X));
  b.set(0, -matmul(dA + mH(dA), L));
}

// ---- A = L D L^T, or L D L^H
// ----------------------------------------------------------------------------------------------------
void ldl_shape(Inference& f) {
  check_square(f.sizes(0), "torch.linalg.ldl_factor_ex");
  check_inexact(f.dtype(0), "torch.linalg.ldl_factor_ex", true);
  check_lapack(f.dtype(0), "ldl_factor_kernel_cpu");
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I32, Dims(f.sizes(0).first(f.rank(0) - 1)));
  f.result(DType::I32, Dims(batch_of(f.sizes(0))));
}
void ldl_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(ldl_columns, a);
  fill_with(out[0], transposed(A.alias()));
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(out[2], i, count)[0] = lapack<T>().ldl(a[2].scalar().to_bool(), rows_of(A), part<T>(out[0], i, count),
                                                         part<int32_t>(out[1], i, count));
  });
  check_info(out[2], a[1].text(), A.rank() > 2);
}
void ldl_solve_shape(Inference& f) {
  constexpr std::string_view kName = "torch.linalg.ldl_solve";
  const Sizes a = f.sizes(0), b = f.sizes(2);
  check_square(a, kName);
  check_matrices(b, kName, "B");
  check(a.back() == b[b.size() - 2] && Dims(batch_of(a)) == Dims(batch_of(b)) && f.dtype(0) == f.dtype(2) &&
            f.dtype(1) == DType::I32 && Dims(f.sizes(1)) == Dims(a.first(a.size() - 1)),
        "{}: LD, int32 pivots and B of sizes {}, {} and {} don't belong together", kName, listed(a), listed(f.sizes(1)),
        listed(b));
  check_lapack(f.dtype(0), "ldl_solve_kernel_cpu");
  f.result(f.dtype(2), turned(b));
}
void ldl_solve_host(Args a, Results& out) {
  const Tensor LD = lost_copy(a[0].tensor()), pivots = contiguous(a[1].tensor().alias()), B = a[2].tensor();
  out = made_by_shape(ldl_solve_columns, a);
  fill_with(out[0], transposed(B.alias()));
  const int64_t count = count_of(B.sizes());
  each_matrix(B, [&]<class T>(int64_t i, T) {
    const int info =
        lapack<T>().ldl_solve(a[3].scalar().to_bool(), rows_of(B), columns_of(B), part<const T>(LD, i, count),
                              part<const int32_t>(pivots, i, count), part<T>(out[0], i, count));
    check(info == 0, "torch.linalg.ldl_solve: the pivots are none that ldl_factor makes");
  });
}
void no_ldl_gradient(Backward&) {
  fail(ErrorKind::RuntimeError, "derivative for aten::linalg_ldl_factor_ex is not implemented");
}
void no_ldl_solve_gradient(Backward&) {
  fail(ErrorKind::RuntimeError, "derivative for aten::linalg_ldl_solve is not implemented");
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// L of A, or the U of A = U^H U: from the L of what A's upper triangle makes a Hermitian matrix.
void factor(Composition& c, bool upper, std::string_view checked, bool with_info) {
  const Tensor A = c.tensor(0);
  check_square(A.sizes(), "linalg.cholesky");
  check_inexact(A.dtype(), "linalg.cholesky", true);
  const auto f = cholesky_columns.all(upper ? mH(A) : A, checked);
  c.result(upper ? by_columns(conjugate(f[0])) : transposed(f[0]));
  if (with_info) c.result(f[1]);
}
void linalg_cholesky_ex_of(Composition& c) { factor(c, c.flag(1), c.flag(2) ? "linalg.cholesky_ex" : "", true); }
void linalg_cholesky_of(Composition& c) { factor(c, c.flag(1), "linalg.cholesky", false); }

/// (self, L, upper)
void cholesky_solve_of(Composition& c) {
  const Tensor b = c.tensor(0), a = c.tensor(1);
  for (const auto& [t, name] : {std::pair(b, "b"), std::pair(a, "u")})
    check(t.rank() >= 2, "{} should have at least 2 dimensions, but has {} dimensions instead", name, t.rank());
  check_old_operands(a, b, "cholesky_solve");
  check_lapack(a.dtype(), "cholesky_solve_cpu");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(a.sizes()));
  const Tensor L = in_batch(c.flag(2) ? mH(a) : a, batch);
  c.result(transposed(cholesky_solve_columns(L, in_batch(b, batch))));
}
void cholesky_inverse_of(Composition& c) {
  const Tensor L = c.tensor(0);
  check_square(L.sizes(), "cholesky_inverse");
  c.result(transposed(cholesky_inverse_lower(c.flag(1) ? mH(L) : L)));
}

void ldl_factor(Composition& c, std::string_view checked, bool with_info) {
  const auto f = ldl_columns.all(c.arg(0), checked, c.arg(1));
  c.result(transposed(f[0]));
  c.result(f[1]);
  if (with_info) c.result(f[2]);
}
void ldl_factor_ex_of(Composition& c) { ldl_factor(c, c.flag(2) ? "torch.linalg.ldl_factor_ex" : "", true); }
void ldl_factor_of(Composition& c) { ldl_factor(c, "torch.linalg.ldl_factor", false); }
void ldl_solve_of(Composition& c) {
  constexpr std::string_view kName = "torch.linalg.ldl_solve";
  const Tensor LD = c.tensor(0), pivots = c.tensor(1), B = c.tensor(2);
  check_square(LD.sizes(), kName);
  check_inexact(LD.dtype(), kName, true);
  check_matrices(B.sizes(), kName, "B");
  check(LD.size(-1) == B.size(-2),
        "Incompatible matrix sizes for {}: each A matrix is {} by {} but each b matrix is {} by {}", kName, LD.size(-1),
        LD.size(-1), B.size(-2), B.size(-1));
  check(B.dtype() == LD.dtype(),
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.",
        scalar_type_name(B.dtype()), scalar_type_name(LD.dtype()));
  check(is_integral(pivots.dtype()), "{}: Expected pivots to be integers. Got {}", kName,
        scalar_type_name(pivots.dtype()));
  check(pivots.sizes() == Dims(Sizes(LD.sizes()).first(LD.rank() - 1)),
        "{}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {} instead", kName,
        listed(pivots.sizes()));
  check_lapack(LD.dtype(), "ldl_solve_kernel_cpu");
  const Dims batch = broadcast_sizes(batch_of(B.sizes()), batch_of(LD.sizes()));
  const Tensor places = expand(to_dtype(pivots, DType::I32), with(batch, {LD.size(-1)}));
  c.result(transposed(ldl_solve_columns(in_batch(LD, batch), places, in_batch(B, batch), c.arg(3))));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op cholesky_columns{
    {.name = "cholesky_columns",
     .signature = "(Tensor A, str checked) -> (Tensor L, Tensor info)",
     .doc = "L of A = L L^H, transposed; info i > 0: A isn't positive definite.",
     .example = "",
     .flags = kHost | kChecksValues | kComplex,
     .shape = cholesky_shape,
     .host = cholesky_host,
     .gradient = cholesky_gradient,
     .saved = saves_result(),
     // One triangle of a symmetric matrix is read, and both get gradients: no element alone moves.
     .samples = {{"(lambda a: a @ a.mT + 1)(randn(3, 3)), 'cholesky'", "float", false},
                 {"(lambda a: a @ a.mT)(randn(2, 3, 4)), 'cholesky'", "float", false}}}};
const Op cholesky_inverse_lower{{.name = "cholesky_inverse_lower",
                                 .signature = "(Tensor L) -> Tensor",
                                 .doc = "The inverse of L L^H, transposed.",
                                 .example = "",
                                 .flags = kHost | kChecksValues | kComplex,
                                 .shape = cholesky_inverse_shape,
                                 .host = cholesky_inverse_host,
                                 .gradient = cholesky_inverse_gradient,
                                 .saved = saves({0}) | saves_result(),
                                 .samples = {{"randn(3, 3).tril() + 2 * terra.eye(3)", "float", false}}}};
const Op cholesky_solve_columns{{.name = "cholesky_solve_columns",
                                 .signature = "(Tensor L, Tensor B) -> Tensor",
                                 .doc = "X of L L^H X = B, transposed.",
                                 .example = "",
                                 .flags = kHost | kComplex,
                                 .shape = cholesky_solve_shape,
                                 .host = cholesky_solve_host,
                                 .gradient = cholesky_solve_gradient,
                                 .saved = saves({0}) | saves_result(),
                                 .samples = {{"randn(3, 3), randn(3, 2)", "float", false},
                                             {"randn(2, 3, 3).mT, randn(2, 2, 3).mT", "float", false},
                                             {"randn(0, 0), randn(0, 2)"},
                                             {"crandn(2, 3, 3), crandn(2, 3, 2)", "complex", false}}}};
const Op ldl_columns{{.name = "ldl_columns",
                      .signature = "(Tensor A, str checked, bool hermitian) -> (Tensor LD, Tensor pivots, Tensor info)",
                      .doc = "L below the diagonal and D of A = L D L^T (Hermitian: L D L^H), transposed, and LAPACK's "
                             "account of D's blocks.",
                      .example = "",
                      .flags = kHost | kChecksValues | kComplex,
                      .shape = ldl_shape,
                      .host = ldl_host,
                      .gradient = no_ldl_gradient,
                      .samples = {{"(lambda a: a + a.mT)(randn(2, 3, 3)), '', False", "float", false},
                                  {"(lambda a: a + a.mH)(crandn(2, 3, 3)), '', True", "complex", false}}}};
const Op ldl_solve_columns{
    {.name = "ldl_solve_columns",
     .signature = "(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor",
     .doc = "X of A X = B, transposed, from what ldl_columns made.",
     .example = "",
     .flags = kHost | kChecksValues | kComplex,
     .shape = ldl_solve_shape,
     .host = ldl_solve_host,
     .gradient = no_ldl_solve_gradient,
     .samples = {{"randn(3, 3), terra.tensor([1, -3, -3], dtype=terra.int32), randn(3, 2), False", "float", false}}}};
const Op linalg_cholesky_ex{
    {.name = "linalg_cholesky_ex",
     .signature = "(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
     .doc = "L of self = L L^H (or U of U^H U); info i > 0: the leading minor of order i isn't positive.",
     .example = "terra.linalg.cholesky_ex(terra.eye(2) * 4).L",
     .flags = kLinalg,
     .composite = linalg_cholesky_ex_of,
     .grad_fn = "LinalgCholeskyExBackward0",
     .samples = {{"(lambda a: a @ a.mT + 1)(randn(3, 3)), upper=True", "float", false}}}};
const Op linalg_cholesky{{.name = "linalg_cholesky",
                          .signature = "(Tensor self, *, bool upper=False) -> Tensor",
                          .doc = "L of self = L L^H, or U of U^H U.",
                          .example = "terra.linalg.cholesky(terra.eye(2) * 4)",
                          .flags = kLinalg,
                          .composite = linalg_cholesky_of,
                          .grad_fn = "LinalgCholeskyExBackward0",
                          .samples = {{"(lambda a: a @ a.mT + 1)(randn(2, 3, 3))", "float", false}}}};
const Op cholesky{{.name = "cholesky",
                   .signature = "(Tensor self, bool upper=False) -> Tensor",
                   .doc = "L of self = L L^H, or U of U^H U.",
                   .example = "terra.cholesky(terra.eye(2) * 4)",
                   .flags = kLinalgAndMethod,
                   .composite = linalg_cholesky_of,
                   .grad_fn = "LinalgCholeskyExBackward0",
                   .samples = {{"(lambda a: a @ a.mT + 1)(randn(3, 3)), True", "float", false}}}};
const Op cholesky_solve{
    {.name = "cholesky_solve",
     .signature = "(Tensor self, Tensor L, bool upper=False) -> Tensor",
     .doc = "X of A X = self, from the Cholesky factor of A.",
     .example = "terra.cholesky_solve(terra.ones(2, 1), terra.eye(2))",
     .flags = kLinalgAndMethod,
     .composite = cholesky_solve_of,
     .grad_fn = "CholeskySolveBackward0",
     .samples = {{"randn(3, 2), randn(3, 3)", "float", false}, {"randn(2, 3, 1), randn(3, 3), True", "float", false}}}};
const Op cholesky_inverse{{.name = "cholesky_inverse",
                           .signature = "(Tensor self, bool upper=False) -> Tensor",
                           .doc = "The inverse of A, from its Cholesky factor.",
                           .example = "terra.cholesky_inverse(terra.eye(2))",
                           .flags = kLinalgAndMethod,
                           .composite = cholesky_inverse_of,
                           .grad_fn = "CholeskyInverseBackward0",
                           .samples = {{"randn(3, 3)", "float", false}, {"randn(2, 3, 3), True", "float", false}}}};
const Op linalg_ldl_factor_ex{
    {.name = "linalg_ldl_factor_ex",
     .signature = "(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
                  "(Tensor LD, Tensor pivots, Tensor info)",
     .doc = "The factors of a symmetric self = L D L^T, or a Hermitian L D L^H, in one matrix.",
     .example = "terra.linalg.ldl_factor_ex(terra.eye(2)).info",
     .flags = kLinalg,
     .composite = ldl_factor_ex_of,
     .grad_fn = "torch::autograd::NotImplemented",
     .samples = {{"(lambda a: a + a.mT)(randn(3, 3))", "float", false}}}};
const Op linalg_ldl_factor{{.name = "linalg_ldl_factor",
                            .signature = "(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
                            .doc = "The factors of a symmetric self = L D L^T, or a Hermitian L D L^H, in one matrix.",
                            .example = "terra.linalg.ldl_factor(terra.eye(2)).LD",
                            .flags = kLinalg,
                            .composite = ldl_factor_of,
                            .grad_fn = "torch::autograd::NotImplemented",
                            .samples = {{"(lambda a: a + a.mT)(randn(3, 3))", "float", false}}}};
const Op linalg_ldl_solve{
    {.name = "linalg_ldl_solve",
     .signature = "(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
     .doc = "X of A X = B, from what ldl_factor made of A.",
     .example = "terra.linalg.ldl_solve(*terra.linalg.ldl_factor(terra.eye(2)), terra.ones(2, 1))",
     .flags = kLinalg,
     .composite = ldl_solve_of,
     .grad_fn = "torch::autograd::NotImplemented",
     .samples = {{"randn(3, 3), terra.tensor([1, -3, -3], dtype=terra.int32), randn(2, 3, 2)", "float", false}}}};

}  // namespace terra::ops
