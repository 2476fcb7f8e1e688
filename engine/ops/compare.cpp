#include "engine/ops/compare.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

const std::vector<Sample> kPairs = {{"randn(3, 4), randn(3, 4)", "float", false},
                                    {"randint(0, 3, (3, 1)), randint(0, 3, (4,))", "int", false},
                                    {"randn(2, 3), 0", "float", false},
                                    {"randint(0, 3, (4,)), 1.5", "int", false}};
const std::vector<Sample> kIntegers = {{"randint(0, 9, (3, 1)), randint(0, 9, (4,))", "int", false},
                                       {"randn(4) > 0, randn(4) > 0", "bool", false},
                                       {"randint(0, 9, (4,)), 3", "int", false}};

/// A comparison of two operands; `name_` writes the answer as 0 or 1. `takes`: dtypes that have no order here.
OpRecord comparison(std::string_view name, std::string_view doc, std::string_view example,
                    std::string_view aliases = "", uint32_t takes = 0) {
  return {.name = name,
          .signature = "(Tensor self, Tensor|Number other) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kElementwiseMath | kCompares | kNoGradient | kCheap | takes,
          .promotion = Promotion::Common,
          .shape = rules::elementwise,
          .aliases = aliases,
          .samples = kPairs};
}

/// The same of two tensors: numbers have no truth to combine.
OpRecord logical(std::string_view name, std::string_view doc, std::string_view example) {
  OpRecord record = comparison(name, doc, example, "", kComplex);
  record.signature = "(Tensor self, Tensor other) -> Tensor";
  record.samples = {kPairs[0], kPairs[1]};
  return record;
}

OpRecord question(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kVisible | kElementwise | kCompares | kNoGradient | kCheap | kComplex | kBarebones,
          .promotion = Promotion::Common,
          .shape = rules::elementwise,
          .samples = {{"randn(3, 4) / (randn(3, 4) > 0).to(terra.float32)", "float", false},
                      {"randint(0, 9, (3,))", "int", false}}};
}

void bitwise_shape(Inference& f) {
  rules::check_any_tensor(f);
  rules::elementwise_integral(f);
}
OpRecord bitwise(std::string_view name, std::string_view doc, std::string_view example, uint32_t takes = kBarebones) {
  return {.name = name,
          .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kElementwiseMath | kNoGradient | kCheap | takes,
          .promotion = Promotion::Common,
          .shape = bitwise_shape,
          .samples = kIntegers};
}

void shift_shape(Inference& f) {
  rules::check_any_tensor(f);
  check_kind(!is_inexact(f.common) && f.common != DType::Bool, ErrorKind::NotImplementedError,
             "\"{}_cpu\" not implemented for '{}'", f.op.name == "bitwise_left_shift" ? "lshift" : "rshift",
             scalar_type_name(f.common));
  rules::elementwise(f);
}
OpRecord shift(std::string_view name, std::string_view doc, std::string_view example) {
  OpRecord record = bitwise(name, doc, example, 0);
  record.shape = shift_shape;
  record.samples = {{"randint(-99, 99, (3, 1)), randint(0, 70, (4,))", "int", false},
                    {"randint(-99, 99, (4,)), 3", "int", false},
                    {"5, randint(0, 9, (4,))", "int", false}};
  return record;
}

void isfinite_of(Composition& c) {
  const Tensor x = c.tensor(0);
  c.result(logical_not(logical_or(isnan(x), isinf(x))));
}

/// |self - other| <= atol + rtol * |other|, or both equal (infinities), or both NaN if equal_nan. Differences of
/// integers are floats, which have a sign.
void isclose_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  check(x.dtype() == y.dtype(), "{} did not match {}", scalar_type_name(x.dtype()), scalar_type_name(y.dtype()));
  Tensor close = eq(x, y);
  if (c.flag(4) && is_inexact(x.dtype())) close = logical_or(close, logical_and(isnan(x), isnan(y)));
  check(c.real(2) >= 0, "rtol must be greater than or equal to zero, but got {}", c.real(2));
  check(c.real(3) >= 0, "atol must be greater than or equal to zero, but got {}", c.real(3));
  if (x.dtype() == DType::Bool) return c.result(close);
  const Tensor other = is_integral(y.dtype()) ? to_dtype(y, default_dtype()) : y;
  const Tensor error = abs(x - other);
  const Tensor allowed = c.real(3) + abs(other) * c.real(2);
  c.result(logical_or(close, logical_and(isfinite(error), le(error, allowed))));
}

}  // namespace

const Op eq{comparison("eq", "Whether self == other.", "terra.eq(terra.tensor([1, 2]), 2)", "", kComplex | kBarebones)};
const Op ne{comparison("ne", "Whether self != other.", "terra.ne(terra.tensor([1, 2]), 2)", "not_equal",
                       kComplex | kBarebones)};
const Op lt{comparison("lt", "Whether self < other.", "terra.lt(terra.tensor([1, 2]), 2)", "less")};
const Op le{comparison("le", "Whether self <= other.", "terra.le(terra.tensor([1, 2]), 2)", "less_equal")};
const Op gt{comparison("gt", "Whether self > other.", "terra.gt(terra.tensor([1, 2]), 1)", "greater")};
const Op ge{comparison("ge", "Whether self >= other.", "terra.ge(terra.tensor([1, 2]), 2)", "greater_equal")};
const Op logical_and{logical("logical_and", "Whether both elements are nonzero.",
                             "terra.logical_and(terra.tensor([0, 2]), terra.tensor([1, 1]))")};
const Op logical_or{logical("logical_or", "Whether one of two elements is nonzero.",
                            "terra.logical_or(terra.tensor([0, 2]), terra.tensor([0, 0]))")};
const Op logical_xor{logical("logical_xor", "Whether exactly one of two elements is nonzero.",
                             "terra.logical_xor(terra.tensor([0, 2]), terra.tensor([1, 1]))")};

const Op isnan{question("isnan", "Whether each element is not a number.", "terra.isnan(terra.tensor([float('nan')]))")};
const Op isinf{question("isinf", "Whether each element is an infinity.", "terra.isinf(terra.tensor([float('inf')]))")};
const Op isfinite{{.name = "isfinite",
                   .signature = "(Tensor self) -> Tensor",
                   .doc = "Whether each element is neither an infinity nor NaN.",
                   .example = "terra.isfinite(terra.tensor([1.0, float('inf')]))",
                   .flags = kVisible | kNoGradient,
                   .composite = isfinite_of,
                   .samples = {{"randn(3, 4)", "float", false}, {"randint(0, 9, (3,))", "int", false}}}};
const Op isclose{{.name = "isclose",
                  .signature = "(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) "
                               "-> Tensor",
                  .doc = "Whether |self - other| <= atol + rtol * |other|.",
                  .example = "terra.isclose(terra.ones(2), terra.ones(2) + 1e-7)",
                  .flags = kVisible | kNoGradient,
                  .composite = isclose_of,
                  .samples = {{"randn(3, 4), randn(3, 4)", "float", false},
                              {"ones(3), ones(3) + 1e-7, equal_nan=True", "float", false}}}};

const Op logical_not{{.name = "logical_not",
                      .signature = "(Tensor self) -> Tensor",
                      .doc = "Whether each element is zero.",
                      .example = "terra.logical_not(terra.tensor([0, 2]))",
                      .flags = kElementwiseMath | kCompares | kNoGradient | kCheap | kComplex,
                      .promotion = Promotion::Common,
                      .shape = rules::elementwise,
                      .samples = {{"randint(0, 2, (3, 4))", "int", false}, {"randn(3) > 0", "bool", false}}}};
const Op bitwise_and{bitwise("bitwise_and", "The bits that two integers share; logical and of bools.",
                             "terra.bitwise_and(terra.tensor([6]), 3)")};
const Op bitwise_or{bitwise("bitwise_or", "The bits of either of two integers; logical or of bools.",
                            "terra.bitwise_or(terra.tensor([6]), 3)")};
const Op bitwise_xor{bitwise("bitwise_xor", "The bits of exactly one of two integers; logical xor of bools.",
                             "terra.bitwise_xor(terra.tensor([6]), 3)")};
const Op bitwise_left_shift{shift("bitwise_left_shift", "Each integer's bits moved up by other places.",
                                  "terra.bitwise_left_shift(terra.tensor([6]), 3)")};
const Op bitwise_right_shift{shift("bitwise_right_shift",
                                   "Each integer's bits moved down by other places; the sign stays.",
                                   "terra.bitwise_right_shift(terra.tensor([6]), 1)")};
const Op bitwise_not{{.name = "bitwise_not",
                      .signature = "(Tensor self) -> Tensor",
                      .doc = "The flipped bits of each integer; logical not of bools.",
                      .example = "terra.bitwise_not(terra.tensor([6]))",
                      .flags = kElementwiseMath | kNoGradient | kCheap,
                      .promotion = Promotion::Common,
                      .shape = rules::elementwise_integral,
                      .samples = {{"randint(0, 9, (3, 4))", "int", false}, {"randn(3) > 0", "bool", false}}}};

}  // namespace terra::ops
