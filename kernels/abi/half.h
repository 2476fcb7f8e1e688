// Storage-only 16-bit floats, and complex numbers of them: conversion to and from f32, round to nearest even.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>

#include "kernels/abi/view.h"

namespace terra {

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((u >> 16) | 0x40u);  // keep NaN a quiet NaN
    } else {
      bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (u >> 16) & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) {
      bits = static_cast<uint16_t>(sign | 0x7e00u);
    } else if (u >= 0x477ff000u) {  // rounds past the largest half, 65504
      bits = static_cast<uint16_t>(sign | 0x7c00u);
    } else if (u < 0x38800000u) {  // subnormal half: let the f32 adder do the rounding
      const float shifted = std::bit_cast<float>(u) + 0.5f;
      bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      bits = static_cast<uint16_t>(sign | ((u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13));
    }
  }
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
  }
};

/// A complex number whose parts are such.
template <class Part>
struct ComplexOf {
  Part real, imag;
  ComplexOf() = default;
  explicit ComplexOf(std::complex<float> value) : real(value.real()), imag(value.imag()) {}
  explicit operator std::complex<float>() const { return {static_cast<float>(real), static_cast<float>(imag)}; }
};
using ComplexHalf = ComplexOf<Half>;
using ComplexBFloat16 = ComplexOf<BFloat16>;

template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::BF16;
}

static_assert(sizeof(BFloat16) == 2 && sizeof(Half) == 2 && sizeof(ComplexHalf) == 4);

}  // namespace terra
