// Iterators: CPython advances the real one, the shadow advances beside it.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

Iterator::Kind kind_for(PyObject* object) {
  if (is_sequence(object)) return Iterator::Sequence;
  if (is_dict(object) || is_set(object)) return Iterator::Keys;
  return Iterator::Range;
}

/// What an iterator over a dict yields at its place.
Value dict_part(Recording& r, Iterator& iterator, PyObject* produced) {
  Value dict = r.by_identity(iterator.base);
  if (!dict.known()) dict = Value::fact(iterator.base);
  if (r.lost_its_place(iterator)) {
    r.stop(Reason::UnmodelledIteration, "a dict whose keys have changed since");
    return {};
  }
  std::vector<Value> keys = r.elements(dict);
  size_t index = static_cast<size_t>(iterator.index++);
  if (index >= keys.size()) return {};
  Value key = keys[index];
  if (iterator.kind == Iterator::Keys) return key.is_fact() ? Value::fact(r.hold(produced)) : key;
  Value value = r.dict_item(dict, key);
  if (iterator.kind == Iterator::Values) return value;
  if (!PyTuple_CheckExact(produced) || PyTuple_GET_SIZE(produced) != 2) return {};
  if (key.is_fact()) key = Value::fact(r.hold(PyTuple_GET_ITEM(produced, 0)));
  return r.make_sequence(produced, {key, value});
}

}  // namespace

Value Recording::make_iterator(PyObject* iterator, Iterator::Kind kind, PyObject* base) {
  Shadow& made = fresh(iterator);
  made.iterator = std::make_unique<Iterator>();
  made.iterator->kind = kind;
  made.iterator->base = base;
  const Shadow* walked = base ? peek(base) : nullptr;
  made.iterator->rekeyed = is_dict_view(iterator) ? -1 : walked ? walked->rekeyed : 0;
  if (base && base != iterator) hold(base);
  return made.self;
}

void Recording::made_generator(ShadowFrame* frame, PyObject* generator) {
  frame->frame = terra_generator_frame(generator);
  frame->generator_object = generator;
  generators_[frame->frame] = frame;
  shadows_.erase(generator);  // of one that died at the same address
  make_iterator(generator, Iterator::Generator, generator);
}

bool Recording::suspended_in_try(PyObject* iterator) {
  const Iterator* known = iterator_of(iterator);
  if (!known) return false;
  if (known->kind == Iterator::Generator) {
    auto found = generators_.find(terra_generator_frame(iterator));
    if (found == generators_.end()) return false;
    const ShadowFrame& frame = *found->second;
    int depth = 0, lasti = 0;
    if (!frame.resumed || frame.ended) return false;
    const int handler = terra_code_handler(frame.code, frame.pending.offset, &depth, &lasti);
    return handler >= 0 && frame.instructions[handler].kind != TERRA_STOP_ITERATION_ERROR;
  }
  const auto& children = known->children;
  return std::any_of(children.begin(), children.end(), [&](const Value& v) { return suspended_in_try(v.object); });
}

void Recording::check_generators() {
  if (left_suspended()) return stop(Reason::GeneratorEscapes, "it is left suspended");
  for (auto& [frame, generator] : generators_) {
    if (!generator->resumed || generator->ended) continue;
    if (suspended_in_try(generator->generator_object)) {
      return stop(Reason::FreshEscapes, "a generator that has not left its try");
    }
  }
}

/// Nobody but the recording holds a zip, map or enumerate: a generator below it would be closed now, inside CPython's
/// own instruction. The recording ends and lets go of it, which is soon enough.
void Recording::check_wrappers() {
  std::erase_if(wrappers_, [&](PyObject* wrapper) {
    if (Py_REFCNT(wrapper) > 1) return false;
    if (suspended_in_try(wrapper)) stop(Reason::FreshEscapes, "a generator that is dropped in its try");
    return true;
  });
}

void Recording::set_children(PyObject* iterator, std::vector<Value> children) {
  auto is_iterator = [&](const Value& v) { return iterator_of(v.object) != nullptr; };
  if (std::any_of(children.begin(), children.end(), is_iterator)) wrappers_.push_back(iterator);
  for (const Value& child : children)
    if (child.object) live_iterators_.wraps(iterator, child.object);
  iterator_of(iterator)->children = std::move(children);
}

Value Recording::iterate(Value& value, PyObject* iterator) {
  PyObject* object = value.object;
  if (iterator == object) return value;
  Shadow* known = find(object);
  if (known && known->iterator && !iterator) return value;
  if (!iterator) iterator = hold_new(PyCapsule_New(this, nullptr, nullptr));  // inside enumerate or zip: nobody sees it
  if (is_sequence(object)) {
    know_length(value);
  } else if (is_dict(object) || is_set(object)) {
    know_keys(value);
  } else if (PyRange_Check(object) && known && known->fresh()) {
    return loops_->iterator(iterator, object);
  } else if (PyRange_Check(object)) {
    pin(value);
  } else if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object)) {
    pin(value);
    return make_iterator(iterator, Iterator::Facts, nullptr);
  } else if (known && known->iterator) {  // dict.items() and the like: views that are iterated over
    Value made = make_iterator(iterator, known->iterator->kind, known->iterator->base);
    set_children(iterator, find(object)->iterator->children);
    return made;
  } else {
    stop(Reason::UnmodelledIteration, Py_TYPE(object)->tp_name);
    return {};
  }
  return make_iterator(iterator, kind_for(object), object);
}

Value Recording::iterate_rows(Value& tensor, PyObject* iterator) {
  PyObject* parts = PyObject_CallMethod(iterator, "__reduce__", nullptr);  // (iter, (tuple,), 0)
  PyObject* arguments = parts ? PyTuple_GetItem(parts, 1) : nullptr;
  PyObject* rows = arguments && PyTuple_Check(arguments) ? PyTuple_GetItem(arguments, 0) : nullptr;
  PyErr_Clear();
  if (!rows || !PyTuple_CheckExact(rows)) {
    stop(Reason::UnmodelledIteration, "a tensor");
    Py_XDECREF(parts);
    return {};
  }
  trace_->fix_length(tensor.object);
  std::vector<Value> items;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows) && alive_; i++) {
    items.push_back(by_identity(PyTuple_GET_ITEM(rows, i)));
    if (!items.back().known()) stop(Reason::UnmodelledIteration, "a tensor");
  }
  make_sequence(rows, std::move(items));
  Value made = make_iterator(iterator, Iterator::Sequence, rows);
  Py_DECREF(parts);
  return made;
}

Value Recording::iterate_below(ShadowFrame& f, Value& value, PyObject* iterator) {
  PyObject* object = value.object;
  if (iterator_of(object) || is_sequence(object) || is_dict(object) || is_set(object)) return iterate(value, nullptr);
  if (is_tensor(object)) return iterate_rows(value, iterator);
  if (!is_changeable(Py_TYPE(object))) return iterate(value, nullptr);
  static PyObject* name = PyUnicode_InternFromString("__iter__");
  guard_type(object);
  look_up(Py_TYPE(object), name);
  f.pending.used_returns = true;
  Shadow* made = find(iterator);
  if (!made || !made->iterator) stop(Reason::UnmodelledIteration, Py_TYPE(object)->tp_name);
  return made ? made->self : Value();
}

/// The class of the program's own has a __next__.
Value Recording::next_in_python(ShadowFrame& f, Value& value, PyObject* produced) {
  PyTypeObject* type = Py_TYPE(value.object);
  auto& returns = f.pending.returns;
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || returns.empty() || returns.back().object != produced) {
    stop(Reason::UnmodelledIteration, type->tp_name);
    return {};
  }
  guard_type(value.object);
  special_methods(type);
  f.pending.used_returns = true;
  return returns.back();
}

Value Recording::next(ShadowFrame& f, Value value, PyObject* produced, bool below_zip) {
  Iterator* iterator = iterator_of(value.object);
  if (!iterator) return next_in_python(f, value, produced);
  if (iterator->uncounted || (iterator->zipped && !below_zip)) {
    stop(Reason::UnmodelledIteration, "an iterator that C code has walked over");
    return {};
  }
  switch (iterator->kind) {
    case Iterator::Sequence:
    case Iterator::Reversed: {
      Value base = by_identity(iterator->base);
      if (!base.known()) base = Value::fact(iterator->base);
      Py_ssize_t index = iterator->index++;
      Value value = item(base, iterator->kind == Iterator::Sequence ? index : -1 - index);
      const bool same = value.object == produced || (value.known() && same_value(value.object, produced));
      if (value.known() && !same) stop(Reason::UnmodelledIteration, "an iterator that C code has walked over");
      return value;
    }
    case Iterator::Range:
    case Iterator::Facts: iterator->index++; return Value::fact(hold(produced));
    case Iterator::Counted: return loops_->next(*iterator, produced);
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
        parts.push_back(next(f, child, PyTuple_GET_ITEM(produced, parts.size()), !numbered || below_zip));
        if (!parts.back().known()) return {};
      }
      // enumerate and zip reuse their result tuple when nobody else holds it; the recording does hold it.
      return make_sequence(produced, std::move(parts));
    }
    case Iterator::Generator: {
      auto& returns = f.pending.returns;
      size_t place = f.pending.taken++;
      f.pending.used_returns = true;
      if (place < returns.size() && returns[place].object == produced) return returns[place];
      break;
    }
    case Iterator::Popped: {  // what is under the next name is taken out of the dict, else the default stands
      auto& parts = iterator->children;
      Py_ssize_t index = iterator->index++;
      Value dict = parts[0], key = item(parts[1], index), other = item(parts[2], index);
      Value value = dict_item(dict, key);
      if (!value.known()) return other;
      dict_delete(dict, key);
      return value;
    }
    case Iterator::Mapped:
      if (!f.pending.returns.empty() && f.pending.returns.back().object == produced) {
        f.pending.used_returns = true;
        return f.pending.returns.back();
      }
      [[fallthrough]];
    case Iterator::Filtered:
    case Iterator::Combined: {
      for (Value& value : f.pending.returns) pin_deep(value);
      if (iterator->kind == Iterator::Filtered) {
        for (Value& value : f.pending.returns) truth(value);
      }
      f.pending.used_returns = true;
      return value_of_real(*this, produced);
    }
  }
  stop(Reason::UnmodelledIteration, "an item of unknown origin");
  return {};
}

bool Recording::found_next(ShadowFrame& f, Value& value, PyObject* result, PyObject* other) {
  if (result != other) return true;
  const Iterator* iterator = iterator_of(value.object);
  Shadow* base = iterator && iterator->base ? find(iterator->base) : nullptr;
  size_t index = iterator ? static_cast<size_t>(iterator->index) : 0;
  if (iterator && !iterator->zipped && !iterator->uncounted) {
    switch (iterator->kind) {
      case Iterator::Generator: return f.pending.taken < f.pending.returns.size();
      case Iterator::Sequence:
      case Iterator::Reversed:
        if (base) return index < base->items.size();
        break;
      case Iterator::Keys:
      case Iterator::Values:
      case Iterator::Items:
        if (base) return index < base->entries.size();
        break;
      case Iterator::Enumerate:
      case Iterator::Zip: return false;  // a new tuple is never the other object
      default: break;
    }
  }
  stop(Reason::UnmodelledIteration, "next with a default that may be an item");
  return false;
}

/// What an __iter__ in Python has given below the open instruction: an iterator over a container. Unknown where there
/// is none. C code may have asked for the length as well.
Value Recording::iterator_returned(ShadowFrame& f, Value& iterable) {
  if (!is_changeable(Py_TYPE(iterable.object))) return {};
  for (Value& value : f.pending.returns) {
    Shadow* known = find(value.object);
    if (!known || !known->iterator) continue;
    if (known->iterator->kind == Iterator::Generator) return {};
    guard_type(iterable.object);
    special_methods(Py_TYPE(iterable.object));
    for (Value& other : f.pending.returns) pin(other);
    return known->self;
  }
  return {};
}

Value iterator_from(Recording& r, ShadowFrame& f, Value& value, PyObject* iterator) {
  if (is_tensor(value.object)) return r.iterate_rows(value, iterator);
  // A class of the program's own has an __iter__ of its own; the engine's Size is a heap type that iterates as a tuple.
  bool own_class = Py_TYPE(value.object)->tp_flags & Py_TPFLAGS_HEAPTYPE && !is_sequence(value.object) &&
                   !is_dict(value.object) && !r.iterator_of(value.object);
  if (f.pending.returns.empty() && !own_class) return r.iterate(value, iterator);
  static PyObject* name = PyUnicode_InternFromString("__iter__");
  r.guard_type(value.object);
  r.look_up(Py_TYPE(value.object), name);
  f.pending.used_returns = true;
  Value result = f.pending.returns.empty() ? r.by_identity(iterator) : f.pending.returns.back();
  if (result.object == iterator) return result;
  r.stop(Reason::UnmodelledIteration, Py_TYPE(value.object)->tp_name);
  return {};
}

std::vector<Value> Recording::drain(ShadowFrame& f, Value iterable, PyObject* produced) {
  std::vector<Value> all;
  PyObject* object = iterable.object;
  const bool iterator = iterator_of(object) != nullptr;
  if (!iterator && is_sequence(object)) return items(iterable);
  auto produced_item = [&](Py_ssize_t i) {
    return PyList_CheckExact(produced) ? PyList_GET_ITEM(produced, i) : PyTuple_GET_ITEM(produced, i);
  };
  if (is_tensor(object)) {
    trace_->fix_length(object);
    for (Py_ssize_t i = 0; i < Py_SIZE(produced) && alive_; i++) {
      all.push_back(by_identity(produced_item(i)));
      if (!all.back().known()) stop(Reason::UnmodelledIteration, "a tensor");
    }
    return all;
  }
  Value walked = iterable;
  if (!iterator && !is_dict(object) && !is_set(object) && !PyRange_Check(object)) {
    walked = iterator_returned(f, iterable);
    if (!walked.known()) return drain_python(f, iterable, produced);
  } else if (!iterator) {
    walked = iterate(iterable, nullptr);
  }
  for (Py_ssize_t i = 0; i < Py_SIZE(produced) && alive_; i++) {
    all.push_back(next(f, walked, produced_item(i)));
    if (alive_ && !all.back().known()) stop(Reason::UnmodelledIteration, "an item of unknown origin");
  }
  if (!f.pending.returns.empty()) f.pending.used_returns = true;
  if (iterator && iterator_of(object)->kind == Iterator::Filtered) {  // by what it has rejected items
    for (Value& value : f.pending.returns) truth(value);
  }
  return all;
}

/// A class with __iter__ or __next__ in Python: its frames returned the items, after the iterator itself.
std::vector<Value> Recording::drain_python(ShadowFrame& f, Value& iterable, PyObject* produced) {
  PyTypeObject* type = Py_TYPE(iterable.object);
  auto& returns = f.pending.returns;
  size_t count = static_cast<size_t>(Py_SIZE(produced));
  bool walked = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && returns.size() >= count && returns.size() <= count + 1;
  for (size_t i = 0; walked && i < count; i++) {
    PyObject* item = PyList_CheckExact(produced) ? PyList_GET_ITEM(produced, i) : PyTuple_GET_ITEM(produced, i);
    walked = returns[returns.size() - count + i].object == item;
  }
  if (!walked) {
    stop(Reason::UnmodelledIteration, type->tp_name);
    return {};
  }
  guard_type(iterable.object);
  special_methods(type);
  if (returns.size() > count && returns[0].object != iterable.object) stop(Reason::UnmodelledIteration, type->tp_name);
  f.pending.used_returns = true;
  return {returns.end() - static_cast<std::ptrdiff_t>(count), returns.end()};
}

// ---- rules ----

namespace {

void get_iter(Recording& r, ShadowFrame& f) { f.push(iterator_from(r, f, f.pending.in[0], f.real(1))); }

/// Guards of a class with __next__ belong here: an iterator that is exhausted may be gone afterwards. How far a
/// built-in iterator from outside has come can't be guarded, not even that it is at its end.
void begin_for_iter(Recording& r, ShadowFrame& f) {
  PyObject* iterator = f.pending.in[0].object;
  PyTypeObject* type = Py_TYPE(iterator);
  if (r.iterator_of(iterator) || r.adopt(f.pending.in[0])) return;
  static PyObject* next = PyUnicode_InternFromString("__next__");
  PyObject* found = _PyType_Lookup(type, next);
  if (!is_changeable(type) || !found || !PyFunction_Check(found)) {
    const bool generator = PyGen_CheckExact(iterator) || PyCoro_CheckExact(iterator);
    return r.stop(generator ? Reason::GeneratorEscapes : Reason::UnmodelledIteration, type->tp_name);
  }
}
void for_iter(Recording& r, ShadowFrame& f) {
  Value iterator = f.pending.in[0];
  if (f.real_depth() == static_cast<int>(f.stack.size())) {  // exhausted
    f.pending.used_returns = true;
    Iterator* known = r.iterator_of(iterator.object);
    if (known && known->kind == Iterator::Counted) r.loops().ended(*known);
    for (Value& value : f.pending.returns) {  // a filter has rejected by them what was left
      r.pin_deep(value);
      r.truth(value);
    }
    return;
  }
  PyObject* produced = f.real(1);
  f.push(iterator);
  Value value = r.next(f, iterator, produced);
  if (r.alive() && !value.known()) r.stop(Reason::UnmodelledIteration, "a list that changes while it is iterated over");
  f.push(value);
}

/// The topmost items of the stack, the top first, as a tuple for drain().
PyObject* stacked(ShadowFrame& f, int count) {
  PyObject* tuple = PyTuple_New(count);
  for (int i = 0; i < count; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(f.real(1 + i)));
  return tuple;
}

/// Iterators have to be known before the instruction uses them up.
void begin_unpack(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  if (is_sequence(value.object)) return r.know_length(value);
  if (PyDict_CheckExact(value.object)) return r.know_keys(value);
  if (is_atom(value.object)) return r.pin(value);
  if (r.iterator_of(value.object) || r.adopt(value)) return;
  if (PyRange_Check(value.object)) return;
  if (!(Py_TYPE(value.object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && !is_tensor(value.object)) {
    r.stop(Reason::UnmodelledIteration, std::string("unpacking of a ") + Py_TYPE(value.object)->tp_name);
  }
}
std::vector<Value> unpacked(Recording& r, ShadowFrame& f, PyObject* produced) {
  Value& value = f.pending.in[0];
  if (!f.pending.in[0].is_fact() || !is_atom(value.object)) return r.drain(f, value, produced);
  std::vector<Value> all;  // the characters of a string
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(produced); i++) {
    all.push_back(Value::fact(r.hold(PyTuple_GET_ITEM(produced, i))));
  }
  return all;
}
void unpack(Recording& r, ShadowFrame& f) {
  PyObject* produced = stacked(f, f.pending.arg);
  std::vector<Value> all = unpacked(r, f, produced);
  Py_DECREF(produced);
  for (int i = f.pending.arg - 1; i >= 0 && r.alive(); i--) f.push(all[i]);
}

/// a, b, *c, d = value: the low byte counts the places before the list, the next those behind it.
void unpack_ex(Recording& r, ShadowFrame& f) {
  int before = f.pending.arg & 0xff, after = f.pending.arg >> 8;
  PyObject* list = f.real(before + 1);
  int middle = static_cast<int>(PyList_GET_SIZE(list));
  PyObject* produced = PyTuple_New(before + middle + after);
  for (int i = 0; i < before + middle + after; i++) {
    bool in_list = i >= before && i < before + middle;
    PyObject* item = in_list ? PyList_GET_ITEM(list, i - before) : f.real(i < before ? i + 1 : i - middle + 2);
    PyTuple_SET_ITEM(produced, i, Py_NewRef(item));
  }
  std::vector<Value> all = unpacked(r, f, produced);
  Py_DECREF(produced);
  if (!r.alive()) return;
  for (int i = before + middle + after - 1; i >= before + middle; i--) f.push(all[i]);
  f.push(r.make_sequence(list, {all.begin() + before, all.begin() + before + middle}));
  for (int i = before - 1; i >= 0; i--) f.push(all[i]);
}

// ---- yield from ----

/// Stack: iterator, what to send it. A generator takes that up when its frame goes on (rules_call.cpp).
void begin_send(Recording& r, ShadowFrame& f) {
  begin_for_iter(r, f);
  f.pending.extra = f.pending.in[1];
}
/// [iterator, item], or at the end what the generator returned, for some compilers with the iterator below it.
void send(Recording& r, ShadowFrame& f) {
  Value iterator = f.pending.in[0];
  PyObject* produced = f.real(1);
  const bool goes_on = terra_frame_instruction(f.frame) != f.pending.target;
  if (goes_on) {
    f.push(iterator);
    Value value = r.next(f, iterator, produced);
    return f.push(value);
  }
  f.pending.used_returns = true;
  if (f.pending.flags & TERRA_KEEPS_RECEIVER) f.push(iterator);
  if (f.pending.ended.known() && f.pending.ended.object == produced) return f.push(f.pending.ended);
  if (produced != Py_None) return r.stop(Reason::UnmodelledIteration, "the value of `yield from`");
  f.push(Value::fact(produced));
}

constexpr Rule rules[] = {
    {TERRA_GET_ITER, nullptr, get_iter},
    {TERRA_FOR_ITER, begin_for_iter, for_iter},
    {TERRA_UNPACK_SEQUENCE, begin_unpack, unpack},
    {TERRA_UNPACK_EX, begin_unpack, unpack_ex},
    {TERRA_GET_YIELD_FROM_ITER, nullptr, get_iter},
    {TERRA_SEND, begin_send, send},
};

}  // namespace

RuleList iteration_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
