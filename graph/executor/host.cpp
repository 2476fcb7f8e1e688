// Steps that the host side computes: ops with a host rule (random draws) and host functions.
#include "engine/errors/errors.h"
#include "engine/tensor/transfer.h"
#include "graph/executor/blocks.h"
#include "graph/ir/arg_list.h"

namespace terra::graph {
namespace {

struct HostOpBlock final : Block {
  const Node* node = nullptr;
  std::vector<Located> sources;  // tensors, in order of the uses
  std::vector<Located> results;
};

bool run_host_op(Block& block, Activation& activation) {
  auto& b = static_cast<HostOpBlock&>(block);
  const Graph& g = activation.graph();
  size_t k = 0;
  const ArgList args(
      b.node->args, [&](ValueId) { return to_host(b.sources[k++].tensor()); },
      [&](ValueId id) { return g.meta(id).is_tensor() ? nullptr : &activation.scalar(id); });
  std::vector<Tensor> made;
  b.node->op->host(args.args(), made);
  ensure(made.size() == b.results.size(), "a host op makes as many results as it did when the graph was built");
  for (size_t r = 0; r < made.size(); ++r) {
    const Place& p = *b.results[r].place;
    if (made[r].dtype() != p.dtype || !(made[r].sizes() == p.sizes) || !made[r].is_contiguous())
      throw InternalError("a host op made a result of another shape than when the graph was built");
    activation.backend().copy_in(b.results[r].data, made[r]->data(),
                                 static_cast<size_t>(made[r].numel()) * size_of(p.dtype));
  }
  return true;
}

struct HostCallBlock final : Block {
  const Node* node = nullptr;
  std::vector<Located> tensors;  // by argument, then by result; unused for other kinds
  std::vector<HostValue> args, results;
};

bool run_host_call(Block& block, Activation& activation) {
  auto& b = static_cast<HostCallBlock&>(block);
  const Graph& g = activation.graph();
  const HostFunction function = host_functions();
  if (!function) throw InternalError("a graph calls the host, which supplied no functions");
  const auto value = [&](ValueId id, const Located& at) -> HostValue {
    switch (g.meta(id).kind) {
      case ValueKind::Tensor: return at.tensor();
      case ValueKind::Scalar: return activation.scalar(id);
      default: return activation.handle(id);
    }
  };
  b.args.clear();
  b.results.clear();
  for (size_t a = 0; a < b.node->args.size(); ++a)
    b.args.push_back(value(std::get<Use>(b.node->args[a]).id, b.tensors[a]));
  for (size_t r = 0; r < b.node->results.size(); ++r)
    b.results.push_back(value(b.node->results[r], b.tensors[b.node->args.size() + r]));
  function(b.node->index, b.args, b.results);
  for (size_t r = 0; r < b.results.size(); ++r) {
    const ValueId id = b.node->results[r];
    if (const auto* s = std::get_if<Scalar>(&b.results[r])) activation.set_scalar(id, *s);
    if (auto* h = std::get_if<Handle>(&b.results[r])) activation.set_handle(id, *h);
  }
  return true;
}

}  // namespace

Tensor Located::tensor() const {
  const auto bytes = static_cast<size_t>(storage_reach(place->sizes, place->strides, 0)) * size_of(place->dtype);
  return Tensor::view_of(Storage::wrap(
                             data, bytes, [](void*) {}, nullptr, device),
                         place->dtype, place->sizes, place->strides, 0);
}

MadeBlock make_host_op_block(Instance& instance, const Step& step) {
  const Node& node = *step.node;
  auto b = std::make_unique<HostOpBlock>();
  b->node = &node;
  for_each_use(node, [&](ValueId id) {
    if (instance.plan().graph.meta(id).is_tensor()) b->sources.emplace_back();
  });
  size_t k = 0;  // a place may be asked to fill in an address later: it has to stay where it is
  for_each_use(node, [&](ValueId id) {
    if (instance.plan().graph.meta(id).is_tensor()) b->sources[k++].locate(instance, id);
  });
  b->results.resize(node.results.size());
  for (size_t r = 0; r < node.results.size(); ++r) b->results[r].locate(instance, node.results[r]);
  return {std::move(b), run_host_op};
}

MadeBlock make_host_call_block(Instance& instance, const Step& step) {
  const Node& node = *step.node;
  auto b = std::make_unique<HostCallBlock>();
  b->node = &node;
  b->tensors.resize(node.args.size() + node.results.size());
  const Graph& g = instance.plan().graph;
  for (size_t k = 0; k < b->tensors.size(); ++k) {
    const bool is_arg = k < node.args.size();
    const ValueId id = is_arg ? std::get<Use>(node.args[k]).id : node.results[k - node.args.size()];
    if (g.meta(id).is_tensor()) b->tensors[k].locate(instance, id);
  }
  return {std::move(b), run_host_call};
}

}  // namespace terra::graph
