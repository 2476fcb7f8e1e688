// Uniform and normal draws.
#include "kernels/cpu/draw_loops.h"
#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

namespace {

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

void uniforms(const uint32_t* pairs, double* out, int64_t n, double width, double base) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = (uint64_t{pairs[2 * i]} << 32 | pairs[2 * i + 1]) & 0x1fffffffffffffu;
    out[i] = __builtin_fma(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-53, width, base);
  }
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

extern const DrawLoops<float> draw_loops_f32 = {uniforms, normal_blocks<float>};
extern const DrawLoops<double> draw_loops_f64 = {uniforms, normal_blocks<double>};

}  // namespace terra::cpu::TERRA_ISA
