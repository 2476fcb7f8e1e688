// Where the elements of strided views lie.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/trace/trace.h"

namespace terra::graph {

/// Element range [first, end) of a strided view in its storage.
std::pair<int64_t, int64_t> extent(const TraceInput& in);
/// Whether elements of the view may be in one place of memory: no dimension steps over all that those below it reach.
bool may_share_elements(const Dims& sizes, const Dims& strides);
/// Whether two of the views of one memory, or one with itself, have an element in common.
bool have_common_elements(const std::vector<Tensor>& views);

}  // namespace terra::graph
