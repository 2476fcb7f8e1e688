#include "graph/executor/fused.h"

#include "engine/device/backend.h"
#include "engine/eager/kernel_call.h"
#include "engine/errors/errors.h"
#include "graph/executor/kernel_block.h"
#include "kernels/abi/element.h"

namespace terra::graph {
namespace {

using SlotKind = FusedGroup::Slot::Kind;
constexpr uint32_t kNoSlot = ~0u;

bool is_operand(ParamType type) { return type == ParamType::Tensor || type == ParamType::TensorOrNumber; }

/// The dtype that numbers among the operands take, as eager execution decides it: that of the first promoted tensor.
DType operand_dtype(const Graph& g, const Node& n) {
  for (size_t p = 0; p < n.args.size(); ++p)
    if (const auto* use = std::get_if<Use>(&n.args[p]);
        use && g.meta(use->id).is_tensor() && (n.op->promoted >> p & 1) && is_operand(n.op->sig().params[p].type))
      return g.meta(use->id).dtype;
  std::vector<Arg> numbers(n.args.size());
  for (size_t p = 0; p < n.args.size(); ++p)
    if (const auto* s = std::get_if<Scalar>(&n.args[p])) numbers[p] = Arg(*s);
  return eager::dtype_of_numbers(*n.op, numbers);
}

}  // namespace

FusedBlock::FusedBlock(const Plan& plan, const Node& node) {
  const bool single = node.kind == NodeKind::Op;
  const Graph& g = single ? plan.graph : *node.bodies[0];
  const std::span<const Node> nodes = single ? std::span<const Node>(&node, 1) : std::span<const Node>(g.nodes);
  const Dims& space = plan.graph.meta(node.results[0]).sizes;
  group_.numel = plan.graph.meta(node.results[0]).numel();
  // Addresses and numbers point into these.
  group_.slots.reserve(node.args.size() + node.results.size() + nodes.size() * (kMaxFusedOperands + 1));
  group_.steps.reserve(nodes.size());

  std::vector<uint32_t> slot_of_value(g.values.size(), kNoSlot);
  for (size_t a = 0; a < node.args.size(); ++a) {
    const auto* use = std::get_if<Use>(&node.args[a]);
    if (!use || !plan.graph.meta(use->id).is_tensor()) continue;
    const ValueId inner = single ? use->id : g.inputs[a];
    if (slot_of_value[inner] == kNoSlot) slot_of_value[inner] = add_external(plan, plan.places[use->id], space, false);
  }
  std::vector<uint32_t> output_slot(g.values.size(), kNoSlot);
  for (size_t r = 0; r < node.results.size(); ++r) {
    const ValueId inner = single ? node.results[r] : g.outputs[r];
    output_slot[inner] = add_external(plan, plan.places[node.results[r]], space, true);
  }
  for (const Node& n : nodes) {
    const ValueId result = n.results[0];
    uint32_t out = output_slot[result];
    if (out == kNoSlot) {
      out = static_cast<uint32_t>(group_.slots.size());
      group_.slots.push_back({.kind = SlotKind::Between, .dtype = g.meta(result).dtype});
    }
    add_step(g, n, plan.device, slot_of_value, out);
    slot_of_value[result] = out;
  }
  if (!single)  // scalars of a chain are inputs of its graph: use the outer numbers
    for (Number& number : numbers)
      for (size_t a = 0; a < g.inputs.size(); ++a)
        if (g.inputs[a] == number.scalar) {
          number.scalar = std::get<Use>(node.args[a]).id;
          break;
        }
  collapse(space);
  kernel_ = backend_of(plan.device).prepare_fused(group_);
}

uint32_t FusedBlock::add_external(const Plan& plan, const Place& place, const Dims& space, bool output) {
  const auto index = static_cast<uint32_t>(group_.slots.size());
  FusedGroup::Slot s{.dtype = place.dtype};
  if (plan.buffers[place.buffer].kind == Buffer::Kind::Scalar) {
    s.kind = SlotKind::Number;
  } else if (place.sizes == space && place.is_contiguous()) {
    s.kind = SlotKind::Contiguous;
  } else if (place.numel() == 1) {
    s.kind = SlotKind::One;
  } else {
    ensure(!output, "a fused result is contiguous");
    s.kind = SlotKind::Strided;
    strided_.push_back({index, place});
  }
  group_.slots.push_back(std::move(s));
  addresses.push_back({&group_.slots.back().data, place.buffer, place.offset});
  return index;
}

uint32_t FusedBlock::constant_slot(const Scalar& s, DType dtype) {
  auto& c = constants_.emplace_back(std::make_unique<Constant>());
  store_element(c->bytes, dtype, s);
  group_.slots.push_back({.kind = SlotKind::Number, .dtype = dtype, .data = c->bytes});
  return static_cast<uint32_t>(group_.slots.size()) - 1;
}

void FusedBlock::add_step(const Graph& g, const Node& n, Device device, const std::vector<uint32_t>& slot_of_value,
                          uint32_t out) {
  const DType number_dtype = operand_dtype(g, n);
  FusedGroup::Step& step = group_.steps.emplace_back();
  step.kernel = &kernel_for(n.op->name, device);
  step.dtype = number_dtype;
  step.operands.push_back(out);
  step.params.resize(n.args.size());
  for (size_t p = 0; p < n.args.size(); ++p) {
    const NodeArg& a = n.args[p];
    const bool operand = is_operand(n.op->sig().params[p].type);
    if (const auto* use = std::get_if<Use>(&a); use && operand) {
      step.operands.push_back(slot_of_value[use->id]);
      step.dtype = g.meta(use->id).dtype;
    } else if (use) {
      step.params[p].kind = KernelArg::Kind::Scalar;
      numbers.push_back({&step.params[p], use->id});
    } else {
      step.params[p] = kernel_argument(a);
      if (!operand || !std::holds_alternative<Scalar>(a)) continue;
      step.operands.push_back(constant_slot(std::get<Scalar>(a), number_dtype));
      step.dtype = number_dtype;
    }
  }
  ensure(step.operands.size() <= kMaxFusedOperands, "an elementwise op has at most seven operands");
}

/// Dimensions over which every strided slot goes on in even steps become one.
void FusedBlock::collapse(const Dims& space) {
  if (strided_.empty()) return;
  const auto strides_of = [&](size_t k) -> std::vector<int64_t>& { return group_.slots[strided_[k].first].strides; };
  std::vector<int64_t> step(strided_.size());
  for (size_t d = 0; d < space.size(); ++d) {
    if (space[d] == 1) continue;
    for (size_t k = 0; k < strided_.size(); ++k) {
      const Place& p = strided_[k].second;
      const int64_t own = static_cast<int64_t>(d) - static_cast<int64_t>(space.size() - p.sizes.size());
      step[k] = own < 0 || p.sizes[own] == 1 ? 0 : p.strides[own] * static_cast<int64_t>(size_of(p.dtype));
    }
    bool alike = !group_.sizes.empty();  // merges with the dimension before it
    for (size_t k = 0; k < strided_.size() && alike; ++k) alike = strides_of(k).back() == step[k] * space[d];
    if (alike)
      group_.sizes.back() *= space[d];
    else
      group_.sizes.push_back(space[d]);
    for (size_t k = 0; k < strided_.size(); ++k) {
      if (!alike) strides_of(k).emplace_back();
      strides_of(k).back() = step[k];
    }
  }
  if (group_.sizes.empty()) {
    group_.sizes.push_back(1);
    for (size_t k = 0; k < strided_.size(); ++k) strides_of(k).push_back(0);
  }
  strided_.clear();
}

}  // namespace terra::graph
