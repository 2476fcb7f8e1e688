// Methods of lists, tuples and deques. Reads become guards; changes of outside objects become effects.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/region/loops.h"

#include <algorithm>

namespace terra::capture {

bool plain_arguments(Recording& r, ShadowFrame& f, size_t least, size_t most) {
  size_t n = arguments(f).size();
  if (n >= least && n <= most && f.pending.call.keywords.empty()) return true;
  r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " with these arguments");
  return false;
}

bool container_arguments(Recording& r, ShadowFrame& f, bool (*of_kind)(PyObject*), size_t least, size_t most) {
  if (!plain_arguments(r, f, least, most)) return false;
  if (of_kind(arguments(f)[0].object)) return true;
  r.stop(Reason::UnmodelledContainer, std::string("a ") + Py_TYPE(arguments(f)[0].object)->tp_name);
  return false;
}

void repeat_call(Recording& r, ShadowFrame& f) {
  Shadow& target = r.shadow(arguments(f)[0]);
  if (target.fresh()) return;
  target.written = true;
  PyObject* callee = f.pending.call.callee;
  if (PyCFunction_Check(callee)) {  // bound: the effect has a receiver of its own
    PyObject* name = PyUnicode_InternFromString(reinterpret_cast<PyCFunctionObject*>(callee)->m_ml->ml_name);
    callee = _PyType_Lookup(Py_TYPE(arguments(f)[0].object), name);
    Py_DECREF(name);
  }
  r.write({Effect::CallMethod, target.self, r.hold(callee), {}, arguments(f), "", {}});
}

void append_item(Recording& r, Value& list, const Value& value) {
  Shadow& known = r.shadow(list);
  (known.length_known ? known.items : known.appended).push_back(value);
  r.loops().appended(known);
  if (known.fresh()) return;
  known.written = true;
  r.write({Effect::Append, known.self, nullptr, value, {}, "", {}});
}

namespace {

Value end_append(Recording& r, ShadowFrame& f, PyObject* result) {
  if (container_arguments(r, f, is_sequence, 2, 2)) append_item(r, arguments(f)[0], arguments(f)[1]);
  return Value::fact(result);
}

void begin_extend(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_sequence, 2, 2)) return;
  if (arguments(f)[0].object == arguments(f)[1].object)
    r.stop(Reason::UnmodelledContainer, "a list extended by itself");
  r.know_length(arguments(f)[0]);
}
Value end_extend(Recording& r, ShadowFrame& f, PyObject* result) {
  Value list = arguments(f)[0];
  Py_ssize_t before = static_cast<Py_ssize_t>(r.shadow(list).items.size());
  PyObject* added = PyList_GetSlice(list.object, before, PyList_GET_SIZE(list.object));
  std::vector<Value> items = r.drain(f, arguments(f)[1], added);
  Py_DECREF(added);
  for (const Value& value : items) append_item(r, arguments(f)[0], value);
  return Value::fact(result);
}

/// Positions are about to change: everything is read at its place before.
void begin_whole(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_sequence, 1, 3)) return;
  r.read_items(arguments(f)[0]);
  if (arguments(f).size() > 1) r.read_index(arguments(f)[1]);
}

Value end_insert(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (is_deque(in[0].object)) r.stop(Reason::UnmodelledCall, "deque.insert");
  auto& items = r.shadow(in[0]).items;
  Py_ssize_t n = static_cast<Py_ssize_t>(items.size()), at = PyNumber_AsSsize_t(in[1].object, nullptr);
  if (at < 0) at = std::max<Py_ssize_t>(0, at + n);
  items.insert(items.begin() + std::min(at, n), in[2]);
  repeat_call(r, f);
  return Value::fact(result);
}

Py_ssize_t popped_index(ShadowFrame& f, Py_ssize_t length) {
  Py_ssize_t index = arguments(f).size() > 1 ? PyNumber_AsSsize_t(arguments(f)[1].object, nullptr) : -1;
  return index < 0 ? index + length : index;
}
Value taken(Recording& r, ShadowFrame& f, Py_ssize_t index) {
  auto& items = r.shadow(arguments(f)[0]).items;
  if (index < 0 || index >= static_cast<Py_ssize_t>(items.size())) return {};
  Value value = items[index];
  items.erase(items.begin() + index);
  repeat_call(r, f);
  return value;
}
Value end_pop(Recording& r, ShadowFrame& f, PyObject*) {
  return taken(r, f, popped_index(f, static_cast<Py_ssize_t>(r.shadow(arguments(f)[0]).items.size())));
}

Value end_clear(Recording& r, ShadowFrame& f, PyObject* result) {
  r.shadow(arguments(f)[0]).items.clear();
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_reverse(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& items = r.shadow(arguments(f)[0]).items;
  std::reverse(items.begin(), items.end());
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_copy(Recording& r, ShadowFrame& f, PyObject* result) {
  if (is_deque(result)) r.stop(Reason::UnmodelledCall, "deque.copy");
  return r.make_sequence(result, r.items(arguments(f)[0]));
}

// ---- sorting: the key function runs as a child frame; what it and the comparisons saw are facts ----

void begin_sort(Recording& r, ShadowFrame& f) {
  if (!arguments(f).empty()) r.read_items(arguments(f)[0]);
  const CallSite& call = f.pending.call;
  for (size_t i = 0; i < call.keywords.size(); i++) {
    const bool reverse = !PyUnicode_CompareWithASCIIString(call.keywords[i], "reverse");
    if (reverse) r.read_index(f.pending.call.keyword_values[i]);
  }
  expose_all(r, f);
}
Value end_sort(Recording& r, ShadowFrame& f, PyObject* result) {
  f.pending.used_returns = true;
  check_operands(r, f);
  Value list = arguments(f)[0];
  std::vector<Value> sorted;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.object); i++) {
    PyObject* item = PyList_GET_ITEM(list.object, i);
    sorted.push_back(is_atom(item) ? Value::fact(r.hold(item)) : r.by_identity(item));
    if (!sorted.back().known()) r.stop(Reason::UnknownOrigin, "an item");
  }
  r.shadow(list).items = std::move(sorted);
  if (!r.shadow(list).outside || !r.alive()) return Value::fact(result);
  PyObject* everything = r.hold_new(PySlice_New(nullptr, nullptr, nullptr));
  Value order = r.snapshot(list);
  Shadow& known = r.shadow(list);
  known.written = true;
  r.write({Effect::SetItem, known.self, everything, order, {}, "", {}});
  return Value::fact(result);
}

// ---- searching ----

void begin_search(Recording& r, ShadowFrame& f) {
  if (container_arguments(r, f, is_sequence, 2, 2)) r.read_to_search(arguments(f)[0], arguments(f)[1]);
}
void begin_count(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_sequence, 2, 2)) return;
  for (Value& item : r.items(arguments(f)[0])) r.read_to_compare(item, arguments(f)[1]);
}
/// Where what was removed had been. Of objects that are compared by what they hold it is known by where the shadow and
/// the list part.
size_t removed_from(const std::vector<Value>& before, PyObject* list, PyObject* key) {
  const size_t left = before.size() - 1;
  const auto is_at = [&](size_t from, size_t to) {
    PyObject *was = before[from].object, *is = real_item(list, static_cast<Py_ssize_t>(to));
    return was == is || (is_atom(was) && same_value(was, is));
  };
  size_t found = 0, parts = 0;
  while (found <= left && !is_found(before[found].object, key)) found++;
  while (parts < left && is_at(parts, parts)) parts++;
  while (parts > 0 && before[parts - 1].object == before[parts].object) parts--;
  return std::min(found, parts);
}
/// Deleted by its place: another one may be equal to the key by the time the effects run.
Value end_remove(Recording& r, ShadowFrame& f, PyObject* result) {
  Shadow& known = r.shadow(arguments(f)[0]);
  const size_t at = removed_from(known.items, arguments(f)[0].object, arguments(f)[1].object);
  known.items.erase(known.items.begin() + static_cast<Py_ssize_t>(at));
  if (known.fresh()) return Value::fact(result);
  known.written = true;
  r.write({Effect::DeleteItem, known.self, r.hold_new(PyLong_FromSize_t(at)), {}, {}, "", {}});
  return Value::fact(result);
}

// ---- deque ----

/// What a bounded deque drops at its other end.
void bound(Recording& r, ShadowFrame& f, bool left) {
  PyObject* object = arguments(f)[0].object;
  Shadow& known = r.shadow(arguments(f)[0]);
  Py_ssize_t most = max_length_of(object);
  if (known.outside && !known.bounded) {
    r.guard(Op::MaxLength, r.reg_of(known.self), {static_cast<Word>(most)});
    r.shadow(arguments(f)[0]).bounded = true;
  }
  auto& items = r.shadow(arguments(f)[0]).items;
  if (most >= 0 && static_cast<Py_ssize_t>(items.size()) > most) items.erase(left ? items.end() - 1 : items.begin());
}

Value end_deque_append(Recording& r, ShadowFrame& f, PyObject* result) {
  r.shadow(arguments(f)[0]).items.push_back(arguments(f)[1]);
  bound(r, f, false);
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_append_left(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& items = r.shadow(arguments(f)[0]).items;
  items.insert(items.begin(), arguments(f)[1]);
  bound(r, f, true);
  repeat_call(r, f);
  return Value::fact(result);
}
void begin_deque_whole(Recording& r, ShadowFrame& f) {
  if (container_arguments(r, f, is_sequence, 1, 2)) r.read_items(arguments(f)[0]);
}
void begin_deque_extend(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_sequence, 2, 2)) return;
  r.read_items(arguments(f)[0]);
  if (!is_sequence(arguments(f)[1].object)) return r.stop(Reason::UnmodelledIteration, "deque.extend of an iterator");
  arguments(f)[1] = r.snapshot(arguments(f)[1]);
}
Value end_deque_extend(Recording& r, ShadowFrame& f, PyObject* result) {
  for (const Value& value : r.items(arguments(f)[1])) {
    r.shadow(arguments(f)[0]).items.push_back(value);
    bound(r, f, false);
  }
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_pop_left(Recording& r, ShadowFrame& f, PyObject*) { return taken(r, f, 0); }
Value end_rotate(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& items = r.shadow(arguments(f)[0]).items;
  Py_ssize_t n = static_cast<Py_ssize_t>(items.size());
  Py_ssize_t by = arguments(f).size() > 1 ? PyLong_AsSsize_t(arguments(f)[1].object) : 1;
  if (n) std::rotate(items.begin(), items.begin() + (n - by % n) % n, items.end());
  repeat_call(r, f);
  return Value::fact(result);
}
Value end_new_deque(Recording& r, ShadowFrame& f, PyObject* result) {
  const CallSite& call = f.pending.call;
  for (size_t i = 0; i < call.keywords.size(); i++) {
    if (PyUnicode_CompareWithASCIIString(call.keywords[i], "maxlen"))
      r.stop(Reason::UnmodelledCall, "deque() with a named iterable");
  }
  for (Value& value : f.pending.call.keyword_values) r.read_index(value);
  if (arguments(f).size() > 1) r.read_index(arguments(f)[1]);
  std::vector<Value> items;
  if (!arguments(f).empty()) {
    PyObject* real = PySequence_List(result);
    Value& source = arguments(f)[0];
    Py_ssize_t most = max_length_of(result);
    if (most < 0) {
      items = r.drain(f, source, real);
    } else if (is_sequence(source.object)) {
      items = r.items(source);
      if (static_cast<Py_ssize_t>(items.size()) > most) items.erase(items.begin(), items.end() - most);
    } else {
      r.stop(Reason::UnmodelledIteration, "a bounded deque of an iterator");
    }
    Py_DECREF(real);
  }
  return r.make_sequence(result, std::move(items));
}

// ---- the constructors ----

void begin_sequence(Recording& r, ShadowFrame& f) {
  if (!plain_arguments(r, f, 0, 1) || arguments(f).empty()) return;
  if (is_sequence(arguments(f)[0].object)) r.read_items(arguments(f)[0]);
}
Value end_sequence(Recording& r, ShadowFrame& f, PyObject* result) {
  if (!PyList_CheckExact(result) && !PyTuple_CheckExact(result)) return {};
  if (arguments(f).empty()) return r.make_sequence(result, {});
  return r.make_sequence(result, r.drain(f, arguments(f)[0], result));
}

/// Items that are no ints become some.
Value end_size(Recording& r, ShadowFrame& f, PyObject* result) {
  if (!is_size(result)) return {};
  std::vector<Value> items = arguments(f).empty() ? std::vector<Value>() : r.drain(f, arguments(f)[0], result);
  for (const Value& item : items)
    if (!PyLong_CheckExact(item.object)) r.stop(Reason::UnmodelledCall, "torch.Size of other things than ints");
  return r.make_sequence(result, std::move(items));
}
Value end_numel(Recording& r, ShadowFrame& f, PyObject* result) {
  const std::vector<Value> sizes = r.items(arguments(f)[0]);
  if (std::all_of(sizes.begin(), sizes.end(), [](const Value& size) { return size.is_fact(); }))
    return Value::fact(r.hold(result));
  Value product = sizes[0];
  for (size_t i = 1; i < sizes.size(); i++) {
    PyObject* now = PyNumber_Multiply(product.object, sizes[i].object);
    product = r.host(Op::Binary, r.reg_of(product), r.reg_of(sizes[i]), {TERRA_MULTIPLY}, now, {product, sizes[i]});
    Py_XDECREF(now);
  }
  return product;
}

constexpr CallModel models[] = {
    {"list", "append", nullptr, end_append, kChanges | kKeeps | kAtBack},
    {"list", "extend", begin_extend, end_extend, kChanges | kKeeps},
    {"list", "insert", begin_whole, end_insert, kChanges | kKeeps},
    {"list", "pop", begin_whole, end_pop, kChanges | kAtBack},
    {"list", "clear", begin_whole, end_clear, kChanges},
    {"list", "reverse", begin_whole, end_reverse, kChanges | kKeeps},
    {"list", "copy", begin_whole, end_copy},
    {"list", "sort", begin_sort, end_sort, kChanges | kKeeps | kLooksIn},
    {"list", "index", begin_search, end_fact},
    {"list", "count", begin_count, end_fact},
    {"list", "remove", begin_search, end_remove, kChanges},
    {"tuple", "index", begin_search, end_fact},
    {"tuple", "count", begin_count, end_fact},
    {"_collections.deque", "append", begin_deque_whole, end_deque_append, kChanges | kKeeps | kAtBack},
    {"_collections.deque", "appendleft", begin_deque_whole, end_append_left, kChanges | kKeeps | kAtFront},
    {"_collections.deque", "extend", begin_deque_extend, end_deque_extend, kChanges | kKeeps},
    {"_collections.deque", "pop", begin_whole, end_pop, kChanges | kAtBack},
    {"_collections.deque", "popleft", begin_whole, end_pop_left, kChanges | kAtFront},
    {"_collections.deque", "clear", begin_whole, end_clear, kChanges},
    {"_collections.deque", "reverse", begin_whole, end_reverse, kChanges | kKeeps},
    {"_collections.deque", "rotate", begin_whole, end_rotate, kChanges | kKeeps},
    {"_collections.deque", "index", begin_search, end_fact},
    {"_collections.deque", "count", begin_count, end_fact},
    {"_collections.deque", "remove", begin_search, end_remove, kChanges},
    {"_collections", "deque", nullptr, end_new_deque},
    {"builtins", "list", begin_sequence, end_sequence},
    {"builtins", "tuple", begin_sequence, end_sequence},
    {"terra", "Size", begin_sequence, end_size},
    {"terra.Size", "numel", begin_whole, end_numel},
};

}  // namespace

ModelList sequence_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
