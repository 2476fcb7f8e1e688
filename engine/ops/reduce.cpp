#include "engine/ops/reduce.h"

#include <cmath>

#include "engine/errors/warnings.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/linalg.h"
#include "engine/ops/order.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes: (self, dim, keepdim) -----------------------------------------------------------------------------------
Dims reduced(Inference& f) { return reduced_sizes(f.sizes(0), dim_mask(f.arg(1), f.rank(0)), f.flag(2)); }

/// Sums and products of integers and bools are int64.
void accumulated_shape(Inference& f) { f.result(is_inexact(f.dtype(0)) ? f.dtype(0) : DType::I64, reduced(f)); }
/// Bytes, which were truth values once, stay bytes.
void truth_shape(Inference& f) { f.result(f.dtype(0) == DType::U8 ? DType::U8 : DType::Bool, reduced(f)); }

/// A largest element exists only where there is one.
void check_nonempty(Inference& f, std::string_view name, ErrorKind kind = ErrorKind::IndexError) {
  if (f.impl(0).numel > 0) return;
  const uint64_t mask = dim_mask(f.arg(1), f.rank(0));
  check_kind(mask != ~uint64_t{0}, kind,
             "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
             "'dim' argument.",
             name);
  for (size_t i = 0; i < f.rank(0); ++i)
    check_kind(!(mask >> i & 1) || f.sizes(0)[i] > 0, ErrorKind::IndexError,
               "{}(): Expected reduction dim {} to have non-zero size.", name, i);
}
void extreme_shape(Inference& f) {
  check_nonempty(f, f.op.name, ErrorKind::RuntimeError);
  f.result(f.dtype(0), reduced(f));
}
void extreme_with_index_shape(Inference& f) {
  check_nonempty(f, f.op.name.substr(0, 3));
  f.result(f.dtype(0), reduced(f));
  f.result(DType::I64, reduced(f));
}
void arg_extreme_shape(Inference& f) {
  check_nonempty(f, f.op.name);
  check_kind(f.dtype(0) != DType::Bool, ErrorKind::NotImplementedError, "{}(): does not support bool input", f.op.name);
  f.result(DType::I64, reduced(f));
}

// ---- gradients ------------------------------------------------------------------------------------------------------
/// t, a reduction's result or its gradient, against every element that went into it.
Tensor restored(Backward& b, const Tensor& t) { return restore_dims(t, b.arg(1), b.sizes(0), b.flag(2)); }

void sum_of_squares_gradient(Backward& b) { b.set(0, restored(b, b.grad() * 2) * b.in(0)); }
void sum_of_numbers_gradient(Backward& b) { b.set(0, where(isnan(b.in(0)), 0.0, restored(b, b.grad()))); }
void sum_gradient(Backward& b) { b.set(0, expand(restored(b, b.grad()), b.sizes(0))); }

/// The product of all others = what comes before times what comes after; right also where elements are zero.
void prod_gradient(Backward& b) {
  const Tensor x = b.in(0), g = restored(b, b.grad());
  if (x.numel() == 0) return b.set(0, zeros_like(x));
  if (x.rank() == 0) return b.set(0, g);
  const bool whole = !b.has(1);
  const Tensor flat = whole ? reshape(x, Dims{-1}) : x;
  const int64_t dim = whole ? 0 : wrap_dim(b.integer(1), x.rank()), n = flat.size(dim);
  const Tensor one = ones_like(narrow(flat, dim, 0, 1));
  const Tensor before = cumprod(cat(std::vector{one, narrow(flat, dim, 0, n - 1)}, dim), dim);
  const Tensor rest = flip(narrow(flat, dim, 1, n - 1), Dims{dim});
  const Tensor after = flip(cumprod(cat(std::vector{one, rest}, dim), dim), Dims{dim});
  b.set(0, g * conjugate(reshape(before * after, b.sizes(0))));
}

/// Equal extremes share the gradient evenly.
void extreme_gradient(Backward& b) {
  const Tensor x = b.in(0);
  const Tensor hit = to_dtype(eq(x, restored(b, b.out())), x.dtype());
  b.set(0, restored(b, b.grad()) * hit / sum(hit, b.arg(1), true));
}

/// The gradient goes to the element that the index names.
void extreme_with_index_gradient(Backward& b) {
  if (b.sizes(0).empty()) return b.set(0, b.grad());
  const Tensor index = restored(b, b.out(1));
  b.set(0, scatter(zeros(b.sizes(0), b.grad().dtype()), wrap_dim(b.integer(1), b.sizes(0).size()), index,
                   restored(b, b.grad())));
}

// ---- composites -----------------------------------------------------------------------------------------------------
int64_t count(const Tensor& t, const Arg& dims) {
  const uint64_t mask = dim_mask(dims, t.rank());
  int64_t n = 1;
  for (size_t i = 0; i < t.rank(); ++i)
    if (mask >> i & 1) n *= t.sizes()[i];
  return n;
}

void check_floating(DType dtype, std::string_view whose, std::string_view name) {
  check_kind(is_inexact(dtype), ErrorKind::NotImplementedError,
             "{}(): could not infer output dtype. {} dtype must be either a floating point or complex dtype. Got: {}",
             name, whose, scalar_type_name(dtype));
}

Tensor as_dtype(const Tensor& t, const Arg& dtype) {
  return dtype.is_none() || dtype.dtype() == t.dtype() ? t : to_dtype(t, dtype);
}

void check_sums(std::string_view kernel, const Arg& dtype) {
  if (!dtype.is_none() && dtype.dtype() != DType::Bool) check_has_kernel(kernel, dtype.dtype());
}
/// Of the elements in that dtype, and in that dtype again: integers are accumulated as int64.
void sum_dtype_of(Composition& c) {
  check_sums("sum_cpu", c.arg(3));
  c.result(as_dtype(sum(as_dtype(c.tensor(0), c.arg(3)), c.arg(1), c.arg(2)), c.arg(3)));
}
void prod_dtype_of(Composition& c) {
  check_sums("prod_out_cpu", c.arg(3));
  c.result(as_dtype(prod(as_dtype(c.tensor(0), c.arg(3)), c.arg(1), c.arg(2)), c.arg(3)));
}
void mean_of(Composition& c) {
  check_floating(c.has(3) ? c.arg(3).dtype() : c.tensor(0).dtype(), c.has(3) ? "Optional" : "Input", "mean");
  if (c.has(3)) return c.result(mean(as_dtype(c.tensor(0), c.arg(3)), c.arg(1), c.arg(2)));
  const Tensor x = c.tensor(0);
  c.result(sum(x, c.arg(1), c.arg(2)) / static_cast<double>(count(x, c.arg(1))));
}
void max_all_of(Composition& c) {
  check_kind(c.tensor(0).numel() > 0, ErrorKind::RuntimeError,
             "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
             "'dim' argument.",
             c.op.name.substr(0, 3));
  c.result((c.op.name == "max_all" ? amax : amin)(c.tensor(0)));
}
void aminmax_of(Composition& c) {
  check(c.has(1) || c.tensor(0).numel() > 0,
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  const Arg dims = c.has(1) ? c.arg(1) : Arg();
  const Dims dim{c.has(1) ? c.integer(1) : 0};
  c.result(amin(c.tensor(0), dims.is_none() ? Arg() : Arg(dim), c.arg(2)));
  c.result(amax(c.tensor(0), dims.is_none() ? Arg() : Arg(dim), c.arg(2)));
}

/// 0 has slope 0 here rather than infinity, so that norms and deviations of constants have gradients.
Tensor sqrt_flat_at_zero(const Tensor& v) {
  const Tensor zero = eq(v, 0);
  return where(zero, 0.0, sqrt(where(zero, 1.0, v)));
}

/// The sums over dims of the squares of the elements' absolute values: real, and with a gradient at 0.
Tensor squared_lengths(const Tensor& x, const Arg& dims, const Arg& keepdim) {
  return is_complex(x.dtype()) ? sum(real(x * conjugate(x)), dims, keepdim) : sum_of_squares(x, dims, keepdim);
}

/// "std" for std_dim_unbiased.
std::string_view public_name(const Op& op) {
  const size_t end = std::min(op.name.find("_dim"), op.name.find("_unbiased"));
  return op.name.substr(0, end);
}
Tensor variance(const Composition& c, const Arg& dims, double correction, bool keepdim) {
  const Tensor x = c.tensor(0);
  check_kind(is_inexact(x.dtype()), ErrorKind::NotImplementedError,
             "std and var only support floating point and complex dtypes");
  const Tensor d = x - mean(x, dims, true);
  if (static_cast<double>(count(x, dims)) <= correction)
    warn(fmt::format(
             "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
             "numel divided by output numel).",
             public_name(c.op))
             .c_str());
  return squared_lengths(d, dims, keepdim) / std::max(0.0, static_cast<double>(count(x, dims)) - correction);
}
double correction_of(const Arg& a) { return a.is_none() ? 1.0 : a.scalar().to_double(); }
double correction_of(bool unbiased) { return unbiased ? 1.0 : 0.0; }

void var_of(Composition& c) { c.result(variance(c, c.arg(1), correction_of(c.arg(2)), c.flag(3))); }
void var_unbiased_of(Composition& c) { c.result(variance(c, Arg(), correction_of(c.flag(1)), false)); }
void var_dim_unbiased_of(Composition& c) { c.result(variance(c, c.arg(1), correction_of(c.flag(2)), c.flag(3))); }
void std_of(Composition& c) { c.result(sqrt_flat_at_zero(variance(c, c.arg(1), correction_of(c.arg(2)), c.flag(3)))); }
void std_unbiased_of(Composition& c) {
  c.result(sqrt_flat_at_zero(variance(c, Arg(), correction_of(c.flag(1)), false)));
}
void std_dim_unbiased_of(Composition& c) {
  c.result(sqrt_flat_at_zero(variance(c, c.arg(1), correction_of(c.flag(2)), c.flag(3))));
}
void std_mean_of(Composition& c) {
  std_of(c);
  c.result(mean(c.tensor(0), c.arg(1), c.arg(3)));
}
void var_mean_of(Composition& c) {
  var_of(c);
  c.result(mean(c.tensor(0), c.arg(1), c.arg(3)));
}

/// Deviations by the old flag `unbiased`: a number of one kind and the mean.
void with_mean(Composition& c, const Op& deviation, const Arg& dims, bool unbiased, const Arg& keepdim) {
  c.result(deviation(c.arg(0), dims, correction_of(unbiased), keepdim));
  c.result(mean(c.tensor(0), dims, keepdim));
}
void var_mean_unbiased_of(Composition& c) { with_mean(c, var, Arg(), c.flag(1), false); }
void std_mean_unbiased_of(Composition& c) { with_mean(c, std, Arg(), c.flag(1), false); }
void var_mean_dim_unbiased_of(Composition& c) { with_mean(c, var, c.arg(1), c.flag(2), c.arg(3)); }
void std_mean_dim_unbiased_of(Composition& c) { with_mean(c, std, c.arg(1), c.flag(2), c.arg(3)); }

void norm_of(Composition& c) {
  if (c.has(4)) return c.result(norm(as_dtype(c.tensor(0), c.arg(4)), c.arg(1), c.arg(2), c.arg(3)));
  const Tensor x = c.tensor(0);
  check_kind(is_inexact(x.dtype()), ErrorKind::NotImplementedError,
             "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
             scalar_type_name(x.dtype()));
  check(!c.has(1) || !c.arg(1).scalar().is_complex(),
        "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  const double p = c.has(1) ? c.real(1) : 2;
  const Arg &dims = c.arg(2), &keepdim = c.arg(3);
  if (p == 2) return c.result(sqrt_flat_at_zero(squared_lengths(x, dims, keepdim)));
  if (p == 1) return c.result(sum(abs(x), dims, keepdim));
  if (p == 0) {  // of x, though its slope is 0 everywhere
    const Tensor counted = to_dtype(ne(x, 0), real_dtype_of(x.dtype()));
    return c.result(sum(where(full(Dims{}, true, DType::Bool), counted, abs(x)), dims, keepdim));
  }
  if (std::isinf(p)) return c.result((p > 0 ? amax : amin)(abs(x), dims, keepdim));
  // A zero has no slope that is a number where p < 1, and makes the norm 0 where p < 0.
  const Tensor size = abs(x), nothing = eq(size, 0);
  const Tensor parts = p >= 1 ? pow(size, p) : where(nothing, 0.0, pow(where(nothing, 1.0, size), p));
  const Tensor powers = sum(parts, dims, keepdim);
  const Tensor zero = p > 0 ? eq(powers, 0) : any(nothing, dims, keepdim);
  c.result(where(zero, 0.0, pow(where(zero, 1.0, powers), 1 / p)));
}
void norm_named_of(Composition& c) {
  check(c.text(1) == "fro" || c.text(1) == "nuc", "norm() knows the norms 'fro' and 'nuc' by name, but got '{}'.",
        c.text(1));
  if (c.text(1) == "nuc") {
    const Dims plane = c.has(2) ? Dims(c.ints(2)) : Dims{-2, -1};
    return c.result(linalg_matrix_norm_named(c.arg(0), "nuc", plane, c.arg(3)));
  }
  c.result(norm(c.tensor(0), 2.0, c.arg(2), c.arg(3)));
}
void logsumexp_of(Composition& c) {
  const Tensor x = is_inexact(c.tensor(0).dtype()) ? c.tensor(0) : to_dtype(c.tensor(0), default_dtype());
  if (x.numel() == 0) return c.result(log(sum(exp(x), c.arg(1), c.arg(2))));
  Tensor top = amax(real(detach(x)), c.arg(1), true);
  top = where(isinf(top), 0.0, top);
  const Tensor result = log(sum(exp(x - top), c.arg(1), true)) + top;
  c.result(view(result, reduced_sizes(x.sizes(), dim_mask(c.arg(1), x.rank()), c.flag(2))));
}
void count_nonzero_of(Composition& c) { c.result(sum(ne(c.tensor(0), 0), c.arg(1))); }
void nansum_of(Composition& c) {
  check_kind(!is_complex(c.tensor(0).dtype()), ErrorKind::NotImplementedError,
             "nansum on CPU does not support complex inputs");
  c.result((is_floating(c.tensor(0).dtype()) ? sum_of_numbers : sum)(c.arg(0), c.arg(1), c.arg(2)));
}

/// Whether a tensor of the one size can be broadcast to the other.
bool expands_to(std::span<const int64_t> from, std::span<const int64_t> to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(), [](int64_t a, int64_t b) { return a == 1 || a == b; });
}
/// Sums over the dimensions along which `sizes` were broadcast.
void sum_to_size_of(Composition& c) {
  const Tensor t = c.tensor(0);
  const auto sizes = c.ints(1);
  if (sizes.empty()) return c.result(sum(t));
  if (Dims(sizes) == t.sizes()) return c.result(t);
  check(expands_to(sizes, t.sizes()), "size {{{}}} is not expandable to size {{{}}}.", listed(sizes),
        listed(t.sizes()));
  const size_t lead = t.rank() - sizes.size();
  Dims dims;
  for (size_t i = 0; i < t.rank(); ++i)
    if (i < lead || (sizes[i - lead] == 1 && t.sizes()[i] != 1)) dims.push_back(static_cast<int64_t>(i));
  c.result(dims.empty() ? view(t, sizes) : view(sum(t, dims), sizes));
}

// ---- samples --------------------------------------------------------------------------------------------------------
const std::vector<Sample> kOverDims = {
    {"randn(3, 4)"},        {"randn(2, 3, 4), 1"}, {"randn(2, 3, 4), (0, -1), keepdim=True"},
    {"randn(4, 3).t(), 0"}, {"randn(())"},         {"randint(-3, 9, (3, 4)), 1", "int", false}};
const std::vector<Sample> kOverOneDim = {{"randn(3, 4), 1"},
                                         {"randn(2, 3, 4), 0, True"},
                                         {"randn(4, 3).t(), -1"},
                                         {"randint(-3, 9, (3, 4)), 1", "int", false}};
const std::vector<Sample> kDeviations = {
    {"randn(3, 4)"}, {"randn(2, 3, 4), 1"}, {"randn(3, 4), (0, 1), correction=0, keepdim=True"}};

constexpr uint32_t kReduces = kVisible | kReduction;

/// The position of an extreme element, the first of several.
OpRecord arg_extreme(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kReduces | kNoGradient,
          .shape = arg_extreme_shape,
          .samples = {{"randn(3, 4)", "float", false},
                      {"randn(3, 4), 1", "float", false},
                      {"randn(3, 4), 0, True", "float", false},
                      {"randint(0, 9, (5,)), 0", "int", false}}};
}
OpRecord extreme(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kReduces,
          .shape = extreme_shape,
          .gradient = extreme_gradient,
          .saved = saves({0}) | saves_result(),
          .samples = kOverDims};
}
OpRecord extreme_with_index(std::string_view name, std::string_view doc, std::string_view grad_fn) {
  return {.name = name,
          .signature = "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
          .doc = doc,
          .example = "",
          .flags = kReduction,
          .shape = extreme_with_index_shape,
          .gradient = extreme_with_index_gradient,
          .saved = saves_result(1),
          .grad_fn = grad_fn,
          .samples = kOverOneDim};
}
OpRecord extreme_of_all(std::string_view name, std::string_view doc, std::string_view grad_fn) {
  return {.name = name,
          .signature = "(Tensor self) -> Tensor",
          .doc = doc,
          .example = "",
          .composite = max_all_of,
          .grad_fn = grad_fn,
          .samples = {{"randn(3, 4)"}, {"randint(0, 9, (5,))", "int", false}}};
}
OpRecord old_deviation(std::string_view name, std::string_view doc, bool with_dim, CompositeRule rule) {
  return {.name = name,
          .signature = with_dim ? "(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> Tensor[]"
                                : "(Tensor self, bool unbiased) -> Tensor[]",
          .doc = doc,
          .example = "",
          .composite = rule,
          .samples = {{with_dim ? "randn(3, 4), 1, False, True" : "randn(3, 4), False"}}};
}
OpRecord truth(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kReduces | kNoGradient | kComplex | kBarebones,
          .shape = truth_shape,
          .samples = {{"randn(3, 4) > 0", "bool", false},
                      {"randn(3, 4) > 1, 1", "bool", false},
                      {"randint(0, 2, (2, 3)), 0, True", "int", false}}};
}

// ---- names of nodes: over everything, or over some dimensions ----

std::string_view sum_name(std::span<const Arg> args) { return args[1].is_none() ? "SumBackward0" : "SumBackward1"; }
std::string_view mean_name(std::span<const Arg> args) { return args[1].is_none() ? "MeanBackward0" : "MeanBackward1"; }
std::string_view prod_name(std::span<const Arg> args) { return args[1].is_none() ? "ProdBackward0" : "ProdBackward1"; }

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op sum_of_squares{
    {.name = "sum_of_squares",
     .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
     .doc = "The sum of the squares of real numbers over dim.",
     .example = "",
     .flags = kReduction,
     .shape = accumulated_shape,
     .gradient = sum_of_squares_gradient,
     .saved = saves({0}),
     .samples = {
         {"randn(3, 4)"}, {"randn(2, 3, 4), (0, -1), keepdim=True"}, {"randn(4, 3).t(), 0"}, {"randn(0, 3), 0"}}}};
const Op sum_of_numbers{
    {.name = "sum_of_numbers",
     .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
     .doc = "The sum over dim of the floats that aren't NaN.",
     .example = "",
     .flags = kReduction,
     .shape = accumulated_shape,
     .gradient = sum_of_numbers_gradient,
     .saved = saves({0}),
     .samples = {{"randn(3, 4)"}, {"randn(2, 3, 4), (0, -1), keepdim=True"}, {"randn(4, 3).t(), 0"}}}};
const Op sum{{.name = "sum",
              .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
              .doc = "The sum over dim, over everything by default.",
              .example = "terra.sum(terra.ones(2, 3), 1)",
              .flags = kReduces | kComplex | kBarebones,
              .shape = accumulated_shape,
              .gradient = sum_gradient,
              .grad_fn_of = sum_name,
              .samples = {{"randn(3, 4)"},
                          {"randn(2, 3, 4), 1"},
                          {"randn(2, 3, 4), (0, -1), keepdim=True"},
                          {"randn(4, 3).t(), 0"},
                          {"randn(())"},
                          {"randn(0, 3), 0"},
                          {"randint(-3, 9, (3, 4)), 1", "int", false},
                          {"randn(5) > 0", "bool", false},
                          {"crandn(2, 3, 4), (0, -1)", "complex"},
                          {"crandn(40, 3), 0", "complex"}}}};
const Op sum_dtype{{.name = "sum_dtype",
                    .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
                    .doc = "The sum over dim of the elements converted to dtype.",
                    .example = "",
                    .composite = sum_dtype_of,
                    .samples = {{"randn(3, 4), 1, dtype=terra.float64"}}}};
const Op sum_to_size{
    {.name = "sum_to_size",
     .signature = "(Tensor self, int[] *size) -> Tensor",
     .doc = "The sum over the dimensions along which a tensor of the given size was broadcast.",
     .example = "terra.ones(2, 3).sum_to_size(1, 3)",
     .flags = kMethod | kMayAlias,
     .composite = sum_to_size_of,
     .samples = {{"randn(2, 3), (1, 3)"}, {"randn(2, 3), (3,)"}, {"randn(2, 3), ()"}, {"randn(2, 1, 3), (1, 1)"}}}};
const Op prod{{.name = "prod",
               .signature = "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
               .doc = "The product over dim, over everything by default.",
               .example = "terra.prod(terra.tensor([2.0, 3.0]))",
               .flags = kReduces | kComplex | kBarebones,
               .shape = accumulated_shape,
               .gradient = prod_gradient,
               .saved = saves({0}),
               .grad_fn_of = prod_name,
               .samples = {{"randn(3, 4)"},
                           {"randn(2, 3, 4), 1"},
                           {"randn(2, 3), 0, True"},
                           {"randn(())"},
                           {"randint(-3, 4, (3, 4)), 1", "int", false},
                           {"crandn(3, 4), 1", "complex"}}}};
const Op prod_dtype{{.name = "prod_dtype",
                     .signature = "(Tensor self, int? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
                     .doc = "The product over dim of the elements converted to dtype.",
                     .example = "",
                     .composite = prod_dtype_of,
                     .samples = {{"randn(3, 4), 1, dtype=terra.float64"}}}};
const Op mean{{.name = "mean",
               .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
               .doc = "The mean over dim, over everything by default.",
               .example = "terra.mean(terra.tensor([1.0, 2.0]))",
               .flags = kVisible,
               .composite = mean_of,
               .grad_fn_of = mean_name,
               .samples = {{"randn(3, 4)"},
                           {"randn(2, 3, 4), 1"},
                           {"randn(2, 3, 4), (0, -1), keepdim=True"},
                           {"crandn(3, 4), 1", "complex"}}}};
const Op any{truth("any", "Whether any element along dim is nonzero.", "terra.any(terra.tensor([0, 2]))")};
const Op all{truth("all", "Whether all elements along dim are nonzero.", "terra.all(terra.tensor([0, 2]))")};

const Op amax{extreme("amax", "The largest element along dim; equal ones share the gradient.",
                      "terra.amax(terra.tensor([1.0, 3.0]))")};
const Op amin{extreme("amin", "The smallest element along dim; equal ones share the gradient.",
                      "terra.amin(terra.tensor([1.0, 3.0]))")};
const Op max_all{extreme_of_all("max_all", "The largest element.", "MaxBackward1")};
const Op min_all{extreme_of_all("min_all", "The smallest element.", "MinBackward1")};
const Op max_with_index{
    extreme_with_index("max_with_index", "The largest element along dim and its position.", "MaxBackward0")};
const Op min_with_index{
    extreme_with_index("min_with_index", "The smallest element along dim and its position.", "MinBackward0")};
const Op argmax{arg_extreme("argmax", "The position of the largest element along dim, of all flattened by default.",
                            "terra.argmax(terra.tensor([1.0, 3.0]))")};
const Op argmin{arg_extreme("argmin", "The position of the smallest element along dim, of all flattened by default.",
                            "terra.argmin(terra.tensor([1.0, 3.0]))")};
const Op aminmax{{.name = "aminmax",
                  .signature = "(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
                  .doc = "The smallest and the largest element along dim.",
                  .example = "terra.aminmax(terra.tensor([1.0, 3.0])).max",
                  .flags = kVisible,
                  .composite = aminmax_of,
                  .grad_fn = "AminmaxBackward0",
                  .samples = {{"randn(3, 4)"}, {"randn(3, 4), dim=1"}}}};

const Op var{{.name = "var",
              .signature = "(Tensor self, int[1]? dim=None, *, Number? correction=1, bool keepdim=False) -> Tensor",
              .doc = "The mean squared distance from the mean, of n - correction elements.",
              .example = "terra.var(terra.tensor([1.0, 3.0]))",
              .composite = var_of,
              .grad_fn = "VarBackward0",
              .samples = kDeviations}};
const Op var_unbiased{{.name = "var_unbiased",
                       .signature = "(Tensor self, bool unbiased) -> Tensor",
                       .doc = "The variance with correction 1 if unbiased, else 0.",
                       .example = "",
                       .composite = var_unbiased_of,
                       .samples = {{"randn(3, 4), False"}}}};
const Op var_dim_unbiased{{.name = "var_dim_unbiased",
                           .signature = "(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> Tensor",
                           .doc = "The variance over dim with correction 1 if unbiased, else 0.",
                           .example = "",
                           .composite = var_dim_unbiased_of,
                           .samples = {{"randn(3, 4), 1, False, True"}}}};
const Op std{{.name = "std",
              .signature = "(Tensor self, int[1]? dim=None, *, Number? correction=1, bool keepdim=False) -> Tensor",
              .doc = "The square root of the variance.",
              .example = "terra.std(terra.tensor([1.0, 3.0]))",
              .composite = std_of,
              .grad_fn = "StdBackward0",
              .samples = kDeviations}};
const Op std_unbiased{{.name = "std_unbiased",
                       .signature = "(Tensor self, bool unbiased) -> Tensor",
                       .doc = "The standard deviation with correction 1 if unbiased, else 0.",
                       .example = "",
                       .composite = std_unbiased_of,
                       .samples = {{"randn(3, 4), False"}}}};
const Op std_dim_unbiased{{.name = "std_dim_unbiased",
                           .signature = "(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> Tensor",
                           .doc = "The standard deviation over dim with correction 1 if unbiased, else 0.",
                           .example = "",
                           .composite = std_dim_unbiased_of,
                           .samples = {{"randn(3, 4), 1, False, True"}}}};
const Op var_mean{{.name = "var_mean",
                   .signature = "(Tensor self, int[1]? dim=None, *, Number? correction=1, bool keepdim=False) -> "
                                "Tensor[]",
                   .doc = "Variance and mean.",
                   .example = "terra.var_mean(terra.tensor([1.0, 3.0]))",
                   .flags = kFunction,
                   .composite = var_mean_of,
                   .grad_fn = "VarMeanBackward0",
                   .samples = {{"randn(3, 4), 1"}}}};

const Op std_mean{{.name = "std_mean",
                   .signature = "(Tensor self, int[1]? dim=None, *, Number? correction=1, bool keepdim=False) -> "
                                "Tensor[]",
                   .doc = "Standard deviation and mean.",
                   .example = "terra.std_mean(terra.tensor([1.0, 3.0]))",
                   .flags = kFunction,
                   .composite = std_mean_of,
                   .grad_fn = "StdMeanBackward0",
                   .samples = {{"randn(3, 4), 1"}}}};

const Op var_mean_unbiased{old_deviation("var_mean_unbiased", "Variance (of n - 1 elements if unbiased) and mean.",
                                         false, var_mean_unbiased_of)};
const Op std_mean_unbiased{old_deviation(
    "std_mean_unbiased", "Standard deviation (of n - 1 elements if unbiased) and mean.", false, std_mean_unbiased_of)};
const Op var_mean_dim_unbiased{old_deviation("var_mean_dim_unbiased",
                                             "Variance over dim (of n - 1 elements if unbiased) and mean.", true,
                                             var_mean_dim_unbiased_of)};
const Op std_mean_dim_unbiased{old_deviation("std_mean_dim_unbiased",
                                             "Standard deviation over dim (of n - 1 elements if unbiased) and mean.",
                                             true, std_mean_dim_unbiased_of)};

const Op norm{
    {.name = "norm",
     .signature = "(Tensor self, Number? p=2, int[1]? dim=None, bool keepdim=False, dtype? dtype=None) -> "
                  "Tensor",
     .doc = "The p-th root of the sum of |x| ** p.",
     .example = "terra.norm(terra.tensor([3.0, 4.0]))",
     .flags = kComplex,
     .composite = norm_of,
     .grad_fn = "LinalgVectorNormBackward0",
     .samples = {
         {"randn(3, 4)"}, {"randn(3, 4), 1, 1"}, {"randn(3, 4), 3, (0, 1), True"}, {"randn(3, 4), float('inf'), 1"}}}};
const Op norm_named{
    {.name = "norm_named",
     .signature = "(Tensor self, str p, int[1]? dim=None, bool keepdim=False) -> Tensor",
     .doc = "The norm of that name: 'fro', the root of the sum of squares, or 'nuc', the sum of singular values.",
     .example = "",
     .composite = norm_named_of,
     .samples = {{"randn(3, 4), 'fro'"}, {"randn(3, 4), 'nuc'"}}}};
const Op logsumexp{{.name = "logsumexp",
                    .signature = "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                    .doc = "log(sum(exp(x))) over dim, without overflow.",
                    .example = "terra.logsumexp(terra.tensor([1000.0, 1000.0]), 0)",
                    .flags = kVisible,
                    .composite = logsumexp_of,
                    .grad_fn = "LogsumexpBackward0",
                    .samples = {{"randn(3, 4), 1"}, {"randn(2, 3, 4), (0, 2), True"}}}};
const Op count_nonzero{{.name = "count_nonzero",
                        .signature = "(Tensor self, int[1]? dim=None) -> Tensor",
                        .doc = "How many elements along dim are nonzero.",
                        .example = "terra.count_nonzero(terra.tensor([0, 2, 3]))",
                        .flags = kVisible | kNoGradient,
                        .composite = count_nonzero_of,
                        .samples = {{"randint(0, 2, (3, 4)), 1", "int", false}}}};
const Op nansum{{.name = "nansum",
                 .signature = "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
                 .doc = "The sum over dim of the elements that are numbers.",
                 .example = "terra.nansum(terra.tensor([1.0, float('nan')]))",
                 .flags = kVisible,
                 .composite = nansum_of,
                 .grad_fn = "NansumBackward0",
                 .samples = {{"randn(3, 4), 1"}}}};

}  // namespace terra::ops
