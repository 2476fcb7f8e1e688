// Inner loops of the random stream and of draws from it, once per instruction set.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// Words in the state of mt19937.
inline constexpr int kStreamWords = 624;

template <class T>
struct DrawLoops {
  /// n numbers u * width + base, rounded once, u uniform in [0, 1): of a raw word of the stream each (float, 24 bits),
  /// or of two raw words (double, 53 bits, high word first).
  void (*uniforms)(const uint32_t* words, T* out, int64_t n, T width, T base);
  /// Blocks of 16 uniforms become blocks of 16 normals (Box and Muller): radius from the first eight, angle from the
  /// last.
  void (*normal_blocks)(T* data, int64_t blocks, T mean, T deviation);
};

/// Loops that don't ask what type the elements have.
struct StreamLoops {
  template <class Bits>
  using Bernoulli = void (*)(const uint32_t* words, Bits* out, int64_t n, uint64_t bound, Bits bits);

  /// The next words of the state of mt19937, each from the one in its place, the one behind it and the one 397 further.
  void (*refill)(uint32_t* state);
  Bernoulli<uint8_t> bernoulli_8;
  Bernoulli<uint16_t> bernoulli_16;
  Bernoulli<uint32_t> bernoulli_32;
  Bernoulli<uint64_t> bernoulli_64;

  /// The loop that writes n elements: `bits` where the 53 bits of two raw words are below `bound`, else 0.
  template <class Bits>
  Bernoulli<Bits> bernoulli() const {
    if constexpr (sizeof(Bits) == 1) return bernoulli_8;
    if constexpr (sizeof(Bits) == 2) return bernoulli_16;
    if constexpr (sizeof(Bits) == 4) return bernoulli_32;
    if constexpr (sizeof(Bits) == 8) return bernoulli_64;
  }
};

TERRA_PER_ISA(extern const StreamLoops stream;)
TERRA_PER_ISA(extern const DrawLoops<float> draw_loops_f32; extern const DrawLoops<double> draw_loops_f64;)

template <class T>
const DrawLoops<T>& draw_loops();
template <>
inline const DrawLoops<float>& draw_loops() {
  return *TERRA_PICK(draw_loops_f32);
}
template <>
inline const DrawLoops<double>& draw_loops() {
  return *TERRA_PICK(draw_loops_f64);
}

inline const StreamLoops& stream_loops() { return *TERRA_PICK(stream); }

}  // namespace terra::cpu
