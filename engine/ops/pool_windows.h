// How pooling windows lie on images and volumes: attributes, and the sizes of what comes out.
#pragma once
#include <string_view>

#include "engine/ops/rules.h"

namespace terra::ops {

/// How windows lie along one dimension.
struct Windows {
  int64_t kernel, stride, padding, dilation;
  bool ceil_mode;

  /// How many fit; with ceil_mode a last one may overhang, if it begins inside the input or its left padding.
  int64_t count(int64_t size) const {
    const int64_t padded = size_sum(size, size_product(2, padding)), reach = size_product(dilation, kernel - 1);
    const int64_t room = padded - 1 - reach;
    if (room < 0) return 0;
    const int64_t n = room / stride + 1;
    return ceil_mode && room % stride != 0 && n <= (size + padding - 1) / stride ? n + 1 : n;
  }
};

/// How windows lie along the last dimensions.
struct Pooling {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;

  Pooling(std::span<const int64_t> kernel, const Arg& stride, std::span<const int64_t> padding,
          std::span<const int64_t> dilation, bool ceil_mode)
      : kernel(kernel),
        stride(stride.is_none() || stride.ints().empty() ? kernel : stride.ints()),
        padding(padding),
        dilation(dilation.empty() ? Dims(kernel.size(), 1) : Dims(dilation)),
        ceil_mode(ceil_mode) {}
  Windows along(size_t axis) const { return {kernel[axis], stride[axis], padding[axis], dilation[axis], ceil_mode}; }
};

/// Throws for windows that lie on nothing, whatever its size.
void check_windows(const Pooling& pooling);
/// Sizes of an image or a volume with the last dimensions replaced by what windows that were checked give.
Dims pooled_sizes(std::span<const int64_t> image, const Pooling& pooling);
/// divisor_override may be anything but 0.
void check_divisor(const Arg& divisor);

}  // namespace terra::ops
