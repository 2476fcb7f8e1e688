#include "engine/ops/creation.h"

#include <cmath>

#include "engine/ops/binary.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/layout.h"
#include "engine/ops/rules.h"
#include "engine/tensor/memory_format.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
DType dtype_of(const Scalar& value) {
  if (value.is_complex()) return default_complex_dtype();
  return value.is_float() ? default_dtype() : value.kind() == Scalar::Kind::Bool ? DType::Bool : DType::I64;
}

void full_shape(Inference& f) {
  checked_numel(f.ints(0));
  const Scalar& value = f.arg(1).scalar();
  const DType dtype = dtype_or(f.arg(2), dtype_of(value));
  check_holds(value, dtype);
  f.result(dtype, Dims(f.ints(0)));
}

void arange_shape(Inference& f) {
  const Scalar &start = f.arg(0).scalar(), &end = f.arg(1).scalar(), &step = f.arg(2).scalar();
  const bool floats = start.is_float() || end.is_float() || step.is_float();
  for (const Scalar* number : {&start, &end, &step})
    if (!floats) check_holds(*number, DType::I64);
  check(step.to_double() != 0, "step must be nonzero");
  check(std::isfinite(start.to_double()) && std::isfinite(end.to_double()), "unsupported range: {} -> {}",
        start.to_double(), end.to_double());
  check((end.to_double() - start.to_double()) * step.to_double() >= 0,
        "upper bound and lower bound inconsistent with step sign");
  int64_t n;
  if (floats) {
    const double count = std::ceil((end.to_double() - start.to_double()) / step.to_double());
    check(count >= 0 && count < 0x1p63, "invalid size, possible overflow?");
    n = static_cast<int64_t>(count);
  } else {
    const __int128 span = static_cast<__int128>(end.to_int()) - start.to_int(), by = step.to_int();
    const __int128 count = (span + by + (by > 0 ? -1 : 1)) / by;
    check(count <= INT64_MAX, "invalid size, possible overflow?");
    n = static_cast<int64_t>(count);
  }
  const DType dtype = dtype_or(f.arg(3), floats ? default_dtype() : DType::I64);
  check_kind(!is_complex(dtype), ErrorKind::NotImplementedError, "\"arange_cpu\" not implemented for '{}'",
             scalar_type_name(dtype));
  f.result(dtype, Dims{n});
}

void linspace_shape(Inference& f) {
  check(f.integer(2) >= 0, "number of steps must be non-negative");
  f.result(dtype_or(f.arg(3), default_dtype()), Dims{f.integer(2)});
}

void eye_shape(Inference& f) {
  const int64_t n = f.integer(0), m = f.has(1) ? f.integer(1) : n;
  check(n >= 0, "n must be greater or equal to 0, got {}", n);
  check(m >= 0, "m must be greater or equal to 0, got {}", m);
  f.result(dtype_or(f.arg(2), default_dtype()), Dims{n, m});
}

void triangle_shape(Inference& f) {
  check(f.rank(0) >= 2, "{}: input tensor must have at least 2 dimensions", f.op.name);
  rules::like_first(f);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void tril_gradient(Backward& b) { b.set(0, tril(b.grad(), b.arg(1))); }
void triu_gradient(Backward& b) { b.set(0, triu(b.grad(), b.arg(1))); }

// ---- composites -----------------------------------------------------------------------------------------------------
/// `value` in the given sizes; a missing dtype means `otherwise`.
Tensor filled(std::span<const int64_t> sizes, double value, const Arg& dtype, DType otherwise) {
  const DType t = dtype_or(dtype, otherwise);
  return full(sizes, is_inexact(t) ? Scalar(value) : Scalar(static_cast<int64_t>(value)), t);
}
void zeros_of(Composition& c) { c.result(filled(c.ints(0), 0, c.arg(1), default_dtype())); }
void ones_of(Composition& c) { c.result(filled(c.ints(0), 1, c.arg(1), default_dtype())); }
void arange_to_of(Composition& c) { c.result(arange(0, c.arg(0), 1, c.arg(1))); }
/// Of integers the ends and the powers lose their fraction, not the exponents between.
void logspace_of(Composition& c) {
  const DType dtype = dtype_or(c.arg(4), default_dtype());
  check_has_kernel("logspace_cpu", dtype);
  const bool whole = !is_inexact(dtype);
  const auto end = [&](int i) { return whole ? Scalar(c.arg(i).scalar().to_int()) : c.arg(i).scalar(); };
  const Tensor exponents = linspace(end(0), end(1), c.arg(2), whole ? DType::F64 : dtype);
  c.result(to_dtype(pow(c.arg(3), exponents), dtype));
}
/// The two ends as numbers, which tensors without dimensions are.
std::pair<Scalar, Scalar> ends_of(Composition& c, std::string_view name) {
  std::string ranks;
  bool scalars = true;
  for (int i : {0, 1}) {
    if (!c.arg(i).is_tensor()) continue;
    scalars &= c.tensor(i).rank() == 0;
    ranks +=
        fmt::format("{}{} with {} dimension(s)", ranks.empty() ? "" : " and ", i ? "end" : "start", c.tensor(i).rank());
  }
  check(scalars, "{} only supports 0-dimensional start and end tensors, but got {}.", name, ranks);
  const auto number = [&c](int i) { return c.arg(i).is_tensor() ? known_number(c.tensor(i)) : c.arg(i).scalar(); };
  return {number(0), number(1)};
}
void linspace_tensors_of(Composition& c) {
  const auto [start, end] = ends_of(c, "linspace");
  c.result(linspace(start, end, c.arg(2), c.arg(3)));
}
void logspace_tensors_of(Composition& c) {
  const auto [start, end] = ends_of(c, "logspace");
  c.result(logspace(start, end, c.arg(2), c.arg(3), c.arg(4)));
}
void empty_of(Composition& c) {
  const Tensor made = filled(c.ints(0), 0, c.arg(1), default_dtype());
  if (!c.has(2)) return c.result(made);
  const Dims strides = strides_in(memory_format_named(c.text(2)), made.sizes());
  c.result(strides == made.strides() ? made : clone(made, c.arg(2)));
}
void constant_like(Composition& c, double value) {
  const Tensor self = c.tensor(0);
  c.result(made_like(self, c.arg(2), [&](const Dims& sizes) { return filled(sizes, value, c.arg(1), self.dtype()); }));
}
void zeros_like_of(Composition& c) { constant_like(c, 0); }
void ones_like_of(Composition& c) { constant_like(c, 1); }
void full_like_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const DType dtype = dtype_or(c.arg(2), self.dtype());
  c.result(made_like(self, c.arg(3), [&](const Dims& sizes) { return full(sizes, c.arg(1), dtype); }));
}
void new_zeros_of(Composition& c) { c.result(filled(c.ints(1), 0, c.arg(2), c.tensor(0).dtype())); }
void new_ones_of(Composition& c) { c.result(filled(c.ints(1), 1, c.arg(2), c.tensor(0).dtype())); }
void new_full_of(Composition& c) { c.result(full(c.arg(1), c.arg(2), dtype_or(c.arg(3), c.tensor(0).dtype()))); }

// ---- what the records of a kind share -------------------------------------------------------------------------------
OpRecord sized(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule) {
  return {.name = name,
          .signature = "(int[] *size, dtype? dtype=None) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kFunction | kFactory | kNoGradient,
          .composite = rule,
          .samples = {{"2, 3", "float", false}, {"(0, 2), dtype=terra.int64", "float", false}, {"()", "float", false}}};
}
OpRecord like(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule) {
  return {.name = name,
          .signature = "(Tensor self, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
          .composite = rule,
          .samples = {{"randn(2, 3)", "float", false},
                      {"randn(2), dtype=terra.int64", "float", false},
                      {"randn(2, 3, 2, 2), memory_format=terra.channels_last", "float", false}}};
}
OpRecord as_new(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule) {
  return {.name = name,
          .signature = "(Tensor self, int[] *size, dtype? dtype=None) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kMethod | kFactory | kNoGradient | kMovesBytes,
          .composite = rule,
          .samples = {{"randn(2), (2, 3)", "float", false}}};
}
OpRecord triangle(std::string_view name, std::string_view doc, std::string_view example, GradientRule gradient) {
  return {.name = name,
          .signature = "(Tensor self, int diagonal=0) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kVisibleInPlace | kComplex,
          .shape = triangle_shape,
          .gradient = gradient,
          .samples = {
              {"randn(3, 4)"}, {"randn(4, 3), 1"}, {"randn(2, 3, 3), -1"}, {"randint(0, 9, (3, 3))", "int", false}}};
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op full{{.name = "full",
               .signature = "(int[] size, Number fill_value, *, dtype? dtype=None) -> Tensor",
               .doc = "A tensor of the given size with every element fill_value.",
               .example = "terra.full((2, 2), 7)",
               .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
               .shape = full_shape,
               .samples = {{"(2, 3), 1.5", "float", false},
                           {"(), 2", "float", false},
                           {"(2,), 3, dtype=terra.float64", "float", false},
                           {"(2,), True", "float", false}}}};
const Op zeros{sized("zeros", "A tensor of zeros.", "terra.zeros(2, 3)", zeros_of)};
const Op ones{sized("ones", "A tensor of ones.", "terra.ones(2, 3)", ones_of)};
const Op empty{{.name = "empty",
                .signature = "(int[] *size, dtype? dtype=None, *, str? memory_format=None) -> Tensor",
                .doc = "A tensor whose elements the caller will write; zeros until then.",
                .example = "terra.empty(2, 3).shape",
                .flags = kFunction | kFactory | kNoGradient,
                .composite = empty_of,
                .samples = {{"2, 3", "float", false},
                            {"(0, 2), dtype=terra.int64", "float", false},
                            {"2, 3, 2, 2, memory_format=terra.channels_last", "float", false}}}};
const Op zeros_like{
    like("zeros_like", "Zeros in the shape and dtype of self.", "terra.zeros_like(terra.ones(2))", zeros_like_of)};
const Op ones_like{
    like("ones_like", "Ones in the shape and dtype of self.", "terra.ones_like(terra.zeros(2))", ones_like_of)};
const Op empty_like{like("empty_like", "A tensor in the shape and dtype of self that the caller will write.",
                         "terra.empty_like(terra.ones(2)).shape", zeros_like_of)};
const Op full_like{{.name = "full_like",
                    .signature = "(Tensor self, Number fill_value, *, dtype? dtype=None, str? "
                                 "memory_format=None) -> Tensor",
                    .doc = "fill_value in the shape and dtype of self.",
                    .example = "terra.full_like(terra.ones(2), 3)",
                    .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
                    .composite = full_like_of,
                    .samples = {{"randn(2, 3), 2", "float", false}}}};
const Op new_zeros{
    as_new("new_zeros", "Zeros of another size in the dtype of self.", "terra.ones(1).new_zeros(2)", new_zeros_of)};
const Op new_ones{
    as_new("new_ones", "Ones of another size in the dtype of self.", "terra.ones(1).new_ones(2)", new_ones_of)};
const Op new_empty{as_new("new_empty", "A tensor of another size in the dtype of self that the caller will write.",
                          "terra.ones(1).new_empty(2).shape", new_zeros_of)};
const Op new_full{{.name = "new_full",
                   .signature = "(Tensor self, int[] size, Number fill_value, *, dtype? dtype=None) -> Tensor",
                   .doc = "fill_value in another size and the dtype of self.",
                   .example = "terra.ones(1).new_full((2,), 3)",
                   .flags = kMethod | kFactory | kNoGradient | kMovesBytes,
                   .composite = new_full_of,
                   .samples = {{"randn(2), (2, 3), 1.5", "float", false}}}};
const Op arange{{.name = "arange",
                 .signature = "(Number start, Number end, Number step=1, *, dtype? dtype=None) -> Tensor",
                 .doc = "start, start + step, ... below end (above, if step is negative).",
                 .example = "terra.arange(1, 7, 2)",
                 .flags = kFunction | kFactory | kNoGradient,
                 .shape = arange_shape,
                 .samples = {{"1, 7, 2", "float", false},
                             {"0.5, 3, 0.25", "float", false},
                             {"5, 0, -2", "float", false},
                             {"0, 0", "float", false},
                             {"0, 5, dtype=terra.float32", "float", false}}}};
const Op arange_to{{.name = "arange_to",
                    .signature = "(Number end, *, dtype? dtype=None) -> Tensor",
                    .doc = "0, 1, ... below end.",
                    .example = "terra.arange(3)",
                    .flags = kFactory | kNoGradient,
                    .composite = arange_to_of,
                    .samples = {{"5", "float", false}, {"2.5", "float", false}}}};
const Op linspace{
    {.name = "linspace",
     .signature = "(Number start, Number end, int steps, *, dtype? dtype=None) -> Tensor",
     .doc = "Numbers at equal distances, start and end included.",
     .example = "terra.linspace(0, 1, 5)",
     .flags = kFactory | kNoGradient,
     .shape = linspace_shape,
     .samples = {{"0, 1, 5", "float", false}, {"-1, 1, 1", "float", false}, {"3, -2, 6", "float", false}}}};
const Op linspace_tensors{
    {.name = "linspace_tensors",
     .signature = "(Tensor|Number start, Tensor|Number end, int steps, *, dtype? dtype=None) -> Tensor",
     .doc = "The same between the elements of tensors without dimensions.",
     .example = "",
     .flags = kFactory | kNoGradient | kLastResort,
     .composite = linspace_tensors_of,
     .samples = {{"terra.tensor(0.0), 1, 5", "float", false}, {"3, terra.tensor(-2), 6", "float", false}}}};
const Op logspace{
    {.name = "logspace",
     .signature = "(Number start, Number end, int steps, float base=10.0, *, dtype? dtype=None) -> Tensor",
     .doc = "Powers of a base whose exponents lie at equal distances, start and end included.",
     .example = "terra.logspace(0, 2, 3)",
     .flags = kFactory | kNoGradient,
     .composite = logspace_of,
     .samples = {{"0, 2, 3", "float", false},
                 {"-1, 1, 4, 2.5, dtype=terra.float64", "float", false},
                 {"0.5, 3.7, 4, dtype=terra.int64", "float", false}}}};
const Op logspace_tensors{
    {.name = "logspace_tensors",
     .signature =
         "(Tensor|Number start, Tensor|Number end, int steps, float base=10.0, *, dtype? dtype=None) -> Tensor",
     .doc = "The same between the elements of tensors without dimensions.",
     .example = "",
     .flags = kFactory | kNoGradient | kLastResort,
     .composite = logspace_tensors_of,
     .samples = {{"terra.tensor(0.0), 1, 5", "float", false}, {"3, terra.tensor(-2), 6, 2.0", "float", false}}}};
const Op eye{{.name = "eye",
              .signature = "(int n, int? m=None, *, dtype? dtype=None) -> Tensor",
              .doc = "The matrix with ones on the diagonal and zeros elsewhere.",
              .example = "terra.eye(3)",
              .flags = kFunction | kFactory | kNoGradient,
              .shape = eye_shape,
              .samples = {{"3", "float", false}, {"2, 4", "float", false}, {"3, dtype=terra.int64", "float", false}}}};
const Op tril{triangle("tril", "The lower triangle of matrices, zeros above diagonal number `diagonal`.",
                       "terra.tril(terra.ones(3, 3))", tril_gradient)};
const Op triu{triangle("triu", "The upper triangle of matrices, zeros below diagonal number `diagonal`.",
                       "terra.triu(terra.ones(3, 3))", triu_gradient)};

}  // namespace terra::ops
