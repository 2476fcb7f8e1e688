#include "recursive/deferral/call_dag.h"

#include <numeric>

#include "engine/autograd/autograd.h"
#include "engine/autograd/node.h"

namespace terra::recursive {
namespace {

Tensor with_history(const Tensor& t, const autograd::Edge& history) {
  if (!history.node) return t;
  const Tensor made = t.alias();
  autograd::set_history(made, history.node, history.index);
  return made;
}

}  // namespace

void CallDag::External::let_go() {
  if (!dynamic_cast<const autograd::AccumulateGrad*>(history.node.get())) tensor = given;
}

Tensor CallDag::External::on_tape() const { return with_history(given, history); }

Tensor CallDag::External::on_tape(const Ref<Storage>& bytes) const {
  const Ref<Storage> own = Storage::apart(bytes);
  while (own->version() < version) own->bump_version();
  return with_history(Tensor::view_of(own, given.dtype(), given.sizes(), given.strides(), given->offset), history);
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
