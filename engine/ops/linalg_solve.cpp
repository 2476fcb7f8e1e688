#include <algorithm>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "kernels/cpu/linear_algebra.h"

namespace terra::ops {
namespace {

using Args = std::span<const Arg>;
using Results = std::vector<Tensor>;

/// For the primitives: operands of one dtype and batch, in an equation that fits.
void check_operands(Inference& f, bool left, std::string_view kernel) {
  check_equation(f.sizes(0), f.sizes(1), left, f.op.name);
  check(f.dtype(0) == f.dtype(1) && Dims(batch_of(f.sizes(0))) == Dims(batch_of(f.sizes(1))),
        "{}: A and B must be of one dtype and batch, but got {} {} and {} {}", f.op.name, scalar_type_name(f.dtype(0)),
        to_string(f.sizes(0)), scalar_type_name(f.dtype(1)), to_string(f.sizes(1)));
  check_lapack(f.dtype(0), kernel);
}

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
        cpu::linalg::solve(rows_of(B), columns_of(B), part<T>(lu, i, count), part<T>(out[0], i, count));
  });
  check_info(out[1], a[2].text(), A.rank() > 2);
}
/// X = A^-1 B: dB = A^-T dX, dA = -dB X^T.
void solve_gradient(Backward& b) {
  const Tensor A = b.in(0), X = transposed(b.out());
  const Tensor dB = transposed(solve_columns(transposed(A), transposed(b.grad()), ""));
  if (b.needs(0)) b.set(0, -matmul(dB, transposed(X)));
  if (b.needs(1)) b.set(1, dB);
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
    cpu::linalg::triangular(!flag(3), flag(2), flag(4), rows_of(B), columns_of(B), part<const T>(A, i, count),
                            part<T>(out[0], i, count));
  });
}
/// As for any matrix, but for the elements that A is not asked for.
void triangular_gradient(Backward& b) {
  const bool upper = b.flag(2), left = b.flag(3), unit = b.flag(4);
  const Tensor X = transposed(b.out());
  const Tensor dB = solve_triangular(transposed(b.in(0)), transposed(b.grad()), !upper, left, unit);
  if (b.needs(1)) b.set(1, dB);
  if (!b.needs(0)) return;
  const Tensor dA = -(left ? matmul(dB, transposed(X)) : matmul(transposed(X), dB));
  const int64_t off = unit ? 1 : 0;
  b.set(0, upper ? triu(dA, off) : tril(dA, -off));
}

// ---- least squares --------------------------------------------------------------------------------------------------
void least_squares_shape(Inference& f) {
  check_matrices(f.sizes(0), f.op.name);
  check_matrices(f.sizes(1), f.op.name, "B");
  const Sizes a = f.sizes(0), b = f.sizes(1);
  const int64_t m = a[a.size() - 2], n = a.back();
  check(f.dtype(0) == f.dtype(1) && Dims(batch_of(a)) == Dims(batch_of(b)) && b[b.size() - 2] == m,
        "{}: A and B must be of one dtype, batch and number of rows, but got {} {} and {} {}", f.op.name,
        scalar_type_name(f.dtype(0)), to_string(a), scalar_type_name(f.dtype(1)), to_string(b));
  check_lapack(f.dtype(0), "linalg_lstsq_cpu");
  f.result(f.dtype(0), with(batch_of(a), {b.back(), std::max(m, n)}));
  f.result(DType::I64, Dims(batch_of(a)));
  f.result(f.dtype(0), with(batch_of(a), {std::min(m, n)}));
}
void least_squares_host(Args a, Results& out) {
  const Tensor A = a[0].tensor(), B = a[1].tensor();
  out = made_by_shape(least_squares_columns, a);
  const Tensor lost = lost_copy(A);
  fill_with(out[0], zeros(out[0].sizes(), A.dtype()));
  fill_with(narrow(out[0], -1, 0, A.size(-2)), transposed(B.alias()));
  fill_with(out[2], zeros(out[2].sizes(), A.dtype()));
  const Tensor info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    int rank = 0;
    part<int32_t>(info, i, count)[0] = cpu::linalg::least_squares(
        a[3].text(), rows_of(A), columns_of(A), columns_of(B), static_cast<T>(a[2].scalar().to_double()),
        part<T>(lost, i, count), part<T>(out[0], i, count), rank, part<T>(out[2], i, count));
    part<int64_t>(out[1], i, count)[0] = rank;
  });
  check_info(info, "torch.linalg.lstsq", A.rank() > 2);
}
/// By that of the inverse of what can be inverted in A.
void least_squares_gradient(Backward& b) {
  const Tensor A = b.in(0), B = b.in(1), dX = transposed(columns(b.grad(), 0, A.size(-1)));
  const Tensor inverse = linalg_pinv(A);
  if (b.needs(0)) b.set(0, pinv_pullback(A, inverse, matmul(dX, transposed(B))));
  if (b.needs(1)) b.set(1, matmul(transposed(inverse), dX));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void check_same_dtype(const Tensor& a, const Tensor& b, std::string_view op, std::string_view first,
                      std::string_view second) {
  check(a.dtype() == b.dtype(),
        "{}: Expected {} and {} to have the same dtype, but found {} of type {} and {} of type {} instead", op, first,
        second, first, scalar_type_name(a.dtype()), second, scalar_type_name(b.dtype()));
}
/// Whether b holds vectors, one for each matrix of a.
bool holds_vectors(const Tensor& a, const Tensor& b) {
  return b.rank() == 1 || (b.rank() + 1 == a.rank() && b.sizes() == Dims(Sizes(a.sizes()).first(a.rank() - 1)));
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
  check_real(a.dtype(), kName, true);
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
  check_real(a.dtype(), "linalg.inv");
  std::vector<Tensor> result = solve_columns.all(a, identity(batch_of(a.sizes()), a.size(-1), a.dtype()), checked);
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
  check(b.dtype() == a.dtype(),
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.",
        scalar_type_name(b.dtype()), scalar_type_name(a.dtype()));
  check(a.size(-1) == a.size(-2), "A must be batches of square matrices, but they are {} by {} matrices", a.size(-2),
        a.size(-1));
  check(a.size(-2) == b.size(-2),
        "Incompatible matrix sizes for triangular_solve: each A matrix is {} by {} but each b matrix is {} by {}",
        a.size(-1), a.size(-1), b.size(-2), b.size(-1));
  check_lapack(a.dtype(), "triangular_solve_cpu");
  const Dims batch = broadcast_sizes(batch_of(b.sizes()), batch_of(a.sizes()));
  const Tensor A = in_batch(a, batch), B = in_batch(b, batch);
  const bool upper = c.flag(2), turned = c.flag(3);
  c.result(solve_triangular(turned ? transposed(A) : A, B, upper != turned, true, c.flag(4)));
  c.result(by_columns(A));
}

/// (self, b, rcond, driver)
void lstsq_of(Composition& c) {
  constexpr std::string_view kName = "torch.linalg.lstsq";
  const Tensor a = c.tensor(0), given = c.tensor(1);
  check(a.rank() >= 2, "{}: input must have at least 2 dimensions.", kName);
  check(given.rank() >= 1, "{}: other must have at least 1 dimension.", kName);
  check(a.dtype() == given.dtype(),
        "{}: Expected input and other to have the same dtype, but got input's dtype {} and other's dtype {}", kName,
        scalar_type_name(a.dtype()), scalar_type_name(given.dtype()));
  const bool vector = holds_vectors(a, given);
  const Tensor b = vector ? unsqueeze(given, -1) : given;
  check(a.size(-2) == b.size(-2), "{}: input.size(-2) should match other.size(-2)", kName);
  const std::string_view driver = c.has(3) ? c.text(3) : "gelsy";
  check(driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss",
        "{}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)", kName);
  check(a.dtype() == DType::F32 || a.dtype() == DType::F64,
        "This function doesn't handle types other than float and double");
  const Dims batch = broadcast_sizes(batch_of(a.sizes()), batch_of(b.sizes()));
  const Tensor A = in_batch(a, batch), B = in_batch(b, batch);
  const int64_t m = A.size(-2), n = A.size(-1);
  const double epsilon =
      a.dtype() == DType::F32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double rcond = c.has(2) ? c.real(2) : epsilon * static_cast<double>(std::max(m, n));
  const auto found = least_squares_columns.all(A, B, rcond, driver);
  const Tensor X = rows(transposed(found[0]), 0, n), nothing = zeros(Dims{0}, a.dtype());
  const bool has_rank = driver != "gels", has_values = driver == "gelsd" || driver == "gelss";
  // What is left over is told where no rows are missing: only a look at the ranks shows it.
  bool leaves = m > n && driver != "gelsy";
  if (leaves && has_rank && found[1].numel() > 0) leaves = known_integer(amin(found[1])) == n;
  const Tensor misses = leaves ? matmul(A, X) - B : Tensor();
  c.result(vector ? squeeze(X, Dims{-1}) : X);
  c.result(leaves ? sum(misses * misses, Dims{-2}) : nothing);
  c.result(has_rank ? found[1] : zeros(Dims{0}, DType::I64));
  c.result(has_values ? found[2] : nothing);
}

int64_t product(Sizes sizes) { return checked_numel(sizes); }

void tensorinv_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t ind = c.integer(1);
  check(ind > 0, "Expected a strictly positive integer for 'ind', but got {}", ind);
  check(ind <= static_cast<int64_t>(self.rank()), "ArrayRef: invalid slice, N = {}; size = {}", ind, self.rank());
  const Sizes sizes = self.sizes(), first = sizes.first(static_cast<size_t>(ind)), last = sizes.subspan(first.size());
  check(product(first) == product(last),
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {} != {}",
        product(last), product(first));
  Dims result(last);
  for (const int64_t size : first) result.push_back(size);
  c.result(reshape(linalg_inv(reshape(self, Dims{product(last), product(first)})), result));
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
  check(product(last) == other.numel(),
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
        "got {} != {}",
        product(last), other.numel());
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
                        .flags = kHost | kChecksValues,
                        .shape = solve_shape,
                        .host = solve_host,
                        .gradient = solve_gradient,
                        .saved = saves({0}) | saves_result(),
                        .samples = {{"randn(3, 3), randn(3, 2), ''"},
                                    {"randn(2, 3, 3).mT, randn(2, 2, 3).mT, ''"},
                                    {"randn(0, 0), randn(0, 2), ''"}}}};
const Op triangular_columns{{.name = "triangular_columns",
                             .signature = "(Tensor A, Tensor B, bool upper, bool left, bool unitriangular) -> Tensor",
                             .doc = "X of A X = B (of X A = B where not left), transposed, for a triangular A.",
                             .example = "",
                             .flags = kHost,
                             .shape = triangular_shape,
                             .host = triangular_host,
                             .gradient = triangular_gradient,
                             .saved = saves({0}) | saves_result(),
                             .samples = {{"randn(3, 3), randn(3, 2), True, True, False"},
                                         {"randn(2, 3, 3).mT, randn(2, 2, 3), False, False, True"},
                                         {"randn(2, 3, 3), randn(2, 2, 3).mT, False, True, False"}}}};
const Op least_squares_columns{
    {.name = "least_squares_columns",
     .signature = "(Tensor A, Tensor B, float rcond, str driver) -> (Tensor X, Tensor rank, Tensor singular_values)",
     .doc = "The X with the smallest |A X - B|, transposed, by a routine of LAPACK; it may leave more behind X.",
     .example = "",
     .flags = kHost | kChecksValues,
     .shape = least_squares_shape,
     .host = least_squares_host,
     .gradient = least_squares_gradient,
     .saved = saves({0, 1}),
     .samples = {{"randn(4, 3), randn(4, 2), 1e-6, 'gels'", "float", false},
                 {"randn(4, 3), randn(4, 2), 1e-6, 'gelsd'", "float", false},
                 {"randn(2, 3, 4), randn(2, 3, 1), 1e-6, 'gelsy'"}}}};
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
const Op linalg_lstsq{{.name = "linalg_lstsq",
                       .signature = "(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
                                    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
                       .doc = "The X with the smallest |self X - b|.",
                       .example = "terra.linalg.lstsq(terra.eye(2), terra.ones(2, 1)).solution",
                       .flags = kLinalg,
                       .composite = lstsq_of,
                       .grad_fn = "LinalgLstsqBackward0",
                       .samples = {{"randn(4, 3), randn(4, 2)"},
                                   {"randn(4, 3), randn(4, 2), driver='gels'"},
                                   {"randn(2, 4, 3), randn(2, 4), driver='gelsd'", "float", false},
                                   {"randn(2, 3, 4), randn(2, 3, 1), driver='gelss'", "float", false}}}};
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
