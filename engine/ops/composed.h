// The record of an op that is written in other ops.
#pragma once
#include <utility>
#include <vector>

#include "engine/ops/op.h"

namespace terra::ops {

inline OpRecord composed(std::string_view name, std::string_view signature, std::string_view doc,
                         std::string_view example, CompositeRule rule, std::vector<Sample> samples, uint32_t flags,
                         std::string_view grad_fn = "") {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = example,
          .flags = flags,
          .composite = rule,
          .grad_fn = grad_fn,
          .samples = std::move(samples)};
}

}  // namespace terra::ops
