// The stream, and uniform, normal and Bernoulli draws from it.
#include "kernels/cpu/draw_loops.h"
#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

namespace {

inline uint32_t twist(uint32_t a, uint32_t b) {
  const uint32_t y = (a & 0x80000000u) | (b & 0x7fffffffu);
  return (y >> 1) ^ ((0u - (b & 1u)) & 0x9908b0dfu);
}

void refill(uint32_t* w) {
  constexpr int words = kStreamWords, shift = 397;
  for (int i = 0; i < words - shift; ++i) w[i] = w[i + shift] ^ twist(w[i], w[i + 1]);
  for (int i = words - shift; i < words - 1; ++i) w[i] = w[i + shift - words] ^ twist(w[i], w[i + 1]);
  w[words - 1] = w[shift - 1] ^ twist(w[words - 1], w[0]);
}

/// What makes a word of the stream of a word of the state (kernels/cpu/random.cpp).
inline uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

void uniforms(const uint32_t* words, float* out, int64_t n, float width, float base) {
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<int32_t>(temper(words[i]) & 0xffffffu);
    out[i] = __builtin_fmaf(static_cast<float>(bits) * 0x1p-24f, width, base);
  }
}

/// Calls take(i, bits) with the 53 bits of each of n pairs of words. The words are tempered some pairs at a time, so
/// that both loops run in vectors.
template <class Take>
void for_pairs(const uint32_t* words, int64_t n, const Take& take) {
  constexpr int64_t most = 128;
  uint64_t pairs[most];
  uint32_t tempered[2 * most];
  for (int64_t done = 0; done < n; done += most) {
    const int64_t now = n - done < most ? n - done : most;
    for (int64_t i = 0; i < 2 * now; ++i) tempered[i] = temper(words[2 * done + i]);
    __builtin_memcpy(pairs, tempered, static_cast<size_t>(now) * sizeof(uint64_t));
    for (int64_t i = 0; i < now; ++i) take(done + i, (pairs[i] << 32 | pairs[i] >> 32) & 0x1fffffffffffffu);
  }
}

void uniforms(const uint32_t* words, double* out, int64_t n, double width, double base) {
  for_pairs(words, n, [=](int64_t i, uint64_t bits) {
    out[i] = __builtin_fma(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-53, width, base);
  });
}

template <class Bits>
void bernoulli(const uint32_t* words, Bits* out, int64_t n, uint64_t bound, Bits bits) {
  for_pairs(words, n, [=](int64_t i, uint64_t drawn) {
    const auto below = static_cast<int32_t>((drawn - bound) >> 32) >> 31;  // all ones or 0: both have 53 bits
    out[i] = static_cast<Bits>(static_cast<Bits>(int64_t{below}) & bits);
  });
}

template <class T>
void normal_blocks(T* data, int64_t blocks, T mean, T deviation) {
  constexpr int64_t most = 16;  // at a time: a vector may be longer than the half of a block
  T radii[8 * most] = {}, angles[8 * most] = {};
  while (blocks > 0) {
    const int64_t now = blocks < most ? blocks : most;
    for (int64_t b = 0; b < now; ++b) {
      __builtin_memcpy(radii + 8 * b, data + 16 * b, 8 * sizeof(T));
      __builtin_memcpy(angles + 8 * b, data + 16 * b + 8, 8 * sizeof(T));
    }
    for (int64_t i = 0; i < 8 * now; i += kLanes<T>) {
      const Vec<T> radius = v_sqrt(T(-2) * v_log(T(1) - load(radii + i)));
      const Vec<T> angle = T(6.283185307179586476925) * load(angles + i);
      store<T>(radii + i, radius * v_cos(angle) * deviation + mean);
      store<T>(angles + i, radius * v_sin(angle) * deviation + mean);
    }
    for (int64_t b = 0; b < now; ++b) {
      __builtin_memcpy(data + 16 * b, radii + 8 * b, 8 * sizeof(T));
      __builtin_memcpy(data + 16 * b + 8, angles + 8 * b, 8 * sizeof(T));
    }
    data += 16 * now;
    blocks -= now;
  }
}

}  // namespace

extern const StreamLoops stream = {refill, bernoulli<uint8_t>, bernoulli<uint16_t>, bernoulli<uint32_t>,
                                   bernoulli<uint64_t>};
extern const DrawLoops<float> draw_loops_f32 = {uniforms, normal_blocks<float>};
extern const DrawLoops<double> draw_loops_f64 = {uniforms, normal_blocks<double>};

}  // namespace terra::cpu::TERRA_ISA
