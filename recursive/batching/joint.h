// One path of a SubGraph for many calls at once, with its gradient: a single graph, before it is cut into stages.
#pragma once
#include <vector>

#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {

/// What is differentiated with respect to.
struct Wanted {
  std::vector<bool> inputs;  ///< of the root: tensors that require grad
  bool feeds = false;        ///< tensors that the host reads from the structure do
  bool look_ups = false;     ///< sparse gradients of tables are taken, as those of the rows that were looked up

  bool any() const;
  friend auto operator<=>(const Wanted&, const Wanted&) = default;
};

/// Where an input of the joint graph comes from. All but Shared have rows.
struct JointInput {
  enum class Kind : uint8_t {
    Shared,    ///< input `index` of the root
    Argument,  ///< input `index` of the SubGraph
    Feed,      ///< slot `index`, which the host decides
    Result,    ///< result `index` of call `call`
    Tangent,   ///< the gradient of output `index` of the joint graph
  };
  Kind kind = Kind::Shared;
  uint32_t index = 0;
  uint32_t call = 0;
};

struct JointOutput {
  enum class Kind : uint8_t {
    Result,    ///< `index` of the SubGraph
    Operand,   ///< `index` of call `call`
    Gradient,  ///< of input `index` of the joint graph; without rows where that is shared
    Place,     ///< what look-up `index` of the joint graph has picked: numbers of rows of its table
    LookedUp,  ///< the gradient of what it has picked
  };
  Kind kind = Kind::Result;
  uint32_t index = 0;
  uint32_t call = 0;
  /// Of a gradient: the inputs of the joint graph, tangents, that flow into it. It is undefined where all of them are.
  std::vector<uint32_t> tangents = {};

  bool is_gradient() const { return kind == Kind::Gradient || kind == Kind::LookedUp; }
};

/// Rows of a table whose gradient is sparse: nobody adds up what flows to the same row of it.
struct LookUp {
  uint32_t table = 0;  ///< input of the joint graph
  int64_t padding = -1;
};

struct Joint {
  graph::Graph graph;
  std::vector<JointInput> inputs;
  std::vector<JointOutput> outputs;
  std::vector<LookUp> look_ups;
};

/// Plays the path on the tape for so many rows, then the gradients of results and operands back to what is wanted and,
/// if anything is, to the results of calls and the call's own arguments. `rows` of 0: one call, as it stands, without
/// a dimension for rows. `all` are those that the path may call, null where it calls none. Throws Unbatchable.
Joint build_joint(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, int64_t rows);

}  // namespace terra::recursive
