// Sums of weighted elements, along a dimension or of images, and their gradients.
#include <cmath>
#include <vector>

#include "kernels/abi/kernel_error.h"
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

/// One dimension of the images that a grid reads.
template <class T>
struct Axis {
  int64_t size, mode, padding, order;
  bool corners;

  /// Moves a place onto the image; slope: how the result follows it.
  void bring_inside(T& place, T& slope) const {
    const T last = static_cast<T>(size - 1);
    if (padding == kReflection) {
      const T low = corners ? T(0) : T(-0.5), span = corners ? last : static_cast<T>(size);
      const T distance = std::abs(place - low), flips = std::floor(distance / span), rest = distance - flips * span;
      const bool odd = std::fmod(flips, T(2)) != 0;
      slope *= span == 0 || place == low ? T(0) : (place < low) != odd ? T(-1) : T(1);
      place = span == 0 ? T(0) : (odd ? span - rest : rest) + low;
    }
    if (padding == kZeros) return;
    if (!(place > 0 && place < last)) slope = 0;
    if (!(place > 0)) place = 0;
    if (place > last) place = last;
  }

  /// A whole place, which may lie far away or be no number, as that of a pixel or one beside the image.
  AxisTap<T> tap(T place, T weight) const {
    const bool on_image = place >= 0 && place < static_cast<T>(size);
    const int64_t beside = place >= 0 ? size - 1 : 0;
    if (on_image) return {static_cast<int64_t>(place), weight};
    return {beside, std::isnan(weight) ? weight : T(0)};
  }

  /// Cubic convolution, or a derivative of it, at a distance from a pixel.
  T cubic(T from) const {
    const T a = T(-0.75), x = std::abs(from), sign = order % 2 == 1 && from < 0 ? T(-1) : T(1);
    const T near[] = {((a + 2) * x - (a + 3)) * x * x + 1, (3 * (a + 2) * x - 2 * (a + 3)) * x,
                      6 * (a + 2) * x - 2 * (a + 3), 6 * (a + 2)};
    const T far[] = {((a * x - 5 * a) * x + 8 * a) * x - 4 * a, a * ((3 * x - 10) * x + 8), a * (6 * x - 10), 6 * a};
    return order > 3 ? T(0) : sign * (x < 1 || (x == 1 && from < 0) ? near : far)[order];
  }

  std::vector<AxisTap<T>> taps(T at) const {
    const T whole = static_cast<T>(size), last = static_cast<T>(size - 1);
    T place = corners ? (at + 1) / 2 * last : ((at + 1) * whole - 1) / 2;
    const T scale = corners ? last / 2 : whole / 2;
    T slope = scale;
    if (mode == kNearest) {
      bring_inside(place, slope);
      return {tap(std::nearbyint(place), order == 0 ? T(1) : T(0))};
    }
    if (mode == kLinear) {
      bring_inside(place, slope);
      const T base = std::floor(place), part = place - base;
      if (order > 1) slope = 0;
      return {tap(base, order == 0 ? 1 - part : -slope), tap(base + 1, order == 0 ? part : slope)};
    }
    std::vector<AxisTap<T>> all;
    const T base = std::floor(place);
    for (int offset = -1; offset <= 2; ++offset) {
      T pixel = base + static_cast<T>(offset), weight = cubic(place - base - static_cast<T>(offset));
      for (int64_t k = 0; k < order; ++k) weight *= scale;
      bring_inside(pixel, slope);
      all.push_back(tap(pixel, weight));
    }
    return all;
  }
};

/// (grid, size, mode, padding, corners, orders)
void grid_taps(const KernelCall& call) {
  const View& grid = call.view(0);
  const auto sizes = call.ints(1);
  with_float(grid.dtype, [&]<class T>(T) {
    for (int64_t image = 0; image < grid.sizes[0]; ++image) {
      for (int64_t place = 0; place < grid.sizes[1]; ++place) {
        std::vector<AxisTap<T>> all = {{0, T(1)}};
        for (size_t d = 0; d < sizes.size(); ++d) {
          const Axis<T> axis{sizes[d], call.integer(2), call.integer(3), call.ints(5)[d], call.flag(4)};
          const auto along = axis.taps(at<T>(grid, {image, place, static_cast<int64_t>(sizes.size() - 1 - d)}));
          std::vector<AxisTap<T>> products;
          for (const auto& [pixel, weight] : all)
            for (const auto& own : along) products.push_back({pixel * sizes[d] + own.pixel, weight * own.weight});
          all = products;
        }
        for (size_t t = 0; t < all.size(); ++t) {
          at<int64_t>(call.out[0], {image, static_cast<int64_t>(t), place}) = all[t].pixel;
          at<T>(call.out[1], {image, static_cast<int64_t>(t), place}) = all[t].weight;
        }
      }
    }
  });
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
