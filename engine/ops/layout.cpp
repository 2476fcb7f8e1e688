#include "engine/ops/layout.h"

#include <algorithm>

#include "engine/ops/call.h"

namespace terra {
namespace {

/// The dimensions from the one with the longest steps to the one with the shortest.
Dims from_outer_to_inner(const TensorImpl& t) {
  Dims order;
  for (size_t i = 0; i < t.sizes.size(); ++i) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&t](int64_t a, int64_t b) { return t.strides[a] > t.strides[b]; });
  return order;
}

/// Row by row is as good as any other layout.
bool gives_no_order(const TensorImpl& like, const TensorImpl& value) {
  return value.sizes != like.sizes || like.is_contiguous() || !is_dense(like);
}

}  // namespace

bool is_dense(const TensorImpl& t) {
  const Dims order = from_outer_to_inner(t);
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t d = order[i];
    if (t.sizes[d] == 1) continue;
    if (t.strides[d] != expected) return false;
    expected = stride_product(expected, t.sizes[d]);
  }
  return true;
}

bool is_laid_out_like(const TensorImpl& a, const TensorImpl& b) {
  if (gives_no_order(b, a)) return a.is_contiguous();
  for (size_t d = 0; d < b.sizes.size(); ++d)
    if (b.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

Tensor copy_laid_out_like(const Tensor& value, const Tensor& like) {
  static const Op* const clone = find_op("clone");
  static const Op* const permute = find_op("permute");
  if (gives_no_order(*like.get(), *value.get())) return (*clone)(value);
  const Dims order = from_outer_to_inner(*like.get());
  Dims back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return (*permute)((*clone)((*permute)(value, order)), back);
}

}  // namespace terra
