// Inner loops of recurrent layers.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// One example of an LSTM's step, of n cells. Gates are four rows of n: input, forget, cell, output.
template <class T>
struct LstmLoops {
  /// `gates` holds sums and becomes what they activate to; `cell` and `hidden` are the new state.
  void (*step)(int64_t n, T* gates, const T* before, T* cell, T* hidden);
  /// The gradients by the sums, from that by the new hidden state and `carried`, that by the new cells, which becomes
  /// that by the cells `before`. `by_gates`, which may be null, comes on top: gradients by the activated gates.
  void (*backward)(int64_t n, const T* gates, const T* before, const T* cell, const T* hidden_grad, const T* by_gates,
                   T* carried, T* sums_grad);
};
TERRA_PER_ISA(extern const LstmLoops<float> lstm_loops_f32; extern const LstmLoops<double> lstm_loops_f64;)

}  // namespace terra::cpu
