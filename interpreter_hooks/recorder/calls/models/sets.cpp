// Sets and frozensets.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

#include <algorithm>

namespace terra::capture {

std::vector<Value> keys_of(Recording& r, Value& source) {
  std::vector<Value> keys;
  if (is_set(source.object) || is_dict(source.object)) {
    r.know_keys(source);
    for (auto& entry : r.shadow(source).entries) keys.push_back(entry.where_from());
  } else if (is_sequence(source.object)) {
    keys = r.items(source);
  } else if (PyUnicode_CheckExact(source.object)) {
    r.pin(source);
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(source.object); i++) {
      keys.push_back(Value::fact(r.hold_new(PyUnicode_Substring(source.object, i, i + 1))));
    }
  } else {
    r.stop(Reason::UnmodelledContainer, std::string("elements from a ") + Py_TYPE(source.object)->tp_name);
  }
  for (Value& key : keys) {
    if (!r.prepare_key(key)) return {};
  }
  return keys;
}

namespace {

bool among(const std::vector<Value>& values, PyObject* key) {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) { return same_key(v.object, key); });
}

/// Which objects among both are the same is a fact.
void tell_apart(Recording& r, Value& set, const std::vector<Value>& keys) {
  auto& compared = r.shadow(set).compared;
  for (const Value& key : keys) {
    if (!is_value_key(key.object)) compared.push_back(key);
  }
}

std::vector<Value> combine(const std::vector<Value>& a, const std::vector<Value>& b, Word code) {
  std::vector<Value> result;
  for (const Value& value : a) {
    bool both = among(b, value.object);
    if (code == TERRA_OR || (code == TERRA_AND) == both) result.push_back(value);
  }
  if (code == TERRA_OR || code == TERRA_XOR) {
    for (const Value& value : b) {
      if (!among(a, value.object)) result.push_back(value);
    }
  }
  return result;
}

void replace_entries(Shadow& known, const std::vector<Value>& keys) {
  known.entries.clear();
  for (const Value& key : keys) {
    bool by_value = is_value_key(key.object);
    known.entries.push_back({key.object, Value(), by_value ? Value() : key});
    if (!by_value) known.compared.push_back(key);
  }
}

/// What effects hand to a method of a set: something from outside is by then what it is now, of what was made inside it
/// is a copy. Where the keys of a copy lie follows from the order in which it was made.
Value as_it_is_now(Recording& r, Value operand) {
  if (is_atom(operand.object) || r.shadow(operand).outside) return operand;
  if (is_sequence(operand.object)) return r.snapshot(operand);
  std::vector<Value> keys = r.elements(operand);
  const bool is_dict = !is_set(operand.object);
  PyObject* copy = is_dict ? PyDict_Copy(operand.object) : PySet_New(operand.object);
  Value made;
  if (is_dict) {
    made = r.fresh(copy).self;
    for (const Value& key : keys) r.dict_store(made, key, Value::fact(Py_None), false);
  } else {
    keys.clear();
    for (auto& entry : r.shadow(operand).entries) keys.push_back(entry.where_from());
    made = r.make_set(copy, std::move(keys));
  }
  Py_DECREF(copy);
  return made;
}

/// `set op= other` as CPython does it, since in which order keys come and go decides where they lie.
void operate_in_place(Recording& r, Value& set, const Value& other, Word which, std::vector<Value> keys) {
  static constexpr struct {
    Word code;
    const char* name;
  } methods[] = {{TERRA_OR, "update"},
                 {TERRA_AND, "intersection_update"},
                 {TERRA_SUBTRACT, "difference_update"},
                 {TERRA_XOR, "symmetric_difference_update"}};
  const Value operand = r.shadow(set).fresh() ? Value() : as_it_is_now(r, other);
  Shadow& known = r.shadow(set);
  replace_entries(known, keys);
  if (known.fresh()) return;
  known.written = true;
  for (const auto& [code, name] : methods) {
    if (code != which) continue;
    PyObject* method = r.hold_new(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PySet_Type), name));
    const Value self = r.shadow(set).self;
    r.write({Effect::CallMethod, self, method, {}, {self, operand}, "", {}});
  }
}

/// The same of a method.
void change(Recording& r, ShadowFrame& f, const std::vector<Value>& keys) {
  auto& in = arguments(f);
  if (r.shadow(in[0]).outside) {
    for (size_t i = 1; i < in.size(); i++) in[i] = as_it_is_now(r, in[i]);
  }
  replace_entries(r.shadow(in[0]), keys);
  repeat_call(r, f);
}

// ---- one element ----

void begin_element(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_set, 2, 2) || !r.prepare_key(arguments(f)[1])) return;
  f.pending.extra = Value::fact(r.set_has(arguments(f)[0], arguments(f)[1]) ? Py_True : Py_False);
}
Value end_add(Recording& r, ShadowFrame& f, PyObject* result) {
  if (f.pending.extra.object == Py_True) return Value::fact(result);
  const Value& key = arguments(f)[1];
  Shadow& known = r.shadow(arguments(f)[0]);
  std::erase_if(known.missing, [&](PyObject* k) { return same_key(k, key.object); });
  known.entries.push_back({r.hold(key.object), Value(), is_value_key(key.object) ? Value() : key});
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_discard(Recording& r, ShadowFrame& f, PyObject* result) {
  if (f.pending.extra.object == Py_False) return Value::fact(result);
  const Value& key = arguments(f)[1];
  Shadow& known = r.shadow(arguments(f)[0]);
  std::erase_if(known.entries, [&](auto& entry) { return same_key(entry.key, key.object); });
  known.missing.push_back(r.hold(key.object));
  repeat_call(r, f);
  return Value::fact(result);
}

// ---- many elements: union, intersection, ... and their in-place forms ----

void begin_whole(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_set, 1, 8)) return;
  for (Value& value : arguments(f)) tell_apart(r, arguments(f)[0], keys_of(r, value));
}
template <Word code>
Value end_combine(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  std::vector<Value> keys = keys_of(r, in[0]);
  for (size_t i = 1; i < in.size(); i++) {
    std::vector<Value> more = keys_of(r, in[i]);
    tell_apart(r, in[0], more);
    keys = combine(keys, more, code);
  }
  if (result != Py_None) return r.make_set(result, std::move(keys));
  change(r, f, keys);
  return Value::fact(result);
}
Value end_clear(Recording& r, ShadowFrame& f, PyObject* result) {
  change(r, f, {});
  return Value::fact(result);
}

// ---- the constructors ----

void begin_new(Recording& r, ShadowFrame& f) {
  if (!plain_arguments(r, f, 0, 1) || arguments(f).empty()) return;
  Value& source = arguments(f)[0];
  if (is_sequence(source.object) || is_set(source.object) || is_dict(source.object)) keys_of(r, source);
}
Value end_new(Recording& r, ShadowFrame& f, PyObject* result) {
  if (arguments(f).empty()) return r.make_set(result, {});
  Value& source = arguments(f)[0];
  if (is_sequence(source.object) || is_set(source.object) || is_dict(source.object)) {
    return r.make_set(result, keys_of(r, source));
  }
  if (const Iterator* walked = r.iterator_of(source.object); walked && walked->kind == Iterator::Generator) {
    f.pending.used_returns = true;
    return r.make_set(result, std::vector<Value>(f.pending.returns));
  }
  if (is_atom(source.object)) {  // of characters
    r.pin(source);
    std::vector<Value> keys;
    PyObject* list = PySequence_List(result);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
      keys.push_back(Value::fact(r.hold(PyList_GET_ITEM(list, i))));
    Py_DECREF(list);
    return r.make_set(result, std::move(keys));
  }
  r.stop(Reason::UnmodelledContainer, std::string("a set of a ") + Py_TYPE(source.object)->tp_name);
  return {};
}

#define FOR_BOTH(name, begin, end) \
  {"set", name, begin, end}, { "frozenset", name, begin, end }
constexpr CallModel models[] = {
    {"set", "add", begin_element, end_add, kChanges | kKeeps},
    {"set", "discard", begin_element, end_discard, kChanges},
    {"set", "remove", begin_element, end_discard, kChanges},
    {"set", "clear", begin_whole, end_clear, kChanges},
    {"set", "update", begin_whole, end_combine<TERRA_OR>, kChanges | kKeeps},
    {"set", "difference_update", begin_whole, end_combine<TERRA_SUBTRACT>, kChanges},
    {"set", "intersection_update", begin_whole, end_combine<TERRA_AND>, kChanges},
    FOR_BOTH("__contains__", begin_element, end_fact),
    FOR_BOTH("union", begin_whole, end_combine<TERRA_OR>),
    FOR_BOTH("intersection", begin_whole, end_combine<TERRA_AND>),
    FOR_BOTH("difference", begin_whole, end_combine<TERRA_SUBTRACT>),
    FOR_BOTH("symmetric_difference", begin_whole, end_combine<TERRA_XOR>),
    FOR_BOTH("copy", begin_whole, end_combine<TERRA_OR>),
    FOR_BOTH("issubset", begin_whole, end_fact),
    FOR_BOTH("issuperset", begin_whole, end_fact),
    FOR_BOTH("isdisjoint", begin_whole, end_fact),
    {"builtins", "set", begin_new, end_new},
    {"builtins", "frozenset", begin_new, end_new},
};
#undef FOR_BOTH

}  // namespace

Value set_operation(Recording& r, Value& a, Value& b, Word code, PyObject* result) {
  std::vector<Value> left = keys_of(r, a), right = keys_of(r, b);
  Word which = code % TERRA_IN_PLACE;
  if (which != TERRA_OR && which != TERRA_AND && which != TERRA_XOR && which != TERRA_SUBTRACT) {
    r.stop(Reason::UnmodelledOperator, "an operator on sets");
    return {};
  }
  tell_apart(r, a, right);
  std::vector<Value> keys = combine(left, right, which);
  if (result != a.object) return r.make_set(result, std::move(keys));
  operate_in_place(r, a, b, which, std::move(keys));
  return a;
}

ModelList set_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
