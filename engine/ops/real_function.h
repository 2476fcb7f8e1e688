// The record of a function of one real number, applied to each element.
#pragma once
#include <vector>

#include "engine/ops/op.h"
#include "engine/ops/rules.h"

namespace terra::ops {

/// Integers are taken as floats.
struct RealFunction {
  std::string_view name, doc, example;
  GradientRule gradient;
  uint32_t saved;
  std::vector<Sample> samples = {{"randn(3, 4)"}, {"randn(2, 1, 3).transpose(0, 2)"}, {"randn(())"}};
  std::string_view aliases = "";
  uint32_t where = kVisibleInPlace;
};

inline OpRecord real_function(RealFunction f) {
  return {.name = f.name,
          .signature = "(Tensor self) -> Tensor",
          .doc = f.doc,
          .example = f.example,
          .flags = f.where | kElementwise,
          .promotion = Promotion::Floating,
          .shape = rules::elementwise,
          .gradient = f.gradient,
          .saved = f.saved,
          .aliases = f.aliases,
          .samples = std::move(f.samples)};
}

}  // namespace terra::ops
