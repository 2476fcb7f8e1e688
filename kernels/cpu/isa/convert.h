// What becomes of a real number in another dtype.
//
// Floats become integers by truncation. What is out of range has no defined value; it is that of the hardware through
// int64, as in PyTorch; of unsigned ones, negative numbers wrap around. Anything becomes a bool by comparison with zero
// (NaN is true).
#pragma once
#include <cstdint>
#include <type_traits>

namespace terra::cpu::TERRA_ISA {

template <class To, class From>
To convert_real(From x) {
  constexpr bool truncates = std::is_floating_point_v<From> && !std::is_floating_point_v<To>;
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (truncates && (sizeof(To) < 4 || std::is_same_v<To, uint32_t>))
    return static_cast<To>(static_cast<int64_t>(x));
  else if constexpr (truncates && std::is_same_v<To, uint64_t>)
    return x >= From(0x1p63) ? static_cast<To>(static_cast<int64_t>(x - From(0x1p63))) ^ To { 1 } << 63
                             : static_cast<To>(static_cast<int64_t>(x));
  else
    return static_cast<To>(x);
}

}  // namespace terra::cpu::TERRA_ISA
