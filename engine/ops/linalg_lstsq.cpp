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

namespace terra::ops {
namespace {

void least_squares_shape(Inference& f) {
  check_matrices(f.sizes(0), f.op.name);
  check_matrices(f.sizes(1), f.op.name, "B");
  const Sizes a = f.sizes(0), b = f.sizes(1);
  const int64_t m = a[a.size() - 2], n = a.back();
  check(f.dtype(0) == f.dtype(1) && Dims(batch_of(a)) == Dims(batch_of(b)) && b[b.size() - 2] == m,
        "{}: A and B must be of one dtype, batch and number of rows, but got {} {} and {} {}", f.op.name,
        scalar_type_name(f.dtype(0)), listed(a), scalar_type_name(f.dtype(1)), listed(b));
  check_lapack(f.dtype(0), "linalg_lstsq_cpu");
  f.result(f.dtype(0), with(batch_of(a), {b.back(), std::max(m, n)}));
  f.result(DType::I64, Dims(batch_of(a)));
  f.result(real_dtype_of(f.dtype(0)), with(batch_of(a), {std::min(m, n)}));
}
void least_squares_host(Args a, Results& out) {
  const Tensor A = a[0].tensor(), B = a[1].tensor();
  out = made_by_shape(least_squares_columns, a);
  const Tensor lost = lost_copy(A);
  fill_with(out[0], zeros(out[0].sizes(), A.dtype()));
  fill_with(narrow(out[0], -1, 0, A.size(-2)), transposed(B.alias()));
  fill_with(out[2], zeros(out[2].sizes(), out[2].dtype()));
  const Tensor info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    int rank = 0;
    part<int32_t>(info, i, count)[0] = lapack<T>().least_squares(
        a[3].text(), rows_of(A), columns_of(A), columns_of(B), static_cast<Real<T>>(a[2].scalar().to_double()),
        part<T>(lost, i, count), part<T>(out[0], i, count), rank, part<Real<T>>(out[2], i, count));
    part<int64_t>(out[1], i, count)[0] = rank;
  });
  check_info(info, "torch.linalg.lstsq", A.rank() > 2);
}
/// By that of the inverse of what can be inverted in A.
void least_squares_gradient(Backward& b) {
  const Tensor A = b.in(0), B = b.in(1), dX = transposed(columns(b.grad(), 0, A.size(-1)));
  const Tensor inverse = linalg_pinv(A);
  if (b.needs(0)) b.set(0, pinv_pullback(A, inverse, matmul(dX, mH(B))));
  if (b.needs(1)) b.set(1, matmul(mH(inverse), dX));
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
  check(a.rank() >= given.rank() && a.rank() - given.rank() <= 1,
        "{}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1", kName);
  const bool vector = holds_vectors(a, given);
  const Tensor b = vector ? unsqueeze(given, -1) : given;
  check(a.size(-2) == b.size(-2), "{}: input.size(-2) should match other.size(-2)", kName);
  const std::string_view driver = c.has(3) ? c.text(3) : "gelsy";
  check(driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss",
        "{}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)", kName);
  check(is_inexact(a.dtype()) && !is_half(a.dtype()), "This function doesn't handle types other than float and double");
  const Dims batch = broadcast_sizes(batch_of(a.sizes()), batch_of(b.sizes()));
  const Tensor A = in_batch(a, batch), B = in_batch(b, batch);
  const int64_t m = A.size(-2), n = A.size(-1);
  const double rcond = c.has(2) ? c.real(2) : epsilon_of(a.dtype()) * static_cast<double>(std::max(m, n));
  const auto found = least_squares_columns.all(A, B, rcond, driver);
  const Tensor X = rows(transposed(found[0]), 0, n), nothing = zeros(Dims{0}, real_dtype_of(a.dtype()));
  const bool has_rank = driver != "gels", has_values = driver == "gelsd" || driver == "gelss";
  const auto by_matrix = [&](Tensor found) {  // those of `a` before they were expanded
    for (size_t d = 0; d < batch.size(); ++d)
      if (a.size(static_cast<int64_t>(d)) == 1 && batch[d] != 1) found = narrow(found, static_cast<int64_t>(d), 0, 1);
    return found;
  };
  // What is left over is told where no rows are missing: only a look at the ranks shows it.
  bool leaves = m > n && driver != "gelsy";
  if (leaves && has_rank && found[1].numel() > 0) leaves = known_integer(amin(found[1])) == n;
  const Tensor misses = leaves ? matmul(A, X) - B : Tensor();
  c.result(vector ? squeeze(X, Dims{-1}) : X);
  c.result(leaves ? sum(squared_length(misses), Dims{-2}) : clone(narrow(reshape(X, {-1}), 0, 0, 0)));
  c.result(has_rank ? by_matrix(found[1]) : zeros(Dims{0}, DType::I64));
  c.result(has_values ? by_matrix(detach(found[2])) : nothing);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op least_squares_columns{
    {.name = "least_squares_columns",
     .signature = "(Tensor A, Tensor B, float rcond, str driver) -> (Tensor X, Tensor rank, Tensor singular_values)",
     .doc = "The X with the smallest |A X - B|, transposed, by a routine of LAPACK; it may leave more behind X.",
     .example = "",
     .flags = kHost | kChecksValues | kComplex,
     .shape = least_squares_shape,
     .host = least_squares_host,
     .gradient = least_squares_gradient,
     .saved = saves({0, 1}),
     .samples = {{"randn(4, 3), randn(4, 2), 1e-6, 'gels'", "float", false},
                 {"randn(4, 3), randn(4, 2), 1e-6, 'gelsd'", "float", false},
                 {"randn(2, 3, 4), randn(2, 3, 1), 1e-6, 'gelsy'"}}}};
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

}  // namespace terra::ops
