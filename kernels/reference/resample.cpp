// Sums of weighted elements, along a dimension or of images, and their gradients.
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

constexpr Kernel kKernels[] = {
    {.op = "sample", .run = sample},
    {.op = "sample_image_gradient", .run = sample_image_gradient},
    {.op = "sample_weight_gradient", .run = sample_weight_gradient},
    {.op = "resample", .run = resample},
    {.op = "resample_backward", .run = resample_backward},
};

}  // namespace

std::span<const Kernel> resample_kernels() { return kKernels; }

}  // namespace terra::reference
