#include <algorithm>
#include <numeric>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/order.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

// ---- factors --------------------------------------------------------------------------------------------------------
void lu_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  check(sizes.size() >= 2, "{}: Expected tensor with 2 or more dimensions. Got size: {} instead", f.text(1),
        listed(sizes));
  check_matrices(sizes, f.text(1));
  check_lapack(f.dtype(0), "lu_cpu");
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back();
  f.result(f.dtype(0), with(batch_of(sizes), {n, m}));
  f.result(DType::I32, with(batch_of(sizes), {std::min(m, n)}));
  f.result(DType::I32, Dims(batch_of(sizes)));
}
void lu_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(lu_columns, a);
  fill_with(out[0], transposed(A.alias()));
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(out[2], i, count)[0] =
        lapack<T>().lu(rows_of(A), columns_of(A), part<T>(out[0], i, count), part<int32_t>(out[1], i, count));
  });
  check_info(out[2], a[2].text(), A.rank() > 2);
}

Tensor unit_lower(const Tensor& lu, int64_t k) {
  const Tensor below = tril(columns(lu, 0, k), -1);
  return below + eye(lu.size(-2), k, lu.dtype());
}
Tensor upper_of(const Tensor& lu, int64_t k) { return triu(rows(lu, 0, k)); }
/// Rows of `t` in the order that `permutation` names them.
Tensor reordered(const Tensor& t, const Tensor& permutation) {
  return gather(t, -2, expand(unsqueeze(permutation, -1), t.sizes()));
}

/// The gradient by A = P L U where dL and dU are told in one matrix. For a square one it is P L^-H (tril(L^H dL, -1) +
/// triu(dU U^H)) U^-H; what a tall or a wide one has besides depends on its square part, which collects that first.
void lu_gradient(Backward& b) {
  const Tensor lu = transposed(b.out()), g = transposed(b.grad());
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  const Tensor L = unit_lower(rows(lu, 0, k), k), U = upper_of(columns(lu, 0, k), k);
  Tensor dL = tril(columns(rows(g, 0, k), 0, k), -1), dU = triu(columns(rows(g, 0, k), 0, k)), rest;
  if (m > n) {
    rest = solve_triangular(mH(U), rows(g, k, m), false, false);
    dU = dU - matmul(mH(rows(lu, k, m)), rest);
  } else if (m < n) {
    rest = solve_triangular(mH(L), columns(g, k, n), true, true, true);
    dL = dL - matmul(rest, mH(columns(lu, k, n)));
  }
  const Tensor inner = tril(matmul(mH(L), dL), -1) + triu(matmul(dU, mH(U)));
  Tensor gradient = solve_triangular(mH(U), solve_triangular(mH(L), inner, true, true, true), false, false);
  if (m != n) gradient = cat(std::vector{gradient, rest}, m > n ? -2 : -1);
  b.set(0, reordered(gradient, argsort(pivots_permutation(b.out(1), m, "lu_unpack"), -1)));
}

// ---- pivots ---------------------------------------------------------------------------------------------------------
void permutation_shape(Inference& f) {
  check(f.rank(0) >= 1 && f.dtype(0) == DType::I32 && f.integer(1) >= f.sizes(0).back(),
        "pivots are int32, one for each of the first rows of a matrix, but got {} of sizes {}",
        scalar_type_name(f.dtype(0)), listed(f.sizes(0)));
  f.result(DType::I64, with(f.sizes(0).first(f.rank(0) - 1), {f.integer(1)}));
}
/// Row i of L U is row order[i] of A.
void permutation_host(Args a, Results& out) {
  out = made_by_shape(pivots_permutation, a);
  const Tensor pivots = contiguous(a[0].tensor().alias());
  const int64_t k = pivots.size(-1), rows = a[1].scalar().to_int(), count = out[0].numel() / std::max<int64_t>(rows, 1);
  const bool solves = a[2].text() == "lu_solve";
  for (int64_t i = 0; i < count; ++i) {
    int64_t* order = part<int64_t>(out[0], i, count);
    std::iota(order, order + rows, 0);
    for (int64_t row = 0; row < k; ++row) {
      const int64_t other = part<int32_t>(pivots, i, count)[row];
      check(!solves || (other >= 1 && other <= rows),
            "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the result of "
            "lu_factor?");
      check(other >= 1 && other <= rows,
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result "
            "of lu_factor?");
      std::swap(order[row], order[other - 1]);
    }
  }
}
Tensor permutation_matrix(const Tensor& pivots, int64_t m, DType dtype) {
  const Tensor order = pivots_permutation(pivots, m, "lu_unpack");
  return to_dtype(eq(unsqueeze(arange_to(m), 1), unsqueeze(order, -2)), dtype);
}

// ---- composites -----------------------------------------------------------------------------------------------------
void check_pivoted(const Composition& c) {
  check(c.flag(1), "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}
void factor(Composition& c, std::string_view checked, bool with_info) {
  check_pivoted(c);
  const auto f = lu_columns.all(c.arg(0), "torch.lu_factor", checked);
  c.result(transposed(f[0]));
  c.result(f[1]);
  if (with_info) c.result(f[2]);
}
void lu_factor_ex_of(Composition& c) { factor(c, c.flag(2) ? "torch.linalg.lu_factor_ex" : "", true); }
void lu_factor_of(Composition& c) { factor(c, "torch.linalg.lu_factor", false); }
void lu_of(Composition& c) {
  check_pivoted(c);
  const Tensor A = c.tensor(0);
  const auto f = lu_columns.all(A, "linalg.lu", "");
  const Tensor lu = transposed(f[0]);
  const int64_t k = std::min(A.size(-2), A.size(-1));
  c.result(permutation_matrix(f[1], A.size(-2), A.dtype()));
  c.result(unit_lower(lu, k));
  c.result(upper_of(lu, k));
}
void lu_unpack_of(Composition& c) {
  const Tensor lu = c.tensor(0), pivots = c.tensor(1);
  const bool data = c.flag(2), permutes = c.flag(3);
  check(lu.rank() >= 2, "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {} instead",
        listed(lu.sizes()));
  const int64_t m = lu.size(-2), k = std::min(m, lu.size(-1));
  const Tensor nothing = zeros(Dims{0}, lu.dtype());
  if (permutes) {
    check(pivots.dtype() == DType::I32,
          "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function "
          "is intended to be used with the output produced by torch.linalg.lu_factor");
    const Dims expected = with(batch_of(lu.sizes()), {k});
    check_kind(expected == pivots.sizes(), ErrorKind::ValueError,
               "Expected LU_pivots to have shape {} but got {} instead.", listed(expected), listed(pivots.sizes()));
  }
  c.result(permutes ? permutation_matrix(pivots, m, lu.dtype()) : nothing);
  c.result(data ? unit_lower(lu, k) : nothing);
  c.result(data ? upper_of(lu, k) : nothing);
}

/// X of A X = B for A = P L U, or, the factors being turned by `turn`, of A^T X = B or A^H X = B.
Tensor solved(const Tensor& lu, const Tensor& permutation, const Tensor& b, Tensor (*turn)(const Tensor&)) {
  if (!turn) return solve_triangular(lu, solve_triangular(lu, reordered(b, permutation), false, true, true), true);
  const Tensor inner = solve_triangular(turn(lu), solve_triangular(turn(lu), b, false), true, true, true);
  return by_columns(reordered(inner, argsort(permutation, -1)));
}
Tensor solved_by_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  constexpr std::string_view kLong = "torch.linalg.lu_solve", kName = "linalg.lu_solve";
  check_square(lu.sizes(), kLong);
  check_inexact(lu.dtype(), kLong, true);
  check(lu.dtype() == b.dtype(),
        "{}: Expected LU and B to have the same dtype, but found LU of type {} and B of type {} instead", kName,
        scalar_type_name(lu.dtype()), scalar_type_name(b.dtype()));
  check(pivots.dtype() == DType::I32, "{}: pivots should be a Tensor of scalar type torch.int32", kName);
  check_equation(lu.sizes(), b.sizes(), left, kName);
  check(pivots.rank() >= 1 && pivots.size(-1) == lu.size(-1),
        "{}: Number of pivots per batch should be same as the dimension of the matrix", kName);
  check(pivots.sizes() == Dims(Sizes(lu.sizes()).first(lu.rank() - 1)),
        "{}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape {} instead", kName,
        listed(pivots.sizes()));
  check_lapack(lu.dtype(), "linalg.lu_solve_cpu");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(lu.sizes()));
  const Tensor permutation = pivots_permutation(pivots, lu.size(-1), "lu_solve");
  const Tensor a = in_batch(lu, batch), rhs = in_batch(b, batch);
  if (left) return solved(a, permutation, rhs, adjoint ? mH : nullptr);
  // X A = B is A^T X^T = B^T, and X A^H = B is A X^H = B^H.
  return adjoint ? mH(solved(a, permutation, mH(rhs), nullptr))
                 : transposed(solved(a, permutation, transposed(rhs), transposed));
}
void linalg_lu_solve_of(Composition& c) {
  c.result(solved_by_lu(c.tensor(0), c.tensor(1), c.tensor(2), c.flag(3), c.flag(4)));
}
void lu_solve_of(Composition& c) { c.result(solved_by_lu(c.tensor(1), c.tensor(2), c.tensor(0), true, false)); }

constexpr std::string_view kFactors = "terra.linalg.lu_factor(terra.eye(2)).LU";

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op lu_columns{{.name = "lu_columns",
                     .signature = "(Tensor A, str name, str checked) -> (Tensor LU, Tensor pivots, Tensor info)",
                     .doc = "L below the diagonal and U of A = P L U, transposed, and the rows that changed places.",
                     .example = "",
                     .flags = kHost | kChecksValues | kComplex,
                     .shape = lu_shape,
                     .host = lu_host,
                     .gradient = lu_gradient,
                     .saved = saves_result(0) | saves_result(1),
                     .samples = {{"randn(3, 3), 'lu', ''"},
                                 {"randn(2, 4, 3), 'lu', ''"},
                                 {"randn(2, 3, 4).transpose(0, 1), 'lu', ''"},
                                 {"randn(0, 3), 'lu', ''"},
                                 {"crandn(2, 3, 4), 'lu', ''", "complex"}}}};
const Op pivots_permutation{{.name = "pivots_permutation",
                             .signature = "(Tensor pivots, int rows, str name) -> Tensor",
                             .doc = "Where each row was before the exchanges that pivots tell of.",
                             .example = "",
                             .flags = kHost | kNoGradient | kChecksValues,
                             .shape = permutation_shape,
                             .host = permutation_host,
                             .samples = {{"terra.tensor([2, 2], dtype=terra.int32), 3, 'lu_unpack'", "int", false}}}};
const Op linalg_lu_factor_ex{{.name = "linalg_lu_factor_ex",
                              .signature = "(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
                                           "(Tensor LU, Tensor pivots, Tensor info)",
                              .doc = "The factors of A = P L U in one matrix; info i > 0: U[i, i] is zero.",
                              .example = "terra.linalg.lu_factor_ex(terra.eye(2)).info",
                              .flags = kLinalg,
                              .composite = lu_factor_ex_of,
                              .grad_fn = "LinalgLuFactorExBackward0",
                              .samples = {{"randn(3, 3)"}, {"randn(2, 3, 4)"}}}};
const Op linalg_lu_factor{{.name = "linalg_lu_factor",
                           .signature = "(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
                           .doc = "The factors of A = P L U in one matrix, and the rows that changed places.",
                           .example = kFactors,
                           .flags = kLinalg,
                           .composite = lu_factor_of,
                           .grad_fn = "LinalgLuFactorExBackward0",
                           .samples = {{"randn(3, 3)"}, {"randn(2, 4, 3)"}}}};
const Op linalg_lu{
    {.name = "linalg_lu",
     .signature = "(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
     .doc = "A = P L U with a permutation, a lower triangle with ones on its diagonal, and an upper one.",
     .example = "terra.linalg.lu(terra.eye(2)).L",
     .flags = kLinalg,
     .composite = lu_of,
     .grad_fn = "LinalgLuBackward0",
     .samples = {{"randn(3, 3)"}, {"randn(2, 4, 3)"}, {"randn(2, 3, 4)"}, {"randn(2, 0, 3)"}}}};
const Op linalg_lu_solve{
    {.name = "linalg_lu_solve",
     .signature = "(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
     .doc = "X of A X = B (of X A = B where not left), from what lu_factor made of A, or of its transpose.",
     .example = "terra.linalg.lu_solve(*terra.linalg.lu_factor(terra.eye(2)), terra.ones(2, 1))",
     .flags = kLinalg,
     .composite = linalg_lu_solve_of,
     .grad_fn = "LinalgLuSolveBackward0",
     .samples = {{"randn(3, 3), terra.tensor([2, 3, 3], dtype=terra.int32), randn(3, 2)"},
                 {"randn(3, 3), terra.tensor([2, 3, 3], dtype=terra.int32), randn(2, 2, 3), left=False"},
                 {"randn(3, 3), terra.tensor([2, 3, 3], dtype=terra.int32), randn(3, 2), adjoint=True"}}}};
const Op lu_solve{{.name = "lu_solve",
                   .signature = "(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
                   .doc = "X of A X = self, from what lu_factor made of A.",
                   .example = "terra.ones(2, 1).lu_solve(*terra.linalg.lu_factor(terra.eye(2)))",
                   .flags = kLinalgAndMethod,
                   .composite = lu_solve_of,
                   .grad_fn = "LinalgLuSolveBackward0",
                   .samples = {{"randn(3, 2), randn(3, 3), terra.tensor([2, 3, 3], dtype=terra.int32)"}}}};
const Op lu_unpack{{.name = "lu_unpack",
                    .signature = "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
                                 "-> (Tensor P, Tensor L, Tensor U)",
                    .doc = "The permutation and the two triangles of what lu_factor made.",
                    .example = "terra.lu_unpack(*terra.linalg.lu_factor(terra.eye(2))).U",
                    .flags = kLinalg,
                    .composite = lu_unpack_of,
                    .grad_fn = "LuUnpackBackward0",
                    .samples = {{"randn(3, 3), terra.tensor([2, 3, 3], dtype=terra.int32)"},
                                {"randn(2, 3), terra.tensor([2, 2], dtype=terra.int32), unpack_pivots=False"}}}};

}  // namespace terra::ops
