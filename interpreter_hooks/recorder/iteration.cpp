// Iterators: CPython advances the real one, the shadow advances beside it.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/rules.h"

#include <opcode.h>

namespace terra::capture {

namespace {

Iterator::Kind kind_for(PyObject* object) {
  if (is_sequence(object)) return Iterator::Sequence;
  if (PyDict_CheckExact(object)) return Iterator::Keys;
  return Iterator::Range;
}

/// What an iterator over a dict yields at its place.
Value dict_part(Recording& r, Iterator& iterator, PyObject* produced) {
  Value dict = r.by_identity(iterator.base);
  if (!dict.known()) dict = Value::fact(iterator.base);
  auto& entries = r.shadow(dict).entries;
  size_t index = static_cast<size_t>(iterator.index++);
  if (index >= entries.size()) return {};
  PyObject* key = entries[index].key;
  if (iterator.kind == Iterator::Keys) return Value::fact(r.hold(produced));
  Value value = r.dict_item(dict, key);
  if (iterator.kind == Iterator::Values) return value;
  if (!PyTuple_CheckExact(produced) || PyTuple_GET_SIZE(produced) != 2) return {};
  return r.make_sequence(produced, {Value::fact(r.hold(PyTuple_GET_ITEM(produced, 0))), value});
}

}  // namespace

Value Recording::make_iterator(PyObject* iterator, Iterator::Kind kind, PyObject* base) {
  Shadow& made = fresh(iterator);
  made.iterator = std::make_unique<Iterator>();
  made.iterator->kind = kind;
  made.iterator->base = base;
  if (base && base != iterator) hold(base);
  return made.self;
}

Value Recording::iterate(Value& value, PyObject* iterator) {
  PyObject* object = value.object;
  if (iterator == object) return value;
  Shadow* known = find(object);
  if (known && known->iterator && !iterator) return value;
  if (!iterator) {  // inside enumerate or zip: nobody sees the real one
    iterator = PyCapsule_New(this, nullptr, nullptr);
    hold(iterator);
    Py_DECREF(iterator);
  }
  if (is_sequence(object)) {
    know_length(value);
  } else if (PyDict_CheckExact(object)) {
    know_keys(value);
  } else if (PyRange_Check(object)) {
    pin(value);
  } else if (known && known->iterator) {  // dict.items() and the like: views that are iterated over
    Value made = make_iterator(iterator, known->iterator->kind, known->iterator->base);
    find(iterator)->iterator->children = find(object)->iterator->children;
    return made;
  } else {
    stop(Reason::UnmodelledIteration, Py_TYPE(object)->tp_name);
    return {};
  }
  return make_iterator(iterator, kind_for(object), object);
}

Value Recording::next(ShadowFrame& f, Value value, PyObject* produced) {
  Shadow* known = find(value.object);
  Iterator* iterator = known ? known->iterator.get() : nullptr;
  if (!iterator) {
    stop(Reason::UnmodelledIteration, Py_TYPE(value.object)->tp_name);
    return {};
  }
  switch (iterator->kind) {
    case Iterator::Sequence:
    case Iterator::Reversed: {
      Value base = by_identity(iterator->base);
      if (!base.known()) base = Value::fact(iterator->base);
      Py_ssize_t index = iterator->index++;
      return item(base, iterator->kind == Iterator::Sequence ? index : -1 - index);
    }
    case Iterator::Range:
    case Iterator::Facts: iterator->index++; return Value::fact(hold(produced));
    case Iterator::Keys:
    case Iterator::Values:
    case Iterator::Items: return dict_part(*this, *iterator, produced);
    case Iterator::Enumerate:
    case Iterator::Zip: {
      std::vector<Value> parts;
      std::vector<Value> children = iterator->children;
      bool numbered = iterator->kind == Iterator::Enumerate;
      if (numbered) parts.push_back(Value::fact(hold(PyTuple_GET_ITEM(produced, 0))));
      for (Value& child : children) {
        parts.push_back(next(f, child, PyTuple_GET_ITEM(produced, parts.size())));
        if (!parts.back().known()) return {};
      }
      // enumerate and zip reuse their result tuple when nobody else holds it; the recording does hold it.
      return make_sequence(produced, std::move(parts));
    }
    case Iterator::Generator:
      f.pending.used_returns = true;
      if (!f.pending.returns.empty() && f.pending.returns.back().object == produced) return f.pending.returns.back();
      break;
    case Iterator::Mapped: {
      f.pending.used_returns = true;
      if (Value met = by_identity(produced); met.known()) return met;
      if (is_atom(produced)) return Value::fact(hold(produced));  // operands and returns were pinned
      break;
    }
  }
  stop(Reason::UnmodelledIteration, "an item of unknown origin");
  return {};
}

std::vector<Value> Recording::drain(ShadowFrame& f, Value iterable, PyObject* produced) {
  std::vector<Value> all;
  PyObject* object = iterable.object;
  if (is_sequence(object)) return items(iterable);
  Shadow* known = find(object);
  bool generator = known && known->iterator && known->iterator->kind == Iterator::Generator;
  Value iterator = known && known->iterator ? iterable : iterate(iterable, nullptr);
  auto returns = std::move(f.pending.returns);
  f.pending.returns.clear();
  for (Py_ssize_t i = 0; i < Py_SIZE(produced) && alive_; i++) {
    PyObject* item = PyList_CheckExact(produced) ? PyList_GET_ITEM(produced, i) : PyTuple_GET_ITEM(produced, i);
    if (generator && i < static_cast<Py_ssize_t>(returns.size())) f.pending.returns = {returns[i]};
    all.push_back(next(f, iterator, item));
    if (!all.back().known()) stop(Reason::UnmodelledIteration, "an item of unknown origin");
  }
  if (!returns.empty()) f.pending.used_returns = true;
  return all;
}

// ---- rules ----

namespace {

void get_iter(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  PyObject* iterator = f.real(1);
  if (is_tensor(value.object)) return r.stop(Reason::UnmodelledIteration, "a tensor");
  // A class of the program's own has an __iter__ of its own; the engine's Size is a heap type that iterates as a tuple.
  bool own_class = Py_TYPE(value.object)->tp_flags & Py_TPFLAGS_HEAPTYPE && !is_sequence(value.object);
  if (!f.pending.returns.empty() || own_class) {
    static PyObject* name = PyUnicode_InternFromString("__iter__");
    r.guard_type(value.object);
    r.look_up(Py_TYPE(value.object), name);
    f.pending.used_returns = true;
    Value result = f.pending.returns.empty() ? r.by_identity(iterator) : f.pending.returns.back();
    if (result.object != iterator) return r.stop(Reason::UnmodelledIteration, Py_TYPE(value.object)->tp_name);
    return f.push(result);
  }
  f.push(r.iterate(value, iterator));
}

void for_iter(Recording& r, ShadowFrame& f) {
  Value iterator = f.pending.in[0];
  if (f.real_depth() == static_cast<int>(f.stack.size())) {  // exhausted
    f.pending.used_returns = true;
    return;
  }
  PyObject* produced = f.real(1);
  f.push(iterator);
  if (Py_TYPE(iterator.object)->tp_flags & Py_TPFLAGS_HEAPTYPE && !f.pending.returns.empty()) {  // __next__ in Python
    r.guard_type(iterator.object);
    r.class_facts(Py_TYPE(iterator.object)).strict = true;
    f.pending.used_returns = true;
    return f.push(f.pending.returns.back());
  }
  Value value = r.next(f, iterator, produced);
  if (r.alive() && !value.known()) r.stop(Reason::UnmodelledIteration, "a list that changes while it is iterated over");
  f.push(value);
}

void unpack(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  if (!is_sequence(value.object)) return r.stop(Reason::UnmodelledIteration, "unpacking of an iterator");
  std::vector<Value> all = r.items(value);
  for (int i = f.pending.arg - 1; i >= 0 && r.alive(); i--) f.push(all[i]);
}

constexpr Rule rules[] = {
    {GET_ITER, nullptr, get_iter},
    {FOR_ITER, nullptr, for_iter},
    {UNPACK_SEQUENCE, nullptr, unpack},
};

}  // namespace

RuleList iteration_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
