#include "engine/ops/pool_windows.h"

#include <limits>

#include <fmt/ranges.h>

namespace terra::ops {
namespace {

auto joined(std::span<const int64_t> sizes) { return fmt::join(sizes.begin(), sizes.end(), "x"); }
/// One number per axis, "kH: 2 kW: 0", as PyTorch lists what belongs to the last dimensions.
void check_positive(bool is, std::string_view what, std::string_view prefix, std::span<const int64_t> values) {
  if (is) return;
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}{}: {}", i == 0 ? "" : " ", prefix, "THW"[3 - values.size() + i], values[i]);
  fail(ErrorKind::RuntimeError, "{} should be greater than zero, but got {}", what, text);
}

}  // namespace

void check_windows(const Pooling& p) {
  for (size_t axis = 0; axis < p.kernel.size(); ++axis) {
    const Windows w = p.along(axis);
    check(w.stride != 0, "stride should not be zero");
    check(w.padding >= 0, "pad must be non-negative, but got pad: {}", w.padding);
    int64_t reach = 0;
    check(!__builtin_mul_overflow(w.kernel - 1, w.dilation, &reach) && reach < std::numeric_limits<int64_t>::max(),
          "effective kernel size overflows, but got kernel_size={} and dilation={}", w.kernel, w.dilation);
    check(w.padding <= (reach + 1) / 2,
          "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
          w.padding, w.kernel, w.dilation);
  }
  for (size_t axis = 0; axis < p.kernel.size(); ++axis) {
    const Windows w = p.along(axis);
    check_positive(w.kernel > 0, "kernel size", "k", p.kernel);
    check_positive(w.stride > 0, "stride", "d", p.stride);
    check_positive(w.dilation > 0, "dilation", "dilation", p.dilation);
  }
}

Dims pooled_sizes(std::span<const int64_t> image, const Pooling& p) {
  const size_t count = p.kernel.size(), first = image.size() - count;
  Dims sizes(image);
  bool any = true;
  for (size_t axis = 0; axis < count; ++axis) {
    int64_t& size = sizes[first + axis];
    size = p.along(axis).count(size);
    any = any && size > 0;
  }
  const std::span<const int64_t> result = sizes;
  check(any, "Given input size: ({}). Calculated output size: ({}). Output size is too small",
        joined(image.subspan(first - 1)), joined(result.subspan(first - 1)));
  return sizes;
}

void check_divisor(const Arg& divisor) {
  check(divisor.is_none() || divisor.scalar().to_int() != 0, "divisor must be not zero");
}

}  // namespace terra::ops
