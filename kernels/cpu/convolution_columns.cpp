#include "kernels/cpu/convolution_columns.h"

#include <algorithm>

#include "kernels/cpu/product.h"

namespace terra::cpu {
namespace {

int64_t taps(const ConvShape& s) { return s.ic / s.groups * s.taps(); }
int64_t pixels(const ConvShape& s) { return s.output_pixels(); }

/// Walks the matrix [taps of a group, output pixels]: calls visit(element, pixel of the group's channels) where the tap
/// falls on the image, outside(element) where it falls on the padding.
template <class Visit, class Outside>
void for_each_tap(const ConvShape& s, const Visit& visit, const Outside& outside) {
  int64_t at = 0;
  for (int64_t row = 0; row < taps(s); ++row) {
    const int64_t j = row % s.kw, i = row / s.kw % s.kh, k = row / (s.kw * s.kh) % s.kd, c = row / s.taps();
    for (int64_t z = 0; z < s.od; ++z) {
      const int64_t in_z = z * s.stride_d - s.pad_d + k * s.dilation_d;
      for (int64_t y = 0; y < s.oh; ++y) {
        const int64_t in_y = y * s.stride_h - s.pad_h + i * s.dilation_h;
        const bool row_inside = in_z >= 0 && in_z < s.id && in_y >= 0 && in_y < s.ih;
        const int64_t first = ((c * s.id + in_z) * s.ih + in_y) * s.iw;
        for (int64_t x = 0; x < s.ow; ++x, ++at) {
          const int64_t in_x = x * s.stride_w - s.pad_w + j * s.dilation_w;
          if (row_inside && in_x >= 0 && in_x < s.iw) {
            visit(at, first + in_x);
          } else {
            outside(at);
          }
        }
      }
    }
  }
}

/// Calls body(offset into the source, into the destination, into the weights, image, first output channel) for each
/// image and group.
template <class Body>
void for_each_group(const ConvShape& s, const Body& body) {
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t g = 0; g < s.groups; ++g) {
      body((n * s.ic + g * ic) * s.input_pixels(), (n * s.oc + g * oc) * pixels(s), g * oc * taps(s), n, g * oc);
    }
  }
}

}  // namespace

template <class T>
void unfold_image(const ConvShape& s, const T* image, T* columns) {
  for_each_tap(
      s, [&](int64_t at, int64_t pixel) { columns[at] = image[pixel]; }, [&](int64_t at) { columns[at] = 0; });
}

template <class T>
void fold_image(const ConvShape& s, const T* columns, T* image) {
  std::fill_n(image, s.ic / s.groups * s.input_pixels(), T{0});
  for_each_tap(
      s, [&](int64_t at, int64_t pixel) { image[pixel] = static_cast<T>(image[pixel] + columns[at]); }, [](int64_t) {});
}

int64_t column_elements(const ConvShape& s) { return taps(s) * pixels(s); }

template <class T>
void convolve_by_columns(const ConvShape& s, const T* source, const T* weights, const T* bias, T* destination,
                         T* columns) {
  const int64_t oc = s.oc / s.groups;
  for_each_group(s, [&](int64_t from, int64_t to, int64_t weight, int64_t, int64_t channel) {
    unfold_image(s, source + from, columns);
    if (bias != nullptr) {
      for (int64_t c = 0; c < oc; ++c) std::fill_n(destination + to + c * pixels(s), pixels(s), bias[channel + c]);
    }
    product<T>(oc, pixels(s), taps(s), T{1}, {weights + weight, taps(s), 1}, {columns, pixels(s), 1},
               bias != nullptr ? T{1} : T{0}, destination + to);
  });
}

template <class T>
void convolve_backward_input_by_columns(const ConvShape& s, const T* gradient, const T* weights, T* source_gradient,
                                        T* columns) {
  for_each_group(s, [&](int64_t to, int64_t from, int64_t weight, int64_t, int64_t) {
    product<T>(taps(s), pixels(s), s.oc / s.groups, T{1}, {weights + weight, 1, taps(s)},
               {gradient + from, pixels(s), 1}, T{0}, columns);
    fold_image(s, columns, source_gradient + to);
  });
}

template <class T>
void convolve_backward_weight_by_columns(const ConvShape& s, const T* gradient, const T* source, T* weight_gradient,
                                         T* columns) {
  for_each_group(s, [&](int64_t from, int64_t grad, int64_t weight, int64_t image, int64_t) {
    unfold_image(s, source + from, columns);
    product<T>(s.oc / s.groups, taps(s), pixels(s), T{1}, {gradient + grad, pixels(s), 1}, {columns, 1, pixels(s)},
               image == 0 ? T{0} : T{1}, weight_gradient + weight);
  });
}

#define TERRA_COLUMNS(T)                                                                          \
  template void unfold_image(const ConvShape&, const T*, T*);                                     \
  template void fold_image(const ConvShape&, const T*, T*);                                       \
  template void convolve_by_columns(const ConvShape&, const T*, const T*, const T*, T*, T*);      \
  template void convolve_backward_input_by_columns(const ConvShape&, const T*, const T*, T*, T*); \
  template void convolve_backward_weight_by_columns(const ConvShape&, const T*, const T*, T*, T*);
TERRA_COLUMNS(uint8_t)
TERRA_COLUMNS(int8_t)
TERRA_COLUMNS(int16_t)
TERRA_COLUMNS(int32_t)
TERRA_COLUMNS(int64_t)
TERRA_COLUMNS(float)
TERRA_COLUMNS(double)
#undef TERRA_COLUMNS

}  // namespace terra::cpu
