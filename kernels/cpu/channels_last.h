// Images and volumes that lie pixel by pixel.
#pragma once
#include "kernels/abi/view.h"

namespace terra::cpu {

/// True iff the view has a batch, channels and pixels behind them, lies without gaps with the channels of each pixel
/// together, and doesn't lie row by row as well.
inline bool is_channels_last(const View& v) {
  if (v.rank < 4 || v.is_contiguous()) return false;
  int64_t expected = 1;
  const auto follows = [&](int d) {
    const bool as_expected = v.sizes[d] == 1 || v.strides[d] == expected;
    expected *= v.sizes[d];
    return as_expected;
  };
  if (!follows(1)) return false;
  for (int d = v.rank - 1; d >= 2; --d)
    if (!follows(d)) return false;
  return follows(0);
}

}  // namespace terra::cpu
