// Sums of weighted elements, along a dimension or of images, and their gradients.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/abi/kernel_error.h"
#include "kernels/abi/rounding.h"
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// Calls body(place of the sum, place of the element, weight) for every tap of every line along `dim` of `sums` and
/// `elements`, in the order of the sums.
template <class T, class Body>
void for_each_tap(const View& sums, const View& elements, int64_t dim_argument, const View& index, const View& weight,
                  const Body& body) {
  const int dim = static_cast<int>(dim_argument < 0 ? dim_argument + sums.rank : dim_argument);
  int64_t inner = 1;
  for (int d = dim + 1; d < sums.rank; ++d) inner *= sums.sizes[d];
  const int64_t size = sums.sizes[dim], of = elements.sizes[dim];
  for (int64_t i = 0; i < sums.numel(); ++i) {
    const int64_t outer = i / inner / size, place = i / inner % size;
    for (int64_t tap = 0; tap < index.sizes[0]; ++tap) {
      const int64_t from = at<int64_t>(index, {tap, place});
      if (from < 0 || from >= of) throw KernelError(KernelError::Kind::Index, "index out of range in self");
      body(i, (outer * of + from) * inner + i % inner, at<T>(weight, {tap, place}));
    }
  }
}

/// (self, dim, index, weight)
void resample(const KernelCall& call) {
  const View &self = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_tap<T>(
        out, self, call.integer(1), call.view(2), call.view(3),
        [&](int64_t sum, int64_t element, T weight) { nth<T>(out, sum) += weight * nth<T>(self, element); });
  });
}

/// (grad, dim, size, index, weight)
void resample_backward(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_tap<T>(
        grad, out, call.integer(1), call.view(3), call.view(4),
        [&](int64_t sum, int64_t element, T weight) { nth<T>(out, element) += weight * nth<T>(grad, sum); });
  });
}

/// Calls body(channel's number, tap's number, place, pixel) for all taps of images [n, c, pixels], in the order of
/// taps.
template <class Body>
void for_each_sample(const View& images, const View& index, const Body& body) {
  for (int64_t plane = 0; plane < images.sizes[0] * images.sizes[1]; ++plane) {
    for (int64_t tap = 0; tap < index.sizes[1]; ++tap) {
      for (int64_t place = 0; place < index.sizes[2]; ++place) {
        const int64_t image = plane / images.sizes[1], pixel = at<int64_t>(index, {image, tap, place});
        if (pixel < 0 || pixel >= images.sizes[2])
          throw KernelError(KernelError::Kind::Index, "index out of range in self");
        body(plane, (image * index.sizes[1] + tap) * index.sizes[2] + place, place, pixel);
      }
    }
  }
}

/// (images, index, weight)
void sample(const KernelCall& call) {
  const View &images = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_sample(images, call.view(1), [&](int64_t plane, int64_t tap, int64_t place, int64_t pixel) {
      nth<T>(out, plane * out.sizes[2] + place) +=
          nth<T>(call.view(2), tap) * nth<T>(images, plane * images.sizes[2] + pixel);
    });
  });
}
/// (grad, index, weight, pixels)
void sample_image_gradient(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_sample(out, call.view(1), [&](int64_t plane, int64_t tap, int64_t place, int64_t pixel) {
      nth<T>(out, plane * out.sizes[2] + pixel) +=
          nth<T>(call.view(2), tap) * nth<T>(grad, plane * grad.sizes[2] + place);
    });
  });
}
/// (grad, images, index)
void sample_weight_gradient(const KernelCall& call) {
  const View &grad = call.view(0), &images = call.view(1), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_sample(images, call.view(2), [&](int64_t plane, int64_t tap, int64_t place, int64_t pixel) {
      nth<T>(out, tap) += nth<T>(grad, plane * grad.sizes[2] + place) * nth<T>(images, plane * images.sizes[2] + pixel);
    });
  });
}

// ---- what grids read --------------------------------------------------------------------------------------------
enum Mode { kLinear, kNearest, kCubic };
enum Padding { kZeros, kBorder, kReflection };

template <class T>
struct AxisTap {
  int64_t pixel;
  T weight;
};

float floor_of(float x) { return std::floor(x); }
double floor_of(double x) { return std::floor(x); }
float nearest_whole(float x) { return std::nearbyint(x); }
double nearest_whole(double x) { return std::nearbyint(x); }
/// What `steps` whole steps leave of a distance.
template <class T>
T rest_of(T distance, T steps, T step) {
  return distance - steps * step;
}
template <class T>
T size_of_number(T x) {
  return x < T(0) ? -x : x;
}

/// One dimension of the images that a grid reads.
template <class T>
struct Axis {
  int64_t size, mode, padding, order;
  bool corners;

  static T number(int64_t n) { return T(static_cast<float>(n)); }

  /// Moves a place onto the image; slope: how the result follows it.
  void bring_inside(T& place, T& slope) const {
    const T last = number(size - 1);
    if (padding == kReflection) {
      const T low(corners ? 0.0f : -0.5f), span = corners ? last : number(size);
      const T distance = size_of_number(place - low), flips = floor_of(distance / span);
      const T rest = rest_of(distance, flips, span);
      const bool odd = !(rest_of(flips, floor_of(flips * T(0.5f)), T(2)) == T(0));
      slope = slope * T(span == T(0) || place == low ? 0 : (place < low) != odd ? -1 : 1);
      place = span == T(0) ? T(0) : (odd ? span - rest : rest) + low;
    }
    if (padding == kZeros) return;
    if (!(place > T(0) && place < last)) slope = T(0);
    if (!(place > T(0))) place = T(0);
    if (place > last) place = last;
  }

  /// A whole place, which may lie far away or be no number, as that of a pixel or one beside the image.
  AxisTap<T> tap(T place, T weight) const {
    const bool begun = !(place < T(0)) && place == place, on_image = begun && place < number(size);
    const int64_t beside = begun ? size - 1 : 0;
    if (on_image) return {static_cast<int64_t>(static_cast<float>(place)), weight};
    return {beside, weight == weight ? T(0) : weight};
  }

  /// Cubic convolution, or a derivative of it, at a distance from one of the two nearest pixels, or beyond them.
  T cubic(T from, bool is_near) const {
    const T a(-0.75f), x = size_of_number(from), sign(order % 2 == 1 && from < T(0) ? -1 : 1);
    const T two = a + T(2), three = a + T(3);
    const T near[] = {(two * x - three) * x * x + T(1), (T(3) * two * x - T(2) * three) * x,
                      T(6) * two * x - T(2) * three, T(6) * two};
    const T far[] = {((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a, (T(3) * a * x - T(10) * a) * x + T(8) * a,
                     T(6) * a * x - T(10) * a, T(6) * a};
    return order > 3 ? T(0) : sign * (is_near ? near : far)[order];
  }

  std::vector<AxisTap<T>> taps(T at) const {
    const T whole = number(size), last = number(size - 1);
    T place = corners ? (at + T(1)) / T(2) * last : ((at + T(1)) * whole - T(1)) / T(2);
    const T scale = (corners ? last : whole) / T(2);
    T slope = scale;
    if (mode == kNearest) {
      bring_inside(place, slope);
      return {tap(nearest_whole(place), T(order == 0 ? 1 : 0))};
    }
    if (mode == kLinear) {
      bring_inside(place, slope);
      const T base = floor_of(place), part = place - base;
      if (order > 1) slope = T(0);
      return {tap(base, order == 0 ? T(1) - part : -slope), tap(base + T(1), order == 0 ? part : slope)};
    }
    std::vector<AxisTap<T>> all;
    const T base = floor_of(place);
    for (int64_t offset = -1; offset <= 2; ++offset) {
      T pixel = base + number(offset), weight = cubic(place - base - number(offset), offset == 0 || offset == 1);
      for (int64_t k = 0; k < order; ++k) weight = weight * scale;
      bring_inside(pixel, slope);
      all.push_back(tap(pixel, weight));
    }
    return all;
  }
};

/// (grid, size, mode, padding, corners, orders, rounded?): places computed in Place.
template <class T, class Place>
void grid_taps_in(const KernelCall& call) {
  const View& grid = call.view(0);
  const auto sizes = call.ints(1);
  for (int64_t image = 0; image < grid.sizes[0]; ++image) {
    for (int64_t place = 0; place < grid.sizes[1]; ++place) {
      std::vector<AxisTap<Place>> all = {{0, Place(1)}};
      for (size_t d = 0; d < sizes.size(); ++d) {
        const Axis<Place> axis{sizes[d], call.integer(2), call.integer(3), std::min<int64_t>(call.ints(5)[d], 4),
                               call.flag(4)};
        const auto along = axis.taps(Place(at<T>(grid, {image, place, static_cast<int64_t>(sizes.size() - 1 - d)})));
        std::vector<AxisTap<Place>> products;
        for (const auto& [pixel, weight] : all)
          for (const auto& own : along) products.push_back({pixel * sizes[d] + own.pixel, weight * own.weight});
        all = products;
      }
      for (size_t t = 0; t < all.size(); ++t) {
        at<int64_t>(call.out[0], {image, static_cast<int64_t>(t), place}) = all[t].pixel;
        at<T>(call.out[1], {image, static_cast<int64_t>(t), place}) = static_cast<T>(all[t].weight);
      }
    }
  }
}
void grid_taps(const KernelCall& call) {
  if (call.has(6))
    return call.args[6].dtype == DType::F16 ? grid_taps_in<float, Rounding<Half>>(call)
                                            : grid_taps_in<float, Rounding<BFloat16>>(call);
  with_float(call.view(0).dtype, [&]<class T>(T) { grid_taps_in<T, T>(call); });
}

constexpr Kernel kKernels[] = {
    {.op = "grid_taps", .run = grid_taps},
    {.op = "sample", .run = sample},
    {.op = "sample_image_gradient", .run = sample_image_gradient},
    {.op = "sample_weight_gradient", .run = sample_weight_gradient},
    {.op = "resample", .run = resample},
    {.op = "resample_backward", .run = resample_backward},
};

}  // namespace

std::span<const Kernel> resample_kernels() { return kKernels; }

}  // namespace terra::reference
