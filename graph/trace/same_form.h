// Whether two records are the same but for the numbers of their values.
#pragma once
#include "graph/trace/trace.h"

namespace terra::graph {

/// False as well for records that a round of a loop can't have: whether they are done once or twice makes a difference
/// to more than the values they make.
bool same_form(const TraceRecord& a, const TraceRecord& b);

/// Both are facts about the truth of a number, and opposite ones.
bool opposite_facts(const TraceRecord& a, const TraceRecord& b);

}  // namespace terra::graph
