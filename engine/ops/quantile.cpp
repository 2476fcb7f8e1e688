#include "engine/ops/quantile.h"

#include <algorithm>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/running.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- quantiles ------------------------------------------------------------------------------------------------------
void check_quantile(const Composition& c, const Tensor& q) {
  const Tensor self = c.tensor(0);
  const std::string_view op = c.op.name, how = c.text(4);
  check(self.numel() > 0, "{}() input tensor must be non-empty", op);
  check(q.rank() <= 1, "{}() q must be a scalar or 1D tensor", op);
  check(self.dtype() == DType::F32 || self.dtype() == DType::F64,
        "{}() input tensor must be either float or double dtype", op);
  check(self.dtype() == q.dtype(), "{}() q tensor must be same dtype as the input tensor", op);
  check(how == "linear" || how == "lower" || how == "higher" || how == "midpoint" || how == "nearest",
        "{}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {}", op, how);
}
/// The element at a place among the sorted ones, between neighbours where it is no whole number.
Tensor between(const Tensor& sorted, const Tensor& rank, std::string_view how) {
  const auto at = [&](const Tensor& place) { return gather(sorted, -1, to_dtype(place, DType::I64)); };
  if (how == "lower") return at(floor(rank));
  if (how == "higher") return at(ceil(rank));
  if (how == "nearest") return at(round(rank));
  const Tensor low = floor(rank), below = at(low), above = at(ceil(rank));
  return how == "midpoint" ? lerp(below, above, 0.5) : lerp(below, above, rank - low);
}
/// NaN counts as the greatest number: without `ignored` it is the quantile of a line that has one.
void quantiles(Composition& c, bool ignored) {
  const Tensor self = c.tensor(0);
  const bool given = c.arg(1).is_tensor();
  const Tensor q = given ? c.tensor(1) : full(Dims{}, c.arg(1), self.dtype());
  if (!given)
    check(c.real(1) >= 0 && c.real(1) <= 1, "{}() q must be in the range [0, 1] but got {}", c.op.name, c.real(1));
  check_quantile(c, q);
  if (given && !q.device().is_meta())
    check(q.numel() == 0 || known_integer(to_dtype(all(logical_and(ge(q, 0), le(q, 1))), DType::I64)) == 1,
          "{}() q values must be in the range [0, 1]", c.op.name);
  const bool whole = !c.has(2);
  const int64_t dim = whole ? 0 : wrap_dim(c.integer(2), self.rank());
  const Tensor lines = whole || self.rank() == 0 ? reshape(self, {-1}) : movedim(self, Dims{dim}, Dims{-1});
  const Tensor sorted = sort.all(lines, -1)[0], nan = isnan(lines);
  const Tensor quotas = reshape(q, {-1});
  const int64_t last = sorted.size(-1) - 1;
  Dims ranks(lines.sizes());
  ranks[ranks.size() - 1] = quotas.numel();
  Tensor rank;
  if (ignored) {
    const Tensor numbers = sum(to_dtype(logical_not(nan), self.dtype()), Dims{-1}, true);
    rank = quotas * clamp_min(numbers - 1, 0);
  } else {
    rank = where(any(nan, -1, true), static_cast<double>(last), quotas * static_cast<double>(last));
  }
  Tensor result = between(sorted, expand(rank, ranks), c.text(4));
  result = movedim(result, Dims{-1}, Dims{0});
  if (c.flag(3)) {  // kept dimensions have size 1
    Dims sizes{quotas.numel()};
    for (size_t d = 0; d < self.rank(); ++d)
      sizes.push_back(whole || static_cast<int64_t>(d) == dim ? 1 : self.sizes()[d]);
    result = reshape(result, sizes);
  }
  c.result(q.rank() == 0 ? squeeze(result, {0}) : result);
}
void quantile_of(Composition& c) { quantiles(c, false); }
void nanquantile_of(Composition& c) { quantiles(c, true); }

// ---- of what is a number --------------------------------------------------------------------------------------------
void nanmean_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_kind(is_inexact(self.dtype()), ErrorKind::NotImplementedError,
             "nanmean(): expected input to have floating point or complex dtype but got {}",
             scalar_type_name(self.dtype()));
  const Tensor nan = isnan(self), x = c.has(3) ? to_dtype(self, c.arg(3)) : self;
  const Tensor total = sum(where(nan, 0.0, x), c.arg(1), c.arg(2));
  c.result(total / to_dtype(sum(logical_not(nan), c.arg(1), c.arg(2)), total.dtype()));
}
/// The middle, the lower of two, of the numbers of each line; a NaN where there are none.
void nanmedian_along(Composition& c, const Tensor& self, int64_t dim, bool keepdim, bool with_index) {
  const auto sorted = sort.all(self, dim);
  const Tensor numbers = sum(logical_not(isnan(self)), Dims{dim}, true);
  const Tensor place = clamp(floor_divide(sub(numbers, 1), 2), 0);
  for (int i = 0; i < (with_index ? 2 : 1); ++i) {
    const Tensor picked = gather(sorted[i], dim, place);
    c.result(keepdim ? picked : squeeze(picked, {dim}));
  }
}
void nanmedian_all_of(Composition& c) {
  const Tensor flat = reshape(c.tensor(0), {-1});
  check_has_kernel("median_cpu", flat.dtype());
  if (flat.numel() == 0) return c.result(full(Dims{}, std::numeric_limits<double>::quiet_NaN(), flat.dtype()));
  nanmedian_along(c, flat, 0, false, false);
}
void nanmedian_with_index_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_has_kernel("median_out", self.dtype());
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  if (self.rank() == 0) {
    c.result(clone(self));
    return c.result(zeros(Dims{}, DType::I64));
  }
  check_kind(self.size(dim) > 0, ErrorKind::IndexError, "median(): Expected reduction dim {} to have non-zero size.",
             dim);
  nanmedian_along(c, self, dim, c.flag(2), true);
}

// ---- the most frequent ----------------------------------------------------------------------------------------------
/// Among the sorted elements equal ones are neighbours: the end of the longest run, the first of those.
void mode_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  if (self.rank() == 0) {
    c.result(clone(self));
    return c.result(zeros(Dims{}, DType::I64));
  }
  const int64_t n = self.size(dim);
  check_kind(n > 0, ErrorKind::IndexError, "mode(): Expected reduction dim {} to have non-zero size.", dim);
  const auto sorted = sort.all(self, dim);
  Dims beside(self.rank(), 1);
  beside[dim] = n;
  const Tensor number = reshape(arange(0, n), beside);
  const Tensor differs = n == 1 ? zeros(narrow(self, dim, 0, 0).sizes(), DType::Bool)
                                : ne(narrow(sorted[0], dim, 1, n - 1), narrow(sorted[0], dim, 0, n - 1));
  const Tensor begins = cat(std::vector{ones(narrow(self, dim, 0, 1).sizes(), DType::Bool), differs}, dim);
  const Tensor length = sub(number, cummax.all(where(begins, number, 0), dim)[0]);
  const Tensor place = argmax(length, dim, true);
  for (const Tensor& t : sorted) {
    const Tensor picked = gather(t, dim, place);
    c.result(c.flag(2) ? picked : squeeze(picked, {dim}));
  }
}

// ---- records --------------------------------------------------------------------------------------------------------
OpRecord of_quotas(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule) {
  return {.name = name,
          .signature =
              "(Tensor self, Tensor|Number q, int? dim=None, bool keepdim=False, *, str interpolation='linear') "
              "-> Tensor",
          .doc = doc,
          .example = example,
          .flags = kVisible | kMovesBytes,
          .composite = rule,
          .grad_fn = "SqueezeBackward4",
          .samples = {{"randn(3, 4), 0.3"},
                      {"randn(3, 4), 0.6, 1, True"},
                      {"randn(5), 0.4, interpolation='midpoint'"},
                      {"randn(5, 2), 0.4, 0, interpolation='nearest'"}}};
}

}  // namespace

const Op quantile{of_quotas("quantile", "The number below which a part q of the elements lies; NaN if one of them is.",
                            "terra.quantile(terra.tensor([1.0, 2.0, 4.0]), 0.5)", quantile_of)};
const Op nanquantile{of_quotas("nanquantile", "quantile of the elements that are numbers.",
                               "terra.nanquantile(terra.tensor([1.0, float('nan'), 2.0]), 0.5)", nanquantile_of)};
const Op nanmean{{.name = "nanmean",
                  .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
                  .doc = "The mean of the elements that are numbers.",
                  .example = "terra.nanmean(terra.tensor([1.0, float('nan'), 2.0]))",
                  .flags = kVisible,
                  .composite = nanmean_of,
                  .samples = {{"randn(3, 4)"}, {"randn(3, 4), 1, True"}, {"randn(2, 3, 4), (0, 2)"}}}};
const Op nanmedian_all{{.name = "nanmedian_all",
                        .signature = "(Tensor self) -> Tensor",
                        .doc = "The element in the middle of those that are numbers, the lower of two.",
                        .example = "terra.nanmedian(terra.tensor([3.0, float('nan'), 2.0]))",
                        .composite = nanmedian_all_of,
                        .grad_fn = "NanmedianBackward0",
                        .samples = {{"randn(3, 5)"}, {"randn(4)"}}}};
const Op nanmedian_with_index{
    {.name = "nanmedian_with_index",
     .signature = "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .doc = "The element in the middle of those along dim that are numbers, and where it was.",
     .example = "",
     .composite = nanmedian_with_index_of,
     .grad_fn = "NanmedianBackward1",
     .samples = {{"randn(3, 5), 1"}, {"randn(4, 2), 0, True"}}}};
const Op mode{{.name = "mode",
               .signature = "(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
               .doc = "The element that occurs most often along dim, the smallest of several, and where it last was.",
               .example = "terra.mode(terra.tensor([3, 1, 3])).values",
               .flags = kVisible,
               .composite = mode_of,
               .grad_fn = "ModeBackward0",
               .samples = {{"randn(3, 4)"}, {"randint(0, 3, (9, 2)), 0, True", "int", false}}}};

}  // namespace terra::ops
