// A path cut at its calls: what runs for all calls at once, and what waits for the results of calls.
//
//   def encode(tree):
//       x = W(words[tree.word])           before: one product for all calls of the batch
//       l, r = encode(tree.left), encode(tree.right)
//       return tanh(x + U(cat(l, r)))     stage 1: level by level
//
// Backward the same stages run in reverse; what only gradients of shared tensors need waits for the end, where it is
// one product over all calls ("after").
#pragma once
#include <optional>
#include <vector>

#include "recursive/batching/joint.h"
#include "recursive/batching/segment.h"

namespace terra::recursive {

/// When something is computed or arrives.
struct Moment {
  enum class Phase : uint8_t { Before, Forward, Backward, After };
  Phase phase = Phase::Before;
  uint32_t stage = 0;  ///< of Forward and Backward
  friend bool operator==(Moment, Moment) = default;
};

/// A value that outlives the segment in which it is made, or that comes from outside.
struct Kept {
  bool kept = false;
  bool rows = false;   ///< one for each call; else one for all
  bool total = false;  ///< the gradient of a shared tensor: a sum over all calls
  Moment moment;
  size_t bytes = 0;  ///< of one row
};

/// A path, compiled.
struct StagedPath {
  Joint joint;                      ///< of its graph, only values and outputs
  bool one_by_one = false;          ///< segments run for one row at a time
  std::string why_one_by_one;       ///< an op has no rule for many calls
  uint32_t stages = 0;              ///< of Forward and Backward
  bool has_arguments = false;       ///< stage 0 waits for the caller
  bool begins = false;              ///< something happens at stage 0
  std::vector<Kept> values;         ///< by value of the joint graph
  std::vector<ValueId> bases;       ///< by value: the one that it is a view of, or itself
  std::vector<uint32_t> called_at;  ///< by call: the stage behind which it has its operands
  std::optional<Segment> before, after;
  std::vector<std::optional<Segment>> forward, backward;

  std::optional<Segment>& segment(Moment m);
  /// The value of the output, kNoId where there is none.
  ValueId output(JointOutput::Kind kind, uint32_t index, uint32_t call = 0) const;
  /// The output that is the gradient of an input, null where nothing flows into it.
  const JointOutput* gradient(JointInput::Kind kind, uint32_t index, uint32_t call = 0) const;
  ValueId value(const JointOutput& output) const { return joint.graph.outputs[&output - joint.outputs.data()]; }
  /// The pass backward reads the value of the joint graph, or what it is a view of.
  bool is_read_backward(ValueId id) const;
};

/// `batched` false: one by one.
StagedPath stage_path(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, bool batched);

}  // namespace terra::recursive
