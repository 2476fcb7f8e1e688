// The taps of images read at any places, along each dimension and of all. Written over the type of the places: each
// operation rounds to it.
#pragma once
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

/// Places that are worked out together.
inline constexpr int64_t kGridBlock = 128;
inline constexpr int kMostAxisTaps = 4;

/// What a block of places reads along one dimension.
template <class T>
struct AxisTaps {
  int32_t pixel[kMostAxisTaps][kGridBlock];
  T weight[kMostAxisTaps][kGridBlock];
};

inline float floor_of(float x) { return __builtin_floorf(x); }
inline double floor_of(double x) { return __builtin_floor(x); }
inline float nearest_whole(float x) { return __builtin_rintf(x); }
inline double nearest_whole(double x) { return __builtin_rint(x); }
inline int32_t to_int(float x) { return static_cast<int32_t>(x); }
inline int32_t to_int(double x) { return static_cast<int32_t>(x); }
/// What `steps` whole steps leave of a distance.
template <class T>
T rest_of(T distance, T steps, T step) {
  return distance - steps * step;
}

inline int taps_along(const GridRule& rule) {
  return rule.mode == GridRule::Mode::Nearest ? 1 : rule.mode == GridRule::Mode::Linear ? 2 : 4;
}

/// Brings n places onto an image's `size` pixels as the rule says, and multiplies slopes by how they move.
template <class T>
void bring_inside(const GridRule& rule, int64_t size, T* place, T* slope, int64_t n) {
  const T zero(0), one(1), last(static_cast<float>(size - 1));
  if (rule.padding == GridRule::Padding::Reflection) {  // thrown back at the edges as often as it takes
    const T low(rule.corners ? 0.0f : -0.5f), span(static_cast<float>(rule.corners ? size - 1 : size));
    const bool flat = span == zero;
    for (int64_t i = 0; i < n; ++i) {
      const T from_low = place[i] - low, distance = from_low < zero ? -from_low : from_low;
      const T flips = floor_of(distance / span), rest = rest_of(distance, flips, span);
      const bool odd = floor_of(flips * T(0.5f)) * T(2) != flips;
      const T sign = from_low < zero ? -one : from_low > zero ? one : zero;
      place[i] = flat ? zero : (odd ? span - rest : rest) + low;
      slope[i] = flat ? zero : slope[i] * (odd ? -sign : sign);
    }
  }
  if (rule.padding == GridRule::Padding::Zeros) return;
  for (int64_t i = 0; i < n; ++i) {  // nothing moves on the edge or beyond; what is no number is on the first pixel
    slope[i] = (place[i] > zero) & (place[i] < last) ? slope[i] : zero;
    place[i] = place[i] > zero ? (place[i] < last ? place[i] : last) : zero;
  }
}

/// The number of a pixel at a whole place; those far away, and no numbers at all, are just outside.
template <class T>
int32_t pixel_at(T place, T low, T high) {
  const T kept = place > low ? (place < high ? place : high) : low;
  return to_int(kept);
}
template <class T>
void pixels_at(int64_t size, const T* place, int32_t* pixel, int64_t n) {
  const T low(-9.0f), high(static_cast<float>(size + 9));
  for (int64_t i = 0; i < n; ++i) pixel[i] = pixel_at(place[i], low, high);
}

/// A tap of n places, of pixels that lie `step` apart; what is beyond the image has no weight,
/// unless that is no number.
template <class T>
void put_on_image(int64_t size, int64_t step, int32_t* pixel, T* weight, int64_t n) {
  const int32_t last = static_cast<int32_t>(size - 1), apart = static_cast<int32_t>(step);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t kept = pixel[i] < 0 ? 0 : pixel[i] > last ? last : pixel[i];
    weight[i] = (kept == pixel[i]) | !(weight[i] == weight[i]) ? weight[i] : T(0);
    pixel[i] = kept * apart;
  }
}

/// Cubic convolution at a distance below 1 (near) or from 1 to 2, as a polynomial, differentiated `order` times; the
/// constant first.
template <class T>
void cubic_polynomial(bool near, int64_t order, T (&c)[4]) {
  const T a(-0.75f);
  const T own[2][4] = {{T(-4) * a, T(8) * a, T(-5) * a, a}, {T(1), T(0), -(a + T(3)), a + T(2)}};
  for (int k = 0; k < 4; ++k) c[k] = own[near][k];
  for (; order > 0; --order) {
    for (int k = 0; k < 3; ++k) c[k] = T(static_cast<float>(k + 1)) * c[k + 1];
    c[3] = T(0);
  }
}

/// The taps of n places along dimension `axis`; their weights differentiated as often as the rule says.
template <class T>
void taps_of_axis(const GridRule& rule, int axis, T* place, int64_t n, AxisTaps<T>& taps) {
  const int64_t size = rule.sizes[axis], order = rule.orders[axis];
  const T one(1), two(2), whole(static_cast<float>(size)), less(static_cast<float>(size - 1));
  T slope[kGridBlock], base[kGridBlock];
  for (int64_t i = 0; i < n; ++i) {
    place[i] = rule.corners ? (place[i] + one) / two * less : ((place[i] + one) * whole - one) / two;
    slope[i] = (rule.corners ? less : whole) / two;
  }
  switch (rule.mode) {
    case GridRule::Mode::Nearest:
      bring_inside(rule, size, place, slope, n);
      for (int64_t i = 0; i < n; ++i) {
        base[i] = nearest_whole(place[i]);
        taps.weight[0][i] = T(order == 0 ? 1.0f : 0.0f);
      }
      pixels_at(size, base, taps.pixel[0], n);
      break;
    case GridRule::Mode::Linear:
      bring_inside(rule, size, place, slope, n);
      for (int64_t i = 0; i < n; ++i) {
        base[i] = floor_of(place[i]);
        const T part = place[i] - base[i], steep = order == 1 ? slope[i] : T(0);
        taps.weight[0][i] = order == 0 ? one - part : -steep;
        taps.weight[1][i] = order == 0 ? part : steep;
      }
      pixels_at(size, base, taps.pixel[0], n);
      for (int64_t i = 0; i < n; ++i) taps.pixel[1][i] = taps.pixel[0][i] + 1;
      break;
    case GridRule::Mode::Cubic:
      for (int64_t i = 0; i < n; ++i) base[i] = floor_of(place[i]);
      for (int tap = 0; tap < 4; ++tap) {
        const T offset(static_cast<float>(tap - 1));
        T c[4], pixel[kGridBlock], unmoved[kGridBlock];
        T* const weight = taps.weight[tap];
        cubic_polynomial(tap == 1 || tap == 2, order, c);
        for (int64_t i = 0; i < n; ++i) {
          const T from = (place[i] - base[i]) - offset, x = from < T(0) ? -from : from;
          weight[i] = ((c[3] * x + c[2]) * x + c[1]) * x + c[0];
          pixel[i] = base[i] + offset;
          unmoved[i] = one;
        }
        for (int64_t k = 0; k < order; ++k)
          for (int64_t i = 0; i < n; ++i)
            weight[i] = weight[i] * ((place[i] - base[i]) < offset ? -slope[i] : slope[i]);
        bring_inside(rule, size, pixel, unmoved, n);
        pixels_at(size, pixel, taps.pixel[tap], n);
      }
      break;
  }
  for (int tap = 0; tap < taps_along(rule); ++tap)
    put_on_image(size, rule.steps[axis], taps.pixel[tap], taps.weight[tap], n);
}

/// The taps of n places: tap t of place i at [t * stride + i].
template <class T>
void grid_taps(const GridRule& rule, const T* grid, int64_t n, int64_t* index, T* weight, int64_t stride) {
  const int along = taps_along(rule);
  int all = 1;
  for (int axis = 0; axis < rule.axes; ++axis) all *= along;
  for (int64_t begin = 0; begin < n; begin += kGridBlock) {
    const int64_t count = n - begin < kGridBlock ? n - begin : kGridBlock;
    AxisTaps<T> taps[GridRule::kMostAxes];
    for (int axis = 0; axis < rule.axes; ++axis) {  // a grid has the last dimension first
      T place[kGridBlock];
      for (int64_t i = 0; i < count; ++i) place[i] = grid[(begin + i) * rule.axes + rule.axes - 1 - axis];
      taps_of_axis(rule, axis, place, count, taps[axis]);
    }
    for (int tap = 0; tap < all; ++tap) {
      int64_t* const to_index = index + tap * stride + begin;
      T* const to_weight = weight + tap * stride + begin;
      const int last = tap % along, middle = tap / along % along, first = tap / along / along;
      const AxisTaps<T>&a = taps[rule.axes - 2], &b = taps[rule.axes - 1];
      if (rule.axes == 2) {
        for (int64_t i = 0; i < count; ++i) to_index[i] = a.pixel[middle][i] + b.pixel[last][i];
        for (int64_t i = 0; i < count; ++i) to_weight[i] = a.weight[middle][i] * b.weight[last][i];
      } else {
        const AxisTaps<T>& c = taps[0];
        for (int64_t i = 0; i < count; ++i) to_index[i] = c.pixel[first][i] + a.pixel[middle][i] + b.pixel[last][i];
        for (int64_t i = 0; i < count; ++i) to_weight[i] = c.weight[first][i] * a.weight[middle][i] * b.weight[last][i];
      }
    }
  }
}

}  // namespace terra::cpu::TERRA_ISA
