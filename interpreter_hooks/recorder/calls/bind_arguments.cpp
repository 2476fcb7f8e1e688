// Python frames below the recorded one: arguments by position, never by pointer (a small int is no evidence of origin).
#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/calls/recursion.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool same_name(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

/// Whether what the child returns is exactly what the open instruction of the caller yields.
bool hands_result_through(const Pending& pending) {
  switch (pending.kind) {
    case TERRA_CALL:
    case TERRA_CALL_FUNCTION_EX:
    case TERRA_BEFORE_WITH:
    case TERRA_WITH_EXCEPT_START:
      return pending.call.kind == CallSite::Function || pending.call.kind == CallSite::Instance ||
             pending.call.kind == CallSite::NewInstance ||
             (pending.call.kind == CallSite::Model && (runs_python(pending.access) || makes_text(pending.call)));
    case TERRA_LOAD_ATTR:
    case TERRA_LOAD_METHOD:
    case TERRA_BINARY_OP:
    case TERRA_BINARY_SUBSCR:
    case TERRA_COMPARE_OP:
    case TERRA_FORMAT_VALUE:
    case TERRA_SEND:
    case TERRA_FOR_ITER: return true;
    default: return false;
  }
}

/// next(g), g.send(x): what a generator yields is the result; ", ".join(g), sum(g): it is read as it is.
bool resumes_generator(const Pending& pending) {
  return pending.kind == TERRA_CALL && (traits_of(pending.call) & (kResumes | kFoldsNumbers)) != 0;
}

/// The frame is that of __new__ or __init__, as the class has them.
bool runs_for_new_instance(ShadowFrame& child, PyObject* type) {
  static PyObject* names[] = {PyUnicode_InternFromString("__new__"), PyUnicode_InternFromString("__init__")};
  for (PyObject* name : names) {
    PyObject* found = _PyType_Lookup(reinterpret_cast<PyTypeObject*>(type), name);
    if (found && Py_TYPE(found) == &PyStaticMethod_Type) {
      PyObject* inner = PyObject_GetAttrString(found, "__func__");
      Py_XDECREF(inner);
      found = inner;
    }
    if (found == reinterpret_cast<PyObject*>(child.callee())) return true;
  }
  return false;
}

/// Whether the open instruction was given the function, as an operand or below one that it walks over.
bool is_given(Recording& r, const std::vector<Value>& values, PyObject* function, int depth = 0) {
  return std::any_of(values.begin(), values.end(), [&](const Value& value) {
    if (value.object == function) return !value.is_fact();
    const Iterator* iterator = value.known() && depth < 4 ? r.iterator_of(value.object) : nullptr;
    return iterator && is_given(r, iterator->children, function, depth + 1);
  });
}
bool is_given(Recording& r, const Pending& pending, PyObject* function) {
  const CallSite& call = pending.call;
  if (call.kind == CallSite::Function && call.callee == function) return !call.callee_value.is_fact();
  return is_given(r, pending.in, function) || is_given(r, call.positional, function) ||
         is_given(r, call.keyword_values, function);
}

}  // namespace

bool is_unseen(const Pending& pending) { return (traits_of(pending.call) & kUnseen) != 0; }

ShadowFrame* Recording::enter(TerraFrame* frame, bool throwing) {
  if (!terra_events_are_on(thread_)) {
    stop(Reason::Observed);
    return nullptr;
  }
  if (returned_) {  // the root lets go of its variables: a generator that is suspended outside of any try just ends
    const auto known = throwing ? generators_.find(frame) : generators_.end();
    const bool is_generator = known != generators_.end();
    if (is_generator && !suspended_in_try(known->second->generator_object)) {
      known->second->ended = true;
    } else if (is_generator) {
      stop(Reason::FreshEscapes, "a generator that has not left its try");
    } else {
      stop(Reason::Finalizer, "as the frame ended");
    }
    return nullptr;
  }
  entry_->depth = std::max(entry_->depth, room_ - terra_thread_room(thread_) + 1);
  ShadowFrame& caller = *top();
  if (is_unseen(caller.pending)) return nullptr;
  if (terra_frame_is_borrowed(frame)) {
    auto known = generators_.find(frame);
    if (known == generators_.end()) {
      stop(Reason::GeneratorEscapes);
      return nullptr;
    }
    ShadowFrame* generator = known->second;
    if (!generator->resumed) unhold(generator->generator_object);
    generator->resumed = true;
    frames_.push_back(generator);
    return generator;
  }
  if (throwing) {
    stop(Reason::GeneratorEscapes, "throw");
    return nullptr;
  }
  if (is_recursive_call(frames_, frame)) {
    stop(Reason::CallsItself, utf8_of(terra_frame_code(frame)->co_name));
    return nullptr;
  }
  ShadowFrame* child = new_frame(frame);
  auto* function = reinterpret_cast<PyObject*>(terra_frame_function(frame));
  const CallSite& site = caller.pending.call;
  const bool given = is_given(*this, caller.pending, function);  // else a class has it
  child->function = given && by_identity(function).known() ? by_identity(function) : constant(function);
  guard_function(child->function, child);
  if (alive_) {
    bool positional = site.kind == CallSite::Function && site.callee == function;
    bool instance = site.kind == CallSite::Instance || site.kind == CallSite::NewInstance;
    bool again = site.kind == CallSite::NewInstance && runs_for_new_instance(*child, site.callee);
    if (reinterpret_cast<PyObject*>(child->code) == enum_hash_code()) {  // of a key, which is a fact
      PyObject* member = terra_frame_localsplus(frame)[0];
      child->locals[0] = by_identity(member).known() ? by_identity(member) : Value::fact(hold(member));
    } else if (positional || again || (instance && caller.pending.returns.empty())) {
      bind(*child, site);
    } else {
      if (!bind_operands(*child, caller)) bind_from_c(*child, caller);
      if (!child->locals.empty()) asked_by_c(child->locals[0]);  // its class has led here
    }
  }
  frames_.push_back(child);
  return child;
}

void Recording::leave(ShadowFrame* frame, PyObject* result, PyObject* raised_kind) {
  if (!alive_ || top() != frame) return;
  if (!result) {
    raised(*frame, raised_kind);
    if (!alive_) return;
  }
  frames_.pop_back();
  if (!result) top()->pending.child_raised = true;
  if (!frame->generator) return;
  if (frame->generator_object) {
    frame->ended = frame->ended || !result;
    if (frame->ended) {
      hold(frame->generator_object);
      generator_ended(frame->generator_object);
    }
  } else if (result && frame->creates && PyGen_CheckExact(result)) {
    made_generator(frame, result);
  }
}

/// RETURN_VALUE and YIELD_VALUE: of the root, or into the open instruction of the caller.
void Recording::give_back(ShadowFrame& frame, Value value) {
  if (frames_.size() == 1) {
    result_ = value;
    returned_ = true;
    return;
  }
  if (reinterpret_cast<PyObject*>(frame.code) == enum_hash_code()) return;
  Pending& pending = frames_[frames_.size() - 2]->pending;
  bool ends_generator = frame.generator && frame.pending.kind != TERRA_YIELD_VALUE;
  if (ends_generator) {  // tells the consumer that there is no more; `yield from` and StopIteration carry the value
    frame.ended = true;
    if (pending.kind != TERRA_SEND) pin_deep(value);
    pending.ended = value;
    pending.used_returns = true;
    return;
  }
  if (!hands_result_through(pending) && !(frame.generator && resumes_generator(pending))) pin_deep(value);
  expose_returned(*this, frame, pending, value);
  pending.returns.push_back(value);
}

/// CPython's argument binding, on shadows.
void Recording::bind(ShadowFrame& child, const CallSite& site) {
  PyCodeObject* code = child.code;
  PyObject** real = terra_frame_localsplus(child.frame);
  auto* function = child.callee();
  if (site.packed) {
    Shadow& named = fresh(real[2]);
    for (size_t i = 0; i < site.keywords.size(); i++)
      named.entries.push_back({hold(site.keywords[i]), site.keyword_values[i]});
    child.locals[0] = site.positional[0];
    child.locals[1] = make_sequence(real[1], {site.positional.begin() + 1, site.positional.end()});
    child.locals[2] = by_identity(real[2]);
    return;
  }
  std::vector<Value> positional = site.positional;
  if (site.kind == CallSite::NewInstance) {
    bool makes = real[0] == site.callee;  // __new__, else __init__
    Value made = makes ? Value::fact(real[0]) : by_identity(real[0]);
    if (!made.known()) {
      Shadow& instance = fresh(real[0]);
      instance.plain_instance = Py_TYPE(real[0])->tp_new == PyBaseObject_Type.tp_new;
      made = instance.self;
    }
    if (PyExceptionInstance_Check(real[0])) shadow(made).items = site.positional;  // BaseException.__new__ keeps them
    positional.insert(positional.begin(), made);
  }
  int given = static_cast<int>(positional.size()), takes = code->co_argcount;
  int named = takes + code->co_kwonlyargcount;
  for (int i = 0; i < given && i < takes; i++) child.locals[i] = positional[i];

  std::vector<std::pair<PyObject*, Value>> rest;
  for (size_t k = 0; k < site.keywords.size(); k++) {
    int place = code->co_posonlyargcount;
    while (place < named && !same_name(terra_code_slot_name(code, place), site.keywords[k])) place++;
    if (place < named) {
      child.locals[place] = site.keyword_values[k];
    } else {
      rest.push_back({site.keywords[k], site.keyword_values[k]});
    }
  }

  Shadow* own = find(reinterpret_cast<PyObject*>(function));
  bool made_inside = own && own->fresh();
  if (PyObject* defaults = function->func_defaults) {
    int count = static_cast<int>(PyTuple_GET_SIZE(defaults));
    for (int i = std::max(0, count - takes); i < count; i++) {  // __defaults__ may be longer than the parameters
      Value& place = child.locals[takes - count + i];
      if (place.known()) continue;
      bool tracked = made_inside && i < static_cast<int>(own->defaults.size());
      place = tracked ? own->defaults[i] : constant(PyTuple_GET_ITEM(defaults, i));
    }
  }
  for (int i = takes; i < named && function->func_kwdefaults; i++) {
    if (child.locals[i].known()) continue;
    PyObject* name = terra_code_slot_name(code, i);
    if (made_inside) {
      for (auto& [key, value] : own->keyword_defaults) {
        if (same_name(key, name)) child.locals[i] = value;
      }
    } else if (PyObject* value = PyDict_GetItemWithError(function->func_kwdefaults, name)) {
      Value dict = dict_of_program(*this, function->func_kwdefaults, "keyword defaults");
      child.locals[i] = dict_item(dict, name);
      (void)value;
    }
  }

  int next = named;
  if (code->co_flags & CO_VARARGS) {
    std::vector<Value> extra;
    for (int i = takes; i < given; i++) extra.push_back(positional[i]);
    child.locals[next] = make_sequence(real[next], std::move(extra));
    next++;
  }
  if (code->co_flags & CO_VARKEYWORDS) {
    Shadow& dict = fresh(real[next]);
    for (auto& [key, value] : rest) dict.entries.push_back({hold(key), value});
    child.locals[next] = dict.self;
  }
  for (int i = 0; i < terra_code_argument_slots(code); i++) {
    if (child.locals[i].object != real[i]) {
      return stop(Reason::OutOfStep, std::string("argument ") + utf8_of(terra_code_slot_name(code, i)) + " of " +
                                         utf8_of(code->co_qualname));
    }
  }
}

/// Called by C code (a property, an operator, map): objects are known by identity; numbers become facts on their way.
void Recording::bind_from_c(ShadowFrame& child, ShadowFrame& caller) {
  Pending& pending = caller.pending;
  for (Value& value : pending.in) pin_deep(value);
  for (Value& value : pending.call.positional) pin_deep(value);
  for (Value& value : pending.call.keyword_values) pin_deep(value);
  for (Value& value : pending.returns) pin_deep(value);
  PyObject** real = terra_frame_localsplus(child.frame);
  for (int i = 0; i < terra_code_argument_slots(child.code) && alive_; i++) {
    if (real[i]) child.locals[i] = bind_object(caller, real[i]);
  }
}

Value Recording::bind_object(ShadowFrame& caller, PyObject* object) {
  if (object == caller.pending.found) return constant(object);  // the descriptor that the class look-up gave
  if (is_atom(object)) return Value::fact(hold(object));
  if (Value value = by_identity(object); value.known()) return value;
  for (const Value& operand : caller.pending.in) {  // an attribute of a class, of which nobody has asked anything
    if (operand.is_fact() && operand.object == object) return shadow(operand).self;
  }
  if (PyType_Check(object) || PyModule_Check(object) || PyCFunction_Check(object) || PyFunction_Check(object) ||
      is_op_function(object) || overridable_function(object) || is_enum_member(object)) {
    return Value::fact(hold(object));
  }
  if (PyTuple_CheckExact(object)) {
    std::vector<Value> parts;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) {
      parts.push_back(bind_object(caller, PyTuple_GET_ITEM(object, i)));
    }
    return make_sequence(object, std::move(parts));
  }
  if (PyDict_CheckExact(object) && PyDict_GET_SIZE(object) == 0) return fresh(object).self;
  stop(Reason::UnknownOrigin, std::string("an argument that is a ") + Py_TYPE(object)->tp_name);
  return {};
}

}  // namespace terra::capture
