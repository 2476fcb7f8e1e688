#include "engine/ops/pool.h"

#include <fmt/ranges.h>

#include "engine/ops/binary.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// How windows lie along one dimension.
struct Windows {
  int64_t kernel, stride, padding, dilation;
  bool ceil_mode;

  /// How many fit; with ceil_mode a last one may overhang, if it begins inside the input or its left padding.
  int64_t count(int64_t size) const {
    const int64_t padded = size_sum(size, size_product(2, padding)), reach = size_product(dilation, kernel - 1);
    const int64_t room = padded - 1 - reach;
    if (room < 0) return 0;
    const int64_t n = room / stride + 1;
    return ceil_mode && room % stride != 0 && n <= (size + padding - 1) / stride ? n + 1 : n;
  }
};

void check_image(std::span<const int64_t> sizes, std::string_view name) {
  check(sizes.size() == 3 || sizes.size() == 4, "{}(): Expected 3D or 4D input, but got input of size {}", name,
        to_string(sizes));
}

std::string joined(std::span<const int64_t> sizes) { return fmt::format("{}", fmt::join(sizes, "x")); }
/// "kH: 2 kW: 0", as PyTorch lists what belongs to the last dimensions.
std::string listed(std::string_view prefix, std::span<const int64_t> values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}{}: {}", i == 0 ? "" : " ", prefix, "THW"[3 - values.size() + i], values[i]);
  return text;
}

/// How windows lie along the last dimensions.
struct Pooling {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;

  Pooling(std::span<const int64_t> kernel, const Arg& stride, std::span<const int64_t> padding,
          std::span<const int64_t> dilation, bool ceil_mode)
      : kernel(kernel),
        stride(stride.is_none() || stride.ints().empty() ? kernel : stride.ints()),
        padding(padding),
        dilation(dilation.empty() ? Dims(kernel.size(), 1) : Dims(dilation)),
        ceil_mode(ceil_mode) {}
  Windows along(size_t axis) const { return {kernel[axis], stride[axis], padding[axis], dilation[axis], ceil_mode}; }
};

/// Sizes of an image or a volume with the last dimensions replaced by what the windows give.
Dims pooled_sizes(std::span<const int64_t> image, const Pooling& p) {
  const size_t count = p.kernel.size(), first = image.size() - count;
  Dims sizes(image);
  bool any = true;
  for (size_t axis = 0; axis < count; ++axis) {
    const Windows w = p.along(axis);
    check(w.kernel > 0, "kernel size should be greater than zero, but got {}", listed("k", p.kernel));
    check(w.stride > 0, "stride should be greater than zero, but got {}", w.stride);
    check(w.dilation > 0, "dilation should be greater than zero, but got {}", w.dilation);
    check(w.padding >= 0, "pad must be non-negative, but got pad: {}", w.padding);
    check(w.padding <= size_sum(size_product(w.kernel - 1, w.dilation), 1) / 2,
          "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
          w.padding, w.kernel, w.dilation);
    int64_t& size = sizes[first + axis];
    size = w.count(size);
    any = any && size > 0;
  }
  const std::span<const int64_t> result = sizes;
  check(any, "Given input size: ({}). Calculated output size: ({}). Output size is too small",
        joined(image.subspan(first - 1)), joined(result.subspan(first - 1)));
  return sizes;
}
Dims pooled_sizes(Inference& f, std::span<const int64_t> image, const Pooling& p) {
  check_image(image, f.op.name);
  return pooled_sizes(image, p);
}

void check_divisor(const Arg& divisor) {
  check(divisor.is_none() || divisor.scalar().to_int() != 0, "divisor must be not zero");
}

void max_pool2d_shape(Inference& f) {
  Dims sizes = pooled_sizes(f, f.sizes(0), {f.ints(1), f.arg(2), f.ints(3), f.ints(4), f.flag(5)});
  f.result(f.dtype(0), sizes);
  f.result(DType::I64, sizes);
}
void avg_pool2d_shape(Inference& f) {
  check_divisor(f.arg(6));
  f.result(f.dtype(0), pooled_sizes(f, f.sizes(0), {f.ints(1), f.arg(2), f.ints(3), {}, f.flag(4)}));
}
void adaptive_shape(Inference& f) {
  check_image(f.sizes(0), f.op.name);
  Dims sizes(f.sizes(0));
  for (int axis = 0; axis < 2; ++axis) {
    check(f.ints(1)[axis] >= 0,
          "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0, but got {}",
          to_string(f.ints(1)));
    sizes[sizes.size() - 2 + axis] = f.ints(1)[axis];
  }
  f.result(f.dtype(0), std::move(sizes));
}
/// The gradient of a pool is an image of the given sizes; what came out of the pool has its planes, `pooled` pixels.
void image_gradient(Inference& f, std::span<const int64_t> sizes, std::span<const int64_t> pooled) {
  const auto grad = f.sizes(0);
  const bool image = sizes.size() == 3 || sizes.size() == 4;
  check(image && grad.size() == sizes.size() && std::equal(sizes.begin(), sizes.end() - 2, grad.begin()) &&
            std::equal(pooled.begin(), pooled.end(), grad.end() - 2),
        "{}: a gradient of size {} doesn't come from images of size {}", f.op.name, to_string(grad), to_string(sizes));
  f.result(f.dtype(0), Dims(sizes));
}
void max_pool2d_backward_shape(Inference& f) {
  check(Dims(f.sizes(1)) == Dims(f.sizes(0)), "max_pool2d_backward: gradients {} and indices {} differ in size",
        to_string(f.sizes(0)), to_string(f.sizes(1)));
  const auto grad = f.sizes(0);
  image_gradient(f, f.ints(2), grad.subspan(grad.size() < 2 ? 0 : grad.size() - 2));
}
void avg_pool2d_backward_shape(Inference& f) {
  check_divisor(f.arg(7));
  const Dims pooled = pooled_sizes(f, f.ints(1), {f.ints(2), f.arg(3), f.ints(4), {}, f.flag(5)});
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

// ---- volumes: windows are products, so the last two dimensions are pooled first, then the depth
// -----------------------
void check_volume(const Tensor& x, std::string_view name) {
  check(x.rank() == 4 || x.rank() == 5, "{}: non-empty 4D or 5D (batch mode) tensor expected for input", name);
  for (size_t i = x.rank() - 4; i < x.rank(); ++i)
    check(x.sizes()[i] > 0,
          "{}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {} with dimension "
          "{} being empty",
          name, to_string(x.sizes()), i);
}
/// A volume as planes: images [P, D, H, W], and after the first step images [P, 1, D, H * W].
Tensor as_planes(const Tensor& x) {
  const Dims& s = x.sizes();
  const size_t r = x.rank();
  return reshape(x, Dims{r == 5 ? s[0] * s[1] : s[0], s[r - 3], s[r - 2], s[r - 1]});
}
Tensor as_depths(const Tensor& planes) {
  const Dims& s = planes.sizes();
  return reshape(planes, Dims{s[0], 1, s[1], s[2] * s[3]});
}
Dims last_two(std::span<const int64_t> three) { return {three[1], three[2]}; }
Dims depth_only(std::span<const int64_t> three, int64_t otherwise) { return {three[0], otherwise}; }

void max_pool3d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_volume(x, "max_pool3d");
  const Pooling p(c.ints(1), c.arg(2), c.ints(3), c.ints(4), c.flag(5));
  const Dims sizes = pooled_sizes(x.sizes(), p);
  const auto planes = max_pool2d_with_indices.all(as_planes(x), last_two(p.kernel), last_two(p.stride),
                                                  last_two(p.padding), last_two(p.dilation), p.ceil_mode);
  const auto depths =
      max_pool2d_with_indices.all(as_depths(planes[0]), depth_only(p.kernel, 1), depth_only(p.stride, 1),
                                  depth_only(p.padding, 0), depth_only(p.dilation, 1), p.ceil_mode);
  c.result(reshape(depths[0], sizes));
  if (c.op.sig().result_names.empty()) return;
  const int64_t pixels = x.size(-2) * x.size(-1), pooled = planes[0].size(2) * planes[0].size(3);
  const Tensor place = flatten(depths[1], 1, -1);  // among the pooled pixels of all planes
  const Tensor pixel = gather(flatten(planes[1], 1, -1), 1, clamp_min(place, 0));
  c.result(reshape(add(pixel, mul(floor_divide(place, pooled), pixels)), sizes));
}
void avg_pool3d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_volume(x, "avg_pool3d");
  check_divisor(c.arg(6));
  check_kind(is_floating(x.dtype()), ErrorKind::NotImplementedError, "\"avg_pool3d\" not implemented for '{}'",
             scalar_type_name(x.dtype()));
  const Pooling p(c.ints(1), c.arg(2), c.ints(3), {}, c.flag(4));
  const Dims sizes = pooled_sizes(x.sizes(), p);
  const Tensor planes = avg_pool2d(as_planes(x), last_two(p.kernel), last_two(p.stride), last_two(p.padding),
                                   p.ceil_mode, c.arg(5), c.has(6) ? Arg(int64_t{1}) : Arg());
  c.result(reshape(avg_pool2d(as_depths(planes), depth_only(p.kernel, 1), depth_only(p.stride, 1),
                              depth_only(p.padding, 0), p.ceil_mode, c.arg(5), c.arg(6)),
                   sizes));
}
void adaptive_avg_pool3d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() == 4 || x.rank() == 5, "adaptive_avg_pool3d(): Expected 4D or 5D tensor, but got {}",
        to_string(x.sizes()));
  check_volume(x, "adaptive_avg_pool3d");
  const auto wanted = c.ints(1);
  Dims sizes = x.sizes();
  for (size_t axis = 0; axis < 3; ++axis) {
    check(wanted[axis] >= 0,
          "adaptive_avg_pool3d: elements of output_size must be greater than or equal to 0 but received {{{}}}",
          fmt::join(wanted, ", "));
    sizes[x.rank() - 3 + axis] = wanted[axis];
  }
  const Tensor planes = adaptive_avg_pool2d(as_planes(x), last_two(wanted));
  c.result(reshape(adaptive_avg_pool2d(as_depths(planes), Dims{wanted[0], wanted[1] * wanted[2]}), sizes));
}

/// Output pixel i shows input pixel floor(i * in / out).
void interpolate_nearest2d_of(Composition& c) {
  Tensor x = c.tensor(0);
  check(x.rank() >= 2, "interpolate: an image has at least 2 dimensions, but got input of size {}",
        to_string(x.sizes()));
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
                                  .flags = kFunctional,
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
                     .flags = kFunctional,
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
                              .flags = kFunctional,
                              .shape = adaptive_shape,
                              .gradient = adaptive_gradient,
                              .samples = {{"randn(2, 3, 6, 5), 1"}, {"randn(2, 7, 5), (3, 2)"}}}};
const Op interpolate_nearest2d{{.name = "interpolate_nearest2d",
                                .signature = "(Tensor self, int[2] output_size) -> Tensor",
                                .doc = "The image resized so that every pixel shows the nearest one of the input.",
                                .example = "",
                                .flags = kFunctional | kMovesBytes,
                                .composite = interpolate_nearest2d_of,
                                .samples = {{"randn(1, 2, 3, 4), (6, 5)"}}}};
const Op max_pool2d_backward{{.name = "max_pool2d_backward",
                              .signature = "(Tensor grad, Tensor indices, int[] input_sizes) -> Tensor",
                              .doc = "The gradient of max_pool2d: grad added at the places in indices.",
                              .example = "",
                              .flags = kChecksValues,
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
                              .shape = avg_pool2d_backward_shape,
                              .gradient = avg_pool2d_backward_gradient,
                              .samples = {{"randn(2, 1, 2, 2), (2, 1, 4, 4), 2, None, 0, False, True"},
                                          {"randn(2, 1, 2, 2), (2, 1, 4, 4), 2, None, 0, False, True, 3"}}}};
const Op adaptive_avg_pool2d_backward{
    {.name = "adaptive_avg_pool2d_backward",
     .signature = "(Tensor grad, int[] input_sizes) -> Tensor",
     .doc = "The gradient of adaptive_avg_pool2d: grad spread evenly over its windows.",
     .example = "",
     .shape = adaptive_backward_shape,
     .gradient = adaptive_backward_gradient,
     .samples = {{"randn(2, 1, 2, 2), (2, 1, 5, 4)"}}}};
const Op max_pool3d_with_indices{
    {.name = "max_pool3d_with_indices",
     .signature = "(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool "
                  "ceil_mode=False) -> (Tensor out, Tensor indices)",
     .doc = "max_pool3d, and where in its volume each result was.",
     .example = "",
     .flags = kFunctional,
     .composite = max_pool3d_of,
     .grad_fn = "MaxPool3DWithIndicesBackward0",
     .samples = {{"randn(2, 3, 4, 6, 5), 2"}, {"randn(2, 7, 7, 6), (1, 3, 2), 2, (0, 1, 1), (1, 2, 1), True"}}}};
const Op max_pool3d{
    {.name = "max_pool3d",
     .signature = "(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] "
                  "dilation=1, bool ceil_mode=False) -> Tensor",
     .doc = "The largest element of every window of a volume; windows are kernel_size apart by default.",
     .example = "terra.nn.functional.max_pool3d(terra.ones(1, 1, 4, 4, 4), 2).shape",
     .flags = kFunction | kFunctional | kMovesBytes,
     .composite = max_pool3d_of,
     .grad_fn = "MaxPool3DWithIndicesBackward0",
     .samples = {{"randn(2, 3, 4, 6, 5), 2"}, {"randn(2, 3, 4, 5), (2, 3, 1), 1, (1, 1, 0)"}}}};
const Op avg_pool3d{
    {.name = "avg_pool3d",
     .signature = "(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, bool "
                  "count_include_pad=True, int? divisor_override=None) -> Tensor",
     .doc = "The mean of every window of a volume; windows are kernel_size apart by default.",
     .example = "terra.nn.functional.avg_pool3d(terra.ones(1, 1, 4, 4, 4), 2).shape",
     .flags = kFunctional,
     .composite = avg_pool3d_of,
     .grad_fn = "AvgPool3DBackward0",
     .samples = {{"randn(2, 3, 4, 6, 5), 2"},
                 {"randn(2, 5, 6, 5), (2, 3, 2), 2, (1, 1, 0), True, False"},
                 {"randn(2, 5, 6, 5), 3, 2, 1, True, True, 5"}}}};
const Op adaptive_avg_pool3d{{.name = "adaptive_avg_pool3d",
                              .signature = "(Tensor self, int[3] output_size) -> Tensor",
                              .doc = "The means of as many windows of a volume as output_size asks for, spread evenly.",
                              .example = "terra.nn.functional.adaptive_avg_pool3d(terra.ones(1, 1, 4, 4, 4), 1).shape",
                              .flags = kFunctional,
                              .composite = adaptive_avg_pool3d_of,
                              .grad_fn = "AdaptiveAvgPool3DBackward0",
                              .samples = {{"randn(2, 3, 4, 6, 5), 1"}, {"randn(2, 3, 7, 5), (5, 3, 2)"}}}};

}  // namespace terra::ops
