// Elements found through tensors of indices.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/abi/kernel_error.h"
#include "kernels/abi/view.h"

namespace terra::cpu {

/// What an index that is out of range says to the user. `index` is as the user wrote it.
using IndexMessage = std::string (*)(int64_t index, int64_t dim, int64_t size);
/// "index 7 is out of bounds for dimension 0 with size 6"
std::string out_of_bounds(int64_t index, int64_t dim, int64_t size);
/// "index out of range in self"
std::string out_of_range_in_self(int64_t index, int64_t dim, int64_t size);

/// The elements of an index tensor (int64, int32, int16, int8 or uint8) in row-major order.
std::unique_ptr<int64_t[]> read_indices(const View& indices);

/// How indices into a dimension are checked.
struct IndexRule {
  int64_t dim;  ///< as messages name it
  int64_t size;
  bool wraps;  ///< -1 is the last element
  KernelError::Kind kind;
  IndexMessage message;
};

/// Whether n indices are all within [0, size).
bool are_within(const int64_t* indices, int64_t n, int64_t size);

/// Turns `n` indices into indices within [0, size), or throws.
void check_indices(int64_t* indices, int64_t n, const IndexRule& rule);

/// Copies between a dense side and a side whose elements lie at a base plus offsets. `dense`, `base` and `offsets` have
/// one shape; `offsets` holds int64 (strides as usual) that `step` makes bytes of, which are added to the address in
/// `base`.
/// gather: dense = base[offsets]. The order of elements is free.
void gather_elements(const View& dense, const View& base, const View& offsets, int64_t step);
/// scatter: base[offsets] = dense, in row-major order, so that the last of several writes to one place wins.
void scatter_elements(const View& base, const View& dense, const View& offsets, int64_t step);
/// base[offsets] += dense, in row-major order. bool adds by "or".
void scatter_add_elements(const View& base, const View& dense, const View& offsets, int64_t step);

/// How an element and the one that comes to its place become one.
enum class Combination : uint8_t { Product, Largest, Smallest };
/// base[offsets] = base[offsets] combined with dense, in row-major order. A NaN stays.
void scatter_combined_elements(const View& base, const View& dense, const View& offsets, int64_t step, Combination how);

}  // namespace terra::cpu
