// The end of a trace: final numbers, the guards that concern several tensors, the graph.
#include "engine/errors/errors.h"
#include "graph/cache/compiled.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/trace_builder.h"

#include <map>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceId;

namespace {

constexpr TraceId first_input = 1u << 30;
constexpr TraceId first_scalar = first_input + (1u << 29);

/// Calls visit(TraceId&) for every number in a record.
template <class F>
struct EachId {
  F visit;
  void list(std::vector<TraceId>& ids) {
    for (TraceId& id : ids) visit(id);
  }
  void operator()(graph::CallRecord& r) {
    for (auto& arg : r.args) {
      visit(arg.value);
      list(arg.list);
    }
    list(r.results);
  }
  void operator()(graph::AssertRecord& r) { visit(r.tensor); }
  void operator()(graph::ItemRecord& r) { visit(r.tensor), visit(r.result); }
  void operator()(graph::BackwardRecord& r) { list(r.roots), list(r.gradients), list(r.inputs); }
  void operator()(graph::GradRecord& r) { list(r.roots), list(r.gradients), list(r.inputs), list(r.results); }
  void operator()(graph::ReadGradRecord& r) { visit(r.tensor), visit(r.result); }
  void operator()(graph::WriteGradRecord& r) { visit(r.tensor), visit(r.value); }
  void operator()(graph::GradModeRecord&) {}
  void operator()(graph::RequiresGradRecord& r) { visit(r.tensor); }
};

}  // namespace

void TraceBuilder::renumber() {
  TraceId tensors = static_cast<TraceId>(inputs_.size()), all = tensors + static_cast<TraceId>(scalars_.size());
  auto renumbered = [&](TraceId& id) {
    if (id == kNoValue) return;
    id = id >= first_scalar ? id - first_scalar + tensors : id >= first_input ? id - first_input : id + all;
  };
  EachId<decltype(renumbered)> each{renumbered};
  for (auto& record : trace_.records) std::visit(each, record.what);
  for (auto& [id, reg] : outputs_) renumbered(id);
  for (Input& input : inputs_) {
    renumbered(input.what.grad);
    trace_.inputs.push_back(std::move(input.what));
  }
  for (auto& [reg, input] : scalars_) trace_.inputs.push_back(std::move(input));
  for (auto& [id, reg] : outputs_) trace_.outputs.push_back(id);
  trace_.values = all + next_value_;
}

/// Where gradients are read, written or accumulated, each leaf's .grad at the start is an input of its own, or None.
void TraceBuilder::link_gradients() {
  for (size_t i = 0; i < inputs_.size() && r_.alive(); i++) {
    if (!inputs_[i].what.requires_grad || !inputs_[i].what.is_leaf) continue;
    PyObject* object = inputs_[i].object;
    Register reg = inputs_[i].reg;
    Tensor gradient = first_gradients_[object];
    if (!gradient.defined()) {
      r_.guard(Op::NoGradient, reg);
      continue;
    }
    PyObject* holder = object_of(gradient);  // held below
    r_.hold(holder);
    Py_DECREF(holder);
    Shadow* known = r_.find(holder);
    if (known && known->trace_id != kNoValue && known->trace_id >= first_input) {
      inputs_[i].what.grad = known->trace_id;
      r_.guard(Op::Same, r_.reg_of(known->self), {}, r_.gradient_register(reg, inputs_[i].what.name));
      continue;
    }
    TraceId seen_as = known ? known->trace_id : kNoValue;
    Register gradient_reg = r_.gradient_register(reg, inputs_[i].what.name);
    auto* facts = r_.file().keep(std::make_unique<TensorFacts>(*gradient));
    r_.guard(Op::Tensor, gradient_reg, {word_of(facts), word_of(r_.file().keep(Py_TYPE(holder)))});
    Shadow& shadow = r_.put(holder, Value::dynamic(gradient_reg, holder), true, inputs_[i].what.name + ".grad");
    TraceId id = make_input(shadow);
    inputs_[i].what.grad = id;
    if (seen_as != kNoValue) {  // it was read by the frame before it was known to be an input
      auto same = [&](TraceId& value) {
        if (value == seen_as) value = id;
      };
      EachId<decltype(same)> each{same};
      for (auto& record : trace_.records) std::visit(each, record.what);
      for (auto& [output, output_reg] : outputs_) same(output);
    }
  }
}

/// Aliasing: inputs that share a storage must share it again; where something is written, no others may overlap.
void TraceBuilder::guard_tensors(Entry&) {
  std::map<Storage*, size_t> groups;
  std::vector<Register> apart, objects;
  for (size_t i = 0; i < inputs_.size(); i++) {
    Storage* storage = tensor_of(inputs_[i].object)->storage.get();
    auto [place, is_new] = groups.try_emplace(storage, i);
    inputs_[i].what.storage_group = static_cast<uint32_t>(place->second);
    if (is_new) {
      apart.push_back(inputs_[i].reg);
    } else {
      r_.guard(Op::SameStorage, inputs_[i].reg, {}, inputs_[place->second].reg);
    }
    objects.push_back(inputs_[i].reg);
  }
  if (objects.size() > 1000) return r_.stop(Reason::TooLong, "tensors");
  if ((writes_ || gradients_) && apart.size() > 1) r_.guard(Op::Apart, no_register, pack(apart));
  if ((writes_ || gradients_) && objects.size() > 1) r_.guard(Op::AllDistinct, no_register, pack(objects));
  r_.guard(Op::Mode, no_register, {engine_mode()});
}

void TraceBuilder::finish(Entry& entry) {
  detach();
  bool mode_now = engine_mode() & 1;
  if (mode_now != trace_.grad_enabled) return r_.stop(Reason::GradientState, "the gradient mode is left changed");
  if (trace_.records.empty()) return;
  if (gradients_) link_gradients();
  if (!r_.alive()) return;
  guard_tensors(entry);
  renumber();
  for (Input& input : inputs_) entry.tensors.push_back(input.reg);
  for (auto& [reg, input] : scalars_) entry.scalars.push_back(reg);
  for (auto& [id, reg] : outputs_) entry.outputs.push_back(reg);
  try {
    entry.graph = graph::compile(trace_);
  } catch (const InternalError& e) {
    return r_.stop(Reason::GraphRefused, e.what());
  } catch (const Error& e) {
    return r_.stop(Reason::GraphRefused, e.what());
  }
  entry.calls = entry.graph->call_count();
}

}  // namespace terra::capture
