// Methods of lists and dicts. Reads become guards; changes of outside objects become effects.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/call_models.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool plain_arguments(Recording& r, ShadowFrame& f, size_t least, size_t most) {
  size_t n = arguments(f).size();
  if (n >= least && n <= most && f.pending.call.keywords.empty()) return true;
  r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " with these arguments");
  return false;
}

bool exact_list(Recording& r, ShadowFrame& f) {
  if (!arguments(f).empty() && PyList_CheckExact(arguments(f)[0].object)) return true;
  r.stop(Reason::UnmodelledContainer, "a subclass of list");
  return false;
}
bool exact_dict(Recording& r, ShadowFrame& f) {
  if (!arguments(f).empty() && PyDict_CheckExact(arguments(f)[0].object)) return true;
  r.stop(Reason::UnmodelledContainer, "a subclass of dict");
  return false;
}

/// Repeats the very method call on an outside list or dict.
void repeat_call(Recording& r, ShadowFrame& f) {
  Shadow& target = r.shadow(arguments(f)[0]);
  if (target.fresh()) return;
  target.written = true;
  r.write({Effect::CallMethod, target.self, r.hold(f.pending.call.callee), {}, arguments(f), ""});
}

// ---- list ----

Value end_append(Recording& r, ShadowFrame& f, PyObject* result) {
  if (!exact_list(r, f) || !plain_arguments(r, f, 2, 2)) return {};
  Shadow& list = r.shadow(arguments(f)[0]);
  (list.length_known ? list.items : list.appended).push_back(arguments(f)[1]);
  if (list.outside) {
    list.written = true;
    r.write({Effect::Append, list.self, nullptr, arguments(f)[1], {}, ""});
  }
  return Value::fact(result);
}

void begin_extend(Recording& r, ShadowFrame& f) {
  if (!exact_list(r, f) || !plain_arguments(r, f, 2, 2)) return;
  if (arguments(f)[0].object == arguments(f)[1].object) r.stop(Reason::UnmodelledContainer, "a list extended by itself");
  r.know_length(arguments(f)[0]);
}
Value end_extend(Recording& r, ShadowFrame& f, PyObject* result) {
  Value list = arguments(f)[0];
  Py_ssize_t before = static_cast<Py_ssize_t>(r.shadow(list).items.size());
  PyObject* added = PyList_GetSlice(list.object, before, PyList_GET_SIZE(list.object));
  std::vector<Value> items = r.drain(f, arguments(f)[1], added);
  Py_DECREF(added);
  Shadow& known = r.shadow(list);
  for (const Value& value : items) {
    known.items.push_back(value);
    if (known.fresh()) continue;
    known.written = true;
    r.write({Effect::Append, known.self, nullptr, value, {}, ""});
  }
  return Value::fact(result);
}

void begin_indexed(Recording& r, ShadowFrame& f) {
  if (!exact_list(r, f) || !plain_arguments(r, f, 1, 3)) return;
  r.items(arguments(f)[0]);  // positions are about to change: everything is read at its place before
  if (arguments(f).size() > 1) r.pin(arguments(f)[1]);
}

Value end_insert(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
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
void begin_pop(Recording& r, ShadowFrame& f) {
  begin_indexed(r, f);
  if (!r.alive()) return;
  Value list = arguments(f)[0];
  Py_ssize_t index = popped_index(f, static_cast<Py_ssize_t>(r.shadow(list).items.size()));
  if (index >= 0) f.pending.extra = r.item(list, index);
}
Value end_pop(Recording& r, ShadowFrame& f, PyObject*) {
  auto& items = r.shadow(arguments(f)[0]).items;
  items.erase(items.begin() + popped_index(f, static_cast<Py_ssize_t>(items.size())));
  repeat_call(r, f);
  return f.pending.extra;
}

void begin_whole(Recording& r, ShadowFrame& f) {
  if (!exact_list(r, f) || !plain_arguments(r, f, 1, 1)) return;
  r.items(arguments(f)[0]);
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
  return r.make_sequence(result, r.items(arguments(f)[0]));
}

// ---- dict ----

void begin_keyed(Recording& r, ShadowFrame& f) {
  if (!exact_dict(r, f) || !plain_arguments(r, f, 2, 3)) return;
  r.pin(arguments(f)[1]);
  f.pending.extra = r.dict_item(arguments(f)[0], arguments(f)[1].object);
}
Value end_get(Recording&, ShadowFrame& f, PyObject* result) {
  if (f.pending.extra.known()) return f.pending.extra;
  return arguments(f).size() > 2 ? arguments(f)[2] : Value::fact(result);
}
Value end_setdefault(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (f.pending.extra.known()) return f.pending.extra;
  Value value = in.size() > 2 ? in[2] : Value::fact(result);
  r.dict_store(in[0], in[1].object, value, false);
  return value;
}
Value end_dict_pop(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (!f.pending.extra.known()) return in.size() > 2 ? in[2] : Value::fact(result);
  r.dict_delete(in[0], in[1].object);
  return f.pending.extra;
}

void begin_view(Recording& r, ShadowFrame& f) {
  if (exact_dict(r, f) && plain_arguments(r, f, 1, 1)) r.know_keys(arguments(f)[0]);
}
template <Iterator::Kind kind>
Value end_view(Recording& r, ShadowFrame& f, PyObject* result) {
  return r.make_iterator(result, kind, arguments(f)[0].object);
}
Value end_dict_copy(Recording& r, ShadowFrame& f, PyObject* result) {
  Value dict = arguments(f)[0];
  std::vector<PyObject*> keys;
  for (auto& entry : r.shadow(dict).entries) keys.push_back(entry.key);
  std::vector<Shadow::Entry> entries;
  for (PyObject* key : keys) entries.push_back({key, r.dict_item(dict, key)});
  Shadow& made = r.fresh(result);
  made.entries = std::move(entries);
  return made.self;
}

void begin_update(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (!exact_dict(r, f)) return;
  bool from_dict = in.size() == 2 && PyDict_CheckExact(in[1].object);
  if (in.size() > 2 || (in.size() == 2 && !from_dict)) return r.stop(Reason::UnmodelledContainer, "dict.update from this");
  r.know_keys(in[0]);
  if (from_dict) r.know_keys(in[1]);
}
Value end_update(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  auto store = [&](PyObject* key, Value value) {
    r.dict_store(in[0], key, value, r.entry(r.shadow(in[0]), key) != nullptr);
  };
  std::vector<PyObject*> keys;
  if (in.size() == 2) {
    for (auto& entry : r.shadow(in[1]).entries) keys.push_back(entry.key);
    for (PyObject* key : keys) store(key, r.dict_item(in[1], key));
  }
  for (size_t i = 0; i < f.pending.call.keywords.size(); i++) {
    store(f.pending.call.keywords[i], f.pending.call.keyword_values[i]);
  }
  return Value::fact(result);
}

// ---- the constructors ----

void begin_sequence(Recording& r, ShadowFrame& f) {
  if (!plain_arguments(r, f, 0, 1) || arguments(f).empty()) return;
  if (is_sequence(arguments(f)[0].object)) r.items(arguments(f)[0]);
}
Value end_sequence(Recording& r, ShadowFrame& f, PyObject* result) {
  if (!PyList_CheckExact(result) && !PyTuple_CheckExact(result)) return {};
  if (arguments(f).empty()) return r.make_sequence(result, {});
  return r.make_sequence(result, r.drain(f, arguments(f)[0], result));
}

void begin_dict(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.empty()) return;
  if (in.size() > 1 || !PyDict_CheckExact(in[0].object)) return r.stop(Reason::UnmodelledContainer, "dict() of this");
  r.know_keys(in[0]);
}
Value end_dict(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  Value made = in.empty() ? r.fresh(result).self : end_dict_copy(r, f, result);
  for (size_t i = 0; i < f.pending.call.keywords.size(); i++) {
    r.dict_store(made, f.pending.call.keywords[i], f.pending.call.keyword_values[i], false);
  }
  return made;
}

constexpr CallModel models[] = {
    {"list", "append", nullptr, end_append},
    {"list", "extend", begin_extend, end_extend},
    {"list", "insert", begin_indexed, end_insert},
    {"list", "pop", begin_pop, end_pop},
    {"list", "clear", begin_whole, end_clear},
    {"list", "reverse", begin_whole, end_reverse},
    {"list", "copy", begin_whole, end_copy},
    {"dict", "get", begin_keyed, end_get},
    {"dict", "setdefault", begin_keyed, end_setdefault},
    {"dict", "pop", begin_keyed, end_dict_pop},
    {"dict", "items", begin_view, end_view<Iterator::Items>},
    {"dict", "keys", begin_view, end_view<Iterator::Keys>},
    {"dict", "values", begin_view, end_view<Iterator::Values>},
    {"dict", "copy", begin_view, end_dict_copy},
    {"dict", "update", begin_update, end_update},
    {"builtins", "list", begin_sequence, end_sequence},
    {"builtins", "tuple", begin_sequence, end_sequence},
    {"builtins", "dict", begin_dict, end_dict},
};

}  // namespace

ModelList container_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
