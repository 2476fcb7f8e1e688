#include "engine/ops/running.h"

#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

void extremes_shape(Inference& f) {
  wrap_dim(f.integer(1), f.rank(0));
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I64, Dims(f.sizes(0)));
}
void logcumsumexp_shape(Inference& f) {
  wrap_dim(f.integer(1), f.rank(0));
  check_kind(is_floating(f.dtype(0)), ErrorKind::NotImplementedError,
             "\"logcumsumexp_out_cpu\" not implemented for '{}'", scalar_type_name(f.dtype(0)));
  rules::like_first(f);
}

/// Every result goes back to where it came from.
void extremes_gradient(Backward& b) {
  if (b.sizes(0).empty()) return b.set(0, b.grad());
  b.set(0, scatter_add(zeros(b.sizes(0), b.grad().dtype()), b.arg(1), b.out(1), b.grad()));
}
/// The gradient of x is exp(x) times the sum of g / exp(y) from there on: of positive and negative g apart, in logs.
/// Where y is -inf nothing comes from x.
void logcumsumexp_gradient(Backward& b) {
  const Tensor x = b.in(0), y = b.out(), g = b.grad();
  if (x.rank() == 0) return b.set(0, g);
  const Dims dim{wrap_dim(b.integer(1), x.rank())};
  const double nothing = -std::numeric_limits<double>::infinity();
  const Tensor grown = ne(y, nothing);
  const auto part = [&](const Tensor& size) {
    const Tensor some = logical_and(grown, logical_not(le(size, 0)));
    const Tensor logs = where(some, log(where(some, size, 1.0)) - where(grown, y, 0.0), nothing);
    return exp(flip(logcumsumexp(flip(logs, dim), dim[0]), dim) + x);
  };
  b.set(0, part(g) - part(-g));
}

OpRecord extremes(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self, int dim) -> (Tensor values, Tensor indices)",
          .doc = doc,
          .example = example,
          .flags = kVisible,
          .shape = extremes_shape,
          .gradient = extremes_gradient,
          .saved = saves_result(1),
          .samples = {{"randn(3, 4), 1"},
                      {"randn(4, 3).t(), 0"},
                      {"randn(()), 0"},
                      {"randint(0, 3, (2, 6)), -1", "int", false},
                      {"randn(0, 3), 0", "float", false}}};
}

}  // namespace

const Op cummax{extremes("cummax", "The largest of each element and all before it along dim, and where it last was.",
                         "terra.cummax(terra.tensor([1, 3, 2]), 0).values")};
const Op cummin{extremes("cummin", "The smallest of each element and all before it along dim, and where it last was.",
                         "terra.cummin(terra.tensor([3, 1, 2]), 0).values")};
const Op logcumsumexp{
    {.name = "logcumsumexp",
     .signature = "(Tensor self, int dim) -> Tensor",
     .doc = "The logarithm of the sum of the exponentials of each element and all before it along dim.",
     .example = "terra.logcumsumexp(terra.zeros(3), 0)",
     .flags = kVisible,
     .shape = logcumsumexp_shape,
     .gradient = logcumsumexp_gradient,
     .saved = saves({0}) | saves_result(),
     .samples = {{"randn(3, 4), 1"}, {"randn(4, 3).t(), 0"}, {"randn(()), 0"}}}};

}  // namespace terra::ops
