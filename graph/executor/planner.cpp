#include "graph/executor/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "graph/executor/commit.h"
#include "graph/executor/kernel_block.h"
#include "kernels/abi/kernel_error.h"

namespace terra::graph {
namespace {

constexpr int32_t kForever = INT32_MAX;

/// Where the tensors of a graph are. Numbers that stand for tensors without dimensions are the host's.
Device device_of(const Graph& graph) {
  std::vector<bool> is_number(graph.values.size(), false);
  for (const Node& n : graph.nodes)
    if (n.kind == NodeKind::AsTensor) is_number[n.results[0]] = true;
  std::optional<Device> found;
  for (ValueId v = 0; v < graph.values.size(); ++v) {
    const ValueMeta& m = graph.meta(v);
    if (!m.is_tensor() || is_number[v]) continue;
    if (!found) found = m.device;
    if (m.device != *found)
      throw InternalError(
          fmt::format("a graph computes on one device, not on {} and {}", to_string(*found), to_string(m.device)));
  }
  return found.value_or(Device());
}

class Planner {
 public:
  Planner(Graph graph, PlanRequest request) : request_(std::move(request)) {
    plan_.graph = std::move(graph);
    plan_.device = request_.device ? *request_.device : device_of(plan_.graph);
    plan_.roles = request_.roles;
    plan_.consumable = request_.consumable;
    plan_.places.resize(plan_.graph.values.size());
  }

  Plan run() {
    const Graph& g = plan_.graph;
    commits_ = choose_commits(g, plan_.roles, request_.input_strides);
    order_nodes();
    find_last_uses();
    place_inputs();
    claim_outputs();
    find_turned();
    for (size_t k = 0; k < body_nodes_; ++k) plan_node(order_[k]);
    materialise_outputs();
    steps_ = &plan_.tail;
    for (size_t k = body_nodes_; k < order_.size(); ++k) plan_node(order_[k]);
    commit_copies();
    reserve_workspaces();
    pack_arena();
    count_peak();
    return std::move(plan_);
  }

 private:
  const Graph& g() const { return plan_.graph; }
  const ValueMeta& meta(ValueId id) const { return g().meta(id); }

  // ---- order and lifetimes ---------------------------------------------------------------------------------------

  void order_nodes() {
    for (size_t n = 0; n < g().nodes.size(); ++n)
      if (!commits_.in_tail[n]) order_.push_back(n);
    body_nodes_ = order_.size();
    for (size_t n = 0; n < g().nodes.size(); ++n)
      if (commits_.in_tail[n]) order_.push_back(n);
  }

  /// last_use_[root]: position in order_ of the last node that may read memory of the value or of a view of it.
  void find_last_uses() {
    root_.resize(g().values.size());
    for (ValueId v = 0; v < root_.size(); ++v) root_[v] = v;
    last_use_.assign(g().values.size(), -1);
    for (const Node& n : g().nodes)
      if (n.is_op(kView)) root_[n.results[0]] = root_[std::get<Use>(n.args[0]).id];
    for (size_t k = 0; k < order_.size(); ++k)
      for_each_use(g().nodes[order_[k]],
                   [&](ValueId id) { last_use_[root_[id]] = std::max(last_use_[root_[id]], static_cast<int32_t>(k)); });
    for (ValueId id : g().outputs) last_use_[root_[id]] = kForever;
    position_ = -1;
  }

  // ---- places ----------------------------------------------------------------------------------------------------

  int32_t add_buffer(Buffer::Kind kind, uint32_t index, size_t bytes) {
    Buffer b;
    b.kind = kind;
    b.index = index;
    b.block.bytes = bytes;
    b.block.first = b.block.last = now();
    plan_.buffers.push_back(b);
    return static_cast<int32_t>(plan_.buffers.size()) - 1;
  }

  static Place contiguous_place(int32_t buffer, const ValueMeta& m) {
    return {buffer, 0, m.dtype, m.sizes, contiguous_strides(m.sizes)};
  }

  void place_inputs() {
    for (size_t i = 0; i < g().inputs.size(); ++i) {
      const ValueId id = g().inputs[i];
      if (!meta(id).is_tensor()) continue;
      Place p = contiguous_place(add_buffer(Buffer::Kind::Input, static_cast<uint32_t>(i), 0), meta(id));
      if (!request_.input_strides.empty()) p.strides = request_.input_strides[i];
      plan_.places[id] = p;
    }
    for (size_t c = 0; c < g().constants.size(); ++c) {
      const auto& [id, tensor] = g().constants[c];
      plan_.places[id] = contiguous_place(add_buffer(Buffer::Kind::Constant, static_cast<uint32_t>(c), 0), meta(id));
      plan_.places[id].strides = tensor.strides();
    }
  }

  /// Which value may be computed right into the memory of which fresh output: one that owns its memory.
  void claim_outputs() {
    claimed_by_.assign(g().values.size(), -1);
    const std::vector<int32_t> made_by = definitions(g());
    for (size_t o = 0; o < plan_.roles.size(); ++o) {
      if (plan_.roles[o].kind != OutputRole::Kind::Fresh) continue;
      const ValueId v = g().outputs[o];
      if (made_by[v] >= 0 && root_[v] == v && claimed_by_[v] < 0 && meta(v).is_tensor() &&
          !commits_.in_tail[made_by[v]] && g().nodes[made_by[v]].kind != NodeKind::AsTensor)
        claimed_by_[v] = static_cast<int32_t>(o);
    }
  }

  /// A result that is only read to be copied in another order of dimensions is made in that order, if its kernel can.
  void find_turned() {
    turned_.assign(g().values.size(), {});
    const std::vector<int32_t> made_by = definitions(g());
    const std::vector<uint32_t> uses = use_counts(g());
    const auto maker = [&](ValueId v) {
      const int32_t n = made_by[v];
      return n < 0 || uses[v] != 1 || commits_.in_tail[n] ? nullptr : &g().nodes[n];
    };
    for (size_t k = 0; k < body_nodes_; ++k) {
      const Node& copy = g().nodes[order_[k]];
      if (!is_pure_op(copy, "clone")) continue;
      const Node* order = maker(std::get<Use>(copy.args[0]).id);
      if (!order || !is_pure_op(*order, "permute")) continue;
      const ValueId result = std::get<Use>(order->args[0]).id;
      const Node* made = maker(result);
      if (!made || made->kind != NodeKind::Op || made->op->is(kView | kHost) || made->op->writes || made->op->reuses)
        continue;
      if (is_elementwise_node(*made) || !kernel_for(made->op->name, plan_.device).any_strides) continue;
      turned_[result] = {copy.results[0], &std::get<IntList>(order->args[1])};
    }
  }

  /// Places such a result where its copy is to be; false for another one.
  bool place_turned(ValueId result) {
    const auto& [copy, dims] = turned_[result];
    if (!dims) return false;
    place_fresh(copy);
    const Place& whole = plan_.places[copy];
    Place& place = plan_.places[result];
    place = {whole.buffer, 0, whole.dtype, meta(result).sizes, Dims(dims->size(), 0)};
    for (size_t i = 0; i < dims->size(); ++i)
      place.strides[static_cast<size_t>(wrap_dim((*dims)[i], dims->size()))] = whole.strides[i];
    return true;
  }

  int32_t now() const { return static_cast<int32_t>(plan_.body.size() + plan_.tail.size()); }

  void touch(const Place& p) {
    if (p.buffer < 0) return;
    ArenaBlock& b = plan_.buffers[p.buffer].block;
    b.last = std::max(b.last, now());
  }

  /// Memory of its own for a result: in the arena, or what escapes.
  void place_fresh(ValueId v) {
    const int32_t output = claimed_by_[v];
    const auto kind = output >= 0 ? Buffer::Kind::Fresh : Buffer::Kind::Arena;
    plan_.places[v] =
        contiguous_place(add_buffer(kind, static_cast<uint32_t>(std::max(output, 0)), meta(v).bytes()), meta(v));
  }

  /// True iff nobody reads the memory of `old` after the node being planned, and it is the plan's to reuse. `old` must
  /// be all of its buffer: one that is claimed for an output gets the output's size.
  bool is_dead_after(ValueId old) const {
    const Place& p = plan_.places[old];
    if (p.buffer < 0 || p.offset != 0 || !p.is_contiguous() || taken_[p.buffer]) return false;
    const Buffer& b = plan_.buffers[p.buffer];
    return b.kind == Buffer::Kind::Arena && b.block.bytes == meta(old).bytes() && last_use_[root_[old]] <= position_;
  }

  /// Gives result v the memory of operand `old`.
  void reuse(ValueId old, ValueId v) {
    plan_.places[v] = plan_.places[old];
    Buffer& b = plan_.buffers[plan_.places[old].buffer];
    if (claimed_by_[v] >= 0) {
      b.kind = Buffer::Kind::Fresh;
      b.index = static_cast<uint32_t>(claimed_by_[v]);
    }
    taken_[plan_.places[old].buffer] = true;
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  void plan_node(size_t index) {
    const Node& n = g().nodes[index];
    ++position_;
    taken_.assign(plan_.buffers.size() + n.results.size() + 8, false);
    if (n.is_op(kView)) return plan_view(n.op, std::get<Use>(n.args[0]).id, std::span(n.args).subspan(1), n.results[0]);
    if (n.kind == NodeKind::AsTensor) {
      const ValueId scalar = std::get<Use>(n.args[0]).id;
      plan_.places[n.results[0]] = contiguous_place(add_buffer(Buffer::Kind::Scalar, scalar, 0), meta(n.results[0]));
      return;
    }
    if (n.kind == NodeKind::WriteView) return plan_write_view(index, n);
    if (takes_rows(n)) return plan_of_rows(n);
    if (is_pure_op(n, "clone") && plan_.places[n.results[0]].buffer >= 0) return;  // it has been made there
    if (commits_.in_tail[index])
      place_on_inputs(n);
    else if (n.kind == NodeKind::Op && n.op->writes)
      place_updates(n);
    else
      place_results(n);
    add_node_step(n);
  }

  void add_node_step(const Node& n, Step s = {}) {
    for_each_use(n, [&](ValueId id) { touch(plan_.places[id]); });
    for (ValueId r : n.results) touch(plan_.places[r]);
    s.node = &n;
    steps_->push_back(std::move(s));
  }

  /// Graphs are planned for operands in row-major order on their device, and records have their members so.
  static bool takes_rows(const Node& n) {
    return n.kind == NodeKind::Switch || n.kind == NodeKind::While || n.kind == NodeKind::Call ||
           n.kind == NodeKind::Pack;
  }

  /// Numbers that are read as tensors are the host's.
  bool is_on_device(const Place& p) const {
    return plan_.device.is_cpu() || plan_.buffers[p.buffer].kind != Buffer::Kind::Scalar;
  }

  Place new_place(const ValueMeta& m) {
    return m.is_tensor() ? contiguous_place(add_buffer(Buffer::Kind::Arena, 0, m.bytes()), m) : Place();
  }

  void plan_of_rows(const Node& n) {
    Step s;
    for (size_t a = 0; a < n.args.size(); ++a) {
      const ValueId id = operand(n, a);
      Place& place = s.operands.emplace_back(id == kNoId ? Place() : plan_.places[id]);
      if (id == kNoId || !meta(id).is_tensor() || (place.is_contiguous() && is_on_device(place))) continue;
      place = new_place(meta(id));
      add_copy(plan_.places[id], place);
    }
    place_results(n);
    if (n.kind == NodeKind::While) {
      for (ValueId r : n.results) s.beside.push_back(new_place(meta(r)));
      s.beside.push_back(new_place(n.bodies[0]->meta(n.bodies[0]->outputs[0])));
    }
    for (const std::vector<Place>* places : {&s.operands, &s.beside})
      for (const Place& p : *places) touch(p);
    add_node_step(n, std::move(s));
  }

  void add_copy(const Place& from, const Place& to) {
    touch(from);
    touch(to);
    Step s;
    s.kind = Step::Kind::Copy;
    s.from = from;
    s.to = to;
    steps_->push_back(std::move(s));
  }

  void plan_view(const Op* op, ValueId base, std::span<const NodeArg> attributes, ValueId result) {
    const Place& from = plan_.places[base];
    if (place_view(*op, from, attributes, plan_.places[result])) return;
    const Place copy = contiguous_place(add_buffer(Buffer::Kind::Arena, 0, meta(base).bytes()), meta(base));
    add_copy(from, copy);
    if (!place_view(*op, copy, attributes, plan_.places[result]))
      throw InternalError("the view '" + std::string(op->name) + "' refuses a contiguous tensor");
  }

  /// Tail nodes write the memory of the inputs that their results replace.
  void place_on_inputs(const Node& n) {
    for (size_t o = 0; o < plan_.roles.size(); ++o)
      for (ValueId r : n.results)
        if (g().outputs[o] == r && commits_.written_in_place[o])
          plan_.places[r] = plan_.places[g().inputs[plan_.roles[o].input]];
  }

  /// Ops that replace parameters: in place where the old value is dead, else on a copy of it.
  void place_updates(const Node& n) {
    for (size_t r = 0; r < n.results.size(); ++r) {
      const ValueId old = replaced_operand(g(), n, r);
      if (is_dead_after(old) && alone(n, old, false)) {
        reuse(old, n.results[r]);
      } else {
        place_fresh(n.results[r]);
        add_copy(plan_.places[old], plan_.places[n.results[r]]);
      }
    }
  }

  /// The other operands that share memory with `old` are exactly it (elementwise) or absent (other ops).
  bool alone(const Node& n, ValueId old, bool elementwise) const {
    int same = 0;
    bool good = true;
    for_each_use(n, [&](ValueId id) {
      const Place& p = plan_.places[id];
      if (p.buffer != plan_.places[old].buffer) return;
      ++same;
      good &= elementwise && same_place(p, plan_.places[old]);
    });
    return same == 1 || good;
  }

  void place_results(const Node& n) {
    const bool elementwise = is_elementwise_node(n);
    const uint32_t reuses = n.kind == NodeKind::Op && !n.op->is(kHost) ? n.op->reuses : 0;
    for (size_t r = 0; r < n.results.size(); ++r) {
      const ValueId result = n.results[r];
      if (!meta(result).is_tensor() || place_turned(result)) continue;
      bool reused = false;
      for (size_t a = 0; a < n.args.size() && !reused; ++a) {
        if (!elementwise && !(reuses >> a & 1)) continue;
        const auto* use = std::get_if<Use>(&n.args[a]);
        if (!use || !(meta(use->id) == meta(result)) || !is_dead_after(use->id)) continue;
        if (!alone(n, use->id, elementwise) || !read_before_made(n, a, r)) continue;
        if (n.kind == NodeKind::Fused && !all_reads_before(n, use->id, r)) continue;
        reuse(use->id, result);
        reused = true;
      }
      if (!reused) place_fresh(result);
    }
  }

  /// The same for every argument of a fused chain that is in the memory of `old`.
  bool all_reads_before(const Node& n, ValueId old, size_t r) const {
    for (size_t a = 0; a < n.args.size(); ++a) {
      const auto* use = std::get_if<Use>(&n.args[a]);
      if (use && plan_.places[use->id].buffer == plan_.places[old].buffer && !read_before_made(n, a, r)) return false;
    }
    return true;
  }

  void plan_write_view(size_t index, const Node& n) {
    const ValueId base = std::get<Use>(n.args[0]).id, value = std::get<Use>(n.args[1]).id, result = n.results[0];
    if (commits_.in_tail[index]) {
      place_on_inputs(n);
    } else if (is_dead_after(base) && plan_.places[value].buffer != plan_.places[base].buffer) {
      reuse(base, result);
    } else {
      place_fresh(result);
      add_copy(plan_.places[base], plan_.places[result]);
    }
    Place region;
    if (!place_view(*n.op, plan_.places[result], std::span(n.args).subspan(2), region))
      throw InternalError("the view '" + std::string(n.op->name) + "' can't be written through");
    add_copy(plan_.places[value], region);
  }

  // ---- outputs ---------------------------------------------------------------------------------------------------

  /// Fresh outputs that weren't computed in place, and new values of storages that the copies at the commit could
  /// spoil.
  void materialise_outputs() {
    committed_.resize(plan_.roles.size());
    for (size_t o = 0; o < plan_.roles.size(); ++o) {
      const ValueId v = g().outputs[o];
      const OutputRole& role = plan_.roles[o];
      const Place& p = plan_.places[v];
      if (role.kind == OutputRole::Kind::Fresh) {
        const Buffer::Kind kind = p.buffer >= 0 ? plan_.buffers[p.buffer].kind : Buffer::Kind::Arena;
        if (kind == Buffer::Kind::Fresh && plan_.buffers[p.buffer].index == o) continue;
        const Place to =
            contiguous_place(add_buffer(Buffer::Kind::Fresh, static_cast<uint32_t>(o), meta(v).bytes()), meta(v));
        add_copy(p, to);
      } else if (role.kind == OutputRole::Kind::Write && !commits_.written_in_place[o]) {
        committed_[o] = p;
        if (p.buffer >= 0 && plan_.buffers[p.buffer].kind == Buffer::Kind::Input) {
          if (v == g().inputs[role.input]) continue;  // unchanged
          const Place kept = contiguous_place(add_buffer(Buffer::Kind::Arena, 0, meta(v).bytes()), meta(v));
          add_copy(p, kept);
          committed_[o] = kept;
        }
      }
    }
  }

  void commit_copies() {
    for (size_t o = 0; o < plan_.roles.size(); ++o) {
      if (plan_.roles[o].kind != OutputRole::Kind::Write || commits_.written_in_place[o]) continue;
      const Place& to = plan_.places[g().inputs[plan_.roles[o].input]];
      if (same_place(committed_[o], to)) continue;
      add_copy(committed_[o], to);
    }
  }

  // ---- memory ----------------------------------------------------------------------------------------------------

  void reserve_workspaces() {
    int32_t at = 0;
    for (std::vector<Step>* steps : {&plan_.body, &plan_.tail}) {
      for (Step& s : *steps) {
        if (const size_t bytes = workspace_bytes(s); bytes > 0) {
          Buffer b;
          b.block = {bytes, at, at, 0};
          plan_.buffers.push_back(b);
          s.workspace = static_cast<int32_t>(plan_.buffers.size()) - 1;
        }
        ++at;
      }
    }
  }

  size_t workspace_bytes(const Step& s) const {
    if (s.kind == Step::Kind::Copy || s.node->kind != NodeKind::Op || s.node->op->is(kHost) ||
        is_elementwise_node(*s.node))
      return 0;
    const std::unique_ptr<KernelBlock> block = make_kernel_block(plan_, *s.node);
    try {
      return block->kernel->workspace ? block->kernel->workspace(block->call) : 0;
    } catch (const KernelError& e) {  // it would refuse the call as well
      throw Error(ErrorKind::RuntimeError, e.what());
    }
  }

  void pack_arena() {
    std::vector<ArenaBlock> blocks;
    for (Buffer& b : plan_.buffers) {
      if (b.kind != Buffer::Kind::Arena) continue;
      if (b.block.bytes < lent_bytes()) {
        blocks.push_back(b.block);
      } else {
        b.kind = Buffer::Kind::Lent;
        b.index = static_cast<uint32_t>(plan_.lent++);
      }
    }
    plan_.arena_bytes = pack(blocks);
    size_t k = 0;
    for (Buffer& b : plan_.buffers)
      if (b.kind == Buffer::Kind::Arena) b.block = blocks[k++];
  }

  void count_peak() {
    std::vector<int64_t> change(static_cast<size_t>(now()) + 2, 0);
    for (const Buffer& b : plan_.buffers) {
      if (b.kind != Buffer::Kind::Lent && b.kind != Buffer::Kind::Fresh) continue;
      const auto bytes = static_cast<int64_t>(b.block.bytes);
      change[static_cast<size_t>(b.block.first)] += bytes;
      if (b.kind == Buffer::Kind::Lent) change[static_cast<size_t>(b.block.last) + 1] -= bytes;
    }
    int64_t live = static_cast<int64_t>(plan_.arena_bytes), peak = live;
    for (const int64_t c : change) peak = std::max(peak, live += c);
    plan_.peak_bytes = static_cast<size_t>(peak);
  }

  PlanRequest request_;
  Plan plan_;
  CommitChoice commits_;
  std::vector<size_t> order_;  // nodes as they run: body, then tail
  size_t body_nodes_ = 0;
  int32_t position_ = 0;  // in order_
  std::vector<ValueId> root_;
  std::vector<int32_t> last_use_;
  std::vector<int32_t> claimed_by_;                         // value -> fresh output
  std::vector<std::pair<ValueId, const IntList*>> turned_;  // by result: the copy that it becomes, in which order
  std::vector<bool> taken_;                                 // buffers that a result of the node being planned has taken
  std::vector<Place> committed_;                            // by output: where the value to commit lies
  std::vector<Step>* steps_ = &plan_.body;
};

}  // namespace

size_t& lent_bytes() {
  static size_t bytes = size_t{256} << 10;
  return bytes;
}

Plan make_plan(Graph graph, PlanRequest request) { return Planner(std::move(graph), std::move(request)).run(); }

}  // namespace terra::graph
