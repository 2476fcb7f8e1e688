// Steps that run nested graphs: each has an instance of its own, whose operands are copied where they aren't
// contiguous.
#include <cstring>

#include "engine/errors/errors.h"
#include "graph/executor/blocks.h"
#include "graph/executor/kernel_block.h"
#include "graph/executor/planner.h"

namespace terra::graph {
namespace {

std::unique_ptr<Instance> nested(const Graph& body) {
  PlanRequest request;
  for (ValueId id : body.outputs)
    request.roles.push_back({body.meta(id).is_tensor() ? OutputRole::Kind::Fresh : OutputRole::Kind::Scalar, 0});
  return std::make_unique<Instance>(make_plan(body, std::move(request)));
}

/// An operand or result on the caller's side.
struct Port {
  ValueId id = kNoId;
  ValueKind kind = ValueKind::Tensor;
  Located at;
  std::vector<char> copy;  ///< contiguous elements, where the caller's aren't
};

void make_ports(Instance& instance, std::span<const ValueId> ids, std::vector<Port>& ports) {
  ports.resize(ids.size());
  const Graph& g = instance.plan().graph;
  for (size_t k = 0; k < ids.size(); ++k) {
    Port& p = ports[k];
    p.id = ids[k];
    p.kind = g.meta(p.id).kind;
    if (p.kind != ValueKind::Tensor) continue;
    p.at.locate(instance, p.id);
    if (!p.at.place->is_contiguous()) p.copy.resize(g.meta(p.id).bytes());
  }
}

void* contiguous_data(Port& p) {
  if (p.copy.empty()) return p.at.data;
  const Dims strides = contiguous_strides(p.at.place->sizes);
  const View from{p.at.data, p.at.place->sizes.data(), p.at.place->strides.data(),
                  static_cast<int32_t>(p.at.place->sizes.size()), p.at.place->dtype};
  View to = from;
  to.data = p.copy.data();
  to.strides = strides.data();
  KernelArg arg;
  arg.kind = KernelArg::Kind::Tensor;
  arg.count = 1;
  arg.views = &from;
  kernel_for("clone").run({{&to, 1}, {&arg, 1}, {}});
  return p.copy.data();
}

struct ControlBlock : Block {
  std::vector<Port> operands, results;
  std::vector<std::unique_ptr<Instance>> bodies;
};

void pass_operands(ControlBlock& b, Instance& outer, Instance& inner) {
  for (size_t k = 0; k < b.operands.size(); ++k) {
    Port& p = b.operands[k];
    if (p.kind == ValueKind::Tensor) inner.bind_input(k, contiguous_data(p));
    if (p.kind == ValueKind::Scalar) inner.bind_scalar(k, outer.scalar(p.id));
    if (p.kind == ValueKind::Handle) inner.bind_handle(k, outer.handle(p.id));
  }
}

bool run_inner(Instance& outer, Instance& inner) {
  const Stop stop = inner.run_body(outer.poll());
  if (stop.why == Stop::Why::None) return true;
  outer.stop(stop);
  return false;
}

void take_scalars(ControlBlock& b, Instance& outer, Instance& inner) {
  const Graph& g = inner.plan().graph;
  for (size_t r = 0; r < b.results.size(); ++r) {
    if (b.results[r].kind == ValueKind::Scalar) outer.set_scalar(b.results[r].id, inner.scalar(g.outputs[r]));
    if (b.results[r].kind == ValueKind::Handle) outer.set_handle(b.results[r].id, inner.handle(g.outputs[r]));
  }
}

/// Runs a body once with the node's operands, results going to the node's results.
bool run_once(ControlBlock& b, Instance& outer, Instance& inner) {
  pass_operands(b, outer, inner);
  for (size_t r = 0; r < b.results.size(); ++r)
    if (b.results[r].kind == ValueKind::Tensor) inner.bind_fresh(r, b.results[r].at.data);
  if (!run_inner(outer, inner)) return false;
  take_scalars(b, outer, inner);
  return true;
}

struct SwitchBlock final : ControlBlock {
  Port selector;
};

bool run_switch(Block& block, Instance& outer) {
  auto& b = static_cast<SwitchBlock&>(block);
  const Scalar s = b.selector.kind == ValueKind::Scalar
                       ? outer.scalar(b.selector.id)
                       : read_scalar(b.selector.at.data, b.selector.at.place->dtype, Scalar::Kind::Int);
  const int64_t cases = static_cast<int64_t>(b.bodies.size()) - 1, chosen = s.to_int();
  return run_once(b, outer, *b.bodies[static_cast<size_t>(chosen >= 0 && chosen < cases ? chosen : cases)]);
}

bool run_call(Block& block, Instance& outer) {
  auto& b = static_cast<ControlBlock&>(block);
  return run_once(b, outer, *b.bodies[0]);
}

/// The state of a loop, its operands that have results, lives in two sets of buffers that take turns as operands and
/// results.
struct WhileBlock final : ControlBlock {
  std::vector<std::vector<char>> state[2];
  std::vector<char> truth;
};

bool run_while(Block& block, Instance& outer) {
  auto& b = static_cast<WhileBlock&>(block);
  Instance &condition = *b.bodies[0], &step = *b.bodies[1];
  const size_t n = b.results.size();
  const Graph& cg = condition.plan().graph;
  const ValueMeta& truth_meta = cg.meta(cg.outputs[0]);
  pass_operands(b, outer, condition);
  pass_operands(b, outer, step);
  std::vector<void*> now(n, nullptr);
  for (size_t k = 0; k < n; ++k)
    if (b.operands[k].kind == ValueKind::Tensor)
      now[k] = b.operands[k].copy.empty() ? b.operands[k].at.data : b.operands[k].copy.data();
  std::vector<Scalar> scalars(n);
  for (size_t k = 0; k < n; ++k)
    if (b.operands[k].kind == ValueKind::Scalar) scalars[k] = outer.scalar(b.operands[k].id);
  for (int turn = 0;; turn ^= 1) {
    for (size_t k = 0; k < n; ++k) {
      if (now[k]) condition.bind_input(k, now[k]), step.bind_input(k, now[k]);
      if (b.operands[k].kind == ValueKind::Scalar)
        condition.bind_scalar(k, scalars[k]), step.bind_scalar(k, scalars[k]);
    }
    if (truth_meta.is_tensor()) condition.bind_fresh(0, b.truth.data());
    if (!run_inner(outer, condition)) return false;
    const bool holds = truth_meta.is_tensor()
                           ? read_scalar(b.truth.data(), truth_meta.dtype, Scalar::Kind::Bool).to_bool()
                           : condition.scalar(cg.outputs[0]).to_bool();
    if (!holds) break;
    for (size_t k = 0; k < n; ++k)
      if (now[k]) step.bind_fresh(k, b.state[turn][k].data());
    if (!run_inner(outer, step)) return false;
    const Graph& sg = step.plan().graph;
    for (size_t k = 0; k < n; ++k) {
      if (now[k]) now[k] = b.state[turn][k].data();
      if (b.operands[k].kind == ValueKind::Scalar) scalars[k] = step.scalar(sg.outputs[k]);
    }
  }
  for (size_t k = 0; k < n; ++k) {
    if (now[k]) std::memcpy(b.results[k].at.data, now[k], outer.plan().graph.meta(b.results[k].id).bytes());
    if (b.operands[k].kind == ValueKind::Scalar) outer.set_scalar(b.results[k].id, scalars[k]);
  }
  return true;
}

void fill(ControlBlock& b, Instance& instance, const Node& node, size_t first_operand) {
  std::vector<ValueId> operands;
  for (size_t a = first_operand; a < node.args.size(); ++a) operands.push_back(std::get<Use>(node.args[a]).id);
  make_ports(instance, operands, b.operands);
  make_ports(instance, node.results, b.results);
  for (const auto& body : node.bodies) b.bodies.push_back(nested(*body));
}

}  // namespace

MadeBlock make_switch_block(Instance& instance, const Node& node) {
  auto b = std::make_unique<SwitchBlock>();
  fill(*b, instance, node, 1);
  b->selector.id = std::get<Use>(node.args[0]).id;
  b->selector.kind = instance.plan().graph.meta(b->selector.id).kind;
  if (b->selector.kind == ValueKind::Tensor) b->selector.at.locate(instance, b->selector.id);
  return {std::move(b), run_switch};
}

MadeBlock make_while_block(Instance& instance, const Node& node) {
  auto b = std::make_unique<WhileBlock>();
  fill(*b, instance, node, 0);
  for (auto& buffers : b->state) {
    buffers.resize(b->results.size());
    for (size_t k = 0; k < b->results.size(); ++k)
      buffers[k].resize(instance.plan().graph.meta(b->operands[k].id).bytes() + 1);
  }
  const Graph& condition = *node.bodies[0];
  b->truth.resize(condition.meta(condition.outputs[0]).bytes() + 1);
  return {std::move(b), run_while};
}

MadeBlock make_call_block(Instance& instance, const Node& node) {
  auto b = std::make_unique<ControlBlock>();
  fill(*b, instance, node, 0);
  return {std::move(b), run_call};
}

}  // namespace terra::graph
