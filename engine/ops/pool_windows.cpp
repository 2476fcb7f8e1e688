#include "engine/ops/pool_windows.h"

#include <fmt/ranges.h>

namespace terra::ops {
namespace {

std::string joined(std::span<const int64_t> sizes) { return fmt::format("{}", fmt::join(sizes, "x")); }
/// "kH: 2 kW: 0", as PyTorch lists what belongs to the last dimensions.
std::string listed(std::string_view prefix, std::span<const int64_t> values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}{}: {}", i == 0 ? "" : " ", prefix, "THW"[3 - values.size() + i], values[i]);
  return text;
}

}  // namespace

Dims pooled_sizes(std::span<const int64_t> image, const Pooling& p) {
  const size_t count = p.kernel.size(), first = image.size() - count;
  Dims sizes(image);
  bool any = true;
  for (size_t axis = 0; axis < count; ++axis) {
    const Windows w = p.along(axis);
    check(w.kernel > 0, "kernel size should be greater than zero, but got {}", listed("k", p.kernel));
    check(w.stride > 0, "stride should be greater than zero, but got {}", w.stride);
    check(w.dilation > 0, "dilation should be greater than zero, but got {}", w.dilation);
    check(w.padding >= 0, "pad must be non-negative, but got pad: {}", w.padding);
    check(w.padding <= size_sum(size_product(w.kernel - 1, w.dilation), 1) / 2,
          "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
          w.padding, w.kernel, w.dilation);
    int64_t& size = sizes[first + axis];
    size = w.count(size);
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
