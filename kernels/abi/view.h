// A strided view of memory: what a kernel knows of a tensor.
#pragma once
#include <cstdint>

#include "kernels/abi/dtype.h"

namespace terra {

/// Element (i0, ..., ik) lies at `data + size_of(dtype) * (i0 * strides[0] + ... + ik * strides[k])`.
/// `sizes` and `strides` are borrowed for the length of the kernel call; strides count elements and may be 0
/// (broadcast) or, for inputs only, negative. A view whose `data` is null and whose rank is -1 stands for an absent
/// optional tensor (`defined()` is false).
struct View {
  void* data = nullptr;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;
  int32_t rank = -1;
  DType dtype = DType::F32;

  bool defined() const { return rank >= 0; }

  int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= sizes[i];
    return n;
  }

  /// True iff the elements lie in row-major order without gaps.
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (sizes[i] == 0) return true;
      if (sizes[i] != 1 && strides[i] != expected) return false;
      expected *= sizes[i];
    }
    return true;
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

static_assert(sizeof(View) == 32);

}  // namespace terra
