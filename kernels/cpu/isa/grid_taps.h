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
  for (int64_t i = 0; i < n; ++i) {  // nothing moves on the edge or beyond
    slope[i] = (place[i] > zero) & (place[i] < last) ? slope[i] : zero;
    place[i] = place[i] < zero ? zero : place[i] > last ? last : place[i];
  }
}

/// The number of a pixel at a whole place; those far away, and no numbers at all, are just outside.
template <class T>
int32_t pixel_at(T place, int64_t size) {
  const float margin = 9;
  const auto x = static_cast<double>(place), low = static_cast<double>(-margin),
             high = static_cast<double>(size) + static_cast<double>(margin);
  return static_cast<int32_t>(x > low ? (x < high ? x : high) : low);
}

/// A tap of n places, of pixels that lie `step` apart; what is beyond the image has no weight.
template <class T>
void put_on_image(int64_t size, int64_t step, int32_t* pixel, T* weight, int64_t n) {
  const int32_t last = static_cast<int32_t>(size - 1), apart = static_cast<int32_t>(step);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t kept = pixel[i] < 0 ? 0 : pixel[i] > last ? last : pixel[i];
    weight[i] = kept == pixel[i] ? weight[i] : T(0);
    pixel[i] = kept * apart;
  }
}

/// Cubic convolution at a distance below 1 (near) or from 1 to 2, or its derivative of some order.
template <class T>
T cubic_weight(T distance, bool near, int64_t order) {
  const T a(-0.75f), x = distance;
  switch (order) {
    case 0:
      return near ? ((a + T(2)) * x - (a + T(3))) * x * x + T(1) : ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a;
    case 1: return near ? (T(3) * (a + T(2)) * x - T(2) * (a + T(3))) * x : a * ((T(3) * x - T(10)) * x + T(8));
    case 2: return near ? T(6) * (a + T(2)) * x - T(2) * (a + T(3)) : a * (T(6) * x - T(10));
    case 3: return near ? T(6) * (a + T(2)) : T(6) * a;
    default: return T(0);
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
        taps.pixel[0][i] = pixel_at(nearest_whole(place[i]), size);
        taps.weight[0][i] = T(order == 0 ? 1.0f : 0.0f);
      }
      break;
    case GridRule::Mode::Linear:
      bring_inside(rule, size, place, slope, n);
      for (int64_t i = 0; i < n; ++i) {
        const T floor = floor_of(place[i]), part = place[i] - floor;
        taps.pixel[0][i] = pixel_at(floor, size);
        taps.pixel[1][i] = taps.pixel[0][i] + 1;
        taps.weight[0][i] = order == 0 ? one - part : order == 1 ? -slope[i] : T(0);
        taps.weight[1][i] = order == 0 ? part : order == 1 ? slope[i] : T(0);
      }
      break;
    case GridRule::Mode::Cubic:
      for (int64_t i = 0; i < n; ++i) base[i] = floor_of(place[i]);
      for (int tap = 0; tap < 4; ++tap) {
        const T offset(static_cast<float>(tap - 1));
        T pixel[kGridBlock], unmoved[kGridBlock];
        for (int64_t i = 0; i < n; ++i) {
          const T from = (place[i] - base[i]) - offset;
          T weight = cubic_weight(from < T(0) ? -from : from, tap == 1 || tap == 2, order);
          for (int64_t k = 0; k < order; ++k) weight = weight * (from < T(0) ? -slope[i] : slope[i]);
          taps.weight[tap][i] = weight;
          pixel[i] = base[i] + offset;
          unmoved[i] = one;
        }
        bring_inside(rule, size, pixel, unmoved, n);
        for (int64_t i = 0; i < n; ++i) taps.pixel[tap][i] = pixel_at(pixel[i], size);
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
