#include "graph/trace/merge.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/errors/errors.h"
#include "graph/ir/print.h"

namespace terra::graph {
namespace {

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.device() != b.device() || a.sizes() != b.sizes()) return false;
  const bool same_memory = a->storage == b->storage && a->offset == b->offset && a.strides() == b.strides();
  if (same_memory) return true;
  const size_t bytes = static_cast<size_t>(a.numel()) * size_of(a.dtype());
  const bool here = a.device().is_cpu() && b.device().is_cpu();
  return here && a.is_contiguous() && b.is_contiguous() && bytes <= 4096 &&
         std::memcmp(a->data_as<char>(), b->data_as<char>(), bytes) == 0;
}

bool same_constants(const Graph& a, const Graph& b);

/// Bodies are made the same way in each path: those that do the same read the same.
bool same_bodies(const Node& x, const Node& y) {
  return std::equal(
      x.bodies.begin(), x.bodies.end(), y.bodies.begin(), y.bodies.end(),
      [](const auto& a, const auto& b) { return print(*a, false) == print(*b, false) && same_constants(*a, *b); });
}

bool same_constants(const Graph& a, const Graph& b) {
  return std::equal(a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end(),
                    [](const auto& x, const auto& y) { return same_elements(x.second, y.second); }) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_bodies);
}

/// Which values of one program are which of another one, found by walking both in step.
class Correspondence {
 public:
  Correspondence(const Program& a, const Program& b) : a_(a), b_(b), b_of_(a.graph.values.size(), kNoId) {}

  /// Walks from the start; returns the number of the assert node where they part.
  size_t walk() {
    const auto &x = a_.graph.nodes, &y = b_.graph.nodes;
    for (size_t n = 0; n < x.size() && n < y.size(); ++n) {
      const bool parts = x[n].kind == NodeKind::Assert && y[n].kind == NodeKind::Assert &&
                         x[n].expected != y[n].expected && x[n].index == y[n].index;
      if (!same_node(x[n], y[n], parts)) throw InternalError("two paths differ before they part at a branch");
      if (parts) return n;
    }
    throw InternalError("two paths never part at a branch");
  }

  ValueId b_of(ValueId a) const { return b_of_[a]; }
  const Graph& first() const { return a_.graph; }

 private:
  bool same_node(const Node& x, const Node& y, bool parts) {
    if (x.kind != y.kind || x.op != y.op || x.index != y.index || x.chain != y.chain ||
        x.args.size() != y.args.size() || x.results.size() != y.results.size() ||
        (!parts && x.expected != y.expected) || !same_bodies(x, y))
      return false;
    for (size_t i = 0; i < x.args.size(); ++i)
      if (!same_argument(x.args[i], y.args[i])) return false;
    for (size_t r = 0; r < x.results.size(); ++r) {
      if (!(a_.graph.meta(x.results[r]) == b_.graph.meta(y.results[r]))) return false;
      b_of_[x.results[r]] = y.results[r];
    }
    return true;
  }

  bool same_argument(const NodeArg& x, const NodeArg& y) {
    if (x.index() != y.index()) return false;
    if (const auto* use = std::get_if<Use>(&x)) return same_value(use->id, std::get<Use>(y).id);
    if (const auto* list = std::get_if<UseList>(&x)) {
      const auto& other = std::get<UseList>(y);
      return std::equal(list->begin(), list->end(), other.begin(), other.end(),
                        [&](ValueId v, ValueId w) { return v == kNoId || w == kNoId ? v == w : same_value(v, w); });
    }
    return same_arg(x, y);
  }

  /// Results are the same where their nodes were; inputs and constants where they are met at the same place.
  bool same_value(ValueId v, ValueId w) {
    if (b_of_[v] != kNoId) return b_of_[v] == w;
    const int i = position(a_.graph.inputs, v), j = position(b_.graph.inputs, w);
    const bool same =
        i >= 0 && j >= 0 ? same_input(static_cast<size_t>(i), static_cast<size_t>(j)) : same_constant(v, w);
    if (same) b_of_[v] = w;
    return same;
  }

  bool same_input(size_t i, size_t j) const {
    const InputBinding &x = a_.inputs[i], &y = b_.inputs[j];
    return x.kind == y.kind && x.offset == y.offset && x.strides == y.strides &&
           a_.graph.meta(a_.graph.inputs[i]) == b_.graph.meta(b_.graph.inputs[j]);
  }

  bool same_constant(ValueId v, ValueId w) const {
    const Tensor *x = constant(a_.graph, v), *y = constant(b_.graph, w);
    return x && y && same_elements(*x, *y);
  }

  static int position(const std::vector<ValueId>& list, ValueId v) {
    const auto found = std::find(list.begin(), list.end(), v);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
  }
  static const Tensor* constant(const Graph& g, ValueId v) {
    const auto found =
        std::find_if(g.constants.begin(), g.constants.end(), [v](const auto& c) { return c.first == v; });
    return found == g.constants.end() ? nullptr : &found->second;
  }

  const Program &a_, &b_;
  std::vector<ValueId> b_of_;  // by value of a
};

class Merger {
 public:
  explicit Merger(std::vector<Path> paths) : own_(paths.size()), taken_(paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i) {
      own_[i] = {paths[i].tensors, paths[i].scalars};
      paths_.push_back(std::move(paths[i].program));
    }
    for (const Program& p : paths_)
      if (!p.roots.empty()) throw InternalError("a path has a result that can be differentiated from outside");
  }

  MergedPaths run() {
    std::vector<uint32_t> all(paths_.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return split(std::move(all), 0, {0, 0});
  }

 private:
  /// Numbers of tensors and scalars, or which tensor or scalar of the nodes above a value is.
  struct Slot {
    uint32_t tensors = 0, scalars = 0;
  };

  MergedPaths split(std::vector<uint32_t> leaves, size_t start, Slot above) {
    MergedPaths out;
    out.leaves = leaves;
    if (leaves.size() == 1) {
      out.program = rest(leaves[0], start, paths_[leaves[0]].graph.nodes.size());
      return out;
    }
    const uint32_t first = leaves[0];
    std::vector<Correspondence> same;
    size_t end = ~size_t{0};
    for (uint32_t leaf : leaves) {
      same.emplace_back(paths_[first], paths_[leaf]);
      if (leaf != first) end = std::min(end, same.back().walk());
    }
    const Node& parting = paths_[first].graph.nodes[end];
    out.assert_index = parting.index;
    out.program = rest(first, start, end);
    renumber_inputs(out, first, std::get<Use>(parting.args[0]).id, same);
    const Slot below = hand_on(out.program, leaves, same, start, end, above);
    std::vector<uint32_t> by_truth[2];
    for (uint32_t leaf : leaves) by_truth[paths_[leaf].graph.nodes[end].expected].push_back(leaf);
    for (int truth : {0, 1}) out.cases[truth] = std::make_unique<MergedPaths>(split(by_truth[truth], end + 1, below));
    return out;
  }

  /// The nodes [start, end) of a path as a program: what earlier nodes made comes in as an input or, cheap views, is
  /// made again. At the end of the path it has the path's outputs, otherwise none yet.
  Program rest(uint32_t leaf, size_t start, size_t end) {
    Program out = paths_[leaf];
    Graph& g = out.graph;
    const bool whole = end == g.nodes.size();
    std::vector<bool> wanted(g.values.size(), false), again(start, false);
    for (size_t n = start; n < end; ++n) for_each_use(g.nodes[n], [&](ValueId v) { wanted[v] = true; });
    if (whole)
      for (ValueId v : g.outputs) wanted[v] = true;
    else
      wanted[std::get<Use>(g.nodes[end].args[0]).id] = true;
    std::vector<ValueId> taken;
    for (size_t n = start; n-- > 0;) {
      for (ValueId v : g.nodes[n].results) {
        if (!wanted[v]) continue;
        if (is_derived_again(g.nodes[n])) {
          again[n] = true;
          for_each_use(g.nodes[n], [&](ValueId used) { wanted[used] = true; });
        } else {
          taken.push_back(v);
        }
      }
    }
    for (ValueId v : taken) {
      const Slot& slot = taken_[leaf].at(v);
      const bool tensor = g.meta(v).is_tensor();
      InputBinding in;
      in.kind = tensor ? InputBinding::Kind::Tensor : InputBinding::Kind::Scalar;
      in.index = tensor ? own_[leaf].tensors + slot.tensors : own_[leaf].scalars + slot.scalars;
      if (tensor) in.strides = contiguous_strides(g.meta(v).sizes);
      g.inputs.push_back(v);
      g.input_names.resize(g.inputs.size());
      out.inputs.push_back(std::move(in));
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < end; ++n)
      if (n >= start || again[n]) nodes.push_back(std::move(g.nodes[n]));
    g.nodes = std::move(nodes);
    if (!whole) {
      g.outputs.clear();
      out.tensors.clear();
      out.results.clear();
      out.writes.clear();
      out.grads.clear();
      out.flags.clear();
      out.calls = 0;
    }
    return out;
  }

  /// An inner node numbers its own inputs from 0, so that each leaf below can say which of its run's they are.
  void renumber_inputs(MergedPaths& node, uint32_t first, ValueId truth, const std::vector<Correspondence>& same) {
    Program& p = node.program;
    std::vector<bool> used(p.graph.values.size(), false);
    for (const Node& n : p.graph.nodes) for_each_use(n, [&](ValueId v) { used[v] = true; });
    used[truth] = true;
    const Program& path = paths_[first];
    node.tensors_of.resize(node.leaves.size());
    node.scalars_of.resize(node.leaves.size());
    std::vector<InputBinding> bindings;
    std::vector<ValueId> inputs;
    std::vector<std::string> names;
    uint32_t tensors = 0, scalars = 0;
    for (size_t i = 0; i < path.inputs.size(); ++i) {
      const ValueId v = p.graph.inputs[i];
      if (!used[v]) continue;
      const bool tensor = p.inputs[i].kind == InputBinding::Kind::Tensor;
      for (size_t l = 0; l < node.leaves.size(); ++l) {
        const Program& other = paths_[node.leaves[l]];
        const ValueId theirs = l == 0 ? v : same[l].b_of(v);
        const auto at = std::find(other.graph.inputs.begin(), other.graph.inputs.end(), theirs);
        ensure(at != other.graph.inputs.end(), "an input of a shared node is an input of all paths");
        (tensor ? node.tensors_of : node.scalars_of)[l].push_back(
            other.inputs[static_cast<size_t>(at - other.graph.inputs.begin())].index);
      }
      p.inputs[i].index = tensor ? tensors++ : scalars++;
      bindings.push_back(p.inputs[i]);
      inputs.push_back(v);
      names.push_back(i < p.graph.input_names.size() ? p.graph.input_names[i] : "");
    }
    for (size_t i = path.inputs.size(); i < p.inputs.size(); ++i) {  // taken over from nodes above
      const bool tensor = p.inputs[i].kind == InputBinding::Kind::Tensor;
      p.inputs[i].index += tensor ? tensors - own_[first].tensors : scalars - own_[first].scalars;
      bindings.push_back(p.inputs[i]);
      inputs.push_back(p.graph.inputs[i]);
      names.push_back("");
    }
    p.inputs = std::move(bindings);
    p.graph.inputs = std::move(inputs);
    p.graph.input_names = std::move(names);
  }

  /// Makes what paths below need of nodes [start, end) results of the shared program, and the truth the last one.
  Slot hand_on(Program& shared, const std::vector<uint32_t>& leaves, const std::vector<Correspondence>& same,
               size_t start, size_t end, Slot above) {
    const Graph& first = paths_[leaves[0]].graph;
    std::vector<bool> needed(first.values.size(), false);
    for (size_t l = 0; l < leaves.size(); ++l) mark_needed(leaves[l], l == 0 ? nullptr : &same[l], start, end, needed);
    for (size_t n = start; n < end; ++n) {
      for (ValueId v : first.nodes[n].results) {
        if (!needed[v] || is_derived_again(first.nodes[n])) continue;
        const ValueMeta& meta = first.meta(v);
        if (meta.kind == ValueKind::Handle) throw InternalError("a handle would cross a branch");
        for (size_t l = 0; l < leaves.size(); ++l) taken_[leaves[l]][l == 0 ? v : same[l].b_of(v)] = above;
        hand_out(shared, v);
        (meta.is_tensor() ? above.tensors : above.scalars)++;
      }
    }
    Node truth;
    truth.kind = NodeKind::Item;
    truth.args = {first.nodes[end].args[0]};
    truth.origin = first.nodes[end].origin;
    truth.results = {shared.graph.add_value(ValueMeta::number(Scalar::Kind::Bool))};
    shared.graph.nodes.push_back(truth);
    hand_out(shared, truth.results[0]);
    return above;
  }

  /// Values of nodes [start, end), in the numbers of the first path, that a path uses behind its node `end`.
  void mark_needed(uint32_t leaf, const Correspondence* same, size_t start, size_t end, std::vector<bool>& needed) {
    const Graph& g = paths_[leaf].graph;
    std::vector<bool> used(g.values.size(), false);
    for (ValueId v : g.outputs) used[v] = true;
    for (size_t n = end + 1; n < g.nodes.size(); ++n) for_each_use(g.nodes[n], [&](ValueId v) { used[v] = true; });
    for (size_t n = end; n-- > 0;)  // cheap views are derived again, from their operands
      if (is_derived_again(g.nodes[n]) && used[g.nodes[n].results[0]])
        for_each_use(g.nodes[n], [&](ValueId v) { used[v] = true; });
    const Graph& first = same ? same->first() : g;
    for (size_t n = start; n < end; ++n)
      for (ValueId v : first.nodes[n].results) needed[v] = needed[v] || used[same ? same->b_of(v) : v];
  }

  std::vector<Program> paths_;
  std::vector<Slot> own_;                       // by path: how many tensors and scalars its runs come with
  std::vector<std::map<ValueId, Slot>> taken_;  // by path: values that nodes above hand on
};

}  // namespace

bool is_derived_again(const Node& n) { return n.is_op(kView) || n.kind == NodeKind::AsTensor; }

void hand_out(Program& p, ValueId v) {
  const ValueMeta& meta = p.graph.meta(v);
  const auto output = static_cast<uint32_t>(p.graph.outputs.size());
  p.graph.outputs.push_back(v);
  if (!meta.is_tensor()) {
    p.results.push_back({ResultSpec::Kind::Scalar, output});
    return;
  }
  TensorSpec spec;
  spec.index = output;
  spec.dtype = meta.dtype;
  spec.sizes = meta.sizes;
  spec.strides = contiguous_strides(meta.sizes);
  p.results.push_back({ResultSpec::Kind::Tensor, static_cast<uint32_t>(p.tensors.size())});
  p.tensors.push_back(std::move(spec));
}

MergedPaths merge_paths(std::vector<Path> paths) { return Merger(std::move(paths)).run(); }

}  // namespace terra::graph
