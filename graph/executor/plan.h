// A plan: every value has a place, every node that computes has become a step.
#pragma once
#include <vector>

#include "graph/executor/arena.h"
#include "graph/executor/layout.h"
#include "graph/ir/graph.h"

namespace terra::graph {

struct Buffer {
  enum class Kind : uint8_t {
    Arena,     ///< lives in the arena between `block.first` and `block.last`
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
};

/// How the outside gets a graph output.
struct OutputRole {
  enum class Kind : uint8_t { Fresh, Scalar, Write };
  Kind kind = Kind::Fresh;
  uint32_t input = 0;  ///< Write: the graph input whose memory the value replaces
};

struct Plan {
  Graph graph;
  std::vector<OutputRole> roles;  ///< one per graph output
  std::vector<Place> places;      ///< by value; buffer -1: not a tensor, or never materialised
  std::vector<Buffer> buffers;
  std::vector<Step> body, tail;
  size_t arena_bytes = 0;
};

}  // namespace terra::graph
