// The graph of a body while it is written.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/trace/emitter.h"

namespace terra::recursive {

using graph::ValueId;
struct SubGraphState;

/// Ops that are called while a body is current become its nodes. Tensors from outside are its constants, until it is
/// lowered.
class Body {
 public:
  Body(SubGraphState& owner, std::string name) : owner_(owner) { graph_.name = std::move(name); }

  /// The one that is being written on this thread. Throws where there is none: `what` needs one.
  static Body& current(std::string_view what);

  /// Runs `write` with this body current.
  void write(const std::function<void()>& write);

  SubGraphState& owner() { return owner_; }
  graph::GraphEmitter& emitter() { return emitter_; }
  graph::Graph& graph() { return graph_; }
  std::vector<ValueId> emit(graph::Node node, const std::vector<graph::ValueMeta>& results) {
    return emitter_.emit_node(std::move(node), results);
  }
  Tensor tensor(ValueId id) { return emitter_.whole(id, contiguous_strides(graph_.meta(id).sizes), 0); }
  std::vector<ValueId> values_of(const std::vector<Tensor>& tensors);

  /// A switch between what the functions write; each returns its results. The last one is for all other numbers.
  std::vector<ValueId> choose(ValueId selector, const std::vector<std::function<std::vector<ValueId>()>>& ways);
  /// Throws where something reads what was made in a case of a switch that it isn't in.
  void finish();

 private:
  struct Way {
    std::vector<graph::Node> nodes;
    std::vector<ValueId> results;
  };

  Way cut(const std::function<std::vector<ValueId>()>& write);
  void make_views_again(std::vector<graph::Node>& nodes, std::vector<ValueId>& results, std::vector<bool> defined);
  std::vector<bool> defined() const;

  SubGraphState& owner_;
  graph::Graph graph_;
  graph::GraphEmitter emitter_{graph_};
  std::map<ValueId, graph::Node> views_;  // made in ways, by result
  static thread_local Body* current_;
};

}  // namespace terra::recursive
