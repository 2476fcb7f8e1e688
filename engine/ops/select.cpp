#include "engine/ops/select.h"

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void where_shape(Inference& f) {
  check(f.dtype(0) == DType::Bool, "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        scalar_type_name(f.dtype(0)));
  rules::elementwise(f);
}
void clamp_shape(Inference& f) {
  check(f.has(1) || f.has(2), "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (!is_floating(f.common)) {
    for (int i : {1, 2})
      check(!f.has(i) || !f.arg(i).scalar().is_float(),
            "clamp of a tensor of {} got the float bound {}; convert the tensor to a floating dtype first.",
            name_of(f.common), f.has(i) ? f.real(i) : 0);
  }
  rules::elementwise(f);
}
void masked_fill_shape(Inference& f) {
  check(f.dtype(1) == DType::Bool, "masked_fill_ only supports boolean masks, but got mask with dtype {}",
        name_of(f.dtype(1)));
  ensure(!f.arg(2).is_tensor(), "masked_fill gets a number; masked_fill_tensor takes tensors");
  check(is_floating(f.common) || std::abs(f.real(2)) < 0x1p63, "value cannot be converted to type {} without overflow",
        name_of(f.common));
  rules::elementwise(f);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void where_gradient(Backward& b) {
  if (b.needs(1)) b.set(1, where(b.arg(0), b.grad(), 0.0));
  if (b.needs(2)) b.set(2, where(b.arg(0), 0.0, b.grad()));
}
void clamp_gradient(Backward& b) {
  const Tensor x = b.in(0);
  Tensor inside;
  if (b.has(1)) inside = ge(x, b.arg(1));
  if (b.has(2)) inside = inside.defined() ? logical_and(inside, le(x, b.arg(2))) : le(x, b.arg(2));
  b.set(0, where(inside, b.grad(), 0.0));
}
void masked_fill_gradient(Backward& b) { b.set(0, where(b.arg(1), 0.0, b.grad())); }

// ---- composites -----------------------------------------------------------------------------------------------------
void where_method_of(Composition& c) { c.result(where(c.arg(1), c.arg(0), c.arg(2))); }
void clamp_tensor_of(Composition& c) {
  check(c.has(1) || c.has(2), "torch.clamp: At least one of 'min' or 'max' must not be None");
  Tensor x = c.tensor(0);
  if (c.has(1)) x = maximum(x, c.arg(1));
  if (c.has(2)) x = minimum(x, c.arg(2));
  c.result(x);
}
void clamp_min_of(Composition& c) { c.result(maximum(c.arg(0), c.arg(1))); }
void clamp_max_of(Composition& c) { c.result(minimum(c.arg(0), c.arg(1))); }
void masked_fill_tensor_of(Composition& c) {
  const Tensor self = c.tensor(0), value = c.tensor(2);
  check(value.rank() == 0,
        "masked_fill only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).", value.rank());
  c.result(where(c.arg(1), to_dtype(value, self.dtype()), self));
}

}  // namespace

const Op where{{.name = "where",
                .signature = "(Tensor condition, Tensor|Number self, Tensor|Number other) -> Tensor",
                .doc = "self where condition holds, else other.",
                .example = "terra.where(terra.tensor([True, False]), 1.0, 2.0)",
                .flags = kFunction | kElementwise | kCheap,
                .promotion = Promotion::Common,
                .promoted = saves({1, 2}),
                .shape = where_shape,
                .gradient = where_gradient,
                .saved = saves({0}),
                .samples = {{"randn(3, 4) > 0, randn(3, 4), randn(3, 4)"},
                            {"randn(3, 1) > 0, randn(4), 1.5"},
                            {"randn(4) > 0, 2, randint(0, 9, (3, 4))", "int", false}}}};
const Op where_method{{.name = "where_method",
                       .signature = "(Tensor self, Tensor condition, Tensor|Number other) -> Tensor",
                       .doc = "self where condition holds, else other.",
                       .example = "",
                       .composite = where_method_of,
                       .samples = {{"randn(3), randn(3) > 0, 0"}}}};
const Op clamp{{.name = "clamp",
                .signature = "(Tensor self, Number? min=None, Number? max=None) -> Tensor",
                .doc = "Each element moved into [min, max].",
                .example = "terra.clamp(terra.tensor([-2.0, 0.5]), min=-1)",
                .flags = kElementwiseMath | kCheap,
                .promotion = Promotion::Common,
                .shape = clamp_shape,
                .gradient = clamp_gradient,
                .saved = saves({0}),
                .grad_fn = "ClampBackward1",
                .samples = {{"randn(3, 4), -0.5, 0.5"},
                            {"randn(3, 4), min=0"},
                            {"randn(3, 4), max=0.3"},
                            {"randint(-9, 9, (3, 4)), -2, 5", "int", false}}}};
const Op clamp_tensor{{.name = "clamp_tensor",
                       .signature = "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                       .doc = "Each element moved between its own bounds.",
                       .example = "",
                       .flags = kInPlace,
                       .composite = clamp_tensor_of,
                       .samples = {{"randn(3, 4), randn(4) - 1, randn(4) + 1"}}}};
const Op clamp_min{{.name = "clamp_min",
                    .signature = "(Tensor self, Tensor|Number min) -> Tensor",
                    .doc = "The larger of each element and min.",
                    .example = "terra.clamp_min(terra.tensor([-2.0, 0.5]), 0)",
                    .flags = kVisibleInPlace,
                    .composite = clamp_min_of,
                    .samples = {{"randn(3, 4), 0.1"}}}};
const Op clamp_max{{.name = "clamp_max",
                    .signature = "(Tensor self, Tensor|Number max) -> Tensor",
                    .doc = "The smaller of each element and max.",
                    .example = "terra.clamp_max(terra.tensor([-2.0, 0.5]), 0)",
                    .flags = kVisibleInPlace,
                    .composite = clamp_max_of,
                    .samples = {{"randn(3, 4), 0.1"}}}};
const Op masked_fill{{.name = "masked_fill",
                      .signature = "(Tensor self, Tensor mask, Tensor|Number value) -> Tensor",
                      .doc = "value where mask holds, else self.",
                      .example = "terra.zeros(2).masked_fill(terra.tensor([True, False]), 5)",
                      .flags = kElementwiseMath | kCheap,
                      .promotion = Promotion::Common,
                      .promoted = saves({0}),
                      .shape = masked_fill_shape,
                      .gradient = masked_fill_gradient,
                      .saved = saves({1}),
                      .samples = {{"randn(3, 4), randn(3, 4) > 0, 2.5"},
                                  {"randn(3, 4), randn(4) > 0, -1"},
                                  {"randint(0, 9, (3, 4)), randn(4) > 0, -1", "int", false}}}};
const Op masked_fill_tensor{{.name = "masked_fill_tensor",
                             .signature = "(Tensor self, Tensor mask, Tensor value) -> Tensor",
                             .doc = "The 0-d tensor value where mask holds, else self.",
                             .example = "",
                             .flags = kInPlace,
                             .composite = masked_fill_tensor_of,
                             .samples = {{"randn(3, 4), randn(3, 4) > 0, randn(())"}}}};

}  // namespace terra::ops
