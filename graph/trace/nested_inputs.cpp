#include "graph/trace/nested_inputs.h"

#include <algorithm>

#include "engine/autograd/autograd.h"
#include "engine/tensor/epoch.h"

namespace terra::graph {

void NestedInputs::bind(TraceId id) {
  if (std::holds_alternative<std::vector<Tensor>>(r_.value(id)))
    throw LoopRefused("a round uses a list that another loop made");
  const auto* t = std::get_if<Tensor>(&r_.value(id));
  if (!t || !t->defined() || !(*t)->is_symbolic()) return;  // known, or a constant
  if (SymbolicReplay::is_number(*t)) {
    const ValueId scalar = GraphEmitter::scalar_of(**t);
    const ValueId input = body_.add_input(outer_.meta(scalar));
    scalars_.push_back({scalar, input});
    operands_.push_back(scalar);
    r_.set(id, inner_.number(input));
    return;
  }
  Tensor& made = stand_ins_[t->get()];
  if (!made.defined()) made = stand_in(*t);
  r_.set(id, made);
}

Tensor NestedInputs::stand_in(const Tensor& t) {
  const TensorSymbol& symbol = *GraphEmitter::symbol_of(*t);
  for (const SymbolicView* view = symbol.view.get(); view; view = view->parent.get())
    for (const NodeArg& arg : view->attributes)
      if (std::holds_alternative<Use>(arg) || std::holds_alternative<UseList>(arg))
        throw LoopRefused("a view that a loop uses depends on a number of the run");
  auto made = std::make_unique<TensorSymbol>(memory_of(symbol.storage), symbol.view);
  if (symbol.own_version) {
    std::shared_ptr<OwnVersion>& inner = own_versions_[symbol.own_version.get()];
    if (!inner)
      inner = std::make_shared<OwnVersion>(OwnVersion{.writes = 0, .in_rounds = false, .outer = symbol.own_version});
    made->own_version = inner;
  }
  Tensor copy = Tensor::symbolic({t.dtype(), t.sizes(), t->wrapped_number, t.device()}, std::move(made));
  lay_out(*copy, t.strides(), t->offset);
  if (!t.requires_grad()) return copy;
  const autograd::Meta* meta = autograd::find_meta(t);
  if (takes_gradients_ && (autograd::history(t).node || (meta && !meta->hooks.empty())))
    throw LoopRefused("gradients are taken in a round with respect to what was computed before it");
  set_wants_grad(*copy, true);
  return copy;
}

std::shared_ptr<SymbolicStorage> NestedInputs::memory_of(const std::shared_ptr<SymbolicStorage>& outer) {
  for (const Memory& m : memory_)
    if (m.outer == outer) return m.inner;
  auto inner = std::make_shared<SymbolicStorage>();
  inner->value = body_.add_input(outer_.meta(outer->value));
  if (outer->constant >= 0) inner->constant = outer->constant;  // never written
  inner->fixed = outer->fixed;
  memory_.push_back({outer, inner, outer->value, inner->value});
  operands_.push_back(outer->value);
  return inner;
}

const NestedInputs::Memory* NestedInputs::find(std::shared_ptr<SymbolicStorage> Memory::*side,
                                               const SymbolicStorage* storage) const {
  const auto found =
      std::find_if(memory_.begin(), memory_.end(), [&](const Memory& m) { return (m.*side).get() == storage; });
  return found == memory_.end() ? nullptr : &*found;
}

void NestedInputs::check() const {
  for (const auto& [outer, copy] : stand_ins_)
    if (autograd::grad(copy).defined()) throw LoopRefused("a round accumulates gradients");
  for (const Memory& m : memory_)
    if (m.inner->version && m.inner->fixed)
      throw LoopRefused("a round writes into a tensor that may be another one as well");
}

std::shared_ptr<SymbolicStorage> storage_of(const Tensor& t) {
  const TensorSymbol* symbol = GraphEmitter::symbol_of(*t);
  return symbol ? symbol->storage : nullptr;
}

bool is_alone(const Tensor& t) {
  const TensorSymbol* symbol = GraphEmitter::symbol_of(*t);
  return symbol && symbol->storage && !symbol->view && symbol->storage->constant < 0 && !symbol->own_version &&
         t->offset == 0 && t.strides() == contiguous_strides(t.sizes());
}

}  // namespace terra::graph
