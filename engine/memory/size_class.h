// The sizes that blocks of memory come in.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/memory/allocator.h"

namespace terra::memory {

/// Four sizes per power of two, so that a block wastes at most a quarter of itself.
inline constexpr int kMinShift = 6;
inline constexpr int kClasses = 4 * (48 - kMinShift);

struct SizeClass {
  int index;
  int64_t bytes;  ///< of each block
};

/// The smallest class whose blocks hold that many bytes.
constexpr SizeClass size_class(size_t bytes) {
  bytes = std::max<size_t>(bytes, kAlignment);
  const int shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift+1), for bytes > 1
  if (shift < kMinShift) return {0, kAlignment};
  const size_t quarter = size_t{1} << (shift - 2);
  const size_t steps = (bytes - (size_t{1} << shift) + quarter - 1) / quarter;  // 1..4
  return {4 * (shift - kMinShift) + static_cast<int>(steps),
          static_cast<int64_t>((size_t{1} << shift) + steps * quarter)};
}

constexpr int64_t bytes_of_class(int index) {
  if (index == 0) return kAlignment;
  const int shift = kMinShift + (index - 1) / 4;
  const size_t quarter = size_t{1} << (shift - 2);
  return static_cast<int64_t>((size_t{1} << shift) + static_cast<size_t>((index - 1) % 4 + 1) * quarter);
}

}  // namespace terra::memory
