// Walking the elements of a shape, for loops that say what an op means.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/abi/view.h"

namespace terra::reference {

/// Calls body(index) for every place of the shape in row-major order; a 0-d shape has one.
template <class Body>
void for_each_index(std::vector<int64_t> sizes, Body body) {
  std::vector<int64_t> index(sizes.size() + 1, 0);
  for (int64_t n : sizes) {
    if (n == 0) return;
  }
  for (;;) {
    body(static_cast<const int64_t*>(index.data()));
    int d = static_cast<int>(sizes.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class Body>
void for_each_index(const View& v, Body body) {
  for_each_index(std::vector<int64_t>(v.sizes, v.sizes + v.rank), body);
}

/// The byte address of the element at `index` (one entry per dimension of `v`).
inline char* address_at(const View& v, const int64_t* index) {
  int64_t offset = 0;
  for (int d = 0; d < v.rank; ++d) offset += index[d] * v.strides[d];
  return v.bytes() + offset * static_cast<int64_t>(size_of(v.dtype));
}

template <class T>
T& at(const View& v, const int64_t* index) {
  return *reinterpret_cast<T*>(address_at(v, index));
}

}  // namespace terra::reference
