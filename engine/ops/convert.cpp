#include "engine/ops/convert.h"

#include "engine/errors/warnings.h"
#include "engine/ops/call.h"
#include "engine/ops/creation.h"
#include "engine/ops/kept_text.h"
#include "engine/ops/layout.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"
#include "engine/tensor/memory_format.h"

namespace terra {

void warn_of_lost_parts(DType from, DType to) {
  static bool told = false;
  if (is_complex(from) && !is_complex(to) && to != DType::Bool)
    warn_once(told, "Casting complex values to real discards the imaginary part");
}

namespace ops {
namespace {

void to_dtype_shape(Inference& f) { f.result(f.arg(1).dtype(), Dims(f.sizes(0))); }
void copy_shape(Inference& f) {
  const Dims common = broadcast_sizes(f.sizes(0), f.sizes(1));
  check(common == Dims(f.sizes(0)), "output with shape {} doesn't match the broadcast shape {}", listed(f.sizes(0)),
        listed(common));
  warn_of_lost_parts(f.dtype(1), f.dtype(0));
  rules::like_first(f);
}

void fill_shape(Inference& f) {
  check_holds(f.arg(1).scalar(), f.dtype(0));
  rules::like_first(f);
}

void pass_gradient(Backward& b) { b.set(0, b.grad()); }
void copy_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, zeros_like(b.grad()));
  b.set(1, b.grad());
}
void fill_gradient(Backward& b) { b.set(0, zeros_like(b.grad())); }

void type_as_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const DType dtype = c.tensor(1).dtype();
  c.result(self.dtype() == dtype ? self : to_dtype(self, dtype));
}
void contiguous_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const MemoryFormat format = c.has(1) ? memory_format_named(c.text(1)) : MemoryFormat::Contiguous;
  c.result(is_contiguous_in(*self, format) ? self : clone(self, name_of(format)));
}
void named_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(self);
  if (grad_enabled() && self.requires_grad()) tape_hooks().name(self, kept_text(std::string(c.text(1))), nullptr, {});
}
void fill_tensor_of(Composition& c) {
  const Tensor self = c.tensor(0), value = c.tensor(1);
  check(value.rank() == 0, "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
        value.rank());
  c.result(expand(to_dtype(value, self.dtype()), self.sizes()));
}

}  // namespace

const Op to_dtype{{.name = "to_dtype",
                   .signature = "(Tensor self, dtype dtype, *, str? memory_format=None) -> Tensor",
                   .doc = "The elements converted to dtype; floats lose their fraction, bool is 'not zero'.",
                   .example = "terra.tensor([1.5, -1.5]).to(terra.int64)",
                   .flags = kElementwise | kCheap | kMovesBytes | kLaidOutAsAsked,
                   .shape = to_dtype_shape,
                   .gradient = pass_gradient,
                   .grad_fn = "ToCopyBackward0",
                   .samples = {{"randn(3, 4), terra.float32", "float", false},
                               {"randn(3, 4), terra.float64"},
                               {"randn(3, 4) * 5, terra.int64", "float", false},
                               {"randint(0, 3, (4,)), terra.bool", "int", false},
                               {"crandn(3, 4), terra.complex128", "complex"}}}};
const Op type_as{{.name = "type_as",
                  .signature = "(Tensor self, Tensor other) -> Tensor",
                  .doc = "The elements converted to the dtype of other.",
                  .example = "terra.tensor([1]).type_as(terra.ones(1))",
                  .flags = kMethod | kMayAlias,
                  .composite = type_as_of,
                  .samples = {{"randn(3), randn(2)"}}}};
const Op copy{{.name = "copy",
               .signature = "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
               .doc = "The elements of src, broadcast and converted to the shape and dtype of self.",
               .example = "terra.zeros(2).copy_(terra.tensor([1, 2]))",
               .flags = kInPlace | kMovesBytes,
               .shape = copy_shape,
               .gradient = copy_gradient,
               .reuses = params({0}),
               .grad_fn = "CopyBackwards",
               .samples = {{"randn(3, 4), randn(4)"},
                           {"randn(3, 4), randint(0, 9, (3, 1))", "float", false},
                           {"randn(4, 3).t(), randn(3, 4)"},
                           {"crandn(3, 4), randn(4)", "complex"}}}};
const Op clone{{.name = "clone",
                .signature = "(Tensor self, *, str? memory_format=None) -> Tensor",
                .doc = "A copy whose elements lie in memory_format, by default in the order in which they are.",
                .example = "terra.ones(2).clone()",
                .flags = kVisible | kMovesBytes | kLaidOutAsAsked,
                .shape = rules::like_first,
                .gradient = pass_gradient,
                .samples = {{"randn(3, 4)"},
                            {"randn(3, 4).t()"},
                            {"randn(2, 3, 2, 2), memory_format=terra.channels_last"},
                            {"randn(6)[::2]"},
                            {"randn(1, 3).expand(2, 3)"},
                            {"randint(0, 9, (3,))", "int", false},
                            {"crandn(3, 4).t()", "complex"}}}};
const Op clone_strided{{.name = "clone_strided",
                        .signature = "(Tensor self, int[] strides) -> Tensor",
                        .doc = "A copy whose elements lie with these strides, which leave no gaps.",
                        .example = "",
                        .flags = kMovesBytes | kLaidOutAsAsked,
                        .shape = rules::like_first,
                        .gradient = pass_gradient,
                        .grad_fn = "CloneBackward0",
                        .samples = {{"randn(3, 4), (1, 3)"}, {"randn(4, 3).t(), (4, 1)"}}}};
const Op contiguous{
    {.name = "contiguous",
     .signature = "(Tensor self, *, str? memory_format=None) -> Tensor",
     .doc = "The tensor itself if its elements lie in memory_format, by default row by row, else a "
            "copy that does.",
     .example = "terra.ones(2, 3).t().contiguous().is_contiguous()",
     .flags = kMethod | kMayAlias,
     .composite = contiguous_of,
     .samples = {{"randn(3, 4).t()"}, {"randn(3)"}, {"randn(2, 3, 2, 2), memory_format=terra.channels_last"}}}};
const Op named{{.name = "named",
                .signature = "(Tensor self, str name) -> Tensor",
                .doc = "The tensor itself, the last part of a call that is written in Python: its node is called so.",
                .example = "",
                .flags = kMayAlias | kMovesBytes,
                .composite = named_of,
                .samples = {{"randn(3, 4), 'CloneBackward0'", "float", false}}}};
const Op fill{
    {.name = "fill",
     .signature = "(Tensor self, Number value) -> Tensor",
     .doc = "value in the shape and dtype of self.",
     .example = "terra.zeros(2).fill_(3)",
     .flags = kFunction | kInPlace | kMovesBytes | kWritesOneValue,
     .shape = fill_shape,
     .gradient = fill_gradient,
     .reuses = params({0}),
     .grad_fn = "FillBackward2",
     .samples = {{"randn(3, 4), 2.5"}, {"randint(0, 9, (3,)), 2", "int", false}, {"crandn(3), 1j", "complex"}}}};
const Op fill_tensor{{.name = "fill_tensor",
                      .signature = "(Tensor self, Tensor value) -> Tensor",
                      .doc = "The 0-d tensor value in the shape and dtype of self.",
                      .example = "",
                      .flags = kInPlace | kMovesBytes | kReadsFirst,
                      .composite = fill_tensor_of,
                      .grad_fn = "FillBackward3",
                      .samples = {{"randn(3, 4), randn(())"}}}};
const Op zero{{.name = "zero",
               .signature = "(Tensor self) -> Tensor",
               .doc = "Zeros in the shape and dtype of self.",
               .example = "terra.ones(2).zero_()",
               .flags = kInPlace | kMovesBytes | kWritesOneValue,
               .shape = rules::like_first,
               .gradient = fill_gradient,
               .reuses = params({0}),
               .grad_fn = "ZeroBackward0",
               .samples = {{"randn(3, 4)"}}}};

}  // namespace ops
}  // namespace terra
