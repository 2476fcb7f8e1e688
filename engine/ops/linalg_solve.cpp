#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

// ---- any square matrix ----------------------------------------------------------------------------------------------
void solve_shape(Inference& f) {
  check_operands(f, true, "lu_cpu");
  f.result(f.dtype(0), turned(f.sizes(1)));
  f.result(DType::I32, Dims(batch_of(f.sizes(0))));
}
void solve_host(Args a, Results& out) {
  const Tensor A = a[0].tensor(), B = a[1].tensor();
  out = made_by_shape(solve_columns, a);
  fill_with(out[0], transposed(B.alias()));
  const Tensor lu = lost_copy(A);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(out[1], i, count)[0] =
        lapack<T>().solve(rows_of(B), columns_of(B), part<T>(lu, i, count), part<T>(out[0], i, count));
  });
  check_info(out[1], a[2].text(), A.rank() > 2);
}
/// X = A^-1 B: dB = A^-H dX, dA = -dB X^H.
void solve_gradient(Backward& b) {
  const Tensor A = b.in(0), X = transposed(b.out());
  const Tensor dB = transposed(solve_columns(mH(A), transposed(b.grad()), ""));
  if (b.needs(0)) b.set(0, -matmul(dB, mH(X)));
  if (b.needs(1)) b.set(1, dB);
}

void inverse_shape(Inference& f) {
  check_square(f.sizes(0), f.op.name);
  check_lapack(f.dtype(0), "lu_cpu");
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I32, Dims(batch_of(f.sizes(0))));
}
void inverse_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(inverse_columns, a);
  fill_with(out[0], identity(batch_of(A.sizes()), A.size(-1), A.dtype()));
  const Tensor lu = lost_copy(A);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(out[1], i, count)[0] =
        lapack<T>().solve(rows_of(A), rows_of(A), part<T>(lu, i, count), part<T>(out[0], i, count));
  });
  check_info(out[1], a[1].text(), A.rank() > 2);
}
/// X = A^-1: dA = -X^H dX X^H.
void inverse_gradient(Backward& b) {
  const Tensor XH = conjugate(b.out());
  b.set(0, -matmul(matmul(XH, transposed(b.grad())), XH));
}

// ---- triangles ------------------------------------------------------------------------------------------------------
void triangular_shape(Inference& f) {
  check_operands(f, f.flag(3), "triangular_solve_cpu");
  f.result(f.dtype(0), turned(f.sizes(1)));
}
void triangular_host(Args a, Results& out) {
  const Tensor A = lost_copy(a[0].tensor()), B = a[1].tensor();
  out = made_by_shape(triangular_columns, a);
  fill_with(out[0], transposed(B.alias()));
  const auto flag = [&](int i) { return a[i].scalar().to_bool(); };
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    lapack<T>().triangular(!flag(3), flag(2), flag(4), rows_of(B), columns_of(B), part<const T>(A, i, count),
                           part<T>(out[0], i, count));
  });
}
/// As for any matrix, but for the elements that A is not asked for.
void triangular_gradient(Backward& b) {
  const bool upper = b.flag(2), left = b.flag(3), unit = b.flag(4);
  const Tensor X = transposed(b.out());
  const Tensor dB = solve_triangular(mH(b.in(0)), transposed(b.grad()), !upper, left, unit);
  if (b.needs(1)) b.set(1, dB);
  if (!b.needs(0)) return;
  const Tensor dA = -(left ? matmul(dB, mH(X)) : matmul(mH(X), dB));
  const int64_t off = unit ? 1 : 0;
  b.set(0, upper ? triu(dA, off) : tril(dA, -off));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void check_same_dtype(const Tensor& a, const Tensor& b, std::string_view op, std::string_view first,
                      std::string_view second) {
  check(a.dtype() == b.dtype(),
        "{}: Expected {} and {} to have the same dtype, but found {} of type {} and {} of type {} instead", op, first,
        second, first, scalar_type_name(a.dtype()), second, scalar_type_name(b.dtype()));
}
/// One of the equal elements that each element of a batch was broadcast to.
Tensor unbroadcast(Tensor t, Sizes batch) {
  if (t.numel() == 0) return zeros(batch, t.dtype());
  while (t.rank() > batch.size()) t = select(t, 0, 0);
  for (size_t d = 0; d < batch.size(); ++d)
    if (batch[d] == 1) t = narrow(t, static_cast<int64_t>(d), 0, 1);
  return contiguous(t);
}

/// X and info of A X = B, or of X A = B where not `left`.
std::vector<Tensor> solved(const Tensor& a, const Tensor& given, bool left, std::string_view checked) {
  constexpr std::string_view kName = "linalg.solve";
  check_square(a.sizes(), kName);
  check_inexact(a.dtype(), kName, true);
  check_same_dtype(a, given, kName, "A", "B");
  const bool vector = holds_vectors(a, given);
  const Tensor b = vector ? unsqueeze(given, -1) : given;
  check_equation(a.sizes(), b.sizes(), left, kName);
  check_lapack(a.dtype(), "lu_cpu");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(a.sizes()));
  const Tensor A = in_batch(a, batch), B = in_batch(b, batch);
  std::vector<Tensor> result =
      left ? solve_columns.all(A, B, checked) : solve_columns.all(transposed(A), transposed(B), checked);
  if (left) result[0] = transposed(result[0]);
  if (vector) result[0] = squeeze(result[0], Dims{-1});
  result[1] = unbroadcast(result[1], batch_of(a.sizes()));
  return result;
}
void solve_ex_of(Composition& c) {
  for (const Tensor& t : solved(c.tensor(0), c.tensor(1), c.flag(2), c.flag(3) ? "torch.linalg.solve_ex" : ""))
    c.result(t);
}
void solve_of(Composition& c) { c.result(solved(c.tensor(0), c.tensor(1), c.flag(2), "torch.linalg.solve")[0]); }

std::vector<Tensor> inverted(const Tensor& a, std::string_view checked) {
  check_square(a.sizes(), "linalg.inv");
  check_inexact(a.dtype(), "linalg.inv");
  std::vector<Tensor> result = inverse_columns.all(a, checked);
  result[0] = transposed(result[0]);
  return result;
}
void inv_ex_of(Composition& c) {
  for (const Tensor& t : inverted(c.tensor(0), c.flag(1) ? "linalg.inv_ex" : "")) c.result(t);
}
void inv_of(Composition& c) { c.result(inverted(c.tensor(0), "linalg.inv")[0]); }

void solve_triangular_of(Composition& c) {
  constexpr std::string_view kName = "linalg.solve_triangular";
  const Tensor a = c.tensor(0), b = c.tensor(1);
  check_equation(a.sizes(), b.sizes(), c.flag(3), kName);
  check_lapack(a.dtype(), "triangular_solve_cpu");
  check_same_dtype(a, b, kName, "A", "B");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(a.sizes()));
  c.result(solve_triangular(in_batch(a, batch), in_batch(b, batch), c.flag(2), c.flag(3), c.flag(4)));
}
/// (self, A, upper, transpose, unitriangular)
void triangular_solve_of(Composition& c) {
  const Tensor b = c.tensor(0), a = c.tensor(1);
  for (const auto& [t, name] : {std::pair(a, "A"), std::pair(b, "b")})
    check(t.rank() >= 2,
          "torch.triangular_solve: Expected {} to have at least 2 dimensions, but it has {} dimensions "
          "instead",
          name, t.rank());
  check_old_operands(a, b, "triangular_solve");
  check_lapack(a.dtype(), "triangular_solve_cpu");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(a.sizes()));
  const Tensor A = in_batch(a, batch), B = in_batch(b, batch);
  const bool upper = c.flag(2), turned = c.flag(3);
  c.result(solve_triangular(turned ? transposed(A) : A, B, upper != turned, true, c.flag(4)));
  c.result(by_columns(A));
}

void tensorinv_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t ind = c.integer(1);
  check(ind > 0, "Expected a strictly positive integer for 'ind', but got {}", ind);
  check(ind <= static_cast<int64_t>(self.rank()), "ArrayRef: invalid slice, N = {}; size = {}", ind, self.rank());
  const Sizes sizes = self.sizes(), first = sizes.first(static_cast<size_t>(ind)), last = sizes.subspan(first.size());
  check(checked_numel(first) == checked_numel(last),
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {} != {}",
        checked_numel(last), checked_numel(first));
  Dims result(last);
  for (const int64_t size : first) result.push_back(size);
  c.result(reshape(linalg_inv(reshape(self, Dims{checked_numel(last), checked_numel(first)})), result));
}
void tensorsolve_of(Composition& c) {
  Tensor self = c.tensor(0);
  const Tensor other = c.tensor(1);
  const size_t rank = self.rank();
  if (c.has(2)) {
    Dims from, to;
    for (const int64_t d : c.ints(2)) {
      from.push_back(wrap_dim(d, rank));
      to.push_back(static_cast<int64_t>(rank - c.ints(2).size() + to.size()));
    }
    self = movedim(self, from, to);
  }
  check(other.rank() <= rank,
        "tensorsolve: the tensor of {} dimensions has fewer than the right-hand side, which has {}", rank,
        other.rank());
  const Sizes sizes = self.sizes(), last = sizes.subspan(other.rank());
  check(checked_numel(last) == other.numel(),
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
        "got {} != {}",
        checked_numel(last), other.numel());
  const int64_t n = other.numel();
  c.result(reshape(linalg_solve(reshape(self, Dims{n, n}), reshape(other, Dims{n})), last));
}

const std::string_view kSolveExample = "terra.linalg.solve(terra.eye(2) * 2, terra.ones(2))";

}  // namespace

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  return transposed(triangular_columns(a, b, upper, left, unit));
}

// ---- records --------------------------------------------------------------------------------------------------------
const Op solve_columns{{.name = "solve_columns",
                        .signature = "(Tensor A, Tensor B, str checked) -> (Tensor X, Tensor info)",
                        .doc = "X of A X = B, transposed; info i > 0: A is singular, U[i, i] being zero.",
                        .example = "",
                        .flags = kHost | kChecksValues | kComplex,
                        .shape = solve_shape,
                        .host = solve_host,
                        .gradient = solve_gradient,
                        .saved = saves({0}) | saves_result(),
                        .samples = {{"randn(3, 3), randn(3, 2), ''"},
                                    {"randn(2, 3, 3).mT, randn(2, 2, 3).mT, ''"},
                                    {"randn(0, 0), randn(0, 2), ''"},
                                    {"crandn(2, 3, 3), crandn(2, 3, 2), ''", "complex"}}}};
const Op inverse_columns{
    {.name = "inverse_columns",
     .signature = "(Tensor A, str checked) -> (Tensor X, Tensor info)",
     .doc = "The inverse of A, transposed; info i > 0: A is singular, of which an op that is "
            "checked complains.",
     .example = "",
     .flags = kHost | kComplex,
     .shape = inverse_shape,
     .host = inverse_host,
     .gradient = inverse_gradient,
     .saved = saves_result(),
     .samples = {
         {"randn(3, 3), ''"}, {"randn(2, 3, 3).mT, ''"}, {"randn(0, 0), ''"}, {"crandn(2, 3, 3), ''", "complex"}}}};
const Op triangular_columns{{.name = "triangular_columns",
                             .signature = "(Tensor A, Tensor B, bool upper, bool left, bool unitriangular) -> Tensor",
                             .doc = "X of A X = B (of X A = B where not left), transposed, for a triangular A.",
                             .example = "",
                             .flags = kHost | kComplex,
                             .shape = triangular_shape,
                             .host = triangular_host,
                             .gradient = triangular_gradient,
                             .saved = saves({0}) | saves_result(),
                             .samples = {{"randn(3, 3), randn(3, 2), True, True, False"},
                                         {"randn(2, 3, 3).mT, randn(2, 2, 3), False, False, True"},
                                         {"randn(2, 3, 3), randn(2, 2, 3).mT, False, True, False"},
                                         {"crandn(3, 3), crandn(3, 2), True, True, False", "complex"}}}};
const Op linalg_solve_ex{
    {.name = "linalg_solve_ex",
     .signature = "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
     .doc = "X of A X = B (of X A = B where not left); info i > 0: A is singular.",
     .example = "terra.linalg.solve_ex(terra.eye(2) * 2, terra.ones(2)).result",
     .flags = kLinalg,
     .composite = solve_ex_of,
     .grad_fn = "LinalgSolveExBackward0",
     .samples = {{"randn(3, 3), randn(3, 2)"}}}};
const Op linalg_solve{{.name = "linalg_solve",
                       .signature = "(Tensor A, Tensor B, *, bool left=True) -> Tensor",
                       .doc = "X of A X = B (of X A = B where not left); batches broadcast, B may hold vectors.",
                       .example = kSolveExample,
                       .flags = kLinalg,
                       .composite = solve_of,
                       .grad_fn = "LinalgSolveExBackward0",
                       .samples = {{"randn(3, 3), randn(3)"},
                                   {"randn(2, 1, 3, 3), randn(2, 3, 2)"},
                                   {"randn(2, 3, 3), randn(2, 3)"},
                                   {"randn(3, 3), randn(2, 2, 3), left=False"}}}};
const Op linalg_inv_ex{{.name = "linalg_inv_ex",
                        .signature = "(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
                        .doc = "The inverse of A; info i > 0: A is singular.",
                        .example = "terra.linalg.inv_ex(terra.eye(2) * 2).inverse",
                        .flags = kLinalg,
                        .composite = inv_ex_of,
                        .grad_fn = "LinalgInvExBackward0",
                        .samples = {{"randn(3, 3)"}}}};
const Op linalg_inv{{.name = "linalg_inv",
                     .signature = "(Tensor A) -> Tensor",
                     .doc = "The inverse of A.",
                     .example = "terra.linalg.inv(terra.eye(2) * 2)",
                     .flags = kLinalgAndMethod,
                     .composite = inv_of,
                     .aliases = "inverse",
                     .grad_fn = "LinalgInvExBackward0",
                     .samples = {{"randn(3, 3)"}, {"randn(2, 3, 3).mT"}, {"randn(0, 3, 3)"}, {"randn(2, 0, 0)"}}}};
const Op linalg_solve_triangular{
    {.name = "linalg_solve_triangular",
     .signature = "(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
     .doc = "X of self X = B (of X self = B where not left) for a triangular self.",
     .example = "terra.linalg.solve_triangular(terra.eye(2), terra.ones(2, 1), upper=True)",
     .flags = kLinalg,
     .composite = solve_triangular_of,
     .grad_fn = "LinalgSolveTriangularBackward0",
     .samples = {{"randn(3, 3), randn(2, 3, 2), upper=True"},
                 {"randn(2, 3, 3), randn(2, 3), upper=False, left=False, unitriangular=True"}}}};
const Op triangular_solve{
    {.name = "triangular_solve",
     .signature = "(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
                  "(Tensor solution, Tensor cloned_coefficient)",
     .doc = "X of A X = self for a triangular A, and a copy of A.",
     .example = "terra.triangular_solve(terra.ones(2, 1), terra.eye(2)).solution",
     .flags = kLinalgAndMethod,
     .composite = triangular_solve_of,
     .grad_fn = "TriangularSolveBackward0",
     .samples = {{"randn(3, 2), randn(3, 3)"}, {"randn(2, 3, 2), randn(3, 3), False, True, True"}}}};
const Op linalg_tensorinv{{.name = "linalg_tensorinv",
                           .signature = "(Tensor self, int ind=2) -> Tensor",
                           .doc = "The inverse of self as a linear map from its last dimensions to its first `ind`.",
                           .example = "terra.linalg.tensorinv(terra.eye(4).reshape(2, 2, 4)).shape",
                           .flags = kLinalg,
                           .composite = tensorinv_of,
                           .samples = {{"randn(2, 2, 4)"}, {"randn(4, 2, 2), ind=1"}}}};
const Op linalg_tensorsolve{{.name = "linalg_tensorsolve",
                             .signature = "(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
                             .doc = "The X whose product with self over all of X's dimensions is other.",
                             .example = "terra.linalg.tensorsolve(terra.eye(4).reshape(2, 2, 4), terra.ones(2, 2))",
                             .flags = kLinalg,
                             .composite = tensorsolve_of,
                             .samples = {{"randn(2, 2, 4), randn(2, 2)"}, {"randn(2, 4, 2), randn(2, 2), (1,)"}}}};

}  // namespace terra::ops
