// im2col and col2im: the windows of images as columns, and their sums put back. Images are shared out among threads.
#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/convolution_columns.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// Images [n, c, h, w] under the windows kernel_size, dilation, padding, stride at positions `first` on.
ConvShape windows_of(const KernelCall& call, int first, const View& images) {
  const auto attribute = [&](int i, int axis) {
    const auto values = call.ints(first + i);
    return values[values.size() == 1 ? 0 : static_cast<size_t>(axis)];
  };
  const auto count = [&](int axis) {
    const int64_t covered = attribute(1, axis) * (attribute(0, axis) - 1) + 1;
    return (images.sizes[2 + axis] + 2 * attribute(2, axis) - covered) / attribute(3, axis) + 1;
  };
  return {.n = images.sizes[0],
          .ic = images.sizes[1],
          .ih = images.sizes[2],
          .iw = images.sizes[3],
          .oh = count(0),
          .ow = count(1),
          .kh = attribute(0, 0),
          .kw = attribute(0, 1),
          .stride_h = attribute(3, 0),
          .stride_w = attribute(3, 1),
          .pad_h = attribute(2, 0),
          .pad_w = attribute(2, 1),
          .dilation_h = attribute(1, 0),
          .dilation_w = attribute(1, 1)};
}

/// Calls convert(from, to) for every image and its columns.
template <class T, class Convert>
void for_each_image(const ConvShape& s, const T* from, int64_t from_step, T* to, int64_t to_step,
                    const Convert& convert) {
  const int64_t grain = std::max<int64_t>(1, grain_for_cost(4) / std::max<int64_t>(1, column_elements(s)));
  parallel_for(s.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) convert(s, from + n * from_step, to + n * to_step);
  });
}

/// (self, kernel_size, dilation, padding, stride)
void im2col_in(const KernelCall& call, Scratch& scratch) {
  const View &self = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    const T* images = scratch.contiguous<T>(self);
    if (scratch.counting()) return;
    const ConvShape s = windows_of(call, 1, self);
    for_each_image(s, images, s.ic * s.input_pixels(), out.as<T>(), column_elements(s), unfold_image<T>);
  });
}

/// (self, output_size, kernel_size, dilation, padding, stride)
void col2im_in(const KernelCall& call, Scratch& scratch) {
  const View &self = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    const T* columns = scratch.contiguous<T>(self);
    if (scratch.counting()) return;
    const ConvShape s = windows_of(call, 2, out);
    for_each_image(s, columns, column_elements(s), out.as<T>(), s.ic * s.input_pixels(), fold_image<T>);
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<im2col_in>("im2col"),
    scratch_kernel<col2im_in>("col2im"),
};

}  // namespace

std::span<const Kernel> columns_kernels() { return kKernels; }

}  // namespace terra::cpu
