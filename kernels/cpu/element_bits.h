// Elements as bits, for loops that move them whatever they are.
#pragma once
#include <cstddef>
#include <cstdint>

namespace terra::cpu {

/// The bits of an element that no integer is wide enough for.
struct alignas(8) Bits128 {
  uint64_t low, high;
};

/// fn with a type of that size.
template <class F>
void with_bits(size_t size, F&& fn) {
  switch (size) {
    case 1: return fn(uint8_t{});
    case 2: return fn(uint16_t{});
    case 4: return fn(uint32_t{});
    case 8: return fn(uint64_t{});
    default: return fn(Bits128{});
  }
}

}  // namespace terra::cpu
