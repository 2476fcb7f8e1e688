// The state of a generator of random numbers: what must be saved to draw the same numbers again.
#pragma once
#include <cstdint>

namespace terra {

/// Mersenne Twister mt19937 and the one normal sample that small draws keep for later (normals come in pairs).
/// Trivially copyable: a copy is a fork. Draws in draws.h advance it.
struct RandomState {
  uint64_t seed = 0;  ///< as given to `seed`; only its low 32 bits enter the stream
  uint32_t left = 1;  ///< one more than the words of the block that are not used yet
  uint32_t next = 0;  ///< the first word that is not used yet
  uint32_t words[624] = {};
  double cached_normal = 0;  ///< second value of the last pair, for mean 0 and deviation 1
  bool has_cached_normal = false;

  friend bool operator==(const RandomState&, const RandomState&) = default;
};

}  // namespace terra
