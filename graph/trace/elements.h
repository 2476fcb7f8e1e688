// Where the elements of strided views lie.
#pragma once
#include <cstdint>
#include <utility>

#include "graph/trace/trace.h"

namespace terra::graph {

/// Element range [first, end) of a strided view in its storage.
std::pair<int64_t, int64_t> extent(const TraceInput& in);
/// Whether elements of the view may be in one place of memory: no dimension steps over all that those below it reach.
bool may_share_elements(const Dims& sizes, const Dims& strides);

}  // namespace terra::graph
