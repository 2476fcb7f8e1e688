// Where gradients pass a tape, and what they free.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/autograd/saved.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// Where others see what a call has saved; nothing where they don't.
using LocateSaved = std::function<std::optional<SavedMemory>(const autograd::SavedTensor&, autograd::Node& owner)>;

/// Between results and what gradients are asked of. Frees what the calls there have saved; of it, what a pass has asked
/// for is what later ones will ask for.
PartWays ways_between(std::span<const Tensor> roots, std::span<const Tensor> targets, const LocateSaved& locate);

}  // namespace terra::graph
