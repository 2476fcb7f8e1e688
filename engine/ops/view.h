// Other views of the same storage: no element moves.
#pragma once
#include <optional>

#include "engine/ops/op.h"

namespace terra {

/// Strides under which memory of (sizes, strides) can be seen with `wanted` sizes, if there are any.
std::optional<Dims> strides_of_view(const Dims& sizes, const Dims& strides, std::span<const int64_t> wanted);
/// `wanted` with its -1 replaced by what `numel` elements leave for it; throws in PyTorch's words if they don't fit.
Dims inferred_sizes(std::span<const int64_t> wanted, int64_t numel);

namespace ops {

extern const Op view, reshape, permute, transpose, t, squeeze, unsqueeze, expand;
extern const Op narrow, select, slice, diagonal, as_strided, unfold, detach, alias, kinked;
extern const Op flatten, unflatten, ravel, expand_as, view_as, reshape_as, movedim, T, mT;

}  // namespace ops
}  // namespace terra
