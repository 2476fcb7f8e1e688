#include "graph/trace/symbolic_replay.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/autograd/autograd.h"
#include "engine/autograd/meta.h"
#include "engine/ops/call.h"
#include "graph/trace/numbers.h"

namespace terra::graph {
namespace {

using Operation = NumberRecord::Op;

/// Integers that a loop adds to are followed in 64 bits where Python has no bounds: with steps of at most this size no
/// run lasts long enough to leave them.
constexpr int64_t kLargestStep = int64_t{1} << 16;
constexpr int64_t kExactInFloat = int64_t{1} << 53;

Scalar::Kind kind_of(const ReplayValue& number) {
  if (const auto* known = std::get_if<Scalar>(&number)) return known->kind();
  const DType dtype = std::get<Tensor>(number).dtype();
  return dtype == DType::F64 ? Scalar::Kind::Float : dtype == DType::Bool ? Scalar::Kind::Bool : Scalar::Kind::Int;
}

[[noreturn]] void refuse() {
  throw InternalError("arithmetic of the host program on numbers that are only known when the graph runs");
}

const Op& comparison(Operation op) {
  static const Op* const ops[] = {find_op("lt"), find_op("le"), find_op("eq"),
                                  find_op("ne"), find_op("gt"), find_op("ge")};
  return *ops[static_cast<int>(op) - static_cast<int>(Operation::Less)];
}

bool compares(Operation op) { return op >= Operation::Less && op <= Operation::GreaterEqual; }

/// What Python compares a float with has to be that float.
ReplayValue as_float(const ReplayValue& number) {
  if (kind_of(number) == Scalar::Kind::Float) return number;
  const auto* known = std::get_if<Scalar>(&number);
  if (!known || known->to_int() > kExactInFloat || known->to_int() < -kExactInFloat) refuse();
  return Scalar(known->to_double());
}

bool is_step(const ReplayValue& number) {
  const auto* known = std::get_if<Scalar>(&number);
  return known && known->to_int() <= kLargestStep && known->to_int() >= -kLargestStep;
}

}  // namespace

bool SymbolicReplay::is_number(const ReplayValue& value) {
  const auto* t = std::get_if<Tensor>(&value);
  return std::holds_alternative<Scalar>(value) || (t && t->defined() && GraphEmitter::scalar_of(**t) != kNoId);
}

Tensor SymbolicReplay::truth(const ReplayValue& value) {
  static const Op *reshape = find_op("reshape"), *ne = find_op("ne");
  const GradMode off(false);
  Tensor t = single(value);
  if (!t.sizes().empty()) t = (*reshape)(t, Dims{});
  return t.dtype() == DType::Bool ? t : (*ne)(t, 0);
}

Tensor SymbolicReplay::exact(const ReplayValue& number) {
  if (const auto* known = std::get_if<Scalar>(&number)) {
    static const Op* full = find_op("full");
    EmitterScope eager(default_emitter());
    return (*full)(Dims{}, *known, Scalar::dtype_of(known->kind()));
  }
  return emitter_->whole(emitter_->value_of(*std::get<Tensor>(number)), Dims{}, 0);
}

Tensor SymbolicReplay::single(const ReplayValue& value) {
  if (is_number(value)) return exact(value);
  const auto* t = std::get_if<Tensor>(&value);
  if (!t || t->numel() != 1) throw InternalError("a tensor whose value the host program reads has one element");
  return *t;
}

void SymbolicReplay::outliving_function(const FunctionRecord& record) {
  if (!watcher_ || bodies_ > 0) throw CallbackOutlives();
  watcher_->outliving_function(record);
}

std::vector<Tensor> SymbolicReplay::with_history() const {
  std::vector<Tensor> found;
  std::set<const TensorImpl*> seen;
  const auto meet = [&](const Tensor& t) {
    if (!t.defined() || autograd::has_outdated_history(t)) return;
    if (t.requires_grad() && seen.insert(t.get()).second && autograd::history(t).node) found.push_back(t);
  };
  for (TraceId id = 0; id < trace_.values; ++id) {
    if (const auto* t = std::get_if<Tensor>(&value(id))) meet(*t);
    if (const auto* sequence = std::get_if<std::vector<Tensor>>(&value(id)))
      for (const Tensor& t : *sequence) meet(t);
  }
  return found;
}

ReplayValue SymbolicReplay::item(const Tensor& t, Scalar::Kind kind) {
  return emitter_->number(emitter_->emit_item(single(t), kind));
}

void SymbolicReplay::assert_truth(const ReplayValue& value, bool expected) {
  const auto* known = std::get_if<Scalar>(&value);
  if (known && known->to_bool() != expected) throw InternalError("a truth isn't what it was in the recorded run");
  if (cuts_ && bodies_ == 0)
    cuts_->push_back(cuts_->size() < trace_.marks.size() ? cut(trace_.marks[cuts_->size()]) : std::nullopt);
  emitter_->emit_assert(single(value), expected, bodies_ == 0);
}

/// A tensor is a value here only where its memory is its own: made inside, seen whole, written never, and held by no
/// other tensor of the mark. Results of the region that are there already and that the mark doesn't name: none are.
std::optional<std::vector<ValueId>> SymbolicReplay::cut(const TraceMark& mark) {
  if (mark.place.empty()) return {};
  std::map<const SymbolicStorage*, int> holders;
  const auto symbol = [&](TraceId id) -> const TensorSymbol* {
    const auto* t = std::get_if<Tensor>(&value(id));
    return t && t->defined() ? GraphEmitter::symbol_of(**t) : nullptr;
  };
  for (TraceId id : mark.values)
    if (const TensorSymbol* s = symbol(id); s && s->storage) ++holders[s->storage.get()];
  std::vector<ValueId> values;
  for (TraceId id : mark.values) {
    const TensorSymbol* s = symbol(id);
    if (s && std::get<Tensor>(value(id)).requires_grad()) return {};  // its history is held as well
    ValueId found = kNoId;
    if (s && s->scalar != kNoId) found = s->scalar;
    if (s && s->storage && !s->view && s->storage->input < 0 && s->storage->constant < 0 && s->storage->version == 0 &&
        holders[s->storage.get()] == 1)
      found = emitter_->value_of(*std::get<Tensor>(value(id)));
    values.push_back(found);
  }
  for (TraceId id : trace_.outputs) {
    const bool there = id >= trace_.inputs.size() && !std::holds_alternative<std::monostate>(value(id));
    const auto named = std::find(mark.values.begin(), mark.values.end(), id);
    if (there && (named == mark.values.end() || values[static_cast<size_t>(named - mark.values.begin())] == kNoId))
      return {};
  }
  return values;
}

ReplayValue SymbolicReplay::computed_in_a_run(Operation op, const ReplayValue& a, const ReplayValue& b) {
  if (!is_number(a) || !is_number(b)) refuse();
  const GradMode off(false);
  const bool floats = kind_of(a) == Scalar::Kind::Float || kind_of(b) == Scalar::Kind::Float;
  if (compares(op)) {
    const Tensor truth =
        floats ? comparison(op)(exact(as_float(a)), exact(as_float(b))) : comparison(op)(exact(a), exact(b));
    return emitter_->number(emitter_->emit_item(truth, Scalar::Kind::Bool));
  }
  const bool adds = op == Operation::Add || op == Operation::Subtract;
  const bool ints = kind_of(a) == Scalar::Kind::Int && kind_of(b) == Scalar::Kind::Int;
  if (!adds || !ints || (!is_step(a) && !is_step(b))) refuse();
  static const Op *add = find_op("add"), *sub = find_op("sub");
  const Tensor sum = (op == Operation::Add ? *add : *sub)(exact(a), exact(b));
  return emitter_->number(emitter_->emit_item(sum, Scalar::Kind::Int));
}

void SymbolicReplay::fact_in_a_run(const Tensor& number, const std::vector<int64_t>& expected) {
  if (GraphEmitter::scalar_of(*number) == kNoId || static_cast<int64_t>(kind_of(number)) != expected[0]) refuse();
  if (kind_of(number) == Scalar::Kind::Float) refuse();
  if (kind_of(number) == Scalar::Kind::Bool) return emitter_->emit_assert(exact(number), expected[1] != 0, false);
  const ReplayValue same = computed_in_a_run(Operation::Equal, number, Scalar(expected[1]));
  emitter_->emit_assert(exact(same), true, false);
}

}  // namespace terra::graph
