// A part of a view, with sizes and strides of its own.
#pragma once
#include <cstdint>

#include "kernels/abi/view.h"
#include "kernels/cpu/iteration.h"

namespace terra::cpu {

/// Dimension `dim` of a signature, where -1 is the last one; a number counts as a vector.
inline int wrapped(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + (rank == 0 ? 1 : rank) : dim); }

/// Copies the shape of a view so that it can be narrowed; the elements stay where they are. Dimension 0 of a number has
/// one index.
class SubView {
 public:
  explicit SubView(const View& v) : view_(v) {
    sizes_[0] = 1;
    strides_[0] = 0;
    for (int d = 0; d < v.rank; ++d) {
      sizes_[d] = v.sizes[d];
      strides_[d] = v.strides[d];
    }
  }
  SubView(const SubView&) = delete;

  View view() const { return {view_.data, sizes_, strides_, view_.rank, view_.dtype}; }

  /// Elements start, start + step, ... of dimension d, `length` of them.
  SubView& slice(int d, int64_t start, int64_t length, int64_t step = 1) {
    move(start * strides_[d]);
    sizes_[d] = length;
    strides_[d] *= step;
    return *this;
  }
  SubView& reverse(int d) {
    if (sizes_[d] > 0) move((sizes_[d] - 1) * strides_[d]);
    strides_[d] = -strides_[d];
    return *this;
  }
  /// Every index of dimension d means the same element from now on.
  SubView& repeat(int d, int64_t size) {
    sizes_[d] = size;
    strides_[d] = 0;
    return *this;
  }
  SubView& set_stride(int d, int64_t stride) {
    strides_[d] = stride;
    return *this;
  }
  SubView& resize(int d, int64_t size) {
    sizes_[d] = size;
    return *this;
  }

 private:
  void move(int64_t elements) { view_.data = view_.bytes() + elements * static_cast<int64_t>(size_of(view_.dtype)); }

  View view_;
  int64_t sizes_[kMaxViewRank];
  int64_t strides_[kMaxViewRank];
};

}  // namespace terra::cpu
