#include "engine/ops/resample.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/binary.h"
#include "engine/ops/index.h"
#include "engine/ops/layout.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// Parameters first and first + 1 are the taps, a matrix of places and one of weights of the dtype of parameter 0.
void check_taps(Inference& f, int first) {
  const auto index = f.sizes(first);
  check(index.size() == 2 && index[0] > 0 && Dims(index) == Dims(f.sizes(first + 1)),
        "{}: places of size {} and weights of size {} are no taps", f.op.name, listed(index),
        listed(f.sizes(first + 1)));
  check(f.dtype(first) == DType::I64 && f.dtype(first + 1) == f.dtype(0),
        "{}: places must be int64 and weights {}, but got {} and {}", f.op.name, name_of(f.dtype(0)),
        name_of(f.dtype(first)), name_of(f.dtype(first + 1)));
}

void resize_shape(Inference& f, int64_t size) {
  Dims sizes(f.sizes(0));
  sizes[static_cast<size_t>(wrap_dim(f.integer(1), f.rank(0)))] = size;
  f.result(f.dtype(0), std::move(sizes));
}
void resample_shape(Inference& f) {
  check_taps(f, 2);
  resize_shape(f, f.sizes(2)[1]);
}
void resample_backward_shape(Inference& f) {
  check_taps(f, 3);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0));
  check(f.sizes(0)[static_cast<size_t>(dim)] == f.sizes(3)[1] && f.integer(2) >= 0,
        "{}: a gradient of size {} doesn't come from taps of size {}", f.op.name, listed(f.sizes(0)),
        listed(f.sizes(3)));
  resize_shape(f, f.integer(2));
}

/// Each tap's weight has a part in the sums along dim of all lines.
Tensor weight_gradient(const Tensor& sums, const Tensor& elements, const Arg& dim_argument, const Tensor& index) {
  const int64_t dim = wrap_dim(dim_argument.scalar().to_int(), sums.rank());
  Dims others;
  for (int64_t d = 0; d < static_cast<int64_t>(sums.rank()); ++d)
    if (d != dim) others.push_back(d);
  std::vector<Tensor> taps;
  for (int64_t t = 0; t < index.size(0); ++t) {
    const Tensor products = sums * index_select(elements, dim, select(index, 0, t));
    taps.push_back(others.empty() ? products : sum(products, others));
  }
  return stack(taps, 0);
}
void resample_gradient(Backward& b) {
  const Dims& sizes = b.sizes(0);
  const int64_t size = sizes[static_cast<size_t>(wrap_dim(b.integer(1), sizes.size()))];
  b.set(0, resample_backward(b.grad(), b.arg(1), size, b.arg(2), b.arg(3)));
  if (b.needs(3)) b.set(3, weight_gradient(b.grad(), b.in(0), b.arg(1), b.in(2)));
}
void resample_backward_gradient(Backward& b) {
  b.set(0, resample(b.grad(), b.arg(1), b.arg(3), b.arg(4)));
  if (b.needs(4)) b.set(4, weight_gradient(b.in(0), b.grad(), b.arg(1), b.in(3)));
}

// ---- of images: [N, C, pixels] to [N, C, places], with taps [N, taps, places] ---------------------------------------
void check_tap_batch(Inference& f, int index) {
  check(f.rank(0) == 3 && f.rank(index) == 3 && f.sizes(0)[0] == f.sizes(index)[0] && f.dtype(index) == DType::I64,
        "{}: {} places of size {} don't fit images of size {}", f.op.name, name_of(f.dtype(index)),
        listed(f.sizes(index)), listed(f.sizes(0)));
}
void check_tap_weights(Inference& f, int index) {
  check(f.dtype(index + 1) == f.dtype(0) && Dims(f.sizes(index)) == Dims(f.sizes(index + 1)),
        "{}: places of size {} don't fit {} weights of size {}", f.op.name, listed(f.sizes(index)),
        name_of(f.dtype(index + 1)), listed(f.sizes(index + 1)));
}
/// Loops number the pixels of a plane by int32.
constexpr int64_t kMostPixels = int64_t{1} << 30;
void check_pixels(Inference& f, int64_t pixels) {
  check(pixels <= kMostPixels, "{}: images of {} pixels are too large", f.op.name, pixels);
}
void sample_shape(Inference& f) {
  check_pixels(f, f.sizes(0)[2]);
  check_tap_batch(f, 1);
  check_tap_weights(f, 1);
  f.result(f.dtype(0), Dims{f.sizes(0)[0], f.sizes(0)[1], f.sizes(1)[2]});
}
void sample_image_gradient_shape(Inference& f) {
  check_tap_batch(f, 1);
  check_tap_weights(f, 1);
  check(f.sizes(0)[2] == f.sizes(1)[2] && f.integer(3) >= 0, "{}: a gradient of size {} doesn't come from places of {}",
        f.op.name, listed(f.sizes(0)), listed(f.sizes(1)));
  f.result(f.dtype(0), Dims{f.sizes(0)[0], f.sizes(0)[1], f.integer(3)});
}
void sample_weight_gradient_shape(Inference& f) {
  check_tap_batch(f, 2);
  check_pixels(f, f.sizes(1).back());
  check(f.rank(1) == 3 && f.dtype(0) == f.dtype(1) && Dims(f.sizes(0).first(2)) == Dims(f.sizes(1).first(2)) &&
            f.sizes(0)[2] == f.sizes(2)[2],
        "{}: a gradient of size {} doesn't come from images of size {} at places of size {}", f.op.name,
        listed(f.sizes(0)), listed(f.sizes(1)), listed(f.sizes(2)));
  f.result(f.dtype(0), Dims(f.sizes(2)));
}
void sample_rule(Backward& b) {
  if (b.needs(0)) b.set(0, sample_image_gradient(b.grad(), b.in(1), b.in(2), b.sizes(0)[2]));
  if (b.needs(2)) b.set(2, sample_weight_gradient(b.grad(), b.in(0), b.in(1)));
}
void sample_image_gradient_rule(Backward& b) {
  if (b.needs(0)) b.set(0, sample(b.grad(), b.in(1), b.in(2)));
  if (b.needs(2)) b.set(2, sample_weight_gradient(b.in(0), b.grad(), b.in(1)));
}
void sample_weight_gradient_rule(Backward& b) {
  if (b.needs(0)) b.set(0, sample(b.in(1), b.in(2), b.grad()));
  if (b.needs(1)) b.set(1, sample_image_gradient(b.in(0), b.in(2), b.grad(), b.sizes(1)[2]));
}

/// The taps of places in [-1, 1] along two or three dimensions, which a grid has last dimension first.
void grid_taps_shape(Inference& f) {
  const auto grid = f.sizes(0), size = f.ints(1), orders = f.ints(5);
  const int64_t mode = f.integer(2), padding = f.integer(3);
  const auto axes = static_cast<int64_t>(size.size());
  check((axes == 2 || axes == 3) && orders.size() == size.size() && grid.size() == 3 && grid[2] == axes,
        "grid_taps: a grid of size {} has no places on images of size {}", listed(grid), listed(size));
  int64_t pixels = 1;
  for (const int64_t n : size) {
    check(n > 0, "grid_taps: images of size {} can't be read", listed(size));
    pixels = size_product(pixels, n);
  }
  check_pixels(f, pixels);
  for (const int64_t order : orders) check(order >= 0, "grid_taps: there is no derivative of order {}", order);
  check(!f.has(6) || (is_half(f.arg(6).dtype()) && f.dtype(0) == DType::F32),
        "grid_taps: places of {} are not rounded to {}", name_of(f.dtype(0)),
        f.has(6) ? name_of(f.arg(6).dtype()) : "");
  check(is_floating(f.dtype(0)) && mode >= 0 && mode < 3 && padding >= 0 && padding < 3,
        "grid_taps: no mode {} with padding {} of {} places", mode, padding, name_of(f.dtype(0)));
  const int64_t along = mode == 0 ? 2 : mode == 1 ? 1 : 4, all = axes == 2 ? along * along : along * along * along;
  f.result(DType::I64, Dims{grid[0], all, grid[1]});
  f.result(f.dtype(0), Dims{grid[0], all, grid[1]});
}
/// Along each dimension weights have a slope of their own.
void grid_taps_rule(Backward& b) {
  const Tensor grid = b.in(0), grad = b.grad(1);
  const auto size = b.ints(1);
  std::vector<Tensor> parts;
  for (size_t axis = size.size(); axis-- > 0;) {
    Dims orders(b.ints(5));
    orders[axis] = std::min<int64_t>(orders[axis], 3) + 1;  // from the fourth on they are alike
    const Tensor slopes = grid_taps.all(grid, b.arg(1), b.arg(2), b.arg(3), b.arg(4), orders, b.arg(6))[1];
    parts.push_back(sum(grad * slopes, {1}));
  }
  b.set(0, stack(parts, -1));
}

}  // namespace

const Op grid_taps{
    {.name = "grid_taps",
     .signature = "(Tensor grid, int[] size, int mode, int padding, bool corners, int[] orders, dtype? rounded=None) "
                  "-> (Tensor index, Tensor weight)",
     .doc =
         "What sample reads of images of some size at the places of a grid [N, places, dimensions], by bilinear (0), "
         "nearest (1) or bicubic (2) interpolation, and outside zeros (0), the border (1) or reflections (2). Along "
         "each dimension weights are differentiated as often as orders says. Where rounded names a float of 16 bits "
         "each operation rounds to it.",
     .example = "",
     .shape = grid_taps_shape,
     .gradient = grid_taps_rule,
     .saved = saves({0}),
     .samples = {{"rand(2, 5, 2) * 2.4 - 1.2, [4, 3], 0, 0, False, [0, 0]"},
                 {"rand(1, 3, 3) * 1.8 - 0.9, [2, 4, 3], 0, 1, True, [0, 0, 0]"},
                 {"rand(1, 4, 2) * 3 - 1.5, [3, 5], 0, 2, False, [0, 0]"},
                 {"rand(1, 4, 2) * 1.8 - 0.9, [3, 5], 1, 0, False, [0, 0]"},
                 {"rand(1, 4, 2) * 1.8 - 0.9, [3, 5], 2, 0, True, [0, 0]"},
                 {"rand(1, 4, 2) * 1.8 - 0.9, [3, 5], 2, 2, False, [1, 0]"},
                 {"rand(1, 4, 2).float() * 3 - 1.5, [3, 5], 2, 2, False, [0, 0], terra.bfloat16", "float", false}}}};
const Op sample{{.name = "sample",
                 .signature = "(Tensor images, Tensor index, Tensor weight) -> Tensor",
                 .doc = "Of images [N, C, pixels], the sums over t of weight[n, t, p] times pixel index[n, t, p].",
                 .example = "",
                 .flags = kChecksValues,
                 .shape = sample_shape,
                 .gradient = sample_rule,
                 .saved = saves({0, 1, 2}),
                 .samples = {{"randn(2, 3, 6), randint(0, 6, (2, 4, 5)), randn(2, 4, 5)"},
                             {"randn(1, 2, 3), randint(0, 3, (1, 1, 2)), randn(1, 1, 2)"}}}};
const Op sample_image_gradient{
    {.name = "sample_image_gradient",
     .signature = "(Tensor grad, Tensor index, Tensor weight, int pixels) -> Tensor",
     .doc = "The gradient of sample's images: grad times the weights, added up at the places in index.",
     .example = "",
     .flags = kChecksValues,
     .shape = sample_image_gradient_shape,
     .gradient = sample_image_gradient_rule,
     .saved = saves({0, 1, 2}),
     .samples = {{"randn(2, 3, 5), randint(0, 6, (2, 4, 5)), randn(2, 4, 5), 6"}}}};
const Op sample_weight_gradient{
    {.name = "sample_weight_gradient",
     .signature = "(Tensor grad, Tensor images, Tensor index) -> Tensor",
     .doc = "The gradient of sample's weights: the sums over channels of grad times the pixels in index.",
     .example = "",
     .flags = kChecksValues,
     .shape = sample_weight_gradient_shape,
     .gradient = sample_weight_gradient_rule,
     .saved = saves({0, 1, 2}),
     .samples = {{"randn(2, 3, 5), randn(2, 3, 6), randint(0, 6, (2, 4, 5))"}}}};
const Op resample{{.name = "resample",
                   .signature = "(Tensor self, int dim, Tensor index, Tensor weight) -> Tensor",
                   .doc = "Along dim, element o is the sum over t of weight[t, o] times element index[t, o].",
                   .example = "",
                   .flags = kChecksValues | kKeepsFormat,
                   .shape = resample_shape,
                   .gradient = resample_gradient,
                   .saved = saves({0, 2, 3}),
                   .samples = {{"randn(2, 3, 4), 1, randint(0, 3, (2, 5)), randn(2, 5)"},
                               {"randn(3, 4), -1, randint(0, 4, (1, 2)), ones(1, 2)"}}}};
const Op resample_backward{
    {.name = "resample_backward",
     .signature = "(Tensor grad, int dim, int size, Tensor index, Tensor weight) -> Tensor",
     .doc = "The gradient of resample: grad times the weights, added up at the places in index along dim.",
     .example = "",
     .flags = kChecksValues | kKeepsFormat,
     .shape = resample_backward_shape,
     .gradient = resample_backward_gradient,
     .saved = saves({0, 3, 4}),
     .samples = {{"randn(2, 5, 4), 1, 3, randint(0, 3, (2, 5)), randn(2, 5)"}}}};

}  // namespace terra::ops
