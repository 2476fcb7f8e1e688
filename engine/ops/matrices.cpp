#include "engine/ops/matrices.h"

#include <climits>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/inference.h"
#include "engine/ops/reduce.h"
#include "engine/ops/select.h"
#include "engine/tensor/transfer.h"

namespace terra::ops {
namespace {

/// What a positive `info` means for functions whose name contains a word; {} is the number.
struct Failure {
  std::string_view word;
  ErrorKind kind;
  std::string_view sentence;
};
constexpr Failure kFailures[] = {
    {"inv", ErrorKind::LinAlgError,
     "The diagonal element {0} is zero, the inversion could not be completed because the input matrix is singular."},
    {"linalg.solve", ErrorKind::LinAlgError, "The solver failed because the input matrix is singular."},
    {"cholesky", ErrorKind::LinAlgError,
     "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
     "{0} is not positive-definite)."},
    {"lu_factor", ErrorKind::RuntimeError,
     "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
     "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"},
    {"svd", ErrorKind::LinAlgError,
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular "
     "values (error code: {0})."},
    {"eig", ErrorKind::LinAlgError,
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
     "eigenvalues (error code: {0})."},
    {"lstsq", ErrorKind::LinAlgError,
     "The least squares solution could not be computed because the input matrix does not have full rank (error code: "
     "{0})."},
    {"ldl_factor", ErrorKind::RuntimeError,
     "D[{0},{0}] is zero and using it on ldl_solve would result in a division by zero."},
};
constexpr std::string_view kNotFinite =
    "The algorithm failed to converge because the input matrix contained non-finite values.";

}  // namespace

void check_matrices(Sizes sizes, std::string_view op, std::string_view operand) {
  check(sizes.size() >= 2, "{}: The input tensor {} must have at least 2 dimensions.", op, operand);
  for (const int64_t size : sizes.last(2))
    check(size <= INT_MAX, "{}: a matrix with a dimension above {} is not supported, but got the sizes {}", op, INT_MAX,
          listed(sizes));
}

void check_square(Sizes sizes, std::string_view op, std::string_view operand) {
  check_matrices(sizes, op, operand);
  const int64_t m = sizes[sizes.size() - 2], n = sizes[sizes.size() - 1];
  check(m == n, "{}: {} must be batches of square matrices, but they are {} by {} matrices", op, operand, m, n);
}

void check_inexact(DType dtype, std::string_view op, bool halves) {
  check_kind(is_inexact(dtype), ErrorKind::NotImplementedError,
             "{}: Expected a floating point or complex tensor as input. Got {}", op, scalar_type_name(dtype));
  check_kind(halves || !is_half(dtype), ErrorKind::NotImplementedError,
             "{}: Low precision dtypes not supported. Got {}", op, scalar_type_name(dtype));
}

void check_lapack(DType dtype, std::string_view kernel) {
  check_kind(is_inexact(dtype) && !is_half(dtype), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'",
             kernel, scalar_type_name(dtype));
}

void check_equation(Sizes a, Sizes b, bool left, std::string_view op) {
  check_square(a, op);
  check_matrices(b, op, "B");
  const size_t m = b.size() - 2;
  check(a.back() == b[left ? m : m + 1], "{}: Incompatible shapes of A and B for the equation {} = B ({}x{} and {}x{})",
        op, left ? "AX" : "XA", a.back(), a.back(), b[m], b[m + 1]);
}

void check_operands(Inference& f, bool left, std::string_view kernel) {
  check_equation(f.sizes(0), f.sizes(1), left, f.op.name);
  check(f.dtype(0) == f.dtype(1) && Dims(batch_of(f.sizes(0))) == Dims(batch_of(f.sizes(1))),
        "{}: A and B must be of one dtype and batch, but got {} {} and {} {}", f.op.name, scalar_type_name(f.dtype(0)),
        listed(f.sizes(0)), scalar_type_name(f.dtype(1)), listed(f.sizes(1)));
  check_lapack(f.dtype(0), kernel);
}

void check_old_operands(const Tensor& a, const Tensor& b, std::string_view op) {
  check(b.dtype() == a.dtype(),
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.",
        scalar_type_name(b.dtype()), scalar_type_name(a.dtype()));
  const int64_t m = a.size(-2), n = a.size(-1);
  check(m == n, "A must be batches of square matrices, but they are {} by {} matrices", m, n);
  check(n == b.size(-2), "Incompatible matrix sizes for {}: each A matrix is {} by {} but each b matrix is {} by {}",
        op, n, n, b.size(-2), b.size(-1));
}

bool holds_vectors(const Tensor& a, const Tensor& b) {
  return b.rank() == 1 || (b.rank() + 1 == a.rank() && b.sizes() == Dims(Sizes(a.sizes()).first(a.rank() - 1)));
}

Dims with(Sizes batch, std::initializer_list<int64_t> last) {
  Dims sizes(batch);
  for (const int64_t size : last) sizes.push_back(size);
  return sizes;
}

Dims turned(Sizes sizes) { return with(batch_of(sizes), {sizes.back(), sizes[sizes.size() - 2]}); }

Tensor in_batch(const Tensor& t, Sizes batch) {
  const Dims sizes = with(batch, {t.size(-2), t.size(-1)});
  return sizes == t.sizes() ? t : expand(t, sizes);
}

Tensor by_columns(const Tensor& t) { return transposed(clone(transposed(t), "contiguous_format")); }

Tensor identity(Sizes batch, int64_t n, DType dtype) { return expand(eye(n, Arg(), dtype), with(batch, {n, n})); }

Tensor squared_length(const Tensor& t) {
  if (!is_complex(t.dtype())) return t * t;
  const Tensor parts = view_as_real(t);
  return sum(parts * parts, Dims{-1});
}

double epsilon_of(DType dtype) {
  return real_dtype_of(dtype) == DType::F64 ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
}

Tensor hermitian_from(const Tensor& triangle) {
  return where(on_diagonal(triangle.size(-1)), 0.5, 1.0) * (triangle + mH(triangle));
}

Tensor on_diagonal(int64_t n) {
  const Tensor places = arange_to(n);
  return eq(unsqueeze(places, 0), unsqueeze(places, 1));
}

Tensor off_diagonal(const Tensor& t) { return is_complex(t.dtype()) ? where(on_diagonal(t.size(-1)), 0.0, t) : t; }

Tensor differences(const Tensor& values) {
  const Tensor apart = unsqueeze(values, -2) - unsqueeze(values, -1);
  return where(on_diagonal(values.size(-1)), 1.0, apart);
}

Tensor columns(const Tensor& t, int64_t first, int64_t end) {
  return first == 0 && end == t.size(-1) ? t : narrow(t, -1, first, end - first);
}

Tensor rows(const Tensor& t, int64_t first, int64_t end) {
  return first == 0 && end == t.size(-2) ? t : narrow(t, -2, first, end - first);
}

std::vector<Tensor> made_by_shape(const Op& op, std::span<const Arg> args) {
  libraries().linear_algebra.start();
  std::vector<ResultMeta> metas;
  Inference inference(op, args, DType::F32, metas);
  op.shape(inference);
  std::vector<Tensor> made;
  for (const ResultMeta& m : metas) made.push_back(Tensor::empty(m.sizes, m.dtype));
  return made;
}

void fill_with(const Tensor& to, const Tensor& from) {
  const GradMode off(false);
  // Nobody has seen `to` yet: this is no write that counts as one.
  copy.in_place(Tensor::view_of(Storage::apart(to->storage), to.dtype(), to.sizes(), to.strides(), to->offset),
                from.alias());
}

Tensor lost_copy(const Tensor& t) {
  Tensor copy = Tensor::empty(turned(t.sizes()), t.dtype());
  fill_with(copy, transposed(t.alias()));
  return copy;
}

int64_t count_of(Sizes sizes) { return checked_numel(batch_of(sizes)); }

/// Some operations for each element of a row and a column, and a call.
int64_t grain_of(Sizes sizes) {
  const double m = static_cast<double>(sizes[sizes.size() - 2]), n = static_cast<double>(sizes.back());
  return cpu::grain_for_cost(static_cast<int64_t>(std::min(1e9, 400 + 4 * m * n * std::max(m, n))));
}

void check_info(const Tensor& infos, std::string_view name, bool is_batch) {
  if (name.empty() || infos.device().is_meta()) return;
  const Tensor info = to_host(infos);
  for (int64_t i = 0; i < info.numel(); ++i) {
    const int32_t code = info->data_as<int32_t>()[i];
    if (code == 0) continue;
    const std::string who = fmt::format("{}: {}", name, is_batch ? fmt::format("(Batch element {}): ", i) : "");
    check_kind(code > 0, ErrorKind::LinAlgError, "{}{}", who, kNotFinite);
    for (const Failure& f : kFailures)
      if (name.find(f.word) != name.npos) throw Error(f.kind, who + fmt::format(fmt::runtime(f.sentence), code));
    throw InternalError(fmt::format("{} failed with {}", name, code));
  }
}

}  // namespace terra::ops
