// A second copy of a trace (traces own their constants, so they move but don't copy).
#pragma once
#include "graph/trace/trace.h"

namespace terra::graph {
Trace copy_of(const Trace& trace);
}
