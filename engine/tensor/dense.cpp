#include "engine/tensor/dense.h"

#include <algorithm>

namespace terra {

Dims from_outer_to_inner(std::span<const int64_t> strides) {
  Dims order;
  for (size_t i = 0; i < strides.size(); ++i) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&strides](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
  });
  return order;
}

bool leave_no_gaps(const Dims& sizes, const Dims& strides) {
  if (sizes.size() != strides.size()) return false;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;  // there is nothing in it
  const Dims order = from_outer_to_inner(strides);
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t d = order[i];
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected = stride_product(expected, sizes[d]);
  }
  return true;
}

}  // namespace terra
