// Inner loops of random draws, once per instruction set.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

template <class T>
struct DrawLoops {
  /// n numbers u * width + base, rounded once, u uniform in [0, 1): of a raw word of the stream each (float, 24 bits),
  /// or of two words (double, 53 bits, high word first), which come tempered.
  void (*uniforms)(const uint32_t* words, T* out, int64_t n, T width, T base);
  /// Blocks of 16 uniforms become blocks of 16 normals (Box and Muller): radius from the first eight, angle from the
  /// last.
  void (*normal_blocks)(T* data, int64_t blocks, T mean, T deviation);
};

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

}  // namespace terra::cpu
