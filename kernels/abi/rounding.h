// Arithmetic in floats of 16 bits.
#pragma once
#include <cmath>

#include "kernels/abi/half.h"

namespace terra {

/// A float of 16 bits that each operation rounds to.
template <class Half>
struct Rounding {
  Half held;

  Rounding() = default;
  explicit Rounding(float value) : held(value) {}
  explicit operator float() const { return static_cast<float>(held); }
  Rounding operator-() const { return Rounding(-float(*this)); }
  friend Rounding operator+(Rounding a, Rounding b) { return Rounding(float(a) + float(b)); }
  friend Rounding operator-(Rounding a, Rounding b) { return Rounding(float(a) - float(b)); }
  friend Rounding operator*(Rounding a, Rounding b) { return Rounding(float(a) * float(b)); }
  friend Rounding operator/(Rounding a, Rounding b) { return Rounding(float(a) / float(b)); }
  friend bool operator==(Rounding a, Rounding b) { return float(a) == float(b); }
  friend bool operator<(Rounding a, Rounding b) { return float(a) < float(b); }
  friend bool operator>(Rounding a, Rounding b) { return float(a) > float(b); }
  friend Rounding floor_of(Rounding x) { return Rounding(std::floor(float(x))); }
  friend Rounding nearest_whole(Rounding x) { return Rounding(std::nearbyint(float(x))); }
  friend int32_t to_int(Rounding x) { return static_cast<int32_t>(float(x)); }
  /// What `steps` whole steps leave of a distance.
  friend Rounding rest_of(Rounding distance, Rounding, Rounding step) {
    return Rounding(std::fmod(float(distance), float(step)));
  }
};

}  // namespace terra
