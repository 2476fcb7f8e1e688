// A plan: every value has a place, every node that computes has become a step.
#pragma once
#include <vector>

#include "graph/executor/arena.h"
#include "graph/executor/layout.h"
#include "graph/ir/graph.h"

namespace terra::graph {

/// A buffer of at least so many bytes has a block of its own. Taking one costs little beside computing that much; the
/// memory is then the same that eager execution and all other graphs use, and nobody's between runs. Tests set another
/// number before anything is compiled.
size_t& lent_bytes();

struct Buffer {
  enum class Kind : uint8_t {
    Arena,     ///< lives in the arena between `block.first` and `block.last`
    Lent,      ///< number `index` of those with a block of the allocator from `block.first` to `block.last`
    Input,     ///< memory behind graph input `index`
    Constant,  ///< memory of constant `index`
    Fresh,     ///< allocated for each run by the caller: becomes graph output `index`
    Scalar,    ///< the scalar slot of value `index`, read as a tensor
  };
  Kind kind = Kind::Arena;
  uint32_t index = 0;
  ArenaBlock block;
};

struct Step {
  enum class Kind : uint8_t { Node, Copy };
  Kind kind = Kind::Node;
  const Node* node = nullptr;  ///< Node; borrowed from the graph that the plan keeps
  Place from, to;              ///< Copy: elements of `from`, converted to nothing, arranged as `to`
  int32_t workspace = -1;      ///< buffer of the kernel's workspace
  /// Nodes that run other graphs or make a record: where the arguments lie, in row-major order; memory beside the
  /// results for the state of a loop, one place for each, and for the truth of its condition.
  std::vector<Place> operands, beside;
};

/// How the outside gets a graph output.
struct OutputRole {
  enum class Kind : uint8_t { Fresh, Scalar, Write };
  Kind kind = Kind::Fresh;
  uint32_t input = 0;  ///< Write: the graph input whose memory the value replaces
};

struct Plan {
  Graph graph;
  Device device;                  ///< that computes all of it
  std::vector<OutputRole> roles;  ///< one per graph output
  std::vector<Place> places;      ///< by value; buffer -1: not a tensor, or never materialised
  std::vector<Buffer> buffers;
  std::vector<Step> body, tail;
  std::vector<bool> consumable;  ///< PlanRequest::consumable
  size_t arena_bytes = 0;
  size_t lent = 0;        ///< how many buffers have a block of their own
  size_t peak_bytes = 0;  ///< the most that a run has at one time: arena, blocks and fresh outputs
};

}  // namespace terra::graph
