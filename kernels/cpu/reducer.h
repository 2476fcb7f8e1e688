// How elements of one dtype are folded into one, and the driver that does it along dimensions.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/abi/view.h"
#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// Squares and Numbers are sums of floats: of x * x, and of what isn't NaN.
enum class Fold : uint8_t { Sum, Prod, Max, Min, Any, All, Squares, Numbers };
inline constexpr int kFoldCount = 8;

/// The loops of one fold at one input dtype. `acc` points to accumulators of acc_size bytes (at most kMaxAccBytes) that
/// hold more precision than an element: double for floats (a pair for complex numbers), int64 for sums of integers.
struct Reducer {
  size_t acc_size = 0;
  DType result = DType::F32;  ///< what `finish` writes
  void (*start)(void* acc, int64_t n) = nullptr;
  /// *acc takes in n contiguous elements.
  void (*row)(void* acc, const void* x, int64_t n) = nullptr;
  /// The folds of `rows` rows of n contiguous elements that lie `stride` bytes apart, finished side by side.
  void (*rows)(void* out, const void* x, int64_t stride, int64_t rows, int64_t n) = nullptr;
  /// acc[j] takes in the elements j of `rows` rows that lie `stride` bytes apart; columns <= kColumns.
  void (*columns)(void* acc, const void* x, int64_t stride, int64_t rows, int64_t columns) = nullptr;
  void (*merge)(void* acc, const void* other, int64_t n) = nullptr;
  void (*finish)(void* out, const void* acc, int64_t n) = nullptr;
};

inline constexpr size_t kMaxAccBytes = 16;
inline constexpr int64_t kColumns = 256;

/// Of real numbers and bools; null for other dtypes. Index: Fold.
TERRA_PER_ISA(const Reducer* real_reducers(DType dtype);)
const Reducer* complex_reducers(DType dtype);

/// Null if the dtype has no such fold.
const Reducer* reducer_of(Fold fold, DType dtype);

/// out = fold of `in` over the dimensions whose bit is set in `reduced`; `out` is contiguous, of dtype reducer.result,
/// with the other dimensions in order. Floats of 16 bits take the reducer of f32. The order of folding is a function of
/// shape and strides, never of threads.
void reduce(const Reducer& reducer, const View& out, const View& in, uint64_t reduced);

}  // namespace terra::cpu
