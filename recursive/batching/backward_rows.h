// The backward half of a pair (graph/cache/pair_batch.h) for many runs at once.
#pragma once
#include <memory>

#include "graph/cache/pair_batch.h"

namespace terra::recursive {

/// By the rules for many calls. Null where an op has none.
std::unique_ptr<graph::RowsOfBackward> make_backward_rows(const graph::Program& backward,
                                                          const graph::SharedByRuns& shared);

}  // namespace terra::recursive
