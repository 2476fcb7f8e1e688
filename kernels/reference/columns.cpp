// The windows of images as columns, and their sums put back.
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// Calls body(image element, column element) for every tap that falls on an image [n, c, h, w]. Attributes kernel_size,
/// dilation, padding and stride stand from position `first` on; `windows`: how many there are.
template <class Body>
void for_each_tap(const KernelCall& call, int first, const View& images, int64_t windows, const Body& body) {
  const auto attribute = [&](int i, int axis) {
    const auto values = call.ints(first + i);
    return values[values.size() == 1 ? 0 : static_cast<size_t>(axis)];
  };
  const int64_t kh = attribute(0, 0), kw = attribute(0, 1), h = images.sizes[2], w = images.sizes[3];
  const int64_t across = (w + 2 * attribute(2, 1) - attribute(1, 1) * (kw - 1) - 1) / attribute(3, 1) + 1;
  for (int64_t plane = 0; plane < images.sizes[0] * images.sizes[1]; ++plane) {
    for (int64_t tap = 0; tap < kh * kw; ++tap) {
      for (int64_t window = 0; window < windows; ++window) {
        const int64_t y = window / across * attribute(3, 0) - attribute(2, 0) + tap / kw * attribute(1, 0);
        const int64_t x = window % across * attribute(3, 1) - attribute(2, 1) + tap % kw * attribute(1, 1);
        if (y < 0 || y >= h || x < 0 || x >= w) continue;
        body((plane * h + y) * w + x, (plane * kh * kw + tap) * windows + window);
      }
    }
  }
}

/// (self, kernel_size, dilation, padding, stride)
void im2col(const KernelCall& call) {
  const View &self = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_tap(call, 1, self, out.sizes[2],
                 [&](int64_t pixel, int64_t column) { nth<T>(out, column) = nth<T>(self, pixel); });
  });
}

/// (self, output_size, kernel_size, dilation, padding, stride)
void col2im(const KernelCall& call) {
  const View &self = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_tap(call, 2, out, self.sizes[2], [&](int64_t pixel, int64_t column) {
      nth<T>(out, pixel) = static_cast<T>(nth<T>(out, pixel) + nth<T>(self, column));
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "im2col", .run = im2col},
    {.op = "col2im", .run = col2im},
};

}  // namespace

std::span<const Kernel> columns_kernels() { return kKernels; }

}  // namespace terra::reference
