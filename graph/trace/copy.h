// A second copy of a trace (traces own their constants, so they move but don't copy).
#pragma once
#include "graph/trace/trace.h"

namespace terra::graph {
Trace copy_of(const Trace& trace);
/// With the rounds of a loop and the ways of a branch, but not with what functions of the program did.
TraceRecord copy_of(const TraceRecord& record);
}  // namespace terra::graph
