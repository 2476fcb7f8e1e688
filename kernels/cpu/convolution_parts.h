// How a convolution is cut for the threads and the cache: a function of its shape alone.
#pragma once
#include <algorithm>

#include "kernels/cpu/convolution.h"

namespace terra::cpu {

enum class ConvAxis : uint8_t {
  Images,
  /// Output channels; the input's for BackwardInput. Every part then needs all of the other operands.
  Channels,
};

/// `count` parts of the axis: the first `longer` have size + 1 elements, the others `size`.
struct ConvParts {
  ConvAxis axis = ConvAxis::Images;
  int64_t count = 1;
  int64_t size = 1;
  int64_t longer = 0;

  int64_t begin(int64_t part) const { return part * size + std::min(part, longer); }
  bool is_longer(int64_t part) const { return part < longer; }
};

ConvParts parts_of(const ConvShape& shape, ConvPass pass);

}  // namespace terra::cpu
