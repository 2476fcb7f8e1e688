#include "engine/ops/select.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/layout.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void where_shape(Inference& f) {
  check(f.dtype(0) == DType::Bool || f.dtype(0) == DType::U8,
        "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        scalar_type_name(f.dtype(0)));
  rules::elementwise(f);
}
void clamp_between_shape(Inference& f) {
  check_kind(f.common != DType::Bool, ErrorKind::NotImplementedError,
             "\"clamp_scalar_cpu\" not implemented for 'Bool'");
  rules::elementwise(f);
}
void clamp_shape(Inference& f) {
  check(f.has(1) || f.has(2), "torch.clamp: At least one of 'min' or 'max' must not be None");
  rules::check_bounds(f);
  clamp_between_shape(f);
}
void masked_fill_shape(Inference& f) {
  check(f.dtype(1) == DType::Bool, "masked_fill_ only supports boolean masks, but got mask with dtype {}",
        c_type_name(f.dtype(1)));
  ensure(!f.arg(2).is_tensor(), "masked_fill gets a number; masked_fill_tensor takes tensors");
  check_holds(f.arg(2).scalar(), f.common);
  rules::elementwise(f);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void where_gradient(Backward& b) {
  if (b.needs(1)) b.set(1, where(b.arg(0), b.grad(), 0.0));
  if (b.needs(2)) b.set(2, where(b.arg(0), 0.0, b.grad()));
}
/// An element at a bound, and one that is NaN, has no gradient.
void clamp_gradient(Backward& b) {
  const Tensor x = b.in(0);
  Tensor inside;
  if (b.has(1)) inside = gt(x, b.arg(1));
  if (b.has(2)) inside = inside.defined() ? logical_and(inside, lt(x, b.arg(2))) : lt(x, b.arg(2));
  b.set(0, where(inside, b.grad(), 0.0));
}
void nan_to_num_gradient(Backward& b) { b.set(0, where(isfinite(b.in(0)), b.grad(), 0.0)); }
/// An element and the bound it lies at share the gradient, unless the bounds are one. Between crossed bounds the upper
/// one is the result; NaN is an element that lies nowhere, and a bound that binds nothing.
void clamp_between_gradient(Backward& b) {
  const Tensor x = b.in(0), low = b.in(1), high = b.in(2), g = b.grad();
  const Tensor apart = lt(low, high), ordered = le(low, high);
  const Tensor at_low = logical_and(apart, eq(x, low)), at_high = logical_and(apart, eq(x, high));
  const Tensor below = lt(x, low), above = gt(x, high), half = g * 0.5;
  if (b.needs(0)) b.set(0, where(logical_or(below, above), 0.0, where(logical_or(at_low, at_high), half, g)));
  if (b.needs(1)) b.set(1, where(logical_and(ordered, below), g, where(at_low, half, 0.0)));
  if (b.needs(2)) {
    const Tensor binds = logical_or(logical_and(ordered, above), gt(low, high));
    b.set(2, where(binds, g, where(at_high, half, 0.0)));
  }
}
void masked_fill_gradient(Backward& b) { b.set(0, where(b.arg(1), 0.0, b.grad())); }

// ---- composites -----------------------------------------------------------------------------------------------------
void where_method_of(Composition& c) { c.result(where(c.arg(1), c.arg(0), c.arg(2))); }
void clamp_tensor_of(Composition& c) {
  check(c.has(1) || c.has(2), "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (c.has(1) && c.has(2)) return c.result(clamp_between(c.arg(0), c.arg(1), c.arg(2)));
  c.result(c.has(1) ? maximum(c.arg(0), c.arg(1)) : minimum(c.arg(0), c.arg(2)));
}
/// A number that is only known when a graph runs is a tensor, too.
bool is_number(const Arg& arg) { return !arg.is_tensor() || arg.impl()->wrapped_number; }

void clamp_min_of(Composition& c) {
  c.result(is_number(c.arg(1)) ? clamp(c.arg(0), c.arg(1)) : maximum(c.arg(0), c.arg(1)));
}
void clamp_max_of(Composition& c) {
  c.result(is_number(c.arg(1)) ? clamp(c.arg(0), Arg(), c.arg(1)) : minimum(c.arg(0), c.arg(1)));
}
std::string_view clamp_min_name(std::span<const Arg> args) {
  return is_number(args[1]) ? "ClampMinBackward0" : "ClampMinBackward1";
}
std::string_view clamp_max_name(std::span<const Arg> args) {
  return is_number(args[1]) ? "ClampMaxBackward0" : "ClampMaxBackward1";
}
void masked_fill_tensor_of(Composition& c) {
  const Tensor self = c.tensor(0), value = c.tensor(2);
  check(value.rank() == 0,
        "masked_fill only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).", value.rank());
  check(!is_complex(value.dtype()) || is_complex(self.dtype()), "value cannot be converted to type {} without overflow",
        self.dtype() == DType::F32 ? "float" : "double");
  c.result(where(c.arg(1), to_dtype(value, self.dtype()), self));
}

}  // namespace

const Op where{{.name = "where",
                .signature = "(Tensor condition, Tensor|Number self, Tensor|Number other) -> Tensor",
                .doc = "self where condition holds, else other.",
                .example = "terra.where(terra.tensor([True, False]), 1.0, 2.0)",
                .flags = kFunction | kElementwise | kCheap | kComplex | kBarebones,
                .promotion = Promotion::Common,
                .promoted = saves({1, 2}),
                .shape = where_shape,
                .gradient = where_gradient,
                .saved = saves({0}),
                .samples = {{"randn(3, 4) > 0, randn(3, 4), randn(3, 4)"},
                            {"randn(3, 1) > 0, randn(4), 1.5"},
                            {"randn(4) > 0, 2, randint(0, 9, (3, 4))", "int", false},
                            {"randint(0, 3, (3, 4)).byte(), randn(3, 4), randn(4)"},
                            {"randn(3, 4) > 0, crandn(3, 4), crandn(4)", "complex"}}}};
const Op where_method{{.name = "where_method",
                       .signature = "(Tensor self, Tensor condition, Tensor|Number other) -> Tensor",
                       .doc = "self where condition holds, else other.",
                       .example = "",
                       .flags = kMovesBytes,
                       .composite = where_method_of,
                       .samples = {{"randn(3), randn(3) > 0, 0"}}}};
const Op clamp{{.name = "clamp",
                .signature = "(Tensor self, Number? min=None, Number? max=None) -> Tensor",
                .doc = "Each element moved into [min, max].",
                .example = "terra.clamp(terra.tensor([-2.0, 0.5]), min=-1)",
                .flags = kElementwiseMath | kCheap | kBarebones,
                .promotion = Promotion::Common,
                .promoted = params({0, 1, 2}),
                .shape = clamp_shape,
                .gradient = clamp_gradient,
                .saved = saves({0}),
                .grad_fn = "ClampBackward1",
                .samples = {{"randn(3, 4), -0.5, 0.5"},
                            {"randn(3, 4), min=0"},
                            {"randn(3, 4), max=0.3"},
                            {"randint(-9, 9, (3, 4)), -2, 5", "int", false},
                            {"randint(-9, 9, (3, 4)), -1.5, 5", "int", false}}}};
const Op nan_to_num{{.name = "nan_to_num",
                     .signature = "(Tensor self, Number nan, Number posinf, Number neginf) -> Tensor",
                     .doc = "Numbers instead of NaN, infinity and minus infinity.",
                     .example = "",
                     .flags = kElementwise | kCheap,
                     .promotion = Promotion::Common,
                     .shape = rules::elementwise,
                     .gradient = nan_to_num_gradient,
                     .saved = saves({0}),
                     .samples = {{"randn(3, 4), 0.5, 7.0, -8.0"}}}};
const Op clamp_tensor{{.name = "clamp_tensor",
                       .signature = "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                       .doc = "Each element moved between its own bounds.",
                       .example = "",
                       .flags = kInPlace,
                       .composite = clamp_tensor_of,
                       .grad_fn = "ClampBackward0",
                       .seen_absent = params({1, 2}),
                       .samples = {{"randn(3, 4), randn(4) - 1, randn(4) + 1"}, {"randn(3, 4), max=randn(4)"}}}};
const Op clamp_between{
    {.name = "clamp_between",
     .signature = "(Tensor self, Tensor min, Tensor max) -> Tensor",
     .doc = "Each element moved between its own bounds, max where they cross.",
     .example = "",
     .flags = kElementwise | kCheap | kBarebones,
     .promotion = Promotion::Common,
     .shape = clamp_between_shape,
     .gradient = clamp_between_gradient,
     .saved = saves({0, 1, 2}),
     .grad_fn = "ClampBackward0",
     .samples = {{"randn(3, 4), randn(4) - 1, randn(4) + 1"},
                 {"randn(3, 4), randn(4), randn(3, 1)"},
                 {"randint(-9, 9, (3, 4)), randint(-5, 0, (4,)), randint(0, 5, (4,))", "int", false}}}};
const Op clamp_min{{.name = "clamp_min",
                    .signature = "(Tensor self, Tensor|Number min) -> Tensor",
                    .doc = "The larger of each element and min.",
                    .example = "terra.clamp_min(terra.tensor([-2.0, 0.5]), 0)",
                    .flags = kVisibleInPlace,
                    .composite = clamp_min_of,
                    .grad_fn_of = clamp_min_name,
                    .samples = {{"randn(3, 4), 0.1"}, {"randn(3, 4), randn(4)"}}}};
const Op clamp_max{{.name = "clamp_max",
                    .signature = "(Tensor self, Tensor|Number max) -> Tensor",
                    .doc = "The smaller of each element and max.",
                    .example = "terra.clamp_max(terra.tensor([-2.0, 0.5]), 0)",
                    .flags = kVisibleInPlace,
                    .composite = clamp_max_of,
                    .grad_fn_of = clamp_max_name,
                    .samples = {{"randn(3, 4), 0.1"}, {"randn(3, 4), randn(4)"}}}};
const Op masked_fill{{.name = "masked_fill",
                      .signature = "(Tensor self, Tensor mask, Tensor|Number value) -> Tensor",
                      .doc = "value where mask holds, else self.",
                      .example = "terra.zeros(2).masked_fill(terra.tensor([True, False]), 5)",
                      .flags = kElementwiseMath | kCheap | kComplex | kLiesByRows,
                      .promotion = Promotion::Common,
                      .promoted = saves({0}),
                      .shape = masked_fill_shape,
                      .gradient = masked_fill_gradient,
                      .saved = saves({1}),
                      .samples = {{"randn(3, 4), randn(3, 4) > 0, 2.5"},
                                  {"randn(3, 4), randn(4) > 0, -1"},
                                  {"randint(0, 9, (3, 4)), randn(4) > 0, -1", "int", false},
                                  {"crandn(3, 4), randn(3, 4) > 0, 1j", "complex"}}}};
const Op masked_fill_tensor{{.name = "masked_fill_tensor",
                             .signature = "(Tensor self, Tensor mask, Tensor value) -> Tensor",
                             .doc = "The 0-d tensor value where mask holds, else self.",
                             .example = "",
                             .flags = kInPlace | kMovesBytes | kReadsFirst,
                             .composite = masked_fill_tensor_of,
                             .grad_fn = "MaskedFillBackward1",
                             .samples = {{"randn(3, 4), randn(3, 4) > 0, randn(())"}}}};

}  // namespace terra::ops
