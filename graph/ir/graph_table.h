// Graphs under ids: the functions of a program, which `call` nodes name.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace terra::graph {

/// The number of a graph in its table: what Node::index of a call says. It stays the same whatever else comes or goes.
using GraphId = uint32_t;

/// Owns graphs that call each other, and themselves, by their ids. Tables share graphs: a copy costs little, and what
/// one of them does to a graph no other one sees.
class GraphTable {
 public:
  /// The id of a graph that is still to come, so that others can call it. Should another graph have the name, a number
  /// is added to it.
  GraphId declare(std::string_view name);
  void define(GraphId id, Graph graph);
  GraphId add(Graph graph);
  /// The graph goes; its id and name stay its own.
  void drop(GraphId id) { entries_[id].graph.reset(); }

  /// Null where there is none.
  const Graph* find(GraphId id) const { return id < entries_.size() ? entries_[id].graph.get() : nullptr; }
  /// Throws InternalError where there is none.
  const Graph& at(GraphId id) const;
  /// kNoId where there is none.
  GraphId id_of(std::string_view name) const;
  const std::string& name(GraphId id) const { return entries_[id].name; }
  /// Ids are below it.
  GraphId size() const { return static_cast<GraphId>(entries_.size()); }

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<const Graph> graph;
  };
  std::vector<Entry> entries_;
};

/// Calls f for the graph, those nested in its nodes, and those that any of them calls: each once, until f is true of
/// one. The table is the graph's own where none is given, as for a graph that stands in one.
bool any_graph(const Graph& graph, const std::function<bool(const Graph&)>& f, const GraphTable* table = nullptr);

/// Whether the graph, one nested in it or one that is called does more than compute results.
bool has_effects(const Graph& graph, const GraphTable* table = nullptr);

}  // namespace terra::graph
