// A region once more, call by call on real tensors, so that each call has a node of its own on the tape.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "engine/autograd/node.h"
#include "graph/trace/program.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// Whether nothing but what the calls make is different when they have been made again: neither what came in, nor a
/// gradient, nor a function of the program that was told.
bool is_repeatable(const Trace& trace);
/// The same with values that are others: it is known by them what the calls are.
bool is_settled(const Trace& trace);

/// Whether gradients are taken inside, of whatever has a history by then.
bool takes_gradients(const Trace& trace);

/// What a region is given once more, and which part of it is meant: the records from `first` on and before `end`.
struct GivenAgain {
  std::vector<Tensor> tensors;  ///< with the histories that they are to have
  std::span<const Scalar> scalars;
  size_t first = 0, end = 0;
  std::map<ReplayTensor, autograd::Edge> histories;  ///< when the part begins, not those of the calls
  std::vector<ReplayTensor> roots;
};

/// The histories of the roots when the part ends. `inputs`: those of the trace, or in their place. Throws InternalError
/// where these values lead another way, but for others than those of the run, and Error for what the ops refuse.
std::vector<autograd::Edge> run_call_by_call(const Trace& trace, const std::vector<TraceInput>& inputs,
                                             const GivenAgain& given, bool others);

}  // namespace terra::graph
