// A graph that is called, with its gradient, before the two are cut apart.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "graph/gradient/derivative.h"
#include "graph/trace/emitter.h"

namespace terra::graph {

/// A graph under differentiation: one of the table, or a case of a switch in one.
struct Differentiated {
  /// A node that calls others, and where the gradient passes it. Backward, it takes [the selector,] the record,
  /// operands, tangents.
  struct Site {
    static constexpr size_t kNone = ~size_t{0};
    std::vector<Differentiated*> callees;  ///< of a call one, of a switch one for each case
    ValueId selector = kNoId;              ///< of a switch
    ValueId record = kNoId;
    std::vector<ValueId> operands;
    std::vector<ValueId> tangents;
    size_t forward = kNone, backward = kNone;  ///< which nodes
  };

  std::shared_ptr<const Graph> source;
  Derivative derivative;  ///< of a case without ids
  /// The source's inputs, then tangents; its outputs, then gradients. A node of a case has no bodies yet.
  Graph joint;
  std::vector<Site> sites;
  Graph forward, backward;  ///< of a case
};

/// Who knows what is called.
class Callees {
 public:
  virtual ~Callees() = default;
  /// The graph of the table, and a case, differentiated with respect to those inputs.
  virtual Differentiated& graph(GraphId id, const std::vector<bool>& wanted) = 0;
  virtual Differentiated& switch_case(std::shared_ptr<const Graph> source, const std::vector<bool>& wanted) = 0;
};

/// Fills `joint` and `sites` by playing the source on the tape. `source` and `derivative.targets` are given.
void build_joint(Differentiated& graph, Callees& callees);

}  // namespace terra::graph
