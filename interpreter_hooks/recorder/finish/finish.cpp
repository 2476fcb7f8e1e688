// From what was seen to an entry: materialise what leaves the frame, write the effects, compile the graph.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/calls/clocks.h"
#include "interpreter_hooks/recorder/finish/finisher.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool same_place(const Write& a, const Write& b) {
  return a.target.object == b.target.object && (a.name == b.name || (a.name && b.name && same_key(a.name, b.name)));
}

/// Sums, products and comparisons of numbers always come out; anything else has to be tried before the commit.
bool late_can_fail(const Program& late) {
  bool can = false;
  late.each([&](const Word* at) {
    Op op = static_cast<Op>(head(at).kind);
    Word sign = op == Op::Binary ? at[1] % TERRA_IN_PLACE : 0;
    bool safe = op == Op::Compare || op == Op::Unary ||
                (op == Op::Binary && (sign == TERRA_ADD || sign == TERRA_SUBTRACT || sign == TERRA_MULTIPLY));
    can = can || !safe;
  });
  return can;
}

/// It asked for more than programs can say.
bool is_spoilt(const Entry& entry) {
  return entry.file.spoilt() || entry.entry.spoilt() || entry.late.spoilt() || entry.effects.program().spoilt();
}

/// Under a key that another run may have otherwise.
bool is_varying(const Write& write) {
  return write.key.known() && (is_atom(write.key.object) || PyTuple_Check(write.key.object));
}

bool is_store(const Write& write) {
  if (is_varying(write)) return false;
  bool slice = write.name && PySlice_Check(write.name);  // moves what other stores are about
  return write.effect == Effect::SetAttribute || write.effect == Effect::SetPlainAttribute ||
         (write.effect == Effect::SetItem && !slice) || write.effect == Effect::SetCell;
}

}  // namespace

/// A call that nothing is the target of: print, a log record. What it does may depend on any store before it.
static bool looks_around(const Write& write) {
  return write.effect == Effect::CallMethod && write.target.object == Py_None;
}

bool stores_again(const Write& a, const Write& b) {
  return a.effect == b.effect && is_store(a) && is_store(b) && same_place(a, b);
}

std::vector<Write> coalesced(const std::vector<Write>& writes) {
  std::vector<Write> kept;
  for (const Write& write : writes) {
    Write* earlier = nullptr;
    for (auto it = kept.rbegin(); is_store(write) && it != kept.rend(); ++it) {
      if (looks_around(*it)) break;
      if (it->target.object != write.target.object) continue;
      if (!is_store(*it)) break;  // a deletion or a method call in between
      if (same_place(*it, write)) {
        earlier = &*it;
        break;
      }
    }
    if (earlier) {
      earlier->value = write.value;
    } else {
      kept.push_back(write);
    }
  }
  return kept;
}

/// A number that was a fact and that the frame replaces by another value can never be that fact again: a counter.
bool Finisher::overwrites_a_fact() {
  bool relaxed = false;
  for (Write& write : r_.writes_) {
    auto fact = r_.facts_.find(write.path);
    if (write.path.empty() || fact == r_.facts_.end() || !is_number(fact->second)) continue;
    if (write.value.is_fact() && same_value(write.value.object, fact->second)) continue;
    relaxed = r_.speculation_.relax(write.path) || relaxed;
  }
  return relaxed;
}

void Finisher::emit_writes() {
  EffectProgram& effects = r_.entry_->effects;
  RegisterFile& file = r_.file();
  for (r_.next_write_ = 0; r_.next_write_ < r_.writes_.size(); r_.next_write_++) {
    Write& write = r_.writes_[r_.next_write_];
    if (!r_.alive()) return;
    Register a = r_.reg_of(write.target);
    Register b = write.value.known() ? r_.reg_of(write.value) : no_register;
    auto name = [&] { return word_of(file.keep(write.name)); };
    auto key = [&] {
      Value value = write.key.known() ? write.key : Value::fact(write.name);
      return static_cast<Word>(static_cast<uint16_t>(r_.reg_of(value)));
    };
    switch (write.effect) {
      case Effect::SetAttribute:
      case Effect::SetPlainAttribute: effects.emit(write.effect, no_register, a, b, {name()}); break;
      case Effect::DeleteAttribute: effects.emit(write.effect, no_register, a, b, {name()}); break;
      case Effect::SetItem:
      case Effect::DeleteItem: effects.emit(write.effect, no_register, a, b, {key()}); break;
      case Effect::CallMethod: {
        std::vector<Register> registers;
        for (Value& value : write.arguments) registers.push_back(r_.reg_of(value));
        effects.emit(write.effect, no_register, no_register, no_register,
                     called_with(file, write.name, registers, write.keywords));
        break;
      }
      default: effects.emit(write.effect, no_register, a, b); break;
    }
  }
}

namespace {

/// MergedEntries that are merged run their entry programs one after the other; numbers can be drawn only once.
bool draws(const Program& entry) {
  bool found = false;
  entry.each([&](const Word* at) { found = found || static_cast<Op>(head(at).kind) == Op::Draw; });
  return found;
}

}  // namespace

/// The gradient modes of `with` blocks that a cut frame is inside of: entered again, outermost first.
void Finisher::enter_modes(const std::vector<Value>& leaving) {
  for (const Value& value : leaving) {
    Shadow* exit = value.kind == Value::Dynamic && PyCFunction_Check(value.object) ? r_.find(value.object) : nullptr;
    if (!exit || !exit->fresh() || !exit->receiver.known()) continue;
    PyObject* object = exit->receiver.object;
    Shadow* mode = is_grad_mode_type(reinterpret_cast<PyObject*>(Py_TYPE(object))) ? r_.find(object) : nullptr;
    if (!mode) continue;
    const size_t now = times_entered(object), before = mode->fresh() ? 0 : mode->entered_before.value_or(now);
    if (now == before) continue;  // somebody else has entered it
    if (now != before + 1) return r_.stop(Reason::FreshEscapes, "a gradient mode entered twice");
    if (mode->fresh() && !mode->self.has_register()) make_mode(*mode);
    PyObject* enter = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__enter__");
    r_.entry_->effects.emit(Effect::CallMethod, no_register, no_register, no_register,
                            called_with(r_.file(), enter, {r_.reg_of(r_.by_identity(object))}));
    Py_DECREF(enter);
  }
  const uint64_t mode = engine_mode();
  if ((mode ^ r_.trace_->mode_at_start()) & modes_of_blocks)
    r_.entry_->effects.emit(Effect::Modes, no_register, no_register, no_register, {mode & modes_of_blocks});
}

Register Finisher::make_mode(Shadow& shadow) {
  PyObject* object = shadow.self.object;
  std::vector<Register> registers;
  for (const Value& item : shadow.items) registers.push_back(r_.reg_of(item));
  Register reg = r_.new_register(std::string("new ") + Py_TYPE(object)->tp_name, true, true);
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  r_.entry_->effects.emit(Effect::MakeCall, reg, no_register, no_register, called_with(r_.file(), type, registers));
  shadow.self = Value::dynamic(reg, object);
  return reg;
}

std::unique_ptr<Entry> Finisher::run(const std::vector<Value>& leaving, bool cut) {
  if (overwrites_a_fact()) {
    r_.again_ = true;
    r_.stop(Reason::OverwrittenFact);
    return nullptr;
  }
  r_.materialising_ = true;
  r_.move_iterators();
  r_.writes_ = coalesced(r_.writes_);
  keep_apart();
  keep_keys_apart();
  keep_departures_quiet();
  emit_writes();
  if (cut) enter_modes(leaving);
  std::vector<Register> results;
  for (const Value& value : leaving) {
    bool nothing = value.kind == Value::Null || (cut && !value.known());
    results.push_back(nothing || !r_.alive() ? no_register : r_.reg_of(value));
  }
  if (r_.alive()) r_.trace_->finish(*r_.entry_, cut);
  if (!r_.alive()) return nullptr;
  if (is_spoilt(*r_.entry_)) {
    r_.stop(Reason::TooLong, "registers, or objects in one operation");
    return nullptr;
  }
  r_.entry_->effects.finish(std::move(results), r_.entry_->late, r_.file());
  r_.entry_->late_decides = late_can_fail(r_.entry_->late);
  if (draws(r_.entry_->entry) || reads_a_clock(r_.entry_->entry)) r_.entry_->merges = false;
  return std::move(r_.entry_);
}

std::unique_ptr<Entry> Recording::finish() {
  if (alive_ && !returned_) stop(Reason::FrameRaised);
  if (alive_) check_generators();
  if (!alive_) return std::move(finished_);
  return Finisher(*this).run({result_}, false);
}

}  // namespace terra::capture
