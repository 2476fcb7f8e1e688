// Floats of 16 bits to f32 and back, rounded to nearest even: kernels/abi/half.h without branches, for the vectorizer.
#include "kernels/cpu/halves.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

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

#if defined(__F16C__)
/// The instructions that convert so many at a time.
#if defined(__AVX512F__)
constexpr int64_t kTogether = 16;

bool any_nan(__m512 x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0; }

/// Both say whether all are numbers: of others the instructions keep other bits.
bool convert_numbers(const WidenHalf&, float* out, const uint16_t* in) {
  const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
  _mm512_storeu_ps(out, x);
  return !any_nan(x);
}
bool convert_numbers(const NarrowHalf&, uint16_t* out, const float* in) {
  const __m512 x = _mm512_loadu_ps(in);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  return !any_nan(x);
}
#else
constexpr int64_t kTogether = 8;

bool any_nan(__m256 x) { return _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0; }

/// Both say whether all are numbers: of others the instructions keep other bits.
bool convert_numbers(const WidenHalf&, float* out, const uint16_t* in) {
  const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  _mm256_storeu_ps(out, x);
  return !any_nan(x);
}
bool convert_numbers(const NarrowHalf&, uint16_t* out, const float* in) {
  const __m256 x = _mm256_loadu_ps(in);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  return !any_nan(x);
}
#endif

template <class Op>
void convert_some(const Op& op, typename Op::Out* out, const typename Op::In* in) {
  if (convert_numbers(op, out, in)) return;
  for (int64_t k = 0; k < kTogether; ++k) out[k] = op(in[k]);
}

/// As map_contiguous of loop.h, which finds it by the type of its first argument.
template <class Op>
void convert_all(const Op& op, typename Op::Out* out, const typename Op::In* in, int64_t n) {
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) convert_some(op, out + i, in + i);
  if (i == n) return;
  typename Op::In from[kTogether] = {};
  typename Op::Out to[kTogether];
  for (int64_t k = 0; k < n - i; ++k) from[k] = in[i + k];
  convert_some(op, to, from);
  for (int64_t k = 0; k < n - i; ++k) out[i + k] = to[k];
}
void map_contiguous(const WidenHalf& op, float* out, const uint16_t* in, int64_t n) { convert_all(op, out, in, n); }
void map_contiguous(const NarrowHalf& op, uint16_t* out, const float* in, int64_t n) { convert_all(op, out, in, n); }
#endif

constexpr HalfLoops kHalves = {unary_loop<WidenHalf>, unary_loop<NarrowHalf>};
constexpr HalfLoops kBFloat16s = {unary_loop<WidenBFloat16>, unary_loop<NarrowBFloat16>};

}  // namespace

const HalfLoops* half_loops() { return &kHalves; }
const HalfLoops* bfloat16_loops() { return &kBFloat16s; }

}  // namespace terra::cpu::TERRA_ISA
