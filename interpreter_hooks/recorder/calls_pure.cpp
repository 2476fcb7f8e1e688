// C callables without effects: numbers, strings, iterators, and the builtins that walk over containers.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/call_models.h"
#include "interpreter_hooks/recorder/trace_builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool all_atoms(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.known() && is_atom(v.object); });
}
bool all_facts(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_fact(); });
}

std::vector<Value> everything(ShadowFrame& f) {
  std::vector<Value> all = arguments(f);
  auto& named = f.pending.call.keyword_values;
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

/// Lets C code look at a value: numbers in it become facts, objects in it become known by identity.
void expose(Recording& r, Value& value, int depth = 0) {
  r.pin(value);
  PyObject* object = value.object;
  if (!value.known() || depth > 4 || is_atom(object)) return;
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    for (Value& item : r.items(value)) expose(r, item, depth + 1);
  } else if (PyDict_CheckExact(object)) {
    r.read_deep(value);
  } else if (Shadow* known = r.find(object); known && known->iterator) {
    auto children = known->iterator->children;
    for (Value& child : children) expose(r, child, depth + 1);
    PyObject* base = known->iterator->base;
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

/// An exception of a function of numbers and strings: they become facts.
bool raised_by_numbers(Recording& r, ShadowFrame& f) {
  std::vector<Value> all = everything(f);
  if (!all_atoms(all)) return false;
  for (Value& value : all) r.pin(value);
  return true;
}

/// A C callable that other C code may call without being seen: one without effects, or one that reports itself.
bool is_harmless(PyObject* callee) {
  if (is_op_function(callee)) return true;
  const CallModel* model = model_of(callee);
  return model && model->raised == raised_by_numbers;
}
bool is_c_callable(PyObject* object) {
  return PyCFunction_Check(object) || Py_TYPE(object) == &PyMethodDescr_Type || PyType_Check(object);
}

/// Whether C code can have seen nothing but facts and tensors in a value.
bool transparent(Recording& r, const Value& value, int depth = 0) {
  if (!value.known() || depth > 4) return false;
  PyObject* object = value.object;
  if (value.is_fact() && is_c_callable(object)) return is_harmless(object);
  if (value.is_fact() || is_tensor(object) || PyFunction_Check(object) || PyMethod_Check(object)) return true;
  Shadow* known = r.find(object);
  if (!known) return false;
  if (known->iterator) {
    if (known->iterator->kind == Iterator::Generator) return true;  // its frames are recorded
    PyObject* base = known->iterator->base;
    if (base && base != object && !transparent(r, r.shadow(Value::fact(base)).self, depth + 1)) return false;
    auto& children = known->iterator->children;
    return std::all_of(children.begin(), children.end(), [&](Value& v) { return transparent(r, v, depth + 1); });
  }
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    return std::all_of(known->items.begin(), known->items.end(), [&](Value& v) {
      return v.known() && (is_atom(v.object) || transparent(r, v, depth + 1));
    });
  }
  return PyDict_CheckExact(object) && known->keys_known;
}

// ---- pure functions of numbers and strings ----

Value end_pure(Recording& r, ShadowFrame& f, PyObject* result) {
  std::vector<Value> all = everything(f);
  if (f.pending.extra.known() && f.pending.extra.object == result) {  // float(tensor)
    f.pending.used_returns = true;
    return f.pending.extra;
  }
  if (f.pending.reported && is_tensor(result)) return r.by_identity(result);
  if (all_atoms(all) && is_atom(result)) {
    if (all_facts(all)) return Value::fact(r.hold(result));
    if (f.pending.call.keywords.empty()) {
      Value size = r.trace().sizes().computed(Op::Call, 0, f.pending.call.callee, all, result);
      if (size.known()) return size;
    }
    if (f.pending.call.keywords.empty() && all.size() < 64) {
      std::vector<Register> registers;
      for (Value& value : all) registers.push_back(r.reg_of(value));
      std::vector<Word> words = pack(registers);
      words.insert(words.begin(), word_of(r.file().keep(f.pending.call.callee)));
      // A bound C function (m.sqrt) is called as it is; methods of str are called through their descriptor.
      PyObject* callee = f.pending.call.callee;
      bool bound = PyCFunction_Check(callee) && PyCFunction_GET_SELF(callee) && !PyModule_Check(PyCFunction_GET_SELF(callee));
      if (!bound) return r.host(Op::Call, no_register, no_register, words, result, all);
    }
    for (Value& value : all) r.pin(value);
    return Value::fact(r.hold(result));
  }
  if (f.pending.returns.empty()) {
    for (Value& value : all) {
      if (!r.read_deep(value)) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
    }
  } else {  // __len__, __float__, __bool__ in Python
    for (Value& value : all) {
      if (is_atom(value.object)) continue;
      if (!(Py_TYPE(value.object)->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
        break;
      }
      r.guard_type(value.object);
      r.class_facts(Py_TYPE(value.object)).strict = true;
    }
    f.pending.used_returns = true;
  }
  if (is_tensor(result)) return r.by_identity(result);
  if (!is_atom(result)) {
    if ((PyList_CheckExact(result) || PyTuple_CheckExact(result)) && r.alive()) {  // str.split, divmod
      std::vector<Value> items;
      for (Py_ssize_t i = 0; i < Py_SIZE(result); i++) {
        PyObject* item = PyList_CheckExact(result) ? PyList_GET_ITEM(result, i) : PyTuple_GET_ITEM(result, i);
        if (!is_atom(item)) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
        items.push_back(Value::fact(r.hold(item)));
      }
      return r.make_sequence(result, std::move(items));
    }
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  }
  return Value::fact(r.hold(result));
}

void begin_len(Recording& r, ShadowFrame& f) {
  Value& value = arguments(f)[0];
  PyObject* object = value.object;
  if (is_sequence(object)) r.know_length(value);
  if (PyDict_CheckExact(object)) r.know_keys(value);
}
Value end_len(Recording& r, ShadowFrame& f, PyObject* result) {
  PyObject* object = arguments(f)[0].object;
  if (is_tensor(object) && f.pending.extra.known()) return f.pending.extra;
  bool walked = is_sequence(object) || PyDict_CheckExact(object);
  if (walked) return Value::fact(r.hold(result));
  if (Shadow* known = r.find(object); known && known->fresh() && PyAnySet_CheckExact(object)) {
    return Value::fact(r.hold(result));
  }
  return end_pure(r, f, result);
}

// ---- builtins that walk over their arguments, perhaps calling back ----

Value end_walk(Recording& r, ShadowFrame& f, PyObject* result) {
  f.pending.used_returns = true;
  if (f.pending.extra.known() && f.pending.extra.object == result) return f.pending.extra;
  if (Value met = r.by_identity(result); met.known()) return met;  // a tensor, or one of the items
  std::vector<Value> all = everything(f);
  for (Value& value : all) {
    if (!is_atom(value.object) && !transparent(r, value)) {
      r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
    }
  }
  if (is_atom(result)) return Value::fact(r.hold(result));
  if (PyList_CheckExact(result)) {  // sorted
    std::vector<Value> items;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(result); i++) {
      PyObject* item = PyList_GET_ITEM(result, i);
      Value value = is_atom(item) ? Value::fact(r.hold(item)) : r.by_identity(item);
      if (!value.known()) r.stop(Reason::UnknownOrigin, "an item");
      items.push_back(value);
    }
    return r.make_sequence(result, std::move(items));
  }
  r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  return {};
}

void begin_sorted(Recording& r, ShadowFrame& f) {
  expose_all(r, f);
  if (f.pending.call.keywords.size() > 2) r.stop(Reason::UnmodelledCall, "sorted");
}

/// min and max: of numbers, or of what is in a container.
void begin_extremum(Recording& r, ShadowFrame& f) {
  if (!all_atoms(everything(f))) expose_all(r, f);
}
Value end_extremum(Recording& r, ShadowFrame& f, PyObject* result) {
  return all_atoms(everything(f)) ? end_pure(r, f, result) : end_walk(r, f, result);
}

// ---- iterators ----

Value end_enumerate(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  for (Value& value : everything(f)) r.pin(value);
  Value child = r.iterate(in[0], nullptr);
  Value made = r.make_iterator(result, Iterator::Enumerate, nullptr);
  r.set_children(result, {child});
  return made;
}
Value end_zip(Recording& r, ShadowFrame& f, PyObject* result) {
  if (!f.pending.call.keywords.empty()) r.stop(Reason::UnmodelledCall, "zip(strict=)");
  std::vector<Value> children;
  for (Value& value : arguments(f)) children.push_back(r.iterate(value, nullptr));
  Value made = r.make_iterator(result, Iterator::Zip, nullptr);
  r.set_children(result, std::move(children));
  return made;
}
Value end_reversed(Recording& r, ShadowFrame& f, PyObject* result) {
  Value& value = arguments(f)[0];
  if (PyRange_Check(value.object)) {
    r.pin(value);
    return r.make_iterator(result, Iterator::Facts, nullptr);
  }
  if (!PyList_CheckExact(value.object) && !PyTuple_CheckExact(value.object)) {
    r.stop(Reason::UnmodelledIteration, "reversed");
    return {};
  }
  r.know_length(value);
  return r.make_iterator(result, Iterator::Reversed, value.object);
}
Value end_range(Recording& r, ShadowFrame& f, PyObject* result) {
  for (Value& value : arguments(f)) r.pin(value);
  return Value::fact(r.hold(result));
}
Value end_iter(Recording& r, ShadowFrame& f, PyObject* result) {
  if (arguments(f).size() != 1) {
    r.stop(Reason::UnmodelledIteration, "iter with a sentinel");
    return {};
  }
  return r.iterate(arguments(f)[0], result);
}
/// Whether there was a next one follows from the iterator's shadow, which counts along.
Value end_next(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (in.size() == 1 || r.found_next(f, in[0], result, in[1].object)) return r.next(f, in[0], result);
  f.pending.used_returns = true;
  return in[1];
}
bool raised_by_next(Recording& r, ShadowFrame& f) {
  Shadow* known = r.find(arguments(f)[0].object);
  return (known && known->iterator) || f.pending.child_raised;
}
bool raised_below_walk(Recording& r, ShadowFrame& f) {
  if (!f.pending.child_raised) return raised_by_numbers(r, f);
  std::vector<Value> all = everything(f);
  return std::all_of(all.begin(), all.end(), [&](Value& v) { return is_atom(v.object) || transparent(r, v); });
}

/// map and filter: the function is the program's own, or does nothing but compute; what they walk over is known.
template <Iterator::Kind kind>
Value end_map(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* function = in[0].object;
  if (!PyFunction_Check(function) && !PyMethod_Check(function) && function != Py_None && !is_harmless(function)) {
    r.stop(Reason::UnmodelledCall, callable_name(function) + " below " + callable_name(f.pending.call.callee));
  }
  for (size_t i = 1; i < in.size() && r.alive(); i++) {
    if (!transparent(r, in[i])) r.stop(Reason::UnmodelledIteration, Py_TYPE(in[i].object)->tp_name);
  }
  Value made = r.make_iterator(result, kind, nullptr);
  r.set_children(result, arguments(f));
  return made;
}

constexpr CallModel models[] = {
    {"builtins", "len", begin_len, end_len},
    {"builtins", "abs", nullptr, end_pure, raised_by_numbers},
    {"builtins", "round", nullptr, end_pure, raised_by_numbers},
    {"builtins", "pow", nullptr, end_pure, raised_by_numbers},
    {"builtins", "divmod", nullptr, end_pure, raised_by_numbers},
    {"builtins", "ord", nullptr, end_pure, raised_by_numbers},
    {"builtins", "chr", nullptr, end_pure, raised_by_numbers},
    {"builtins", "int", nullptr, end_pure, raised_by_numbers},
    {"builtins", "float", nullptr, end_pure, raised_by_numbers},
    {"builtins", "bool", nullptr, end_pure, raised_by_numbers},
    {"builtins", "str", nullptr, end_pure, raised_by_numbers},
    {"builtins", "repr", nullptr, end_pure, raised_by_numbers},
    {"builtins", "format", nullptr, end_pure, raised_by_numbers},
    {"builtins", "slice", nullptr, end_pure, raised_by_numbers},
    {"builtins", "sum", expose_all, end_walk, raised_below_walk},
    {"builtins", "min", begin_extremum, end_extremum, raised_below_walk},
    {"builtins", "max", begin_extremum, end_extremum, raised_below_walk},
    {"builtins", "any", expose_all, end_walk, raised_below_walk},
    {"builtins", "all", expose_all, end_walk, raised_below_walk},
    {"builtins", "sorted", begin_sorted, end_walk, raised_below_walk},
    {"_functools", "reduce", expose_all, end_walk, raised_below_walk},
    {"builtins", "enumerate", nullptr, end_enumerate},
    {"builtins", "zip", nullptr, end_zip},
    {"builtins", "reversed", nullptr, end_reversed},
    {"builtins", "range", nullptr, end_range},
    {"builtins", "iter", nullptr, end_iter},
    {"builtins", "next", nullptr, end_next, raised_by_next},
    {"builtins", "map", expose_all, end_map<Iterator::Mapped>},
    {"builtins", "filter", expose_all, end_map<Iterator::Filtered>},
    {"math", nullptr, nullptr, end_pure, raised_by_numbers},
    {"str", "join", expose_all, end_walk, raised_below_walk},
    {"str", nullptr, nullptr, end_pure, raised_by_numbers},
    {"bytes", nullptr, nullptr, end_pure, raised_by_numbers},
    {"int", nullptr, nullptr, end_pure, raised_by_numbers},
    {"float", nullptr, nullptr, end_pure, raised_by_numbers},
};

}  // namespace

ModelList pure_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
