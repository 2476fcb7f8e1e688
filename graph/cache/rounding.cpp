#include "graph/cache/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/call.h"

namespace terra::graph {
namespace {

/// Batches sum in another order: so far apart, in parts of the largest element, are numbers that are the same.
constexpr double kRounding = 1e-3;

template <class T>
bool near(const T* a, const T* b, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(a[i])) most = std::max(most, std::abs(static_cast<double>(a[i])));
  for (int64_t i = 0; i < count; ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same && !(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= kRounding * most)) return false;
  }
  return true;
}

}  // namespace

bool is_same_but_for_rounding(const Tensor& plain, const void* batched) {
  const Tensor rows = (*find_op("contiguous"))(plain);
  if (rows.dtype() == DType::F32) return near(rows->data_as<float>(), static_cast<const float*>(batched), rows.numel());
  if (rows.dtype() == DType::F64)
    return near(rows->data_as<double>(), static_cast<const double*>(batched), rows.numel());
  return std::memcmp(rows->data(), batched, static_cast<size_t>(rows.numel()) * size_of(rows.dtype())) == 0;
}

}  // namespace terra::graph
