#include "engine/ops/columns.h"

#include <fmt/ranges.h>

#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

/// Attributes of windows: parameters first .. first + 3 of an op.
struct Windows {
  Dims kernel, dilation, padding, stride;

  template <class Call>
  Windows(const Call& call, int first)
      : kernel(call.ints(first)),
        dilation(call.ints(first + 1)),
        padding(call.ints(first + 2)),
        stride(call.ints(first + 3)) {
    const auto check_both = [](const Dims& pair, int64_t least, std::string_view what, std::string_view name) {
      check(pair[0] >= least && pair[1] >= least, "{}, but got {}_height: {} {}_width: {}", what, name, pair[0], name,
            pair[1]);
    };
    check_both(kernel, 1, "kernel size should be greater than zero", "kernel");
    check_both(dilation, 1, "dilation should be greater than zero", "dilation");
    check_both(padding, 0, "padding should be non-negative", "pad");
    check_both(stride, 1, "stride should be greater than zero", "stride");
  }
  /// How many fit along that axis of an image.
  int64_t count(size_t axis, int64_t size) const {
    const int64_t covered = size_sum(size_product(dilation[axis], kernel[axis] - 1), 1);
    const int64_t room = size_sum(size, size_product(2, padding[axis])) - covered;
    return (room >= 0 ? room / stride[axis] : (room - stride[axis] + 1) / stride[axis]) + 1;
  }
  int64_t taps() const { return size_product(kernel[0], kernel[1]); }
};

std::string text(std::span<const int64_t> sizes) { return fmt::format("({})", fmt::join(sizes, ", ")); }

void im2col_shape(Inference& f) {
  const auto sizes = f.sizes(0);
  const Windows w(f, 1);
  check(sizes.size() == 4 && sizes[1] > 0 && sizes[2] > 0 && sizes[3] > 0,
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
        "got: {}",
        listed(sizes));
  const int64_t down = w.count(0, sizes[2]), across = w.count(1, sizes[3]);
  check(down > 0 && across > 0,
        "Given input with spatial size {}, kernel_size={}, dilation={}, padding={}, calculated shape of the array of "
        "sliding blocks as ({}, {}), but its components must be at least one.",
        text(sizes.subspan(2)), text(w.kernel), text(w.dilation), text(w.padding), down, across);
  f.result(f.dtype(0), Dims{sizes[0], size_product(sizes[1], w.taps()), size_product(down, across)});
}
void col2im_shape(Inference& f) {
  const auto sizes = f.sizes(0), image = f.ints(1);
  const Windows w(f, 2);
  check(sizes.size() == 3 && sizes[1] > 0 && sizes[2] > 0,
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
        "but got: {}",
        listed(sizes));
  check(sizes[1] % w.taps() == 0,
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={} "
        "and kernel_size={}.",
        sizes[1], text(w.kernel));
  const int64_t down = w.count(0, image[0]), across = w.count(1, image[1]);
  const auto attributes = [&] {
    return fmt::format("output_size={}, kernel_size={}, dilation={}, padding={}, stride={}", text(image),
                       text(w.kernel), text(w.dilation), text(w.padding), text(w.stride));
  };
  check(size_product(down, across) == sizes[2],
        "Given {}, expected size of input's dimension 2 to match the calculated number of sliding blocks {} * {} = {}, "
        "but got input.size(2)={}.",
        attributes(), down, across, down * across, sizes[2]);
  check(down > 0 && across > 0,
        "Given {}, calculated shape of the array of sliding blocks as ({}, {}), which is too small (non-positive)",
        attributes(), down, across);
  f.result(f.dtype(0), Dims{sizes[0], sizes[1] / w.taps(), image[0], image[1]});
}

void im2col_gradient(Backward& b) {
  const Dims& sizes = b.sizes(0);
  b.set(0, col2im(b.grad(), Dims{sizes[2], sizes[3]}, b.arg(1), b.arg(2), b.arg(3), b.arg(4)));
}
void col2im_gradient(Backward& b) { b.set(0, im2col(b.grad(), b.arg(2), b.arg(3), b.arg(4), b.arg(5))); }

}  // namespace

const Op im2col{
    {.name = "im2col",
     .signature = "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> "
                  "Tensor",
     .doc = "The windows of images [N, C, H, W] as columns [N, C * kh * kw, windows].",
     .example = "",
     .shape = im2col_shape,
     .gradient = im2col_gradient,
     .samples = {{"randn(2, 3, 4, 5), 2, 1, 0, 1"}, {"randn(1, 2, 5, 6), (3, 2), (1, 2), (1, 0), (2, 1)"}}}};
const Op col2im{
    {.name = "col2im",
     .signature =
         "(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride)"
         " -> Tensor",
     .doc = "Columns [N, C * kh * kw, windows] added up to images: the transpose of im2col.",
     .example = "",
     .shape = col2im_shape,
     .gradient = col2im_gradient,
     .samples = {{"randn(2, 12, 12), (4, 5), 2, 1, 0, 1"},
                 {"randn(1, 12, 12), (5, 6), (3, 2), (1, 2), (1, 0), (2, 1)"}}}};

}  // namespace terra::ops
