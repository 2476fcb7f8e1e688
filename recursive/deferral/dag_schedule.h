// Which calls of a DAG run together, and when.
//
//   loss(out(encode(tree)))      leaves of all trees, at once; inner nodes, level by level; out of all roots, at once;
//                                all losses, at once
//
// Kinds of calls that need each other's results again and again (inner nodes) are a component: these go level by level.
// One component comes behind another that it needs, whose calls have all run by then.
#pragma once
#include <vector>

#include "recursive/deferral/call_dag.h"

namespace terra::recursive {

struct DagSchedule {
  explicit DagSchedule(const CallDag& dag);

  struct Kind {
    DeferredGraph::Kinds inputs;
    DeferredGraph::Compiled* compiled = nullptr;
    bool saves = false;           ///< the gradient reads tensors that were there before it, so that it can be spent
    std::vector<uint32_t> order;  ///< by place: the call
    std::vector<uint32_t> place;  ///< by row of the call
  };
  /// Calls of a kind, from one place on, which wait for nothing but earlier levels.
  struct Batch {
    uint32_t kind, first, count;
  };
  struct Component {
    std::vector<uint32_t> kinds;
    std::vector<Batch> batches;  ///< of kinds that wait for others of the component, level by level
  };

  std::vector<Kind> kinds;            ///< as the dag's
  std::vector<Component> components;  ///< in the order in which they run
  size_t batches() const;
  size_t batches_of(uint32_t kind) const;

 private:
  void find_components(const CallDag& dag);
  void find_levels(const CallDag& dag);
  void find_inputs(const CallDag& dag);

  std::vector<uint32_t> component_of_;  // by kind
};

}  // namespace terra::recursive
