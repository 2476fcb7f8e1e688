// What C code looks at by itself, where nobody follows it: the operands of sum(), sorted() and the like, and what
// functions and generators of the program return to it. All of that has to be facts.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace terra::capture {

bool is_plain_object(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  while (type && is_changeable(type)) type = type->tp_base;
  return type == &PyBaseObject_Type && Py_TYPE(object) != &PyBaseObject_Type;
}

bool is_program_function(PyObject* object) {
  return PyFunction_Check(object) || PyMethod_Check(object) || overridable_function(object);
}

namespace {

constexpr int most_levels = 8;

bool is_c_callable(PyObject* object) {
  return PyCFunction_Check(object) || Py_TYPE(object) == &PyMethodDescr_Type || PyType_Check(object);
}

/// The container of which d.get or l.__getitem__ is a method; Unknown for all other objects.
Value container_read_by(Recording& r, const Value& callee) {
  if (!PyCFunction_Check(callee.object)) return {};
  PyObject* self = PyCFunction_GET_SELF(callee.object);
  if (!self || (!PyDict_CheckExact(self) && !PyList_CheckExact(self) && !PyTuple_CheckExact(self))) return {};
  if (!(traits_of(callee.object) & kReads)) return {};
  Shadow* bound = r.find(callee.object);
  if (bound && bound->receiver.known()) return bound->receiver;
  return callee.is_fact() ? r.constant(self) : Value();
}

/// A method of tensors, which reports what it does.
bool is_tensor_method(PyObject* object) {
  return Py_TYPE(object) == &PyMethodDescr_Type && is_tensor_type(reinterpret_cast<PyDescrObject*>(object)->d_type);
}

/// Whether what an iterator yields next follows from how often it was asked.
bool counts_along(Iterator::Kind kind) {
  switch (kind) {
    case Iterator::Sequence:
    case Iterator::Reversed:
    case Iterator::Keys:
    case Iterator::Values:
    case Iterator::Items:
    case Iterator::Enumerate:
    case Iterator::Zip:
    case Iterator::Popped:
    case Iterator::Counted: return true;
    case Iterator::Range:
    case Iterator::Facts:
    case Iterator::Generator:
    case Iterator::Mapped:
    case Iterator::Filtered:
    case Iterator::Combined: return false;
  }
  return true;
}

/// The value of an item, or of what is under a key.
bool is_known(Recording& r, const Value& value, Exposure exposure, int depth) {
  return value.known() &&
         (is_atom(value.object) || exposure == Exposure::Items || transparent(r, value, exposure, depth));
}

}  // namespace

void expose(Recording& r, Value& value, int depth) {
  r.pin(value);
  PyObject* object = value.object;
  if (!value.known() || depth > most_levels || is_atom(object)) return;
  if (number_conversion(object)) {
    Value number = r.number_behind(value);
    r.pin(number);
  } else if (is_sequence(object)) {
    for (Value& item : r.items(value)) expose(r, item, depth + 1);
  } else if (is_dict(object)) {
    r.know_keys(value);
    for (const Value& key : r.elements(value)) {
      Value item = r.alive() ? r.dict_item(value, key) : Value();
      if (item.known()) expose(r, item, depth + 1);
    }
  } else if (is_set(object)) {
    r.know_keys(value);
  } else if (is_item_getter(object)) {
    if (value.has_register()) r.guard(Op::Is, value.reg, {word_of(r.file().keep(object))});
  } else if (Value container = container_read_by(r, value); container.known()) {
    expose(r, container, depth + 1);
  } else if (Iterator* iterator = r.iterator_of(object)) {
    iterator->uncounted = counts_along(iterator->kind) && !is_dict_view(object);
    auto children = iterator->children;
    for (Value& child : children) expose(r, child, depth + 1);
    PyObject* base = iterator->base;
    if (base && base != object) {
      Value value_of_base = r.by_identity(base);
      if (value_of_base.known()) expose(r, value_of_base, depth + 1);
    }
  }
}

void expose_all(Recording& r, ShadowFrame& f) {
  for (Value& value : arguments(f)) expose(r, value);
  for (Value& value : f.pending.call.keyword_values) expose(r, value);
}

bool transparent(Recording& r, const Value& value, Exposure exposure, int depth) {
  static PyObject* const len = PyDict_GetItemString(PyEval_GetBuiltins(), "len");
  if (!value.known() || depth > most_levels) return false;
  PyObject* object = value.object;
  if (Value container = container_read_by(r, value); container.known())
    return transparent(r, container, exposure, depth + 1);
  if (is_tensor_method(object) || object == len) return true;
  if (const Shadow* made = is_partial(object) ? r.find(object) : nullptr; made && made->fresh())
    return is_program_function(made->function.object);
  if (value.is_fact() && is_c_callable(object)) return is_harmless(object);
  if (is_tensor(object) || is_program_function(object)) return true;
  if (value.is_fact() && (is_atom(object) || is_unchanging(object))) return true;
  if (is_item_getter(object)) return value.is_fact() || value.has_register();
  if (number_conversion(object)) {
    r.special_methods(Py_TYPE(object));
    return value.is_fact() || value.has_register();
  }
  Shadow* known = r.find(object);
  if (!known) return false;
  if (known->iterator) {
    if (known->iterator->kind == Iterator::Generator) return true;  // its frames are recorded
    const bool by_keys = known->iterator->kind == Iterator::Keys;
    PyObject* base = known->iterator->base;
    if (base && base != object) {
      const int level = by_keys ? 0 : depth + 1;  // of a dict that is walked over nothing but the keys are seen
      if (!transparent(r, r.shadow(Value::fact(base)).self, exposure, level)) return false;
    }
    auto& children = known->iterator->children;
    return std::all_of(children.begin(), children.end(),
                       [&](Value& v) { return transparent(r, v, exposure, depth + 1); });
  }
  if (is_plain_object(object) || is_module(object)) {
    // Handed on; what else C code does with it is done by methods of its class.
    r.special_methods(Py_TYPE(object));
    return true;
  }
  if (is_set(object)) return known->keys_known;
  if (is_sequence(object)) {
    return std::all_of(known->items.begin(), known->items.end(),
                       [&](Value& v) { return is_known(r, v, exposure, depth + 1); });
  }
  if (!is_dict(object) || !known->keys_known) return false;
  return depth == 0 || std::all_of(known->entries.begin(), known->entries.end(),
                                   [&](Shadow::Entry& entry) { return is_known(r, entry.value, exposure, depth + 1); });
}

bool has_text_of_its_own(PyObject* object, int depth) {
  if (PyType_Check(object)) return is_changeable(reinterpret_cast<PyTypeObject*>(object));
  if (is_program_function(object) || depth > most_levels) return true;
  if (is_sequence(object)) {
    for (Py_ssize_t i = 0, n = PyObject_Size(object); i < n; i++) {
      if (has_text_of_its_own(real_item(object, i), depth + 1)) return true;
    }
  }
  if (!is_dict(object) && !is_set(object)) return false;
  bool found = false;
  const auto look = [](PyObject* key, void* context) {
    *static_cast<bool*>(context) = !is_value_key(key);
    return is_value_key(key);
  };
  each_key(object, look, &found);
  if (found || !PyDict_Check(object)) return found;
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(object, &position, &key, &value);) {
    if (has_text_of_its_own(value, depth + 1)) return true;
  }
  return false;
}

// ---- operands ----

namespace {

/// sorted(l, key=f), reduce(f, l): functions of the program get the items.
bool hands_items_on(const CallSite& call) {
  for (size_t i = 0; i < call.keywords.size(); i++) {
    if (!PyUnicode_CompareWithASCIIString(call.keywords[i], "key")) {
      return is_program_function(call.keyword_values[i].object);
    }
  }
  return (traits_of(call) & kByFunction) && !call.positional.empty() && is_program_function(call.positional[0].object);
}

}  // namespace

bool knows_operands(Recording& r, ShadowFrame& f) {
  const Exposure exposure = hands_items_on(f.pending.call) ? Exposure::Items : Exposure::All;
  std::vector<Value> all = everything(f);
  return std::all_of(all.begin(), all.end(),
                     [&](Value& v) { return is_atom(v.object) || transparent(r, v, exposure); });
}

void check_operands(Recording& r, ShadowFrame& f) {
  if (!knows_operands(r, f)) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
}

// ---- what frames below C code return ----

namespace {

enum class Look : uint8_t { Nothing, Truth, Everything, Text };

/// Of what frames below return while the iterator is walked over.
Look look_of(Recording& r, const Value& value, int depth = 0) {
  const Iterator* known = value.known() && depth < most_levels ? r.iterator_of(value.object) : nullptr;
  if (!known) return Look::Nothing;
  const Iterator& iterator = *known;
  Look most = Look::Nothing;
  switch (iterator.kind) {
    case Iterator::Combined:
      if (!iterator.hands_on) return Look::Everything;
      break;
    case Iterator::Filtered: most = Look::Truth; break;
    case Iterator::Mapped:
      if (iterator.children.empty() || !is_program_function(iterator.children[0].object)) return Look::Text;
      break;
    case Iterator::Enumerate:
    case Iterator::Zip: break;
    default: return Look::Nothing;
  }
  for (const Value& child : iterator.children) most = std::max(most, look_of(r, child, depth + 1));
  return most;
}

/// What is returned comes to these iterators of C. True: to one like chain(), which asks its operands for iterators
/// when it comes to them.
bool comes_to(Recording& r, const Value& operand, const Value& returned, int depth = 0) {
  const Iterator* iterator = operand.known() && depth < most_levels ? r.iterator_of(operand.object) : nullptr;
  if (!iterator) return false;
  bool asks = iterator->kind == Iterator::Combined;
  r.live_iterators().comes_to(r, operand.object, returned);
  for (const Value& child : iterator->children) asks = comes_to(r, child, returned, depth + 1) || asks;
  return asks;
}

/// Of what the callable of the open call makes of the values itself.
Look look_of_callable(Recording& r, const ShadowFrame& frame, const CallSite& call, const Value& value) {
  const uint32_t traits = traits_of(call);
  if (!(traits & (kAsksTruth | kLooksIn | kFoldsNumbers | kHandsOn))) return Look::Nothing;
  if (r.iterator_of(value.object)) return Look::Everything;  // of an __iter__
  if (traits & kAsksTruth) return Look::Truth;
  if (traits & kHandsOn) return Look::Nothing;
  if (hands_items_on(call) && (frame.generator || (traits & kByFunction))) return Look::Nothing;
  // Numbers and strings that generators yield are operands of their own.
  if (frame.generator && is_atom(value.object) && (traits & kFoldsNumbers)) return Look::Nothing;
  return Look::Everything;
}

/// key in c, where the class of c has no __contains__ of its own: C code compares what __iter__ gives.
Look look_of_search(const ShadowFrame& frame, const Pending& pending) {
  static PyObject* const name = PyUnicode_InternFromString("__contains__");
  PyObject* found = _PyType_Lookup(Py_TYPE(pending.in[1].object), name);
  auto* function = reinterpret_cast<PyObject*>(frame.generator ? nullptr : terra_frame_function(frame.frame));
  return found && found == function ? Look::Truth : Look::Everything;
}

}  // namespace

void expose_returned(Recording& r, const ShadowFrame& frame, const Pending& pending, Value& value) {
  if (!r.alive() || !value.known()) return;
  const bool call = pending.kind == TERRA_CALL || pending.kind == TERRA_CALL_FUNCTION_EX;
  if (call && pending.call.kind != CallSite::Model) return;
  Look look = call                                ? look_of_callable(r, frame, pending.call, value)
              : pending.kind == TERRA_CONTAINS_OP ? look_of_search(frame, pending)
                                                  : Look::Nothing;
  const Iterator* returned = r.iterator_of(value.object);
  const bool iterator = returned && returned->kind != Iterator::Generator;
  for (const Value& operand : call ? pending.call.positional : pending.in) {
    look = std::max(look, look_of(r, operand));
    if (comes_to(r, operand, value) && iterator) look = std::max(look, Look::Everything);
  }
  if (!pending.returns.empty()) look = std::max(look, look_of(r, pending.returns.front()));  // of an __iter__
  if (look == Look::Truth) {
    r.pin_deep(value);
    r.truth(value);
  } else if (look != Look::Nothing) {
    expose(r, value);
    const bool readable = look != Look::Text || !has_text_of_its_own(value.object);
    const bool handed_on = is_atom(value.object) || (value.is_fact() && is_unchanging(value.object));
    if (!readable || (!handed_on && !transparent(r, value, Exposure::All, 1)))
      r.stop(Reason::UnmodelledCall, std::string("a ") + Py_TYPE(value.object)->tp_name + " that C code looks at");
  }
}

}  // namespace terra::capture
