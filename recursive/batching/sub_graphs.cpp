#include "recursive/batching/sub_graphs.h"

#include <functional>

#include "engine/errors/errors.h"

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::Use;

bool is_host(const graph::ValueMeta& meta) { return !meta.is_tensor(); }

/// A switch as a graph by itself, on its own operands.
std::unique_ptr<Graph> graph_of(const Node& choice, const Graph& around, std::string name) {
  auto made = std::make_unique<Graph>();
  made->name = std::move(name);
  made->origins = around.origins;
  Node inner = choice;
  graph::for_each_use(inner, [&](ValueId& id) { id = made->add_input(around.meta(id)); });
  for (ValueId& r : inner.results) r = made->add_value(around.meta(r));
  made->outputs = inner.results;
  made->nodes.push_back(std::move(inner));
  return made;
}

/// Follows a graph through its switches, one path after the other. `branch_of` numbers switches that are called.
class PathFinder {
 public:
  using BranchOf = std::function<GraphId(const Node&, const Graph& around)>;

  PathFinder(SubGraph& made, BranchOf branch_of) : made_(made), branch_of_(std::move(branch_of)) {}

  void run(const Graph& g) {
    Walk walk;
    walk.path.body.name = g.name;
    Frame frame{&g, 0, std::vector<ValueId>(g.values.size(), kNoId), nullptr};
    for (ValueId id : g.inputs) {
      frame.value[id] = walk.path.body.add_input(g.meta(id));
      if (is_host(g.meta(id))) walk.give_slot(frame.value[id]);
    }
    walk.enter(std::move(frame));
    made_.blocks.emplace_back();
    follow(std::move(walk), 0);
  }

 private:
  struct Frame {
    const Graph* graph;
    size_t next;                 ///< node
    std::vector<ValueId> value;  ///< of the body, by value of the graph
    const Node* site;            ///< the switch that it is a case of
  };

  struct Walk {
    Path path;
    std::vector<Frame> frames;

    void enter(Frame frame) {
      for (const auto& [id, tensor] : frame.graph->constants) frame.value[id] = path.body.add_constant(tensor);
      frames.push_back(std::move(frame));
    }

    uint32_t give_slot(ValueId id) {
      path.slots.resize(path.body.values.size(), kNoSlot);
      return path.slots[id] = path.used_slots++;
    }

    /// The case has ended: its outputs are the results of the switch.
    void leave() {
      const Frame done = std::move(frames.back());
      frames.pop_back();
      for (size_t r = 0; r < done.graph->outputs.size(); ++r)
        frames.back().value[done.site->results[r]] = done.value[done.graph->outputs[r]];
    }
  };

  void follow(Walk walk, uint32_t block) {
    for (;;) {
      Frame& f = walk.frames.back();
      if (f.next < f.graph->nodes.size()) {
        const Node& n = f.graph->nodes[f.next++];
        if (n.kind != NodeKind::Switch)
          add(walk, n, block);
        else if (walk.path.is_item(f.value[graph::operand(n, 0)]))
          call(walk, n);
        else
          return branch(std::move(walk), n, block);
      } else if (walk.frames.size() > 1) {
        walk.leave();
      } else {
        break;
      }
    }
    const Frame& f = walk.frames.back();
    for (ValueId id : f.graph->outputs) walk.path.body.outputs.push_back(f.value[id]);
    made_.blocks[block].path = static_cast<uint32_t>(made_.paths.size());
    walk.path.slots.resize(walk.path.body.values.size(), kNoSlot);
    made_.paths.push_back(std::move(walk.path));
  }

  void branch(Walk walk, const Node& n, uint32_t block) {
    const Frame& f = walk.frames.back();
    const uint32_t selector = walk.path.slot(f.value[graph::operand(n, 0)]);
    if (selector == kNoSlot) throw InternalError("a switch goes by a number that nobody decides");
    made_.blocks[block].selector = selector;
    for (const auto& body : n.bodies) {
      Walk next = walk;
      Frame inner{body.get(), 0, std::vector<ValueId>(body->values.size(), kNoId), &n};
      for (size_t i = 0; i < body->inputs.size(); ++i) inner.value[body->inputs[i]] = f.value[graph::operand(n, i + 1)];
      next.enter(std::move(inner));
      const auto begins = static_cast<uint32_t>(made_.blocks.size());
      made_.blocks.emplace_back();
      made_.blocks[block].next.push_back(begins);
      follow(std::move(next), begins);
    }
  }

  void call(Walk& walk, const Node& choice) {
    Node node = choice;
    node.kind = NodeKind::Call;
    node.index = branch_of_(choice, *walk.frames.back().graph);
    node.bodies.clear();
    add(walk, node, 0);
  }

  void add(Walk& walk, const Node& n, uint32_t block) {
    Frame& f = walk.frames.back();
    Graph& body = walk.path.body;
    Node node = n;
    node.origin = -1;
    graph::for_each_use(node, [&](ValueId& id) { id = f.value[id]; });
    for (ValueId& r : node.results) {
      const ValueId outer = body.add_value(f.graph->meta(r));
      f.value[r] = outer;
      r = outer;
    }
    if (n.origin >= 0) {
      node.origin = static_cast<int32_t>(body.origins.size());
      body.origins.push_back(f.graph->origins[n.origin]);
    }
    if (node.kind == NodeKind::HostCall) made_.blocks[block].steps.push_back(host_step(walk, node));
    if (node.kind == NodeKind::Item) {
      walk.path.items.push_back(walk.give_slot(node.results[0]));
      made_.blocks[block].steps.push_back({kItem, {}, {walk.path.items.back()}});
    }
    if (node.kind == NodeKind::Call) walk.path.calls.push_back(static_cast<uint32_t>(body.nodes.size()));
    body.nodes.push_back(std::move(node));
  }

  HostStep host_step(Walk& walk, const Node& node) {
    HostStep step;
    step.function = node.index;
    graph::for_each_use(node, [&](ValueId id) {
      if (walk.path.slot(id) == kNoSlot || walk.path.is_item(id))
        throw Unbatchable{"a host read is given something that graph \"" + made_.name +
                          "\" computes: hand it to a SubGraph, or read in a way that it chooses"};
      step.args.push_back(walk.path.slot(id));
    });
    for (ValueId r : node.results) step.results.push_back(walk.give_slot(r));
    return step;
  }

  SubGraph& made_;
  const BranchOf branch_of_;
};

}  // namespace

SubGraphs::SubGraphs(std::shared_ptr<const graph::GraphTable> table, GraphId root, const std::vector<bool>& own)
    : table_(std::move(table)), root_(root), of_(table_->size()) {
  add(root);
  find_shared_inputs(own);
}

void SubGraphs::add(GraphId id) {
  if (of_[id]) return;
  const Graph& g = graph(id);
  of_[id] = std::make_unique<SubGraph>();
  SubGraph& made = *of_[id];
  made.id = id;
  made.name = id < table_->size() ? table_->name(id) : g.name;
  for (ValueId input : g.inputs)
    made.inputs.push_back({is_host(g.meta(input)) ? InputKind::Host : InputKind::Shared, kNoId});
  for (ValueId output : g.outputs) {
    if (!g.meta(output).is_tensor())
      throw Unbatchable{"graph \"" + made.name + "\" returns something other than tensors"};
    made.results.push_back(g.meta(output));
  }
  PathFinder(made, [&](const Node& n, const Graph& around) { return branch_of(n, around, made.name); }).run(g);
  for (const Path& path : made.paths)
    for (uint32_t n : path.calls) add(path.body.nodes[n].index);
}

const Graph& SubGraphs::graph(GraphId id) const {
  return id < table_->size() ? table_->at(id) : *branches_[id - table_->size()];
}

GraphId SubGraphs::branch_of(const Node& choice, const Graph& around, const std::string& caller) {
  const auto [at, is_new] = numbers_.try_emplace(&choice, static_cast<GraphId>(of_.size()));
  if (is_new) {
    branches_.push_back(graph_of(choice, around, caller + "/" + std::to_string(branches_.size())));
    of_.emplace_back();
  }
  return at->second;
}

template <class F>
bool SubGraphs::is_any_path(F&& f) const {
  return std::any_of(of_.begin(), of_.end(),
                     [&](const auto& of) { return of && std::any_of(of->paths.begin(), of->paths.end(), f); });
}

bool SubGraphs::have_items() const {
  return is_any_path([](const Path& p) { return !p.items.empty(); });
}

bool SubGraphs::read_tensors() const {
  return is_any_path([](const Path& p) {
    return std::any_of(p.body.nodes.begin(), p.body.nodes.end(), [&](const Node& n) {
      return n.kind == NodeKind::HostCall &&
             std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return p.body.meta(r).is_tensor(); });
    });
  });
}

void SubGraphs::find_shared_inputs(const std::vector<bool>& own) {
  SubGraph& first = *of_[root_];
  for (uint32_t i = 0; i < first.inputs.size(); ++i) {
    first.inputs[i].root = i;
    if (i < own.size() && own[i] && first.inputs[i].kind == InputKind::Shared) first.inputs[i].kind = InputKind::Row;
  }
  // An input is taken to be that of the root which its calls hand down, until a call hands down another one.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& caller : of_) {
      if (!caller) continue;
      for (const Path& path : caller->paths)
        for (uint32_t n : path.calls) {
          const Node& call = path.body.nodes[n];
          SubGraph& callee = *of_[call.index];
          for (size_t k = 0; k < callee.inputs.size(); ++k) {
            SubGraphInput& input = callee.inputs[k];
            if (input.kind != InputKind::Shared) continue;
            const auto& given = path.body.inputs;
            const auto at = std::find(given.begin(), given.end(), graph::operand(call, k));
            const SubGraphInput* from = at == given.end() ? nullptr : &caller->inputs[at - given.begin()];
            if (from && from->kind == InputKind::Shared && from->root == kNoId) continue;  // not known yet
            if (from && from->kind == InputKind::Shared && (input.root == kNoId || input.root == from->root)) {
              changed |= input.root != from->root;
              input.root = from->root;
            } else {
              input.kind = InputKind::Row;
              changed = true;
            }
          }
        }
    }
  }
}

}  // namespace terra::recursive
