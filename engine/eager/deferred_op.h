// Ops on tensors that are still to be made (engine/tensor/deferral.h).
#pragma once
#include <span>
#include <vector>

#include "engine/ops/emitter.h"

namespace terra::eager {

/// Is shown each pure op while there is work that has been put off, and may put it off, too: true, and its results are
/// still to be made. Null: nobody does.
inline bool (*defer_op)(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                        std::vector<Tensor>& results) = nullptr;

}  // namespace terra::eager
