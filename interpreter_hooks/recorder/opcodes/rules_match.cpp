// Structural pattern matching: each instruction looks at a subject and says which way the program goes.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Whether the subject on top is a sequence or mapping is a flag of its class.
void match_kind(Recording& r, ShadowFrame& f) {
  Value& subject = f.top();
  if (r.find(subject.object)) r.guard_type(subject.object);
  f.push(Value::fact(f.real(1)));
}

void get_length(Recording& r, ShadowFrame& f) {
  Value& subject = f.top();
  if (is_sequence(subject.object)) {
    r.know_length(subject);
  } else if (PyDict_CheckExact(subject.object)) {
    r.know_keys(subject);
  } else {
    return r.stop(Reason::UnmodelledContainer, std::string("the length of a ") + Py_TYPE(subject.object)->tp_name);
  }
  f.push(Value::fact(r.hold(f.real(1))));
}

/// Stack: mapping, tuple of keys.
void begin_match_keys(Recording& r, ShadowFrame& f) {
  Value &subject = f.top(2), &keys = f.top(1);
  if (!PyDict_CheckExact(subject.object)) {
    return r.stop(Reason::UnmodelledContainer,
                  std::string("a mapping pattern on a ") + Py_TYPE(subject.object)->tp_name);
  }
  for (Value& key : r.items(keys)) {
    r.pin(key);
    r.dict_item(subject, key.object);
  }
}
void match_keys(Recording& r, ShadowFrame& f) {
  PyObject* values = f.real(1);
  if (values == Py_None) return f.push(Value::fact(values));
  Value subject = f.top(2), keys = f.top(1);
  std::vector<Value> all;
  for (Value& key : r.items(keys)) all.push_back(r.dict_item(subject, key.object));
  f.push(r.make_sequence(values, std::move(all)));
}

/// The subject's class decides what isinstance says, unless a metaclass has a say in it.
bool plain_isinstance(Recording& r, Value& subject, PyObject* type) {
  if (r.find(subject.object)) r.guard_type(subject.object);
  PyTypeObject* own = Py_TYPE(subject.object);
  if (is_changeable(own)) r.class_facts(own);
  return PyType_CheckExact(type) || reinterpret_cast<PyObject*>(own) == type;
}

/// Stack: subject, class, names of the keyword patterns. The positional ones are named by the class.
std::vector<PyObject*> pattern_names(Recording& r, ShadowFrame& f) {
  static PyObject* match_args = PyUnicode_InternFromString("__match_args__");
  auto* type = reinterpret_cast<PyTypeObject*>(f.pending.in[1].object);
  std::vector<PyObject*> names;
  PyObject* positional = f.pending.arg > 0 ? r.look_up(type, match_args) : nullptr;
  for (int i = 0; positional && PyTuple_CheckExact(positional) && i < f.pending.arg && i < PyTuple_GET_SIZE(positional);
       i++) {
    PyObject* name = PyTuple_GET_ITEM(positional, i);
    if (PyUnicode_CheckExact(name)) names.push_back(name);
  }
  PyObject* keywords = f.pending.in[2].object;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); i++) names.push_back(PyTuple_GET_ITEM(keywords, i));
  for (PyObject*& name : names) {
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    r.hold_new(name);
  }
  return names;
}

/// What one attribute pattern reads: an attribute that is simply there, or is known to be missing.
Value pattern_attribute(Recording& r, ShadowFrame& f, PyObject* name, PyObject* object) {
  Value subject = f.pending.in[0];
  f.pending.access = r.access_of(subject, name, &f.pending.found);
  bool simple =
      f.pending.access == Access::Instance || f.pending.access == Access::Slot || f.pending.access == Access::Class;
  if (simple) return r.attribute(f, subject, name, object);
  r.stop(Reason::UnmodelledAttribute, std::string(Py_TYPE(subject.object)->tp_name) + "." + utf8_of(name));
  return {};
}

void match_class(Recording& r, ShadowFrame& f) {
  Value& subject = f.pending.in[0];
  PyObject *type = f.pending.in[1].object, *result = f.real(1);
  if (!PyType_Check(type) || !plain_isinstance(r, subject, type) || is_tensor(subject.object)) {
    return r.stop(Reason::UnmodelledCall, "isinstance with unusual classes");
  }
  if (!PyObject_TypeCheck(subject.object, reinterpret_cast<PyTypeObject*>(type))) return f.push(Value::fact(result));
  bool self = f.pending.arg == 1 && (reinterpret_cast<PyTypeObject*>(type)->tp_flags & _Py_TPFLAGS_MATCH_SELF);
  std::vector<PyObject*> names = pattern_names(r, f);
  size_t count = names.size() + (self && result != Py_None && PyTuple_GET_SIZE(result) > Py_ssize_t(names.size()));
  std::vector<Value> values;
  if (result == Py_None) {  // the first name that is missing decided
    for (PyObject* name : names) {
      PyObject* found = nullptr;
      Access access = r.access_of(subject, name, &found);
      if (access == Access::None) {
        r.absent(subject, name);
        return f.push(Value::fact(result));
      }
      PyObject* object = terra_instance_attribute(subject.object, name);
      if (access != Access::Instance || !object) break;
      f.pending.access = access;
      r.attribute(f, subject, name, object);
    }
    return r.stop(Reason::UnmodelledAttribute, "a class pattern");
  }
  if (static_cast<size_t>(PyTuple_GET_SIZE(result)) != count)
    return r.stop(Reason::UnmodelledAttribute, "a class pattern");
  if (count > names.size()) values.push_back(subject);
  for (PyObject* name : names) {
    values.push_back(pattern_attribute(r, f, name, PyTuple_GET_ITEM(result, static_cast<Py_ssize_t>(values.size()))));
    if (!r.alive()) return;
  }
  f.push(r.make_sequence(result, std::move(values)));
}

constexpr Rule rules[] = {
    {TERRA_MATCH_MAPPING, nullptr, match_kind}, {TERRA_MATCH_SEQUENCE, nullptr, match_kind},
    {TERRA_GET_LEN, nullptr, get_length},       {TERRA_MATCH_KEYS, begin_match_keys, match_keys},
    {TERRA_MATCH_CLASS, nullptr, match_class},
};

}  // namespace

RuleList match_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
