// The engine checks itself: whether a batch has made what its calls make one by one.
#pragma once
#include "recursive/deferral/dag_run.h"

namespace terra::recursive {

/// After a run forward: one call of each kind whose batches are new, and of others ever more rarely, is played op by
/// op. Throws InternalError where it makes something else; calls of that graph don't wait any more.
void check_batches(const CallDag& dag, const DagRun& run);

}  // namespace terra::recursive
