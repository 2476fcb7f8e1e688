#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/unary.h"

// The determinant, the cofactors and the exponential of the transpose are those of the matrix, transposed: rows may
// stand for columns here.
namespace terra::ops {
namespace {

/// Numbers, one for each matrix, as matrices.
Tensor as_matrices(const Tensor& t) { return unsqueeze(unsqueeze(t, -1), -1); }

// ---- determinants ---------------------------------------------------------------------------------------------------
void det_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.det");
  check_inexact(f.dtype(0), "linalg.det", true);
  check_lapack(f.dtype(0), "lu_cpu");
  f.result(f.dtype(0), Dims(batch_of(f.sizes(0))));
}
void det_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(linalg_det, a);
  const Tensor lost = lost_rows(A);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<T>(out[0], i, count)[0] = lapack<T>().determinant(rows_of(A), part<T>(lost, i, count));
  });
}
void det_gradient(Backward& b) { b.set(0, as_matrices(b.grad()) * conjugate(cofactors(b.in(0)))); }

void cofactors_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.det");
  check_lapack(f.dtype(0), "lu_cpu");
  rules::like_first(f);
}
void cofactors_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(cofactors, a);
  fill_with(out[0], A);
  const Tensor info = zeros(batch_of(A.sizes()), DType::I32);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    part<int32_t>(info, i, count)[0] = lapack<T>().cofactors(rows_of(A), part<T>(out[0], i, count));
    if (part<int32_t>(info, i, count)[0] != 0)  // no numbers in, no numbers out
      std::fill_n(part<T>(out[0], i, count), A.size(-1) * A.size(-1), std::numeric_limits<Real<T>>::quiet_NaN());
  });
}
/// C = det A^-T, and so dA = (<dC, C> C - C dC^T C) / det.
void cofactors_gradient(Backward& b) {
  const Tensor C = conjugate(b.out()), dC = b.grad();
  const Tensor total = as_matrices(sum(dC * C, Dims{-2, -1}));
  b.set(0, (total * C - matmul(matmul(C, transposed(dC)), C)) / as_matrices(conjugate(linalg_det(b.in(0)))));
}

void slogdet_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.slogdet");
  check_inexact(f.dtype(0), "linalg.slogdet");
  for (const DType dtype : {f.dtype(0), real_dtype_of(f.dtype(0))}) f.result(dtype, Dims(batch_of(f.sizes(0))));
}
void slogdet_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(linalg_slogdet, a);
  const Tensor lost = lost_rows(A);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    lapack<T>().log_determinant(rows_of(A), part<T>(lost, i, count), *part<T>(out[0], i, count),
                                *part<Real<T>>(out[1], i, count));
  });
}
/// log |det A| has the gradient A^-H. The sign of a real determinant has none; a complex one turns as the logarithm's
/// imaginary part grows.
void slogdet_gradient(Backward& b) {
  const Tensor A = b.in(0);
  const Tensor inverse = solve_columns(A, identity(batch_of(A.sizes()), A.size(-1), A.dtype()), "");
  Tensor gradient = b.grad(1);
  if (is_complex(A.dtype()) && b.has_grad(0)) gradient = complex(gradient, -imag(conjugate(b.grad(0)) * b.out(0)));
  b.set(0, as_matrices(gradient) * conjugate(inverse));
}
void slogdet_of(Composition& c) {
  for (const Tensor& t : linalg_slogdet.all(c.arg(0))) c.result(t);
}
void logdet_of(Composition& c) {
  const Tensor A = c.tensor(0);
  check_square(A.sizes(), "logdet");
  check_inexact(A.dtype(), "logdet");
  const auto f = linalg_slogdet.all(A);
  if (is_complex(A.dtype())) return c.result(log(f[0]) + f[1]);
  c.result(where(eq(f[0], -1), std::numeric_limits<double>::quiet_NaN(), f[1]));
}

// ---- the exponential ------------------------------------------------------------------------------------------------
void matrix_exp_shape(Inference& f) {
  check_square(f.sizes(0), "linalg.matrix_exp");
  check_inexact(f.dtype(0), "linalg.matrix_exp", true);
  check_lapack(f.dtype(0), "matrix_exp_cpu");
  rules::like_first(f);
}
void matrix_exp_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(matrix_exponential, a);
  fill_with(out[0], A);
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) { lapack<T>().exponential(rows_of(A), part<T>(out[0], i, count)); });
}
/// The exponential of [[A^H, G], [0, A^H]] has the gradient in its upper right (Mathias, 1996).
void matrix_exp_gradient(Backward& b) {
  const Tensor Ah = mH(b.in(0)), nothing = zeros(Ah.sizes(), Ah.dtype());
  const int64_t n = Ah.size(-1);
  const Tensor above = cat(std::vector{Ah, b.grad()}, -1), below = cat(std::vector{nothing, Ah}, -1);
  const Tensor blocks = matrix_exponential(cat(std::vector{above, below}, -2));
  b.set(0, columns(rows(blocks, 0, n), n, 2 * n));
}

void matrix_exp_of(Composition& c) {
  check_square(c.tensor(0).sizes(), "linalg.matrix_exp");
  c.result(matrix_exponential(c.arg(0)));
}

// ---- products -------------------------------------------------------------------------------------------------------
/// By repeated squaring.
Tensor power_of(Tensor base, int64_t n) {
  Tensor product;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) product = product.defined() ? matmul(product, base) : base;
    if (n > 1) base = matmul(base, base);
  }
  return product;
}
void matrix_power_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t n = c.integer(1);
  check_square(self.sizes(), "linalg.matrix_power");
  if (n == 0) {  // of self, though its elements don't matter
    const Tensor one = identity(batch_of(self.sizes()), self.size(-1), self.dtype());
    return c.result(where(full(Dims{}, true, DType::Bool), one, self));
  }
  if (n > 0) return c.result(power_of(self, n));
  check(n > std::numeric_limits<int64_t>::min(), "linalg.matrix_power: the power {} is out of range", n);
  c.result(power_of(linalg_inv(self), -n));
}

/// Matrices in the order of products that takes the fewest multiplications.
class Chain {
 public:
  explicit Chain(std::span<const Tensor> matrices) : matrices_(matrices), count_(matrices.size()) {
    cost_.assign(count_ * count_, 0);
    split_.assign(count_ * count_, 0);
    for (size_t length = 2; length <= count_; ++length)
      for (size_t first = 0; first + length <= count_; ++first) choose(first, first + length - 1);
  }
  Tensor product() const { return product(0, count_ - 1); }

 private:
  size_t at(size_t first, size_t last) const { return first * count_ + last; }
  void choose(size_t first, size_t last) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t k = first; k < last; ++k) {
      const double cost = cost_[at(first, k)] + cost_[at(k + 1, last)] +
                          static_cast<double>(matrices_[first].size(0)) * static_cast<double>(matrices_[k].size(1)) *
                              static_cast<double>(matrices_[last].size(1));
      if (cost >= best) continue;
      best = cost;
      split_[at(first, last)] = k;
    }
    cost_[at(first, last)] = best;
  }
  Tensor product(size_t first, size_t last) const {
    if (first == last) return matrices_[first];
    const size_t k = split_[at(first, last)];
    return mm(product(first, k), product(k + 1, last));
  }

  std::span<const Tensor> matrices_;
  size_t count_;
  std::vector<double> cost_;
  std::vector<size_t> split_;
};

void multi_dot_of(Composition& c) {
  std::vector<Tensor> matrices(c.tensors(0).begin(), c.tensors(0).end());
  const size_t n = matrices.size();
  check(n >= 2, "multi_dot(): expected at least 2 tensors but got {}", n);
  for (const auto& [place, name] : {std::pair(size_t{0}, "first"), std::pair(n - 1, "last")})
    check(matrices[place].rank() == 1 || matrices[place].rank() == 2,
          "multi_dot(): the {} tensor must be 1D or 2D but got {}D", name, matrices[place].rank());
  const bool row = matrices[0].rank() == 1, column = matrices[n - 1].rank() == 1;
  if (row) matrices[0] = unsqueeze(matrices[0], 0);
  if (column) matrices[n - 1] = unsqueeze(matrices[n - 1], 1);
  for (size_t i = 0; i < n; ++i) {
    check(matrices[i].rank() == 2, "multi_dot(): tensor {} must be 2D but got {}D", i, matrices[i].rank());
    check(matrices[i].dtype() == matrices[0].dtype(),
          "multi_dot(): all tensors must have be the same dtype but tensor 0 is {} and tensor {} {}",
          c_type_name(matrices[0].dtype()), i, c_type_name(matrices[i].dtype()));
    check(i == 0 || matrices[i].size(0) == matrices[i - 1].size(1),
          "multi_dot(): tensors {} and {} with shapes {} and {} cannot be multiplied", i == 0 ? 0 : i - 1, i,
          listed(matrices[i == 0 ? 0 : i - 1].sizes()), listed(matrices[i].sizes()));
  }
  Tensor product = Chain(matrices).product();
  if (row) product = squeeze(product, Dims{0});
  c.result(column ? squeeze(product, Dims{-1}) : product);
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op linalg_det{{.name = "linalg_det",
                     .signature = "(Tensor A) -> Tensor",
                     .doc = "The determinant.",
                     .example = "terra.linalg.det(terra.eye(2) * 3)",
                     .flags = kFunction | kMethod | kHost | kComplex,
                     .shape = det_shape,
                     .host = det_host,
                     .gradient = det_gradient,
                     .saved = saves({0}),
                     .aliases = "det",
                     .grad_fn = "LinalgDetBackward0",
                     .samples = {{"randn(3, 3)"},
                                 {"randn(2, 3, 3).mT"},
                                 {"randn(0, 0)"},
                                 {"zeros(2, 2)", "float", false},
                                 {"crandn(2, 3, 3)", "complex"}}}};
const Op cofactors{{.name = "cofactors",
                    .signature = "(Tensor A) -> Tensor",
                    .doc = "The derivatives of the determinant by the elements.",
                    .example = "",
                    .flags = kHost | kComplex,
                    .shape = cofactors_shape,
                    .host = cofactors_host,
                    .gradient = cofactors_gradient,
                    .saved = saves({0}) | saves_result(),
                    .samples = {{"randn(3, 3)"}, {"randn(2, 2, 2).mT"}, {"crandn(3, 3)", "complex"}}}};
const Op linalg_slogdet{{.name = "linalg_slogdet",
                         .signature = "(Tensor A) -> (Tensor sign, Tensor logabsdet)",
                         .doc = "The sign of the determinant and the logarithm of its absolute value.",
                         .example = "terra.linalg.slogdet(terra.eye(2) * 3).logabsdet",
                         .flags = kFunction | kHost | kComplex,
                         .shape = slogdet_shape,
                         .host = slogdet_host,
                         .gradient = slogdet_gradient,
                         .saved = saves({0}) | saves_result(0),
                         .grad_fn = "LinalgSlogdetBackward0",
                         .samples = {{"randn(3, 3)"}, {"randn(2, 3, 3)"}, {"crandn(2, 3, 3)", "complex"}}}};
const Op slogdet{{.name = "slogdet",
                  .signature = "(Tensor self) -> (Tensor sign, Tensor logabsdet)",
                  .doc = "The sign of the determinant and the logarithm of its absolute value.",
                  .example = "terra.slogdet(terra.eye(2) * 3).logabsdet",
                  .flags = kLinalgAndMethod,
                  .composite = slogdet_of,
                  .samples = {{"randn(2, 3, 3)"}}}};
const Op logdet{{.name = "logdet",
                 .signature = "(Tensor self) -> Tensor",
                 .doc = "The logarithm of the determinant; NaN where that is negative.",
                 .example = "terra.logdet(terra.eye(2) * 3)",
                 .flags = kLinalgAndMethod,
                 .composite = logdet_of,
                 .samples = {{"randn(2, 3, 3) + 3 * terra.eye(3)"}}}};
const Op matrix_exponential{
    {.name = "matrix_exponential",
     .signature = "(Tensor self) -> Tensor",
     .doc = "The exponential of a square matrix.",
     .example = "",
     .flags = kHost | kComplex,
     .shape = matrix_exp_shape,
     .host = matrix_exp_host,
     .gradient = matrix_exp_gradient,
     .saved = saves({0}),
     .samples = {{"randn(3, 3)"}, {"randn(2, 2, 2).mT * 5"}, {"randn(2, 0, 0)"}, {"crandn(3, 3)", "complex"}}}};
const Op linalg_matrix_exp{{.name = "linalg_matrix_exp",
                            .signature = "(Tensor self) -> Tensor",
                            .doc = "The exponential of a square matrix.",
                            .example = "terra.linalg.matrix_exp(terra.zeros(2, 2))",
                            .flags = kVisible,
                            .composite = matrix_exp_of,
                            .aliases = "matrix_exp",
                            .grad_fn = "LinalgMatrixExpBackward0",
                            .samples = {{"randn(3, 3)"}}}};
const Op linalg_matrix_power{{.name = "linalg_matrix_power",
                              .signature = "(Tensor self, int n) -> Tensor",
                              .doc = "The n-th power of a square matrix; of its inverse for a negative n.",
                              .example = "terra.linalg.matrix_power(terra.eye(2) * 2, 3)",
                              .flags = kVisible,
                              .composite = matrix_power_of,
                              .aliases = "matrix_power",
                              .samples = {{"randn(3, 3), 5"}, {"randn(2, 2, 2), 0"}, {"randn(2, 2), 1"}}}};
const Op linalg_multi_dot{
    {.name = "linalg_multi_dot",
     .signature = "(Tensor[] tensors) -> Tensor",
     .doc = "The product of matrices, in the order that takes the fewest multiplications.",
     .example = "terra.linalg.multi_dot([terra.ones(2, 3), terra.ones(3)])",
     .flags = kFunction,
     .composite = multi_dot_of,
     .grad_fn = "ViewBackward0",
     .samples = {{"[randn(3), randn(3, 2), randn(2, 4), randn(4)]"}, {"[randn(2, 5), randn(5, 1), randn(1, 3)]"}}}};

}  // namespace terra::ops
