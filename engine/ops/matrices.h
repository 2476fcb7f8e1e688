// What ops on batches of matrices share. The last two dimensions are a matrix, those before them the batch.
//
// LAPACK keeps matrices column by column, and so do PyTorch's results. Hence the ops named *_columns: their matrix
// results are given transposed, so that a row of the memory is a column of the matrix, and the ops that users see turn
// them round, which moves no element. A gradient rule turns round what it reads: `transposed(b.out())`.
#pragma once
#include <initializer_list>
#include <string_view>

#include "engine/device/backend.h"
#include "engine/errors/errors.h"
#include "engine/errors/kernel_failure.h"
#include "engine/ops/complex.h"
#include "engine/ops/composition.h"
#include "engine/ops/op.h"
#include "engine/ops/view.h"
#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"

namespace terra::ops {

using Sizes = std::span<const int64_t>;
using Args = std::span<const Arg>;
using Results = std::vector<Tensor>;

/// How Python sees an op of linear algebra. 16-bit floats reach it as they are, and it refuses most of them.
inline constexpr uint32_t kTakesHalves = kMovesBytes;
inline constexpr uint32_t kLinalg = kFunction | kTakesHalves;
inline constexpr uint32_t kLinalgAndMethod = kLinalg | kMethod;

// ---- what is asked of operands, in PyTorch's words: `op` is the name it says ----
/// At least two dimensions.
void check_matrices(Sizes sizes, std::string_view op, std::string_view operand = "A");
void check_square(Sizes sizes, std::string_view op, std::string_view operand = "A");
/// A floating or complex dtype; not of 16 bits, unless `halves`.
void check_inexact(DType dtype, std::string_view op, bool halves = false);
/// A dtype that LAPACK computes in.
void check_lapack(DType dtype, std::string_view kernel);
/// What A X = B (left) or X A = B wants of a square A and of B.
void check_equation(Sizes a, Sizes b, bool left, std::string_view op);
/// For the primitives: operands of one dtype and batch, in an equation that fits.
void check_operands(Inference& f, bool left, std::string_view kernel);
/// What the old functions want of a square A and of B: one dtype, as many rows.
void check_old_operands(const Tensor& a, const Tensor& b, std::string_view op);

/// Whether b holds vectors, one for each matrix of a.
bool holds_vectors(const Tensor& a, const Tensor& b);

// ---- shapes ----
inline Tensor transposed(const Tensor& t) { return transpose(t, -2, -1); }
inline Sizes batch_of(Sizes sizes) { return sizes.first(sizes.size() - 2); }
/// The conjugate transposes, which gradients have where formulas of real matrices have transposes.
inline Tensor mH(const Tensor& t) { return conjugate(transposed(t)); }
/// |x|^2 of each element.
Tensor squared_length(const Tensor& t);
/// The distance from 1 to the next number of a dtype, or of its parts.
double epsilon_of(DType dtype);
/// The Hermitian matrix that has this triangle, whose diagonal loses its imaginary part.
Tensor hermitian_from(const Tensor& triangle);
/// The sizes of a batch with more dimensions behind it.
Dims with(Sizes batch, std::initializer_list<int64_t> last);
/// The sizes of the transposed matrices.
Dims turned(Sizes sizes);
/// The same matrices, broadcast to a batch.
Tensor in_batch(const Tensor& t, Sizes batch);
/// The same elements, lying column by column.
Tensor by_columns(const Tensor& t);
/// Zeros on the diagonal of complex matrices; skew ones of real numbers have them.
Tensor off_diagonal(const Tensor& t);
/// values[j] - values[i] at (i, j), and 1 on the diagonal.
Tensor differences(const Tensor& values);
/// A batch of identity matrices.
Tensor identity(Sizes batch, int64_t n, DType dtype);
/// Whether an element lies on the diagonal of an n x n matrix.
Tensor on_diagonal(int64_t n);
/// Columns, or rows, `first` to `end` of each matrix.
Tensor columns(const Tensor& t, int64_t first, int64_t end);
Tensor rows(const Tensor& t, int64_t first, int64_t end);

// ---- host rules ----
/// The results of a call by the op's own shape rule, which checks the operands: contiguous, to be filled in.
std::vector<Tensor> made_by_shape(const Op& op, std::span<const Arg> args);
/// Copies the elements of `from`, which has the sizes of `to`.
void fill_with(const Tensor& to, const Tensor& from);
/// A copy that lies column by column, for LAPACK to overwrite: a contiguous tensor of the transposed matrices.
Tensor lost_copy(const Tensor& t);
/// The same, row by row.
inline Tensor lost_rows(const Tensor& t) { return lost_copy(transposed(t.alias())); }
inline int rows_of(const Tensor& t) { return static_cast<int>(t.size(-2)); }
inline int columns_of(const Tensor& t) { return static_cast<int>(t.size(-1)); }
/// The routines for matrices of numbers of type T.
template <class T>
const LinearAlgebra<T>& lapack() {
  return std::get<LinearAlgebra<T>>(libraries().linear_algebra.routines);
}
/// How many matrices a tensor holds.
int64_t count_of(Sizes sizes);
/// How many of these matrices make a piece of work for one thread.
int64_t grain_of(Sizes sizes);
/// Calls work(i, T()) for matrix i of those that `t` holds, on several threads if there is much to do; T: float or
/// double or complex numbers of these, as t has them.
template <class Work>
void each_matrix(const Tensor& t, const Work& work) {
  try {
    with_inexact(t.dtype(), [&]<class T>(T) {
      cpu::parallel_for(count_of(t.sizes()), grain_of(t.sizes()), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) work(i, T());
      });
    });
  } catch (const KernelError& e) {
    fail_as(e, "");
  }
}
/// The elements of matrix (or row, or number) i of a contiguous tensor that holds `count` of them.
template <class T>
T* part(const Tensor& t, int64_t i, int64_t count) {
  return t->data_as<T>() + (count > 0 ? t.numel() / count * i : 0);
}
/// Throws for the first nonzero `info` what PyTorch's function `name` says of it; does nothing for an empty name.
void check_info(const Tensor& info, std::string_view name, bool is_batch);

}  // namespace terra::ops
