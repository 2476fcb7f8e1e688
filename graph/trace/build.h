// From a trace to a graph.
#pragma once
#include <memory>
#include <vector>

#include "graph/trace/program.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// Gradients that arrive for the roots of a part, one flag for each root.
struct Tangents {
  std::vector<bool> given;
  std::vector<bool> require_grad;
  /// By target, the first of the results that are its gradient: what it is the sum of, in order, then None. And the end
  /// of all.
  std::vector<uint32_t> places;

  auto operator<=>(const Tangents&) const = default;
};

/// Which program is made of a trace.
struct BuildRequest {
  /// Each step turns the program into that of its gradients: its targets give the results (None where nothing arrives),
  /// the tangents that are given become further inputs, and nothing is published. No step: the trace's own program.
  std::vector<Tangents> derivatives;
  /// Of the region: the first step takes the gradients of this part's roots. Targets of it that aren't inputs are
  /// tensors of the run, behind the trace's own. So are the roots of each step, before its tangents: what calls have
  /// saved of their results has the history of the results that the program holds.
  uint32_t part = 0;
  /// Roots get tangent inputs, and the gradients of the parts' targets become outputs.
  bool joint = true;
  std::vector<bool> tangents;  ///< joint: the roots that get one; empty: all of them
  /// In place of the trace's own inputs: with other sizes where they are free, with other structural numbers. May be
  /// null.
  std::shared_ptr<const std::vector<TraceInput>> inputs;
  bool histories = false;  ///< as GraphEmitter::keep_histories
  bool cuts = false;       ///< the values of the trace's marks are kept (Program::cuts)
};

/// Replays the trace on symbolic tensors. Throws InternalError with a sentence for what can't be expressed, and Error
/// for what the ops refuse.
Program build(const Trace& trace, const BuildRequest& request = {});

}  // namespace terra::graph
