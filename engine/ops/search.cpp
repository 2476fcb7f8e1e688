#include "engine/ops/search.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/matrices.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"
#include "kernels/abi/element.h"

namespace terra::ops {
namespace {

// ---- places among sorted numbers ------------------------------------------------------------------------------------
/// One line of boundaries for all values, or one for each line of them.
bool lines_match(Sizes boundaries, Sizes values) {
  if (boundaries.size() == 1) return true;
  return boundaries.size() == values.size() &&
         std::equal(boundaries.begin(), boundaries.end() - 1, values.begin(), values.end() - 1);
}
void places_shape(Inference& f) {
  check(f.rank(0) > 0 && lines_match(f.sizes(0), f.sizes(1)) && f.dtype(0) == f.dtype(1),
        "{}: lines of size {} don't hold the places of values of size {}", f.op.name, listed(f.sizes(0)),
        listed(f.sizes(1)));
  check_kind(!is_complex(f.dtype(0)), ErrorKind::NotImplementedError,
             "\"searchsorted_out_cpu\" not implemented for '{}'", scalar_type_name(f.dtype(0)));
  f.result(f.flag(3) ? DType::I32 : DType::I64, Dims(f.sizes(1)));
}
template <class T>
void find_places(const Tensor& boundaries, const Tensor& values, bool right, const Tensor& out) {
  const int64_t length = boundaries.sizes().back(),
                wide = boundaries.rank() == 1 ? values.numel() : values.sizes().back();
  const T* line = boundaries->data_as<T>();
  const T* value = values->data_as<T>();
  /// Halves of what is left are passed without a jump: which ones is as good as random.
  const auto place_in = [length](const T* begin, const auto& comes_before) {
    const T* from = begin;
    for (int64_t left = length; left > 0;) {
      const int64_t half = (left + 1) / 2;
      from += comes_before(from[half - 1]) ? half : 0;
      left -= half;
    }
    return from - begin;
  };
  const auto place = [&](int64_t i) {
    const T* begin = boundaries.rank() == 1 ? line : line + i / wide * length;
    const T x = value[i];  // a NaN comes behind everything
    return right ? place_in(begin, [x](T at) { return !(at > x); }) : place_in(begin, [x](T at) { return !(at >= x); });
  };
  cpu::parallel_for(values.numel(), 2048, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      if (out.dtype() == DType::I32)
        out->data_as<int32_t>()[i] = static_cast<int32_t>(place(i));
      else
        out->data_as<int64_t>()[i] = place(i);
    }
  });
}
void places_host(Args a, Results& out) {
  const auto readable = [&](const Tensor& t) { return contiguous(is_half(t.dtype()) ? to_dtype(t, DType::F32) : t); };
  const Tensor boundaries = readable(a[0].tensor()), values = readable(a[1].tensor());
  out = made_by_shape(places_among, a);
  const auto find = [&]<class T>(T) { find_places<T>(boundaries, values, a[2].scalar().to_bool(), out[0]); };
  if (boundaries.dtype() == DType::Bool)
    find(bool{});
  else
    with_number(boundaries.dtype(), find);
}

/// Boundaries and values in one dtype that holds both.
Tensor places(const Tensor& boundaries, const Tensor& values, bool right, bool out_int32) {
  const Arg operands[] = {boundaries, values};
  DType dtype = boundaries.dtype() == values.dtype() ? values.dtype() : result_type(operands);
  if (is_half(dtype)) dtype = DType::F32;
  return places_among(to_dtype(boundaries, dtype), to_dtype(values, dtype), right, out_int32);
}
/// Which side of equal numbers: "right", if it is asked for in either way.
bool from_right(bool right, const Arg& side) {
  if (side.is_none()) return right;
  check(side.text() == "left" || side.text() == "right",
        "torch.searchsorted(): side can only be 'left' or 'right' but got {}", side.text());
  check(!right || side.text() == "right",
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  return side.text() == "right";
}
Tensor searched(const Tensor& given, const Tensor& values, const Composition& c) {
  Tensor sorted = given;
  check(sorted.rank() > 0,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
  check(values.rank() > 0 || sorted.rank() == 1,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
        "boundaries tensor dim({}) and input value's dim({}) numel({})",
        sorted.rank(), values.rank(), values.numel());
  check(values.rank() == 0 || lines_match(sorted.sizes(), values.sizes()),
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
        "tensor and input value tensor must match, but we got boundaries tensor {} and input value tensor {}",
        listed(sorted.sizes()), listed(values.sizes()));
  if (c.has(5)) {
    const Tensor sorter = c.tensor(5);
    check(sorter.sizes() == sorted.sizes(),
          "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {}and got sorter "
          "tensor {}",
          listed(sorted.sizes()), listed(sorter.sizes()));
    check(sorter.dtype() == DType::I64, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {}",
          scalar_type_name(sorter.dtype()));
    check(sorter.numel() == 0 || (known_integer(amin(sorter)) >= 0 && known_integer(amax(sorter)) < sorted.size(-1)),
          "torch.searchsorted(): sorter index out of range");
    sorted = gather(sorted, -1, sorter);
  }
  return places(sorted, values, from_right(c.flag(3), c.arg(4)), c.flag(2));
}
void searchsorted_of(Composition& c) { c.result(searched(c.tensor(0), c.tensor(1), c)); }
/// A number counts as one of the boundaries' kind: floats among whole numbers are the default float.
Tensor number_among(const Tensor& boundaries, const Scalar& number) {
  const DType dtype = is_integral(boundaries.dtype(), true) && number.is_float() ? default_dtype() : boundaries.dtype();
  return full(Dims{}, number, dtype);
}
void searchsorted_number_of(Composition& c) {
  c.result(searched(c.tensor(0), number_among(c.tensor(0), c.arg(1).scalar()), c));
}
void check_boundaries(const Tensor& boundaries) {
  check(boundaries.rank() == 1, "boundaries tensor must be 1 dimension, but got dim({})", boundaries.rank());
}
void bucketize_of(Composition& c) {
  check_boundaries(c.tensor(1));
  c.result(places(c.tensor(1), c.tensor(0), c.flag(3), c.flag(2)));
}
void bucketize_number_of(Composition& c) {
  check_boundaries(c.tensor(1));
  c.result(places(c.tensor(1), number_among(c.tensor(1), c.arg(0).scalar()), c.flag(3), c.flag(2)));
}

// ---- histograms -----------------------------------------------------------------------------------------------------
struct Range {
  double low, high;
};
/// As an element of that dtype.
double rounded(double number, DType dtype) {
  alignas(16) char element[kMaxElementSize];
  store_element(element, dtype, number);
  return load_element(element, dtype).to_double();
}
/// What is given, or from the least to the greatest element; half a unit to each side where that is nothing.
Range range_of(const Tensor& self, double low, double high, std::string_view op, std::string_view wrong) {
  check(low <= high, "{}", wrong);
  if (low == high && self.numel() > 0 && !self.device().is_meta()) {
    low = known_number(amin(self)).to_double();
    high = known_number(amax(self)).to_double();
  }
  check(std::isfinite(low) && std::isfinite(high), "{}: range of [{}, {}] is not finite", op, low, high);
  return low == high ? Range{low - (op == "torch.histc" ? 1 : 0.5), high + (op == "torch.histc" ? 1 : 0.5)}
                     : Range{low, high};
}
/// The weight of the elements in each of the parts between these sorted ends; the last one has its end, too.
Tensor counted(const Tensor& flat, const Tensor& weight, const Tensor& ends) {
  const int64_t bins = ends.numel() - 1;
  if (bins == 0) return zeros(Dims{0}, weight.dtype());
  const Tensor inside = logical_and(ge(flat, select(ends, 0, 0)), le(flat, select(ends, 0, -1)));
  const Tensor bin = clamp(sub(places(ends, flat, true, false), 1), 0, bins - 1);
  return scatter_add(zeros(Dims{bins}, weight.dtype()), 0, bin, where(inside, weight, 0.0));
}
void check_histogram(const Tensor& self, int64_t bins, std::string_view kernel) {
  check(bins > 0, "torch.histogram(): bins must be > 0, but got {} for dimension 0", bins);
  check_kind(is_floating(self.dtype()), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", kernel,
             scalar_type_name(self.dtype()));
}
void histc_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check_histogram(self, c.integer(1), is_barebones(self.dtype()) ? "aminmax_cpu" : "histogram_cpu");
  const Range r = range_of(self, c.real(2), c.real(3), "torch.histc", "torch.histc: max must be larger than min");
  // What lies on an end, or near it, is where PyTorch finds it: by the same steps in the dtype of the elements.
  const auto element = [&self](double number) { return rounded(number, self.dtype()); };
  const double low = element(r.low), high = element(r.high), bins = element(static_cast<double>(c.integer(1)));
  const Tensor flat = reshape(self, {-1}), inside = logical_and(ge(flat, low), le(flat, high));
  const Tensor at = (where(inside, flat, low) - low) * bins / element(high - low);
  const Tensor bin = clamp(to_dtype(at, DType::I64), 0, c.integer(1) - 1);
  const DType count = is_half(self.dtype()) ? DType::F32 : self.dtype();
  c.result(to_dtype(scatter_add(zeros(Dims{c.integer(1)}, count), 0, bin, to_dtype(inside, count)), self.dtype()));
}
Tensor weights_of(const Tensor& self, const Arg& weight) {
  if (weight.is_none()) return ones(Dims{self.numel()}, self.dtype());
  const Tensor w = weight.tensor();
  check(w.sizes() == self.sizes(),
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
        "its innermost dimension, but got input with shape [{}, 1] and weight with shape {}",
        self.numel(), listed(w.sizes()));
  check(w.dtype() == self.dtype(),
        "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
        "but got input({}), and weight({})",
        scalar_type_name(self.dtype()), scalar_type_name(w.dtype()));
  return reshape(w, {-1});
}
/// Divided by all of it and by the widths, so that the area is 1.
Tensor dense(const Tensor& counts, const Tensor& edges) {
  const int64_t n = counts.numel();
  return counts / (sum(counts) * (narrow(edges, 0, 1, n) - narrow(edges, 0, 0, n)));
}
void histogram_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t bins = c.integer(1);
  check_histogram(self, bins, "histogramdd");
  const auto ends = c.arg(2).is_none() ? Tensor() : reshape(c.tensor(2), {-1});
  double low = 0, high = self.numel() == 0 ? 1 : 0;
  if (ends.defined()) {
    low = known_number(select(ends, 0, 0)).to_double();
    high = known_number(select(ends, 0, 1)).to_double();
  }
  const Range r = range_of(self, low, high, "torch.histogramdd",
                           fmt::format("torch.histogramdd: min should not exceed max, but got min {} max {} for "
                                       "dimension 0",
                                       low, high));
  const Tensor edges = linspace(r.low, r.high, bins + 1, self.dtype());
  const Tensor counts = counted(reshape(self, {-1}), weights_of(self, c.arg(3)), edges);
  c.result(c.flag(4) ? dense(counts, edges) : counts);
  c.result(edges);
}
void histogram_edges_of(Composition& c) {
  const Tensor self = c.tensor(0), edges = c.tensor(1);
  check_histogram(self, 1, "histogramdd");
  check(edges.rank() == 1,
        "torch.histogramdd: bins tensor should have one dimension, but got {} dimensions in the bins tensor for "
        "dimension 0",
        edges.rank());
  check(edges.numel() > 0,
        "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
        "dimension 0");
  check(edges.dtype() == self.dtype(),
        "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype {} and "
        "bins for dimension 0 with dtype {}",
        scalar_type_name(self.dtype()), scalar_type_name(edges.dtype()));
  const Tensor counts = counted(reshape(self, {-1}), weights_of(self, c.arg(2)), edges);
  c.result(c.flag(3) ? dense(counts, edges) : counts);
  c.result(edges);
}

// ---- runs of equal elements -----------------------------------------------------------------------------------------
struct Runs {
  Tensor values, inverse, counts;
};
Runs runs_of(const Tensor& self, const Arg& dim_argument, bool with_inverse, bool with_counts) {
  const bool sliced = !dim_argument.is_none();
  const int64_t dim = sliced ? wrap_dim(dim_argument.scalar().to_int(), self.rank()) : 0;
  const Tensor line = sliced && self.rank() ? movedim(self, Dims{dim}, Dims{0}) : reshape(self, {-1});
  const int64_t n = line.size(0);
  if (n == 0)
    return {clone(sliced ? self : line), zeros(sliced ? Dims{0} : self.sizes(), DType::I64),
            zeros(Dims{0}, DType::I64)};
  Tensor differs = ne(narrow(line, 0, 1, n - 1), narrow(line, 0, 0, n - 1));
  if (line.rank() > 1) differs = any(reshape(differs, Dims{n - 1, line.numel() / n}), 1);
  const Tensor begins = cat(std::vector{full(Dims{1}, true, DType::Bool), differs});
  const Tensor starts = select(nonzero(begins), 1, 0);
  Runs runs{sliced && self.rank() ? index_select(self, dim, starts) : index_select(line, 0, starts), {}, {}};
  if (with_inverse) {
    const Tensor group = sub(cumsum(begins, 0), 1);
    runs.inverse = sliced ? group : reshape(group, self.sizes());
  }
  if (with_counts) {
    const Tensor ends = cat(std::vector{narrow(starts, 0, 1, starts.numel() - 1), full(Dims{1}, n, DType::I64)});
    runs.counts = sub(ends, starts);
  }
  return runs;
}
void unique_consecutive_of(Composition& c) { c.result(runs_of(c.tensor(0), c.arg(3), false, false).values); }
void inverse_of(Composition& c) {
  const Runs r = runs_of(c.tensor(0), c.arg(3), true, false);
  c.result(r.values);
  c.result(r.inverse);
}
void counts_of(Composition& c) {
  const Runs r = runs_of(c.tensor(0), c.arg(3), false, true);
  c.result(r.values);
  c.result(r.counts);
}
void inverse_counts_of(Composition& c) {
  const Runs r = runs_of(c.tensor(0), c.arg(3), true, true);
  c.result(r.values);
  c.result(r.inverse);
  c.result(r.counts);
}

// ---- records --------------------------------------------------------------------------------------------------------
OpRecord runs(std::string_view name, std::string_view signature, std::string_view doc, CompositeRule rule,
              std::string_view sample, uint32_t flags = 0) {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = flags ? "terra.unique_consecutive(terra.tensor([1, 1, 2, 1]))" : "",
          .flags = flags | kNoGradient,
          .composite = rule,
          .samples = {{sample, "int", false}}};
}

}  // namespace

const Op places_among{
    {.name = "places_among",
     .signature = "(Tensor boundaries, Tensor values, bool right, bool out_int32) -> Tensor",
     .doc = "Where each value belongs among sorted boundaries: before equal ones, or behind them.",
     .example = "",
     .flags = kHost | kNoGradient,
     .shape = places_shape,
     .host = places_host,
     .samples = {{"fixed(1.0, 2.0, 2.0, 3.0), randn(3, 4), False, False", "float", false},
                 {"terra.tensor([[1, 2, 3], [0, 0, 5]]), randint(0, 5, (2, 4)), True, True", "int", false}}}};
const Op searchsorted{
    {.name = "searchsorted",
     .signature = "(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, "
                  "Tensor? sorter=None) -> Tensor",
     .doc = "Where each element belongs among sorted numbers: before equal ones, or behind them.",
     .example = "terra.searchsorted(terra.tensor([1, 3, 5]), terra.tensor([3, 6]))",
     .flags = kFunction | kNoGradient | kMovesBytes,
     .composite = searchsorted_of,
     .samples = {{"terra.tensor([-1.0, 0.0, 1.0]), randn(3, 4)", "float", false},
                 {"terra.tensor([[1, 2, 3], [0, 0, 5]]), randint(0, 5, (2, 4)), side='right'", "int", false}}}};
const Op searchsorted_number{
    {.name = "searchsorted_number",
     .signature = "(Tensor sorted_sequence, Number self, *, bool out_int32=False, bool right=False, str? side=None, "
                  "Tensor? sorter=None) -> Tensor",
     .doc = "Where a number belongs among sorted numbers.",
     .example = "",
     .flags = kNoGradient | kMovesBytes,
     .composite = searchsorted_number_of,
     .samples = {{"terra.tensor([-1.0, 0.0, 1.0]), 0, right=True", "float", false}}}};
const Op bucketize{
    {.name = "bucketize",
     .signature = "(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
     .doc = "Where each element belongs among sorted boundaries: before equal ones, or behind them.",
     .example = "terra.bucketize(terra.tensor([3, 6]), terra.tensor([1, 3, 5]))",
     .flags = kFunction | kNoGradient | kMovesBytes,
     .composite = bucketize_of,
     .samples = {{"randn(3, 4), terra.tensor([-1.0, 0.0, 1.0])", "float", false},
                 {"randint(0, 9, (4,)), terra.tensor([1, 3, 5]), right=True", "int", false}}}};
const Op bucketize_number{
    {.name = "bucketize_number",
     .signature = "(Number self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
     .doc = "Where a number belongs among sorted boundaries.",
     .example = "",
     .flags = kNoGradient | kMovesBytes,
     .composite = bucketize_number_of,
     .samples = {{"3, terra.tensor([1, 3, 5])", "int", false}}}};
const Op histc{{.name = "histc",
                .signature = "(Tensor self, int bins=100, Number min=0, Number max=0) -> Tensor",
                .doc = "How many elements lie in each of `bins` equal parts of [min, max], or of their own range.",
                .example = "terra.histc(terra.tensor([1.0, 2.0, 1.0]), 4, 0, 3)",
                .flags = kVisible | kNoGradient | kMovesBytes,
                .composite = histc_of,
                .samples = {{"randn(3, 4), 5, -2, 2", "float", false}, {"randn(9), 4", "float", false}}}};
const Op histogram{
    {.name = "histogram",
     .signature = "(Tensor self, int bins=100, Tensor? range=None, Tensor? weight=None, bool density=False) -> (Tensor "
                  "hist, Tensor bin_edges)",
     .doc = "The weight of the elements in each of `bins` equal parts of a range, and the ends of the parts.",
     .example = "",
     .flags = kNoGradient,
     .composite = histogram_of,
     .samples = {{"randn(9), 4", "float", false},
                 {"rand(9), 4, terra.tensor([0.0, 2.0]), rand(9), True", "float", false}}}};
const Op histogram_edges{
    {.name = "histogram_edges",
     .signature = "(Tensor self, Tensor bins, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor "
                  "bin_edges)",
     .doc = "The weight of the elements between each two neighbours among sorted ends.",
     .example = "",
     .flags = kNoGradient | kMayAlias,
     .composite = histogram_edges_of,
     .samples = {{"randn(9), fixed(-1.0, 0.0, 2.0)", "float", false}}}};
const Op unique_consecutive{runs(
    "unique_consecutive", "(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor",
    "One of each run of equal elements.", unique_consecutive_of, "randint(0, 2, (3, 5))", kVisible)};
const Op unique_consecutive_inverse{
    runs("unique_consecutive_inverse",
         "(Tensor self, bool return_inverse, bool return_counts=False, int? dim=None) -> Tensor[]",
         "One of each run of equal elements, and the run of each element.", inverse_of,
         "randint(0, 2, (3, 5)), return_inverse=True")};
const Op unique_consecutive_counts{
    runs("unique_consecutive_counts",
         "(Tensor self, bool return_inverse=False, *, bool return_counts, int? dim=None) -> Tensor[]",
         "One of each run of equal elements, and the lengths of the runs.", counts_of,
         "randint(0, 2, (9, 2)), return_counts=True, dim=0")};
const Op unique_consecutive_inverse_counts{
    runs("unique_consecutive_inverse_counts",
         "(Tensor self, bool return_inverse, bool return_counts, int? dim=None) -> Tensor[]",
         "One of each run of equal elements, the run of each element, and the lengths of the runs.", inverse_counts_of,
         "randint(0, 2, (3, 5)), True, True")};

}  // namespace terra::ops
