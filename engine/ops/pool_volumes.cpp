// Pools of volumes. Windows are products, so the planes are pooled first, then the depth.
#include <fmt/ranges.h>

#include "engine/ops/arithmetic.h"
#include "engine/ops/binary.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/layout.h"
#include "engine/ops/pool.h"
#include "engine/ops/pool_windows.h"
#include "engine/ops/select.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// -----------------------
void check_volume_rank(const Tensor& x) {
  check(x.rank() == 4 || x.rank() == 5, "non-empty 4D or 5D (batch mode) tensor expected for input");
}
void check_volume(const Tensor& x, std::string_view name) {
  check_volume_rank(x);
  for (size_t i = x.rank() - 4; i < x.rank(); ++i)
    check(x.sizes()[i] > 0,
          "{}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {} with dimension "
          "{} being empty",
          name, listed(x.sizes()), i);
}
/// Windows are looked at before sizes.
void check_volume(const Tensor& x, const Pooling& p, std::string_view name) {
  check_volume_rank(x);
  check_windows(p);
  check_volume(x, name);
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

/// The largest elements of volumes, from those of planes and of the columns of their results; and where they were.
void largest_of_volumes(Composition& c, const Tensor& x, const Dims& sizes, const std::vector<Tensor>& planes,
                        const std::vector<Tensor>& depths) {
  c.result(reshape(depths[0], sizes));
  if (c.op.sig().result_names.empty()) return;
  const int64_t pixels = x.size(-2) * x.size(-1), pooled = planes[0].size(2) * planes[0].size(3);
  const Tensor place = flatten(depths[1], 1, -1);  // among the pooled pixels of all planes
  const Tensor pixel = gather(flatten(planes[1], 1, -1), 1, clamp_min(place, 0));
  c.result(reshape(add(pixel, mul(floor_divide(place, pooled), pixels)), sizes));
}
void max_pool3d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  const Pooling p(c.ints(1), c.arg(2), c.ints(3), c.ints(4), c.flag(5));
  check_volume(x, p, "max_pool3d");
  const Dims sizes = pooled_sizes(x.sizes(), p);
  const auto planes = max_pool2d_with_indices.all(as_planes(x), last_two(p.kernel), last_two(p.stride),
                                                  last_two(p.padding), last_two(p.dilation), p.ceil_mode);
  const auto depths =
      max_pool2d_with_indices.all(as_depths(planes[0]), depth_only(p.kernel, 1), depth_only(p.stride, 1),
                                  depth_only(p.padding, 0), depth_only(p.dilation, 1), p.ceil_mode);
  largest_of_volumes(c, x, sizes, planes, depths);
}
/// Means over planes, then over the depth of these; a divisor counts once.
Tensor average_of_volumes(const Tensor& x, const Pooling& p, bool count_padding, const Arg& divisor) {
  const Tensor planes = avg_pool2d(as_planes(x), last_two(p.kernel), last_two(p.stride), last_two(p.padding),
                                   p.ceil_mode, count_padding, divisor.is_none() ? Arg() : Arg(int64_t{1}));
  const Tensor means = avg_pool2d(as_depths(planes), depth_only(p.kernel, 1), depth_only(p.stride, 1),
                                  depth_only(p.padding, 0), p.ceil_mode, count_padding, divisor);
  return reshape(means, pooled_sizes(x.sizes(), p));
}
/// Integers are summed up and divided once, towards zero. How many elements a window counts: those that it has over the
/// mean of ones in it, of which the padding has none.
Tensor average_of_integers(const Tensor& x, const Pooling& p, bool count_padding, const Arg& divisor) {
  const Tensor sums = average_of_volumes(x, p, count_padding, int64_t{1});
  if (!divisor.is_none()) return trunc_divide(sums, divisor);
  const Dims& s = x.sizes();
  const size_t r = x.rank();
  const Tensor one = ones(Dims{1, s[r - 3], s[r - 2], s[r - 1]}, DType::F64);
  const Tensor filled = average_of_volumes(one, p, count_padding, int64_t{1});
  const Tensor counts = round(filled / average_of_volumes(one, p, count_padding, Arg()));
  return trunc_divide(sums, to_dtype(counts, x.dtype()));
}
void avg_pool3d_of(Composition& c) {
  const Tensor x = c.tensor(0);
  const Pooling p(c.ints(1), c.arg(2), c.ints(3), {}, c.flag(4));
  check_volume(x, p, "avg_pool3d");
  check_divisor(c.arg(6));
  check_kind(is_floating(x.dtype()) || x.dtype() == DType::I64, ErrorKind::NotImplementedError,
             "\"avg_pool3d_out_frame\" not implemented for '{}'", scalar_type_name(x.dtype()));
  c.result((is_floating(x.dtype()) ? average_of_volumes : average_of_integers)(x, p, c.flag(5), c.arg(6)));
}
/// The result's sizes of an adaptive pool of volumes.
Dims adaptive_volume_sizes(const Composition& c) {
  const Tensor x = c.tensor(0);
  const std::string_view name = c.op.name.substr(0, c.op.name.find("_with"));
  check(x.rank() == 4 || x.rank() == 5, "{}(): Expected 4D or 5D tensor, but got {}", name, listed(x.sizes()));
  check_volume(x, name);
  Dims sizes = x.sizes();
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t wanted = c.ints(1)[axis];
    check(wanted >= 0, "{}: elements of output_size must be greater than or equal to 0 but received {{{}}}", name,
          fmt::join(c.ints(1), ", "));
    sizes[x.rank() - 3 + axis] = wanted;
  }
  return sizes;
}
Dims depth_and_pixels(std::span<const int64_t> wanted) { return {wanted[0], size_product(wanted[1], wanted[2])}; }

void adaptive_avg_pool3d_of(Composition& c) {
  const Dims sizes = adaptive_volume_sizes(c);
  const Tensor planes = adaptive_avg_pool2d(as_planes(c.tensor(0)), last_two(c.ints(1)));
  c.result(reshape(adaptive_avg_pool2d(as_depths(planes), depth_and_pixels(c.ints(1))), sizes));
}
void adaptive_max_pool3d_of(Composition& c) {
  const Dims sizes = adaptive_volume_sizes(c);
  const auto planes = adaptive_max_pool2d_with_indices.all(as_planes(c.tensor(0)), last_two(c.ints(1)));
  const auto depths = adaptive_max_pool2d_with_indices.all(as_depths(planes[0]), depth_and_pixels(c.ints(1)));
  largest_of_volumes(c, c.tensor(0), sizes, planes, depths);
}

}  // namespace

const Op max_pool3d_with_indices{
    {.name = "max_pool3d_with_indices",
     .signature = "(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool "
                  "ceil_mode=False) -> (Tensor out, Tensor indices)",
     .doc = "max_pool3d, and where in its volume each result was.",
     .example = "",
     .flags = kFunctional | kKeepsFormat,
     .composite = max_pool3d_of,
     .grad_fn = "MaxPool3DWithIndicesBackward0",
     .samples = {{"randn(2, 3, 4, 6, 5), 2"}, {"randn(2, 7, 7, 6), (1, 3, 2), 2, (0, 1, 1), (1, 2, 1), True"}}}};
const Op max_pool3d{
    {.name = "max_pool3d",
     .signature = "(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] "
                  "dilation=1, bool ceil_mode=False) -> Tensor",
     .doc = "The largest element of every window of a volume; windows are kernel_size apart by default.",
     .example = "terra.nn.functional.max_pool3d(terra.ones(1, 1, 4, 4, 4), 2).shape",
     .flags = kFunction | kFunctional | kMovesBytes | kKeepsFormat,
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
                              .flags = kFunctional | kKeepsFormat,
                              .composite = adaptive_avg_pool3d_of,
                              .grad_fn = "AdaptiveAvgPool3DBackward0",
                              .samples = {{"randn(2, 3, 4, 6, 5), 1"}, {"randn(2, 3, 7, 5), (5, 3, 2)"}}}};
const Op adaptive_max_pool3d_with_indices{
    {.name = "adaptive_max_pool3d_with_indices",
     .signature = "(Tensor self, int[3] output_size) -> (Tensor out, Tensor indices)",
     .doc = "The same for volumes.",
     .example = "",
     .flags = kFunctional | kKeepsFormat,
     .composite = adaptive_max_pool3d_of,
     .grad_fn = "AdaptiveMaxPool3DBackward0",
     .samples = {{"randn(2, 3, 4, 6, 5), 1"}, {"randn(2, 3, 7, 5), (5, 3, 2)"}}}};

}  // namespace terra::ops
