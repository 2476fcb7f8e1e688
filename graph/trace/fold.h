// Branches of the rounds of a loop, so that rounds that went different ways are alike.
#pragma once
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/trace/roll.h"

namespace terra::graph {

/// A trace whose rounds have branches as records.
struct Folded {
  std::vector<TraceRecord> records;
  LoopPlan plan;
  /// Numbers that the program holds when the loop is left, and what they are in these records.
  std::unordered_map<TraceId, TraceId> renamed;
  size_t exit = 0;     ///< the record at which the loop is left
  size_t left_at = 0;  ///< the same one in the trace that was folded
};

/// Two moments in the same state go on alike but for the truth that is asked for there. So of every branch the way that
/// a round didn't go is what another round did there, up to the state that both ways come to, or the end of the round.
///
/// None where no branch went both ways, where the rounds contradict that, or where a way does more than to compute. The
/// loop is left at the last truth that was asked for in a state in which other rounds asked for it.
std::optional<Folded> fold(const std::vector<TraceRecord>& records, const LoopPlan& plan,
                           std::span<const TraceId> outputs, TraceId& next);

}  // namespace terra::graph
