// Floats of 16 bits to f32 and back, rounded to nearest even: kernels/abi/half.h without branches, for the vectorizer.
#include "kernels/cpu/halves.h"

#include "kernels/cpu/isa/loop.h"

namespace terra::cpu::TERRA_ISA {

namespace {

uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

struct WidenBFloat16 {
  using In = uint16_t;
  using Out = float;
  explicit WidenBFloat16(const KernelArg*) {}
  float operator()(uint16_t x) const { return float_of(static_cast<uint32_t>(x) << 16); }
};

struct NarrowBFloat16 {
  using In = float;
  using Out = uint16_t;
  explicit NarrowBFloat16(const KernelArg*) {}
  uint16_t operator()(float x) const {
    const uint32_t u = bits_of(x);
    const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, quiet = (u >> 16) | 0x40u;
    return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
};

struct WidenHalf {
  using In = uint16_t;
  using Out = float;
  explicit WidenHalf(const KernelArg*) {}
  float operator()(uint16_t x) const {
    const uint32_t magnitude = x & 0x7fffu, sign = static_cast<uint32_t>(x & 0x8000u) << 16;
    const uint32_t subnormal = bits_of(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t normal = (magnitude << 13) + 0x38000000u, exceptional = (magnitude << 13) | 0x7f800000u;
    return float_of(sign | (magnitude < 0x400u ? subnormal : magnitude < 0x7c00u ? normal : exceptional));
  }
};

struct NarrowHalf {
  using In = float;
  using Out = uint16_t;
  explicit NarrowHalf(const KernelArg*) {}
  uint16_t operator()(float x) const {
    const uint32_t u = bits_of(x) & 0x7fffffffu, sign = (bits_of(x) >> 16) & 0x8000u;
    const uint32_t subnormal = bits_of(float_of(u) + 0.5f) - 0x3f000000u;  // the adder does the rounding
    const uint32_t normal = (u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    const uint32_t exceptional = u > 0x7f800000u ? 0x7e00u : 0x7c00u;  // NaN, and what lies beyond 65504
    return static_cast<uint16_t>(sign | (u >= 0x477ff000u ? exceptional : u < 0x38800000u ? subnormal : normal));
  }
};

constexpr HalfLoops kHalves = {unary_loop<WidenHalf>, unary_loop<NarrowHalf>};
constexpr HalfLoops kBFloat16s = {unary_loop<WidenBFloat16>, unary_loop<NarrowBFloat16>};

}  // namespace

const HalfLoops* half_loops() { return &kHalves; }
const HalfLoops* bfloat16_loops() { return &kBFloat16s; }

}  // namespace terra::cpu::TERRA_ISA
