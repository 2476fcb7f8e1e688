#include "engine/ops/pool.h"

#include "engine/ops/binary.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/layout.h"
#include "engine/ops/pool_windows.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void check_image(std::span<const int64_t> sizes, std::string_view name) {
  check(sizes.size() == 3 || sizes.size() == 4, "{}(): Expected 3D or 4D input, but got input of size {}", name,
        listed(sizes));
}

Dims pooled_image(std::span<const int64_t> image, const Pooling& p) {
  check_windows(p);
  const bool is_image = image.size() == 3 || image.size() == 4;
  check(is_image && image[image.size() - 3] > 0 && image[image.size() - 2] > 0 && image.back() > 0,
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{}", listed(image));
  return pooled_sizes(image, p);
}

void max_pool2d_shape(Inference& f) {
  check(f.rank(0) == 3 || f.rank(0) == 4, "non-empty 3D or 4D (batch mode) tensor expected for input");
  Dims sizes = pooled_image(f.sizes(0), {f.ints(1), f.arg(2), f.ints(3), f.ints(4), f.flag(5)});
  f.result(f.dtype(0), sizes);
  f.result(DType::I64, sizes);
}
void avg_pool2d_shape(Inference& f) {
  check_divisor(f.arg(6));
  f.result(f.dtype(0), pooled_image(f.sizes(0), {f.ints(1), f.arg(2), f.ints(3), {}, f.flag(4)}));
}
/// Sizes of an image that has pixels, with the last two replaced by parameter 1.
Dims adaptive_sizes(Inference& f) {
  const std::string_view name = f.op.name.substr(0, f.op.name.find("_with"));
  check_image(f.sizes(0), name);
  Dims sizes(f.sizes(0));
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t dim = sizes.size() - 2 + axis;
    check(
        sizes[dim] > 0,
        "{}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {} with dimension {} "
        "being empty",
        name, listed(f.sizes(0)), dim);
    check(f.ints(1)[axis] >= 0, "{}: elements of output_size must be greater than or equal to 0, but got {}", name,
          listed(f.ints(1)));
  }
  for (size_t axis = 0; axis < 2; ++axis) sizes[sizes.size() - 2 + axis] = f.ints(1)[axis];
  return sizes;
}
void adaptive_shape(Inference& f) { f.result(f.dtype(0), adaptive_sizes(f)); }
void adaptive_max_shape(Inference& f) {
  Dims sizes = adaptive_sizes(f);
  f.result(f.dtype(0), sizes);
  f.result(DType::I64, std::move(sizes));
}
/// The gradient of a pool is an image of the given sizes; what came out of the pool has its planes, `pooled` pixels.
void image_gradient(Inference& f, std::span<const int64_t> sizes, std::span<const int64_t> pooled) {
  const auto grad = f.sizes(0);
  const bool image = sizes.size() == 3 || sizes.size() == 4;
  check(image && grad.size() == sizes.size() && std::equal(sizes.begin(), sizes.end() - 2, grad.begin()) &&
            std::equal(pooled.begin(), pooled.end(), grad.end() - 2),
        "{}: a gradient of size {} doesn't come from images of size {}", f.op.name, listed(grad), listed(sizes));
  f.result(f.dtype(0), Dims(sizes));
}
void max_pool2d_backward_shape(Inference& f) {
  check(Dims(f.sizes(1)) == Dims(f.sizes(0)), "max_pool2d_backward: gradients {} and indices {} differ in size",
        listed(f.sizes(0)), listed(f.sizes(1)));
  const auto grad = f.sizes(0);
  image_gradient(f, f.ints(2), grad.subspan(grad.size() < 2 ? 0 : grad.size() - 2));
}
void avg_pool2d_backward_shape(Inference& f) {
  check_divisor(f.arg(7));
  const Dims pooled = pooled_image(f.ints(1), {f.ints(2), f.arg(3), f.ints(4), {}, f.flag(5)});
  image_gradient(f, f.ints(1), std::span<const int64_t>(pooled).last(2));
}
void adaptive_backward_shape(Inference& f) {
  const auto grad = f.sizes(0);
  image_gradient(f, f.ints(1), grad.subspan(grad.size() < 2 ? 0 : grad.size() - 2));
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void max_pool2d_gradient(Backward& b) { b.set(0, max_pool2d_backward(b.grad(), b.out(1), b.sizes(0))); }
/// grad was spread to the places in `indices`; what comes back is read there.
void max_pool2d_backward_gradient(Backward& b) {
  const Tensor planes = flatten(b.grad(), -2, -1), index = flatten(b.in(1), -2, -1);
  b.set(0, reshape(gather(planes, -1, index), b.sizes(0)));
}
void avg_pool2d_gradient(Backward& b) {
  b.set(0, avg_pool2d_backward(b.grad(), b.sizes(0), b.arg(1), b.arg(2), b.arg(3), b.arg(4), b.arg(5), b.arg(6)));
}
void avg_pool2d_backward_gradient(Backward& b) {
  b.set(0, avg_pool2d(b.grad(), b.arg(2), b.arg(3), b.arg(4), b.arg(5), b.arg(6), b.arg(7)));
}
void adaptive_gradient(Backward& b) { b.set(0, adaptive_avg_pool2d_backward(b.grad(), b.sizes(0))); }
void adaptive_backward_gradient(Backward& b) {
  const Dims& sizes = b.sizes(0);
  b.set(0, adaptive_avg_pool2d(b.grad(), Dims{sizes[sizes.size() - 2], sizes.back()}));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void max_pool2d_of(Composition& c) {
  c.result(max_pool2d_with_indices(c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), c.arg(5)));
}
/// Output pixel i shows input pixel floor(i * in / out).
void interpolate_nearest2d_of(Composition& c) {
  Tensor x = c.tensor(0);
  check(x.rank() >= 2, "interpolate: an image has at least 2 dimensions, but got input of size {}", listed(x.sizes()));
  Dims sizes = x.sizes();
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t& size = sizes[x.rank() - 2 + axis];
    check(size > 0 && c.ints(1)[axis] > 0,
          "Input and output sizes should be greater than 0, but got input {} and output {}", size, c.ints(1)[axis]);
    size = c.ints(1)[axis];
  }
  check_room(sizes, x.dtype());
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t dim = static_cast<int64_t>(x.rank()) - 2 + axis, in = x.size(dim), out = c.ints(1)[axis];
    if (in != out) x = index_select(x, dim, floor_divide(mul(arange(0, out), in), out));
  }
  c.result(x);
}

/// One window is a mean.
std::string_view adaptive_name(std::span<const Arg> args) {
  const auto ints = args[1].ints();
  return std::all_of(ints.begin(), ints.end(), [](int64_t n) { return n == 1; }) ? "MeanBackward1"
                                                                                 : "AdaptiveAvgPool2DBackward0";
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op max_pool2d{{.name = "max_pool2d",
                     .signature = "(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] "
                                  "dilation=1, bool ceil_mode=False) -> Tensor",
                     .doc = "The largest element of every window; windows are kernel_size apart by default.",
                     .example = "terra.nn.functional.max_pool2d(terra.ones(1, 1, 4, 4), 2).shape",
                     .flags = kFunction | kFunctional | kMovesBytes,
                     .composite = max_pool2d_of,
                     .samples = {{"randn(2, 3, 6, 5), 2"},
                                 {"randn(3, 6, 6), 3, 2, 1"},
                                 {"randn(1, 2, 5, 7), (2, 3), (2, 1), (1, 0), 1, True"}}}};
const Op max_pool2d_with_indices{{.name = "max_pool2d_with_indices",
                                  .signature =
                                      "(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
                                      "int[2] dilation=1, bool ceil_mode=False) -> (Tensor out, Tensor indices)",
                                  .doc = "max_pool2d, and where in its plane each result was.",
                                  .example = "",
                                  .flags = kFunctional | kKeepsFormat | kPiecewise,
                                  .shape = max_pool2d_shape,
                                  .gradient = max_pool2d_gradient,
                                  .saved = saves_result(1),
                                  .samples = {{"randn(2, 3, 6, 5), 2"},
                                              {"randn(1, 2, 7, 7), 3, 2, 1, 2"},
                                              {"randint(-9, 9, (2, 5, 5)), 3, 2, 1, 1, True", "int", false}}}};
const Op avg_pool2d{{.name = "avg_pool2d",
                     .signature = "(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool "
                                  "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
                     .doc = "The mean of every window; windows are kernel_size apart by default.",
                     .example = "terra.nn.functional.avg_pool2d(terra.ones(1, 1, 4, 4), 2).shape",
                     .flags = kFunctional | kKeepsFormat | kPiecewise,
                     .shape = avg_pool2d_shape,
                     .gradient = avg_pool2d_gradient,
                     .samples = {{"randn(2, 3, 6, 5), 2"},
                                 {"randn(3, 6, 6), 3, 2, 1"},
                                 {"randn(1, 2, 5, 7), (2, 3), 2, (1, 0), True, False"},
                                 {"randn(1, 2, 5, 7), (2, 3), 2, (1, 0), True, False, 5"},
                                 {"randint(-9, 9, (2, 5, 5)), 3, 2, 1", "int", false}}}};
const Op adaptive_avg_pool2d{{.name = "adaptive_avg_pool2d",
                              .signature = "(Tensor self, int[2] output_size) -> Tensor",
                              .doc = "The means of as many windows as output_size asks for, spread evenly.",
                              .example = "terra.nn.functional.adaptive_avg_pool2d(terra.ones(1, 1, 4, 4), 1).shape",
                              .flags = kFunctional | kKeepsFormat | kPiecewise,
                              .shape = adaptive_shape,
                              .gradient = adaptive_gradient,
                              .grad_fn_of = adaptive_name,
                              .samples = {{"randn(2, 3, 6, 5), 1"}, {"randn(2, 7, 5), (3, 2)"}}}};
const Op interpolate_nearest2d{{.name = "interpolate_nearest2d",
                                .signature = "(Tensor self, int[2] output_size) -> Tensor",
                                .doc = "The image resized so that every pixel shows the nearest one of the input.",
                                .example = "",
                                .flags = kFunctional | kMovesBytes | kKeepsFormat,
                                .composite = interpolate_nearest2d_of,
                                .samples = {{"randn(1, 2, 3, 4), (6, 5)"}}}};
const Op max_pool2d_backward{{.name = "max_pool2d_backward",
                              .signature = "(Tensor grad, Tensor indices, int[] input_sizes) -> Tensor",
                              .doc = "The gradient of max_pool2d: grad added at the places in indices.",
                              .example = "",
                              .flags = kChecksValues | kKeepsFormat,
                              .shape = max_pool2d_backward_shape,
                              .gradient = max_pool2d_backward_gradient,
                              .saved = saves({1}),
                              .samples = {{"randn(2, 1, 2, 2), randint(0, 16, (2, 1, 2, 2)), (2, 1, 4, 4)"}}}};
const Op avg_pool2d_backward{{.name = "avg_pool2d_backward",
                              .signature =
                                  "(Tensor grad, int[] input_sizes, int[2] kernel_size, int[2]? stride, int[2] "
                                  "padding, bool ceil_mode, bool count_include_pad, int? divisor_override=None) -> "
                                  "Tensor",
                              .doc = "The gradient of avg_pool2d: grad spread evenly over its windows.",
                              .example = "",
                              .flags = kKeepsFormat,
                              .shape = avg_pool2d_backward_shape,
                              .gradient = avg_pool2d_backward_gradient,
                              .samples = {{"randn(2, 1, 2, 2), (2, 1, 4, 4), 2, None, 0, False, True"},
                                          {"randn(2, 1, 2, 2), (2, 1, 4, 4), 2, None, 0, False, True, 3"}}}};
const Op adaptive_avg_pool2d_backward{
    {.name = "adaptive_avg_pool2d_backward",
     .signature = "(Tensor grad, int[] input_sizes) -> Tensor",
     .doc = "The gradient of adaptive_avg_pool2d: grad spread evenly over its windows.",
     .example = "",
     .flags = kKeepsFormat,
     .shape = adaptive_backward_shape,
     .gradient = adaptive_backward_gradient,
     .samples = {{"randn(2, 1, 2, 2), (2, 1, 5, 4)"}}}};
const Op adaptive_max_pool2d_with_indices{
    {.name = "adaptive_max_pool2d_with_indices",
     .signature = "(Tensor self, int[2] output_size) -> (Tensor out, Tensor indices)",
     .doc = "The largest elements of as many windows as output_size asks for, spread evenly, and where they were.",
     .example = "",
     .flags = kFunctional | kKeepsFormat | kPiecewise,
     .shape = adaptive_max_shape,
     .gradient = max_pool2d_gradient,
     .saved = saves_result(1),
     .grad_fn = "AdaptiveMaxPool2DBackward0",
     .samples = {
         {"randn(2, 3, 6, 5), 1"}, {"randn(2, 7, 5), (3, 4)"}, {"randint(-9, 9, (2, 3, 4)), 2", "int", false}}}};

}  // namespace terra::ops
