#include "engine/ops/order.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// Running totals of integers and bools are int64.
void running_shape(Inference& f) {
  wrap_dim(f.integer(1), f.rank(0));
  f.result(is_inexact(f.dtype(0)) ? f.dtype(0) : DType::I64, Dims(f.sizes(0)));
}
void sort_shape(Inference& f) {
  wrap_dim(f.integer(1), f.rank(0));
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I64, Dims(f.sizes(0)));
}
void topk_shape(Inference& f) {
  const int64_t k = f.integer(1), dim = wrap_dim(f.integer(2), f.rank(0));
  check(k >= 0 && k <= (f.rank(0) ? f.sizes(0)[dim] : 1), "selected index k out of range");
  Dims sizes(f.sizes(0));
  if (!sizes.empty()) sizes[dim] = k;
  f.result(f.dtype(0), sizes);
  f.result(DType::I64, sizes);
}

void place_shape(Inference& f) {
  const int64_t dim = wrap_dim(f.integer(2), f.rank(0));
  Dims sizes(f.sizes(0));
  const int64_t n = sizes.empty() ? 1 : sizes[dim];
  check(n > 0 && f.integer(1) < n, "{}: there is no such place", f.op.name);
  if (!sizes.empty()) sizes[dim] = 1;
  f.result(f.dtype(0), sizes);
  f.result(DType::I64, sizes);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
Tensor running_from_end(const Tensor& t, int64_t dim) { return flip(cumsum(flip(t, {dim}), dim), {dim}); }

void cumsum_gradient(Backward& b) {
  if (b.sizes(0).empty()) return b.set(0, b.grad());
  b.set(0, running_from_end(b.grad(), wrap_dim(b.integer(1), b.sizes(0).size())));
}
/// For each k the sum over j >= k of g_j times the product of all up to j but x_k: in ops that have derivatives also
/// where elements are zero, of a matrix for each line.
Tensor cumprod_gradient_of_others(const Tensor& x, const Tensor& g, int64_t dim) {
  const int64_t n = x.size(dim);
  const auto turned = [dim](const Tensor& t) { return unsqueeze(transpose(t, dim, -1), -2); };
  const Tensor others = where(to_dtype(eye(n), DType::Bool), 1.0, turned(x));
  const Tensor products = triu(conjugate(cumprod(others, -1)));
  return transpose(sum(products * turned(g), Dims{-1}), dim, -1);
}
/// With y = cumprod(x): sum_{j >= k} g_j y_j / x_k before the first zero z; at z the same with x_z taken as 1 in the
/// products; nothing behind it, where every product contains z.
void cumprod_gradient(Backward& b) {
  const Tensor x = b.in(0), g = b.grad();
  if (x.rank() == 0) return b.set(0, g);
  const int64_t dim = wrap_dim(b.integer(1), x.rank());
  if (grad_enabled()) return b.set(0, cumprod_gradient_of_others(x, g, dim));
  const Tensor zero = eq(x, 0);
  const Tensor zeros_so_far = cumsum(to_dtype(zero, DType::I64), dim);
  const Tensor first = logical_and(zero, eq(zeros_so_far, 1));
  const Tensor patched = where(first, 1.0, x);
  const Tensor before = running_from_end(g * conjugate(b.out()), dim) / conjugate(where(zero, 1.0, x));
  const Tensor at = running_from_end(g * conjugate(cumprod(patched, dim)), dim);
  b.set(0, where(first, at, where(gt(zeros_so_far, 0), 0.0, before)));
}
/// Every result goes back to where it came from.
void placed_gradient(Backward& b, int64_t dim) {
  if (b.sizes(0).empty()) return b.set(0, b.grad());
  b.set(0, scatter(zeros(b.sizes(0), b.grad().dtype()), wrap_dim(dim, b.sizes(0).size()), b.out(1), b.grad()));
}
void sort_gradient(Backward& b) { placed_gradient(b, b.integer(1)); }
void topk_gradient(Backward& b) { placed_gradient(b, b.integer(2)); }

void at_place_gradient(Backward& b) { placed_gradient(b, b.integer(2)); }

// ---- composites -----------------------------------------------------------------------------------------------------
Tensor as_dtype(const Composition& c, int param) {
  return c.has(param) && c.arg(param).dtype() != c.tensor(0).dtype() ? to_dtype(c.arg(0), c.arg(param)) : c.tensor(0);
}
Tensor in_dtype(const Composition& c, int param, const Tensor& total) {
  return c.has(param) && c.arg(param).dtype() != total.dtype() ? to_dtype(total, c.arg(param)) : total;
}
void cumsum_dtype_of(Composition& c) {
  if (c.has(2)) check_has_kernel("cumsum_out_cpu", c.arg(2).dtype());
  c.result(in_dtype(c, 2, cumsum(as_dtype(c, 2), c.arg(1))));
}
void cumprod_dtype_of(Composition& c) {
  if (c.has(2)) check_has_kernel("cumprod_out_cpu", c.arg(2).dtype());
  c.result(in_dtype(c, 2, cumprod(as_dtype(c, 2), c.arg(1))));
}
void argsort_of(Composition& c) { c.result(sort.all(c.arg(0), c.arg(1), c.arg(2))[1]); }

void check_not_empty(const Tensor& self, int64_t dim, std::string_view function) {
  check_kind(self.rank() == 0 || self.size(dim) > 0, ErrorKind::IndexError,
             "{}(): Expected reduction dim {} to have non-zero size.", function, dim);
}
/// The place of the first NaN, or else of the median.
constexpr int64_t kMedian = -1;
void pick_at_place(Composition& c, const Tensor& self, int64_t dim, int64_t place, bool keepdim) {
  for (const Tensor& t : at_place.all(self, place, dim)) c.result(keepdim || self.rank() == 0 ? t : squeeze(t, {dim}));
}
void kthvalue_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_has_kernel("kthvalue_cpu", self.dtype());
  const int64_t k = c.integer(1), dim = wrap_dim(c.integer(2), self.rank());
  check_not_empty(self, dim, "kthvalue");
  check(k >= 1 && k <= (self.rank() ? self.size(dim) : 1),
        "kthvalue(): selected number k out of range for dimension {}", dim);
  pick_at_place(c, self, dim, k - 1, c.flag(3));
}
/// Elements that equal the median share its gradient: it is itself plus the mean of their differences from it.
void median_all_of(Composition& c) {
  const Tensor flat = reshape(c.tensor(0), {-1});
  check_has_kernel("median_cpu", flat.dtype());
  if (flat.numel() == 0 && is_inexact(flat.dtype()))
    return c.result(full(Dims{}, std::numeric_limits<double>::quiet_NaN(), flat.dtype()));
  check(flat.numel() > 0, "median(): Expected a tensor with at least one element.");
  const Tensor median = reshape(at_place(detach(flat), kMedian, 0), Dims{});
  if (!is_floating(flat.dtype())) return c.result(median);
  const Tensor equal = where(isnan(median), isnan(flat), eq(flat, median)), finite = where(isinf(median), 0.0, median);
  c.result(median + sum(where(equal, flat - finite, 0.0)) / sum(equal));
}
void median_with_index_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_has_kernel("median_out", self.dtype());
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  check_not_empty(self, dim, "median");
  pick_at_place(c, self, dim, kMedian, c.flag(2));
}

/// The distinct values in ascending order; where they came from; how often they occur.
struct Distinct {
  Tensor values, inverse, counts;
};
/// The slices of dim for one call: its rows are told apart on the host.
Distinct distinct_slices(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.rank());
  const int64_t n = self.rank() ? self.size(dim) : 1;
  const Tensor slices = self.rank() ? movedim(self, Dims{dim}, Dims{0}) : reshape(self, {1});
  const auto rows = unique_rows.all(reshape(slices, Dims{n, n == 0 ? 0 : self.numel() / n}));
  return {self.rank() ? index_select(self, dim, rows[0]) : clone(self), rows[1], rows[2]};
}
Distinct distinct(const Tensor& self, const Arg& dim) {
  if (!dim.is_none()) return distinct_slices(self, dim.scalar().to_int());
  const Tensor flat = reshape(self, {-1});
  const int64_t n = flat.numel();
  if (n == 0) return {flat, zeros(self.sizes(), DType::I64), zeros(Dims{0}, DType::I64)};
  const auto sorted = sort.all(flat, 0);
  const Tensor begins = cat(std::vector{full(Dims{1}, true, DType::Bool),
                                        ne(narrow(sorted[0], 0, 1, n - 1), narrow(sorted[0], 0, 0, n - 1))});
  const Tensor starts = select(nonzero(begins), 1, 0);
  const Tensor ends = cat(std::vector{narrow(starts, 0, 1, starts.numel() - 1), full(Dims{1}, n, DType::I64)});
  const Tensor group = sub(cumsum(begins, 0), 1);
  return {index_select(sorted[0], 0, starts),
          reshape(scatter(zeros(Dims{n}, DType::I64), 0, sorted[1], group), self.sizes()), sub(ends, starts)};
}
// What is asked for is part of the name; flags that aren't set change nothing.
void unique_of(Composition& c) { c.result(distinct(c.tensor(0), c.arg(4)).values); }
void unique_inverse_of(Composition& c) {
  const Distinct d = distinct(c.tensor(0), c.arg(4));
  c.result(d.values);
  c.result(d.inverse);
}
void unique_counts_of(Composition& c) {
  const Distinct d = distinct(c.tensor(0), c.arg(4));
  c.result(d.values);
  c.result(d.counts);
}
void unique_inverse_counts_of(Composition& c) {
  const Distinct d = distinct(c.tensor(0), c.arg(4));
  c.result(d.values);
  c.result(d.inverse);
  c.result(d.counts);
}
/// Numbers for the order of elements: floats as doubles, a NaN behind all; others as int64.
template <class T>
void group_rows(const Tensor& self, std::vector<Tensor>& results) {
  const int64_t n = self.size(0), width = self.size(1);
  const T* data = self->data_as<T>();
  const auto compare = [&](int64_t a, int64_t b) {  // -1, 0, 1
    for (int64_t i = 0; i < width; ++i) {
      const T x = data[a * width + i], y = data[b * width + i];
      if (x < y || (x == x && y != y)) return -1;
      if (y < x || (x != x && y == y)) return 1;
    }
    return 0;
  };
  std::vector<int64_t> order(static_cast<size_t>(n)), first, inverse(static_cast<size_t>(n)), counts;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  for (const int64_t row : order) {
    if (first.empty() || compare(first.back(), row) != 0) {
      first.push_back(row);
      counts.push_back(0);
    }
    inverse[static_cast<size_t>(row)] = static_cast<int64_t>(first.size()) - 1;
    ++counts.back();
  }
  for (const auto* column : {&first, &inverse, &counts}) {
    Tensor t = Tensor::empty(Dims{static_cast<int64_t>(column->size())}, DType::I64);
    std::copy(column->begin(), column->end(), t->data_as<int64_t>());
    results.push_back(std::move(t));
  }
}
void unique_rows_host(std::span<const Arg> args, std::vector<Tensor>& results) {
  const Tensor self = args[0].tensor();
  const bool floats = is_floating(self.dtype());
  const Tensor numbers = contiguous(to_dtype(self, floats ? DType::F64 : DType::I64));
  floats ? group_rows<double>(numbers, results) : group_rows<int64_t>(numbers, results);
}
void bincount_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_kind(is_integral(self.dtype(), true), ErrorKind::NotImplementedError,
             "\"bincount_cpu\" not implemented for '{}'", scalar_type_name(self.dtype()));
  check(self.rank() == 1 && is_integral(self.dtype()), "bincount only supports 1-d non-negative integral inputs.");
  int64_t n = c.integer(2);
  check(n >= 0, "minlength should be >= 0");
  if (self.numel() > 0) {
    check(known_integer(amin(self)) >= 0, "bincount only supports 1-d non-negative integral inputs.");
    n = std::max(n, size_sum(known_integer(amax(self)), 1));
  }
  Tensor weights = c.has(1) ? c.tensor(1) : expand(ones(Dims{1}, DType::I64), self.sizes());
  check(weights.sizes() == self.sizes(), "weights should be 1-d and have the same length as input");
  if (c.has(1) && weights.dtype() != DType::F32) weights = to_dtype(weights, DType::F64);
  const Tensor bins = self.dtype() == DType::I64 ? self : to_dtype(self, DType::I64);
  c.result(scatter_add(zeros(Dims{n}, weights.dtype()), 0, bins, weights));
}

OpRecord running(std::string_view name, std::string_view doc, GradientRule gradient, uint32_t saved) {
  return {.name = name,
          .signature = "(Tensor self, int dim) -> Tensor",
          .doc = doc,
          .example = "",
          .flags = kComplex | kBarebones | kInPlace,
          .shape = running_shape,
          .gradient = gradient,
          .saved = saved,
          .samples = {{"randn(3, 4), 1"},
                      {"randn(2, 3, 4), 0"},
                      {"randn(4, 3).t(), -1"},
                      {"randn(()), 0"},
                      {"crandn(3, 4), 1", "complex"},
                      {"randint(0, 5, (3, 4)), 1", "int", false}}};
}
OpRecord running_dtype(std::string_view name, std::string_view doc, CompositeRule rule) {
  return {.name = name,
          .signature = "(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
          .doc = doc,
          .example = "",
          .flags = kInPlace,
          .composite = rule,
          .samples = {{"randn(3, 4), 1, dtype=terra.float64"}}};
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op cumsum{running("cumsum", "The sum of each element and all before it along dim.", cumsum_gradient, 0)};
const Op cumsum_dtype{running_dtype("cumsum_dtype", "cumsum of the elements converted to dtype.", cumsum_dtype_of)};
const Op cumprod{running("cumprod", "The product of each element and all before it along dim.", cumprod_gradient,
                         saves({0}) | saves_result())};
const Op cumprod_dtype{running_dtype("cumprod_dtype", "cumprod of the elements converted to dtype.", cumprod_dtype_of)};

const Op sort{{.name = "sort",
               .signature = "(Tensor self, int dim=-1, bool descending=False, bool stable=False) -> "
                            "(Tensor values, Tensor indices)",
               .doc = "The elements along dim in order, and where they were; equal ones keep their order.",
               .example = "terra.sort(terra.tensor([3, 1, 2])).values",
               .flags = kVisible | kBarebones,
               .shape = sort_shape,
               .gradient = sort_gradient,
               .saved = saves_result(1),
               .samples = {{"randn(3, 4)"}, {"randn(3, 4), 0, True"}, {"randint(0, 3, (9,))", "int", false}}}};
const Op argsort{{.name = "argsort",
                  .signature = "(Tensor self, int dim=-1, bool descending=False, bool stable=False) -> Tensor",
                  .doc = "Where the elements along dim, in order, were.",
                  .example = "terra.argsort(terra.tensor([3, 1, 2]))",
                  .flags = kVisible | kNoGradient,
                  .composite = argsort_of,
                  .samples = {{"randn(3, 4)", "float", false}}}};
const Op topk{{.name = "topk",
               .signature = "(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
                            "(Tensor values, Tensor indices)",
               .doc = "The k largest (or smallest) elements along dim, and where they were.",
               .example = "terra.topk(terra.tensor([3, 1, 2]), 2).values",
               .flags = kVisible,
               .shape = topk_shape,
               .gradient = topk_gradient,
               .saved = saves_result(1),
               .samples = {{"randn(3, 5), 2"}, {"randn(5, 3), 3, 0, False"}, {"randn(4), 0"}}}};
const Op at_place{{.name = "at_place",
                   .signature = "(Tensor self, int place, int dim) -> (Tensor values, Tensor indices)",
                   .doc = "The element at a place of the ascending order along dim, and where it was. Place -1: in the "
                          "middle, of two the lower; the first NaN if there is one.",
                   .example = "",
                   .shape = place_shape,
                   .gradient = at_place_gradient,
                   .saved = saves_result(1),
                   .samples = {{"randn(3, 5), 2, 1"}, {"randn(5, 3), -1, 0"}}}};
const Op kthvalue{
    {.name = "kthvalue",
     .signature = "(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .doc = "The k-th smallest element along dim, and where it was.",
     .example = "terra.kthvalue(terra.tensor([3, 1, 2]), 2).values",
     .flags = kVisible,
     .composite = kthvalue_of,
     .grad_fn = "KthvalueBackward0",
     .samples = {{"randn(3, 5), 2"}, {"randn(3, 5), 1, 0, True"}}}};
const Op median_all{{.name = "median_all",
                     .signature = "(Tensor self) -> Tensor",
                     .doc = "The element in the middle, the lower of two.",
                     .example = "terra.median(terra.tensor([3, 1, 2]))",
                     .composite = median_all_of,
                     .grad_fn = "MedianBackward0",
                     .samples = {{"randn(3, 5)"}, {"randn(4)"}}}};
const Op median_with_index{
    {.name = "median_with_index",
     .signature = "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .doc = "The element in the middle along dim, the lower of two, and where it was.",
     .example = "",
     .composite = median_with_index_of,
     .grad_fn = "MedianBackward1",
     .samples = {{"randn(3, 5), 1"}, {"randn(4, 2), 0, True"}}}};
const Op unique{{.name = "unique",
                 .signature = "(Tensor self, bool sorted=True, *, bool return_inverse=False, bool return_counts=False, "
                              "int? dim=None) -> Tensor",
                 .doc = "The distinct elements in ascending order.",
                 .example = "terra.unique(terra.tensor([3, 1, 3]))",
                 .flags = kVisible | kNoGradient,
                 .composite = unique_of,
                 .samples = {{"randint(0, 4, (3, 5))", "int", false},
                             {"randint(0, 2, (2, 9)), dim=1", "int", false},
                             {"terra.tensor([[1.5, 2], [0, 1], [1.5, 2]]), dim=0", "float", false}}}};
const Op unique_rows{{.name = "unique_rows",
                      .signature = "(Tensor self) -> (Tensor first, Tensor inverse, Tensor counts)",
                      .doc = "The distinct rows of a matrix in ascending order: where each comes first, which each row "
                             "is, how often each occurs.",
                      .example = "",
                      .flags = kHost | kNoGradient | kBarebones,
                      .host = unique_rows_host,
                      .samples = {{"randint(0, 2, (9, 2))", "int", false}}}};
const Op unique_inverse{
    {.name = "unique_inverse",
     .signature = "(Tensor self, bool sorted=True, *, bool return_inverse, bool return_counts=False, int? dim=None) -> "
                  "Tensor[]",
     .doc = "The distinct elements, and the place of each element among them.",
     .example = "",
     .flags = kNoGradient,
     .composite = unique_inverse_of,
     .samples = {{"randint(0, 4, (3, 5)), return_inverse=True", "int", false}}}};
const Op unique_counts{
    {.name = "unique_counts",
     .signature = "(Tensor self, bool sorted=True, *, bool return_counts, bool return_inverse=False, int? dim=None) -> "
                  "Tensor[]",
     .doc = "The distinct elements, and how often each occurs.",
     .example = "",
     .flags = kNoGradient,
     .composite = unique_counts_of,
     .samples = {{"randint(0, 4, (3, 5)), return_counts=True", "int", false}}}};
const Op unique_inverse_counts{
    {.name = "unique_inverse_counts",
     .signature = "(Tensor self, bool sorted=True, *, bool return_inverse, bool return_counts, int? dim=None) -> "
                  "Tensor[]",
     .doc = "The distinct elements, the place of each element among them, and how often each occurs.",
     .example = "",
     .flags = kNoGradient,
     .composite = unique_inverse_counts_of,
     .samples = {{"randint(0, 4, (3, 5)), return_inverse=True, return_counts=True", "int", false}}}};
const Op bincount{{.name = "bincount",
                   .signature = "(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
                   .doc = "How often (or with what total weight) each number from 0 occurs.",
                   .example = "terra.bincount(terra.tensor([1, 1, 3]))",
                   .flags = kVisible | kNoGradient,
                   .composite = bincount_of,
                   .samples = {{"randint(0, 4, (7,)), None, 6", "int", false}}}};

}  // namespace terra::ops
