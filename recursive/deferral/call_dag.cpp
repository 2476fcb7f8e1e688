#include "recursive/deferral/call_dag.h"

#include <numeric>

#include "engine/autograd/autograd.h"

namespace terra::recursive {
namespace {

Tensor with_history(const Tensor& t, const autograd::Edge& edge) {
  const Tensor made = t.alias();
  autograd::set_history(made, edge.node, edge.index);
  return made;
}

}  // namespace

void CallDag::External::keep_history() {
  if (!autograd::is_leaf(tensor))
    tensor = with_history(given, autograd::history(tensor));
  else if (!tensor.requires_grad())
    tensor = given;
}

Tensor CallDag::External::on_tape() const {
  if (!tensor.requires_grad()) return given;
  const bool has_it = tensor->storage == given->storage && tensor->offset == given->offset &&
                      tensor.sizes() == given.sizes() && tensor.strides() == given.strides();
  return has_it ? tensor : with_history(given, autograd::gradient_edge(tensor));
}

Tensor CallDag::External::on_tape(const Ref<Storage>& bytes) const {
  const Ref<Storage> own = Storage::apart(bytes);
  while (own->version() < version) own->bump_version();
  const Tensor made = Tensor::view_of(own, given.dtype(), given.sizes(), given.strides(), given->offset);
  return tensor.requires_grad() ? with_history(made, autograd::gradient_edge(tensor)) : made;
}

CallDag::Uses CallDag::uses() const {
  Uses made;
  made.first.assign(results.size() + 1, 0);
  const auto each = [&](auto&& f) {
    for (uint32_t c = 0; c < calls.size(); ++c) {
      const auto inputs = static_cast<uint32_t>(graph_of(calls[c]).inputs().size());
      for (uint32_t i = 0; i < inputs; ++i)
        if (const uint32_t r = operand(calls[c], i).result; r != kNone) f(r, Use{c, i});
    }
  };
  each([&](uint32_t r, Use) { ++made.first[r + 1]; });
  std::partial_sum(made.first.begin(), made.first.end(), made.first.begin());
  made.uses.resize(made.first.back());
  std::vector<uint32_t> next(made.first.begin(), made.first.end() - 1);
  each([&](uint32_t r, Use use) { made.uses[next[r]++] = use; });
  return made;
}

}  // namespace terra::recursive
