// From what was seen to an entry: materialise what leaves the frame, write the effects, compile the graph.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/finisher.h"
#include "interpreter_hooks/recorder/trace_builder.h"

#include <opcode.h>

#include <algorithm>

namespace terra::capture {

namespace {

/// What a bound method of a C type was made from (borrowed), or null.
PyObject* descriptor_of(PyObject* method) {
  PyObject* self = PyCFunction_GET_SELF(method);
  if (!self || PyModule_Check(self) || PyType_Check(self)) return nullptr;
  PyObject* name = PyUnicode_InternFromString(reinterpret_cast<PyCFunctionObject*>(method)->m_ml->ml_name);
  PyObject* found = name ? _PyType_Lookup(Py_TYPE(self), name) : nullptr;
  Py_XDECREF(name);
  bool same = found && Py_TYPE(found) == &PyMethodDescr_Type &&
              reinterpret_cast<PyMethodDescrObject*>(found)->d_method == reinterpret_cast<PyCFunctionObject*>(method)->m_ml;
  return same ? found : nullptr;
}

}  // namespace

/// Builds a fresh object in the effect program, once, from its final contents. Tensors become outputs of the graph.
Register Recording::materialise(Shadow& shadow) {
  PyObject* object = shadow.self.object;
  const std::string type = Py_TYPE(object)->tp_name;
  if (is_tensor(object)) {
    Register reg = trace_->output(shadow);
    shadow.self = Value::dynamic(reg, object);
    return reg;
  }
  if (!materialising_ || shadow.being_made) {
    stop(Reason::FreshEscapes, type);
    return -1;
  }
  if (shadow.iterator) {
    Register reg = materialise_iterator(*shadow.iterator, object);
    shadow.self = Value::dynamic(reg, object);
    return reg;
  }
  shadow.being_made = true;
  Effect effect = Effect::MakeTuple;
  std::vector<Register> parts;
  std::vector<Word> words;
  Register a = no_register, b = no_register;
  auto constant = [&](PyObject* key) { return reg_of(Value::fact(key)); };
  if (is_sequence(object)) {
    effect = PyList_CheckExact(object) ? Effect::MakeList : is_size(object) ? Effect::MakeSize : Effect::MakeTuple;
    for (const Value& item : shadow.items) parts.push_back(reg_of(item));
  } else if (PyDict_CheckExact(object)) {
    effect = Effect::MakeDict;
    for (auto& entry : shadow.entries) {
      parts.push_back(constant(entry.key));
      parts.push_back(reg_of(entry.value));
    }
  } else if (PyMethod_Check(object)) {
    effect = Effect::MakeMethod;
    a = reg_of(shadow.function);
    b = reg_of(shadow.receiver);
  } else if (PyCFunction_Check(object) && shadow.receiver.known() && descriptor_of(object)) {
    effect = Effect::MakeBound;
    a = constant(descriptor_of(object));
    b = reg_of(shadow.receiver);
  } else if (PyCell_Check(object)) {
    effect = Effect::MakeCell;
    if (shadow.content.known()) a = reg_of(shadow.content);
  } else if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && !PyFunction_Check(object) &&
             Py_TYPE(object)->tp_new == PyBaseObject_Type.tp_new && shadow.items.empty()) {
    effect = Effect::MakeObject;
    words.push_back(word_of(file().keep(Py_TYPE(object))));
    class_facts(Py_TYPE(object));
    for (PyObject* name : shadow.order) {
      if (!shadow.attributes[name].known()) continue;
      parts.push_back(constant(name));
      parts.push_back(reg_of(shadow.attributes[name]));
    }
  } else {
    stop(Reason::FreshEscapes, type);
    return -1;
  }
  shadow.being_made = false;
  if (!alive_) return -1;
  if (parts.size() > 900) {
    stop(Reason::TooLong, "a container that leaves the frame");
    return -1;
  }
  for (Word word : pack(parts)) words.push_back(word);
  Register reg = new_register("new " + type, true, true);
  entry_->effects.emit(effect, reg, a, b, words);
  shadow.self = Value::dynamic(reg, object);
  return reg;
}

namespace {

bool same_place(const Write& a, const Write& b) {
  return a.target.object == b.target.object &&
         (a.name == b.name || (a.name && b.name && same_value(a.name, b.name)));
}

/// Sums, products and comparisons of numbers always come out; anything else has to be tried before the commit.
bool late_can_fail(const Program& late) {
  bool can = false;
  late.each([&](const Word* at) {
    Op op = static_cast<Op>(head(at).kind);
    Word sign = op == Op::Binary ? at[1] % NB_INPLACE_ADD : 0;
    bool safe = op == Op::Compare || op == Op::Unary ||
                (op == Op::Binary && (sign == NB_ADD || sign == NB_SUBTRACT || sign == NB_MULTIPLY));
    can = can || !safe;
  });
  return can;
}

bool is_store(const Write& write) {
  return write.effect == Effect::SetAttribute || write.effect == Effect::SetItem || write.effect == Effect::SetCell;
}

}  // namespace

/// Several stores to one place become one, at the position of the first (which decides the order of keys).
void Finisher::coalesce() {
  auto& writes = r_.writes_;
  std::vector<Write> kept;
  for (Write& write : writes) {
    Write* earlier = nullptr;
    for (auto it = kept.rbegin(); is_store(write) && it != kept.rend(); ++it) {
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
      kept.push_back(std::move(write));
    }
  }
  writes = std::move(kept);
}

/// A number that was a fact and that the frame replaces by another value can never be that fact again: a counter.
bool Finisher::overwrites_a_fact() {
  bool relaxed = false;
  for (Write& write : r_.writes_) {
    auto fact = r_.facts_.find(write.path);
    if (write.path.empty() || fact == r_.facts_.end() || !is_number(fact->second)) continue;
    if (write.value.is_fact() && same_value(write.value.object, fact->second)) continue;
    relaxed = r_.relaxation_.relax(write.path) || relaxed;
  }
  return relaxed;
}

/// Objects that the frame changes are different from all others of their type, as they were here.
void Finisher::keep_apart() {
  std::set<PyTypeObject*> written;
  for (auto& [object, shadow] : r_.shadows_) {
    if (shadow.outside && shadow.written) written.insert(Py_TYPE(object));
  }
  for (PyTypeObject* type : written) {
    std::vector<Register> registers;
    for (auto& [object, shadow] : r_.shadows_) {
      bool in_a_run = shadow.self.has_register() || shadow.self.is_fact();
      if (shadow.outside && Py_TYPE(object) == type && in_a_run) registers.push_back(r_.reg_of(shadow.self));
    }
    if (registers.size() < 2) continue;
    if (registers.size() > 1000) return r_.stop(Reason::TooLong, "objects to tell apart");
    r_.guard(Op::AllDistinct, no_register, pack(registers));
  }
}

void Finisher::emit_writes() {
  EffectProgram& effects = r_.entry_->effects;
  RegisterFile& file = r_.file();
  for (Write& write : r_.writes_) {
    if (!r_.alive()) return;
    Register a = r_.reg_of(write.target);
    Register b = write.value.known() ? r_.reg_of(write.value) : no_register;
    auto name = [&] { return word_of(file.keep(write.name)); };
    auto key = [&] { return static_cast<Word>(static_cast<uint16_t>(r_.reg_of(Value::fact(write.name)))); };
    switch (write.effect) {
      case Effect::SetAttribute: effects.emit(write.effect, no_register, a, b, {name()}); break;
      case Effect::DeleteAttribute: effects.emit(write.effect, no_register, a, b, {name()}); break;
      case Effect::SetItem:
      case Effect::DeleteItem: effects.emit(write.effect, no_register, a, b, {key()}); break;
      case Effect::CallMethod: {
        std::vector<Register> registers;
        for (Value& value : write.arguments) registers.push_back(r_.reg_of(value));
        std::vector<Word> words = pack(registers);
        words.insert(words.begin(), word_of(file.keep(write.name)));
        effects.emit(write.effect, no_register, no_register, no_register, words);
        break;
      }
      default: effects.emit(write.effect, no_register, a, b); break;
    }
  }
}

/// The gradient modes of `with` blocks that a cut frame is inside of: entered again, outermost first.
void Finisher::enter_modes(const std::vector<Value>& leaving) {
  for (const Value& value : leaving) {
    Shadow* exit = value.kind == Value::Dynamic && PyCFunction_Check(value.object) ? r_.find(value.object) : nullptr;
    if (!exit || !exit->fresh() || !exit->receiver.known()) continue;
    PyObject* object = exit->receiver.object;
    Shadow* mode = is_grad_mode_type(reinterpret_cast<PyObject*>(Py_TYPE(object))) ? r_.find(object) : nullptr;
    if (!mode) continue;
    if (times_entered(object) != 1) return r_.stop(Reason::FreshEscapes, "a gradient mode entered twice");
    if (mode->fresh() && !mode->self.has_register()) make_mode(*mode);
    PyObject* enter = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__enter__");
    std::vector<Word> words = pack({r_.reg_of(r_.by_identity(object))});
    words.insert(words.begin(), word_of(r_.file().keep(enter)));
    Py_DECREF(enter);
    r_.entry_->effects.emit(Effect::CallMethod, no_register, no_register, no_register, words);
  }
  bool enabled = engine_mode() & 1;
  if (enabled != r_.trace_->began_with_gradients()) {
    r_.entry_->effects.emit(Effect::GradMode, no_register, no_register, no_register, {static_cast<Word>(enabled)});
  }
}

Register Finisher::make_mode(Shadow& shadow) {
  PyObject* object = shadow.self.object;
  std::vector<Register> registers;
  for (const Value& item : shadow.items) registers.push_back(r_.reg_of(item));
  std::vector<Word> words = pack(registers);
  words.insert(words.begin(), word_of(r_.file().keep(Py_TYPE(object))));
  Register reg = r_.new_register(std::string("new ") + Py_TYPE(object)->tp_name, true, true);
  r_.entry_->effects.emit(Effect::MakeCall, reg, no_register, no_register, words);
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
  coalesce();
  keep_apart();
  emit_writes();
  if (cut) enter_modes(leaving);
  std::vector<Register> results;
  for (const Value& value : leaving) {
    bool nothing = value.kind == Value::Null || (cut && !value.known());
    results.push_back(nothing || !r_.alive() ? no_register : r_.reg_of(value));
  }
  if (r_.alive()) r_.trace_->finish(*r_.entry_, cut);
  if (!r_.alive()) return nullptr;
  r_.entry_->effects.finish(std::move(results), r_.file());
  r_.entry_->late_decides = late_can_fail(r_.entry_->late);
  return std::move(r_.entry_);
}

std::unique_ptr<Entry> Recording::finish() {
  if (alive_ && !returned_) stop(Reason::FrameRaised);
  if (alive_) check_generators();
  if (!alive_) return std::move(finished_);
  return Finisher(*this).run({result_}, false);
}

}  // namespace terra::capture
