// Pending calls as a trace, which graphs are made of.
#pragma once
#include "graph/coexec/pending.h"
#include "graph/trace/trace.h"

namespace terra::coexec {

/// Inputs in order, then the numbers that vary; the outputs are the results that are wanted.
graph::Trace trace_of(const Pending& pending, const std::vector<uint32_t>& wanted, const std::vector<bool>& varies);

}  // namespace terra::coexec
