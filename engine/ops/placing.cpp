#include "engine/ops/placing.h"

#include <algorithm>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/composed.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/index_rules.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- combined by index ----------------------------------------------------------------------------------------------
void combine_shape(Inference& f) {
  check_scatter(f);
  const std::string_view how = f.text(4);
  check(how == "prod" || how == "amax" || how == "amin",
        "reduce argument must be either sum, prod, mean, amax or amin, got {}", how);
}
/// Elements that equal the result share its gradient.
void extreme_gradient(Backward& b, const Arg& dim, const Tensor& index) {
  const Tensor self = b.in(0), src = b.in(3), g = b.grad();
  const Tensor own = to_dtype(eq(self, b.out()), g.dtype());
  const Tensor theirs = to_dtype(eq(src, gather(b.out(), dim, index)), g.dtype());
  const Tensor share = g / clamp_min(scatter_add(own, dim, index, theirs), 1);
  if (b.needs(0)) b.set(0, own * share);
  if (b.needs(3)) b.set(3, theirs * gather(share, dim, index));
}
/// The product of the others: the result divided by the element, or the product made anew with 1 in place of a zero. A
/// second zero among the others makes it 0.
void product_gradient(Backward& b, const Arg& dim, const Tensor& index) {
  const Tensor self = b.in(0), src = b.in(3), g = b.grad();
  if (b.needs(0)) {
    const Tensor patched = where(eq(self, 0), 1.0, self);
    b.set(0, g * scatter_combine(patched, dim, index, src, "prod") / patched);
  }
  if (b.needs(3)) {
    const Tensor zero = eq(src, 0);
    const Tensor zeros_there =
        gather(scatter_add(zeros(self.sizes(), DType::I64), dim, index, to_dtype(zero, DType::I64)), dim, index);
    const Tensor single = logical_and(zero, eq(zeros_there, 1));
    const Tensor without = scatter_combine(self, dim, index, where(single, 1.0, src), "prod");
    const Tensor divided = gather(g * b.out(), dim, index) / where(zero, 1.0, src);
    b.set(3, where(single, gather(g * without, dim, index), divided));
  }
}
/// The slice of src that the index covers gets all of src's gradient.
void combine_gradient(Backward& b) {
  const Tensor index = b.in(2);
  if (index.numel() == 0 || b.sizes(0).empty() != index.sizes().empty() || b.sizes(3) != index.sizes()) {
    check(index.numel() == 0, "the derivative for 'scatter_reduce' with an index smaller than src is not implemented.");
    b.set(0, b.grad());
    if (b.needs(3)) b.set(3, zeros(b.sizes(3), b.grad().dtype()));
    return;
  }
  (b.text(4) == "prod" ? product_gradient : extreme_gradient)(b, b.arg(1), index);
}

/// The number that leaves every other as it is.
Scalar neutral(std::string_view how, DType dtype) {
  if (how == "prod") return Scalar(1);
  const bool largest = how == "amin";
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Scalar(largest ? infinity : -infinity);
  }
  return largest ? greatest_of(dtype) : least_of(dtype);
}
/// The part of src that an index of these sizes reads.
Tensor covered(const Tensor& src, const Dims& index) {
  Tensor t = src;
  if (t.rank() != index.size()) return t;
  for (size_t d = 0; d < index.size(); ++d)
    if (index[d] < t.size(static_cast<int64_t>(d))) t = narrow(t, static_cast<int64_t>(d), 0, index[d]);
  return t;
}
Tensor scatter_reduced(const Tensor& self, const Arg& dim, const Tensor& index, const Tensor& src, std::string_view how,
                       bool include_self) {
  check(how == "sum" || how == "prod" || how == "mean" || how == "amax" || how == "amin",
        "reduce argument must be either sum, prod, mean, amax or amin, got {}", how);
  check_kind(how == "sum" || how == "prod" || !is_barebones(self.dtype()), ErrorKind::NotImplementedError,
             "\"scatter_gather_tensor_cpu_reduce_{}\" not implemented for '{}'", how, scalar_type_name(self.dtype()));
  if (index.numel() == 0) return clone(self);
  const bool adds = how == "sum" || how == "mean";
  const Tensor values = covered(src, index.sizes());
  const auto start = [&](const Scalar& number) {
    return include_self ? self : scatter(self, dim, index, full(index.sizes(), number, self.dtype()));
  };
  if (!adds) return scatter_combine(start(neutral(how, self.dtype())), dim, index, values, how);
  const Tensor total = scatter_add(start(Scalar(0)), dim, index, values);
  if (how == "sum") return total;
  Tensor count = include_self ? ones(self.sizes(), self.dtype()) : zeros(self.sizes(), self.dtype());
  count = clamp_min(scatter_add(count, dim, index, ones(index.sizes(), self.dtype())), 1);
  return is_inexact(self.dtype()) ? total / count : floor_divide(total, count);
}
void scatter_reduce_of(Composition& c) {
  c.result(scatter_reduced(c.tensor(0), c.arg(1), c.tensor(2), c.tensor(3), c.text(4), c.flag(5)));
}
/// The older names of scatter: "add" and "multiply".
Tensor scatter_by_name(const Composition& c, const Tensor& src) {
  const std::string_view how = c.text(4);
  check(how == "add" || how == "multiply", "reduce argument must be either add or multiply.");
  return scatter_reduced(c.tensor(0), c.arg(1), c.tensor(2), src, how == "add" ? "sum" : "prod", true);
}
void scatter_named_of(Composition& c) { c.result(scatter_by_name(c, c.tensor(3))); }
void scatter_value_named_of(Composition& c) {
  c.result(scatter_by_name(c, full(c.tensor(2).sizes(), c.arg(3), c.tensor(0).dtype())));
}

/// A vector of places along one dimension, and the slices of `source` that belong there.
struct Slices {
  int64_t dim;
  Tensor index;
};
Slices checked_slices(const Tensor& self, int64_t given, const Tensor& index, const Tensor& source) {
  check_kind(index.rank() <= 1, ErrorKind::IndexError,
             "index_reduce_(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {}",
             index.rank(), scalar_type_name(index.dtype()), listed(index.sizes()));
  check(index.dtype() == DType::I64 || index.dtype() == DType::I32,
        "index_reduce_(): Expected dtype int32/int64 for index");
  check(self.dtype() == source.dtype(), "index_reduce_(): self ({}) and source ({}) must have the same scalar type",
        scalar_type_name(self.dtype()), scalar_type_name(source.dtype()));
  const int64_t dim = wrap_dim(given, self.rank()), there = source.rank() ? source.size(dim) : 1;
  check(index.numel() == there,
        "index_reduce_(): Number of indices ({}) should be equal to source.size(dim): ({}), for dim: {}", index.numel(),
        there, dim);
  Dims fitting = self.sizes();
  if (!fitting.empty()) fitting[dim] = index.numel();
  check(source.sizes() == fitting || (source.numel() == 1 && checked_numel(fitting) == 1),
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} "
        "source.shape = {}",
        listed(self.sizes()), listed(source.sizes()));
  return {dim, reshape(index.dtype() == DType::I64 ? index : to_dtype(index, DType::I64), {-1})};
}
void index_reduce_of(Composition& c) {
  const Tensor self = c.tensor(0), source = c.tensor(3);
  const std::string_view how = c.text(4);
  check(how == "prod" || how == "mean" || how == "amax" || how == "amin",
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {}.", how);
  const Slices s = checked_slices(self, c.integer(1), c.tensor(2), source);
  Dims beside(std::max<size_t>(self.rank(), 1), 1);
  beside[s.dim] = s.index.numel();
  const Tensor index = self.rank() == 0 ? reshape(s.index, Dims{}) : expand(reshape(s.index, beside), source.sizes());
  c.result(scatter_reduced(self, s.dim, index, self.rank() == 0 ? reshape(source, Dims{}) : source, how, c.flag(5)));
}

// ---- put in place ---------------------------------------------------------------------------------------------------
/// self with the elements of src where `places`, a view of the numbers of self's elements, says.
Tensor placed(const Tensor& self, const Tensor& places, const Tensor& src) {
  const Tensor flat = index_put(reshape(self, {-1}), std::vector{reshape(places, {-1})}, reshape(src, {-1}));
  return reshape(flat, self.sizes());
}
/// The number of each element, in its place.
Tensor numbered(const Tensor& self) { return reshape(arange(0, self.numel()), self.sizes()); }
Tensor placed_like(const Tensor& self, const Tensor& places, const Tensor& src) {
  check(src.sizes() == places.sizes(),
        "expected src to have a size equal to the slice of self. src size = {}, slice size = {}", listed(src.sizes()),
        listed(places.sizes()));
  return placed(self, places, src.dtype() == self.dtype() ? src : to_dtype(src, self.dtype()));
}
void slice_scatter_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(placed_like(self, slice(numbered(self), c.arg(2), c.arg(3), c.arg(4), c.arg(5)), c.tensor(1)));
}
void select_scatter_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(placed_like(self, select(numbered(self), c.arg(2), c.arg(3)), c.tensor(1)));
}
void diagonal_scatter_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(placed_like(self, diagonal(numbered(self), c.arg(2), c.arg(3), c.arg(4)), c.tensor(1)));
}
void as_strided_scatter_of(Composition& c) {
  const Tensor self = c.tensor(0);
  as_strided(self, c.arg(2), c.arg(3), c.arg(4));  // refuses what lies outside
  c.result(placed_like(self, as_strided(numbered(self), c.arg(2), c.arg(3), c.arg(4)), c.tensor(1)));
}

void index_copy_of(Composition& c) {
  const Tensor self = c.tensor(0), index = c.tensor(2), source = c.tensor(3);
  check_kind(index.rank() <= 1, ErrorKind::IndexError, "index_copy_(): Index should have dimension 1 or 0 (got {})",
             index.rank());
  check(index.dtype() == DType::I64, "index_copy_(): Expected a long tensor for index, but got {}",
        scalar_type_name(index.dtype()));
  check(self.dtype() == source.dtype(),
        "index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
        scalar_type_name(self.dtype()), scalar_type_name(source.dtype()));
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  check_kind(source.rank() > 0 || index.numel() == 1, ErrorKind::IndexError,
             "index_copy_(): When source is scalar, index should have one element (got {})", index.numel());
  check_kind(source.rank() == self.rank() || source.rank() == 0 || self.rank() == 0, ErrorKind::IndexError,
             "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
             "dimensionality ({}), destination dimensionality ({})",
             source.rank(), self.rank());
  Dims here = self.sizes(), there = source.sizes();
  if (!here.empty()) here.erase(dim);
  if (!there.empty()) there.erase(std::min<int64_t>(dim, static_cast<int64_t>(there.size()) - 1));
  check(here == there,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {} at "
        "dimension {} and source slice shape: {} at dimension 0.",
        fmt::join(here.begin(), here.end(), " "), dim, fmt::join(there.begin(), there.end(), " "));
  const int64_t named = source.rank() ? source.size(self.rank() ? dim : 0) : 1;
  check_kind(index.numel() == named, ErrorKind::IndexError,
             "index_copy_(): Number of indices ({}) should be equal to source.size(dim) ({})", index.numel(), named);
  if (self.rank() == 0) return c.result(placed(self, reshape(index, {-1}), source));
  // No place counts from the end, which index_select refuses.
  std::vector<Tensor> places(static_cast<size_t>(dim) + 1);
  places.back() = index_select(arange(0, self.size(dim)), 0, reshape(index, {-1}));
  Dims slices = self.sizes();
  slices[dim] = index.numel();
  c.result(index_put(self, places, reshape(source, slices)));
}
/// The n-th true place of the mask gets the n-th element of source.
void masked_scatter_of(Composition& c) {
  const Tensor given = c.tensor(0), source = c.tensor(2);
  check(given.dtype() == source.dtype(),
        "masked_scatter: expected self and source to have same dtypes but got{} and {}",
        scalar_type_name(given.dtype()), scalar_type_name(source.dtype()));
  check(c.tensor(1).dtype() == DType::Bool, "masked_scatter_ only supports boolean masks, but got mask with dtype {}",
        scalar_type_name(c.tensor(1).dtype()));
  const Dims sizes = broadcast_sizes(given.sizes(), c.tensor(1).sizes());
  const Tensor self = expand(given, sizes), mask = expand(c.tensor(1), sizes);
  check(source.numel() >= self.numel() || mask.device().is_meta() || source.numel() >= known_integer(sum(mask)),
        "Number of elements of source < number of ones in mask");
  if (source.numel() == 0 || self.numel() == 0) return c.result(clone(self));
  const Tensor turn = sub(cumsum(reshape(mask, {-1}), 0), 1);
  const Tensor taken = index_select(reshape(source, {-1}), 0, clamp(turn, 0, source.numel() - 1));
  c.result(where(mask, reshape(taken, sizes), self));
}
void put_of(Composition& c) {
  const Tensor self = c.tensor(0), index = c.tensor(1), source = c.tensor(2);
  check(index.dtype() == DType::I64, "put_(): Expected a long tensor for index, but got {}",
        scalar_type_name(index.dtype()));
  check(self.dtype() == source.dtype(),
        "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
        scalar_type_name(self.dtype()), scalar_type_name(source.dtype()));
  check_kind(index.numel() == source.numel(), ErrorKind::IndexError,
             "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, "
             "index.numel() = {}",
             source.numel(), index.numel());
  check_kind(self.numel() > 0 || index.numel() == 0, ErrorKind::IndexError,
             "put_(): Expected self to be non-empty, or both to be empty");
  const Tensor flat =
      index_put(reshape(self, {-1}), std::vector{reshape(index, {-1})}, reshape(source, {-1}), c.arg(3));
  c.result(reshape(flat, self.sizes()));
}
/// The diagonal of all dimensions; of a tall matrix, with wrap, again below a row that is left out.
void fill_diagonal_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.rank() >= 2, "dimensions must larger than 1");
  const Dims& sizes = self.sizes();
  for (size_t d = 1; self.rank() > 2 && d < self.rank(); ++d)
    check(sizes[d] == sizes[0], "all dimensions of input must be of equal length");
  const int64_t shortest = *std::min_element(sizes.begin(), sizes.end());
  int64_t step = 0;
  for (int64_t stride : contiguous_strides(sizes)) step += stride;
  const bool wraps = c.flag(2) && self.rank() == 2 && sizes[0] > sizes[1] + 1;
  const int64_t end = wraps ? self.numel() : shortest * step;
  if (self.numel() == 0) return c.result(clone(self));
  const Tensor places = arange(0, std::min(end, self.numel()), step);
  c.result(placed(self, places, expand(full(Dims{}, c.arg(1), self.dtype()), places.sizes())));
}

// ---- records --------------------------------------------------------------------------------------------------------
constexpr uint32_t kPlaces = kVisibleInPlace | kMovesBytes;

OpRecord in_view(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                 CompositeRule rule, std::string_view grad_fn, std::vector<Sample> samples) {
  return composed(name, signature, doc, example, rule, std::move(samples), kVisible | kMovesBytes, grad_fn);
}

}  // namespace

const Op scatter_combine{
    {.name = "scatter_combine",
     .signature = "(Tensor self, int dim, Tensor index, Tensor src, str reduce) -> Tensor",
     .doc = "self combined with the elements of src at the places along dim that index names.",
     .example = "",
     .flags = kChecksValues | kBarebones,
     .shape = combine_shape,
     .gradient = combine_gradient,
     .saved = saves({0, 2, 3}) | saves_result(),
     .reuses = params({0}),
     .grad_fn = "ScatterReduceBackward0",
     .samples = {{"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2), 'prod'"},
                 {"randn(3, 5), 0, randint(0, 3, (2, 5)), randn(2, 5), 'amax'"},
                 {"randn(3), 0, terra.tensor([1, 1, 1, 0]), randn(4), 'amin'"},
                 {"randint(0, 9, (4,)), 0, terra.tensor([3, 3]), randint(0, 9, (2,)), 'amax'", "int", false}}}};
const Op scatter_reduce{
    {.name = "scatter_reduce",
     .signature = "(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
     .doc = "self reduced with the elements of src at the places along dim that index names, or those elements only.",
     .example = "terra.zeros(2).scatter_reduce(0, terra.tensor([1, 1]), terra.ones(2), 'sum')",
     .flags = kVisibleInPlace | kScatters,
     .composite = scatter_reduce_of,
     .grad_fn = "ScatterReduceBackward0",
     .samples = {{"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2), 'sum'"},
                 {"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2), 'mean', include_self=False"},
                 {"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 4), 'amin'"},
                 {"randn(3, 5), 0, randint(0, 3, (2, 5)), randn(2, 5), 'prod', include_self=False"}}}};
const Op scatter_named{{.name = "scatter_named",
                        .signature = "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
                        .doc = "scatter that adds or multiplies.",
                        .example = "",
                        .flags = kInPlace | kScatters,
                        .composite = scatter_named_of,
                        .samples = {{"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2), reduce='add'"},
                                    {"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2), reduce='multiply'"}}}};
const Op scatter_value_named{
    {.name = "scatter_value_named",
     .signature = "(Tensor self, int dim, Tensor index, Number value, *, str reduce) -> Tensor",
     .doc = "scatter that adds a number or multiplies by it.",
     .example = "",
     .flags = kInPlace | kScatters,
     .composite = scatter_value_named_of,
     .samples = {{"randn(3, 5), 1, randint(0, 5, (3, 2)), 2.5, reduce='multiply'"}}}};
const Op index_reduce{
    {.name = "index_reduce",
     .signature =
         "(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
     .doc = "self reduced with the slices of source at the places of dim that index names, or those slices only.",
     .example = "terra.ones(3).index_reduce(0, terra.tensor([1, 1]), terra.tensor([2.0, 3.0]), 'prod')",
     .flags = kVisibleInPlace | kScatters,
     .composite = index_reduce_of,
     .grad_fn = "IndexReduceBackward0",
     .samples = {{"randn(3, 4), 0, terra.tensor([2, 0, 2]), randn(3, 4), 'prod'"},
                 {"randn(3, 4), 1, terra.tensor([1, 1]), randn(3, 2), 'mean', include_self=False"},
                 {"randn(3, 4), 1, terra.tensor([1, 1]), randn(3, 2), 'amax'"}}}};
const Op index_copy{{.name = "index_copy",
                     .signature = "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
                     .doc = "self with the slices of source at the places of dim that index names.",
                     .example = "terra.zeros(3).index_copy(0, terra.tensor([1]), terra.ones(1))",
                     .flags = kPlaces | kScatters,
                     .composite = index_copy_of,
                     .grad_fn = "IndexCopyBackward0",
                     .samples = {{"randn(3, 4), 0, terra.tensor([2, 0]), randn(2, 4)"},
                                 {"randn(3, 4), -1, terra.tensor([1]), randn(3, 1)"},
                                 {"randn(()), 0, terra.tensor([0]), randn(1)"}}}};
const Op masked_scatter{{.name = "masked_scatter",
                         .signature = "(Tensor self, Tensor mask, Tensor source) -> Tensor",
                         .doc = "self with the elements of source, one after another, where mask holds.",
                         .example = "terra.zeros(3).masked_scatter(terra.tensor([True, False, True]), terra.ones(2))",
                         .flags = kPlaces,
                         .composite = masked_scatter_of,
                         .grad_fn = "MaskedScatterBackward0",
                         .samples = {{"randn(3, 4), terra.tensor([True, False, True, True]), randn(12)"},
                                     {"randn(3, 4).t(), randn(4, 1) > 0, randn(4, 3)"}}}};
const Op put{{.name = "put",
              .signature = "(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
              .doc = "self with the elements of source at positions of the flattened tensor, or with them added there.",
              .example = "terra.zeros(3).put(terra.tensor([1]), terra.ones(1))",
              .flags = kPlaces | kScatters,
              .composite = put_of,
              .grad_fn = "PutBackward0",
              .samples = {{"randn(3, 4), terra.tensor([[0, 11], [5, 6]]), randn(4)"},
                          {"randn(3, 4), terra.tensor([5, 5]), randn(2), True"}}}};
const Op fill_diagonal{{.name = "fill_diagonal",
                        .signature = "(Tensor self, Number fill_value, bool wrap=False) -> Tensor",
                        .doc = "self with fill_value on the diagonal.",
                        .example = "terra.zeros(2, 2).fill_diagonal_(1)",
                        .flags = kInPlace | kMovesBytes,
                        .composite = fill_diagonal_of,
                        .samples = {{"randn(3, 4), 2.5"}, {"randn(7, 3), 1, True"}, {"randn(3, 3, 3), 1"}}}};
const Op slice_scatter{in_view(
    "slice_scatter", "(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    "self with src in the place of a slice.", "terra.slice_scatter(terra.zeros(3), terra.ones(2), 0, 1)",
    slice_scatter_of, "SliceScatterBackward0",
    {{"randn(3, 4), randn(3, 2), 1, 0, 4, 2"}, {"randn(3, 4), randn(1, 4), start=-1"}})};
const Op select_scatter{in_view(
    "select_scatter", "(Tensor self, Tensor src, int dim, int index) -> Tensor",
    "self with src in the place of one slice of dim.", "terra.select_scatter(terra.zeros(2, 2), terra.ones(2), 0, 1)",
    select_scatter_of, "SelectScatterBackward0", {{"randn(3, 4), randn(3), 1, 2"}, {"randn(3, 4), randn(4), 0, -1"}})};
const Op diagonal_scatter{in_view(
    "diagonal_scatter", "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    "self with src on a diagonal.", "terra.diagonal_scatter(terra.zeros(2, 2), terra.ones(2))", diagonal_scatter_of,
    "DiagonalScatterBackward0", {{"randn(3, 4), randn(3)"}, {"randn(2, 3, 4), randn(4, 1), -1"}})};
const Op as_strided_scatter{in_view(
    "as_strided_scatter", "(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    "self with src in the place of a strided view.",
    "terra.as_strided_scatter(terra.zeros(4), terra.ones(2), (2,), (2,))", as_strided_scatter_of,
    "AsStridedScatterBackward0", {{"randn(3, 4), randn(2, 2), (2, 2), (4, 2), 1"}})};

}  // namespace terra::ops
