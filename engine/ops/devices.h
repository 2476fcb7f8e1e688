// Which device a call is computed on.
#pragma once
#include <span>

#include "engine/ops/op.h"

namespace terra {

/// That of the tensors among the arguments; those of the CPU that have no dimensions go with any, and indices of the
/// CPU with a tensor of the meta device. Without tensors: the current device. Throws Error, in PyTorch's words, for
/// tensors of several.
Device device_of(const Op& op, std::span<const Arg> args);

}  // namespace terra
