// Methods of dicts, OrderedDicts, defaultdicts and plain subclasses.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Stores under a key that the target may have already.
void store_entry(Recording& r, Value& target, const Value& key, const Value& value) {
  r.dict_store(target, key, value, r.entry(r.shadow(target), key.object) != nullptr);
}

}  // namespace

/// Stores every entry of `source` in `target`, in order.
void copy_entries(Recording& r, Value& source, Value& target) {
  for (Value& key : r.elements(source)) {
    Value value = r.dict_item(source, key);
    if (!r.alive()) return;
    store_entry(r, target, key, value);
  }
}

namespace {

void begin_keyed(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_dict, 2, 3) || !r.prepare_key(arguments(f)[1])) return;
  f.pending.extra = r.dict_item(arguments(f)[0], arguments(f)[1]);
}
void begin_get(Recording& r, ShadowFrame& f) {
  if (container_arguments(r, f, is_dict, 2, 3) && !lacks_number(r, arguments(f)[0], arguments(f)[1])) begin_keyed(r, f);
}
Value end_get(Recording&, ShadowFrame& f, PyObject* result) {
  if (f.pending.extra.known()) return f.pending.extra;
  return arguments(f).size() > 2 ? arguments(f)[2] : Value::fact(result);
}
Value end_setdefault(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (f.pending.extra.known()) return f.pending.extra;
  Value value = in.size() > 2 ? in[2] : Value::fact(result);
  r.dict_store(in[0], in[1], value, false);
  return value;
}
Value end_pop(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (!f.pending.extra.known()) return in.size() > 2 ? in[2] : Value::fact(result);
  r.dict_delete(in[0], in[1]);
  return f.pending.extra;
}

void begin_whole(Recording& r, ShadowFrame& f) {
  if (!f.pending.call.keywords.empty() || arguments(f).size() > 2) {
    return r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " with these arguments");
  }
  Value& dict = arguments(f)[0];
  if (!is_dict(dict.object))
    return r.stop(Reason::UnmodelledContainer, std::string("a ") + Py_TYPE(dict.object)->tp_name);
  r.know_keys(dict);
}
/// For what changes entries by their place: those of an instance's __dict__ have none.
void begin_places(Recording& r, ShadowFrame& f) {
  begin_whole(r, f);
  if (r.alive() && r.shadow(arguments(f)[0]).attributes_of) r.stop(Reason::UnmodelledContainer, "__dict__");
}
template <Iterator::Kind kind>
Value end_view(Recording& r, ShadowFrame& f, PyObject* result) {
  return r.make_iterator(result, kind, arguments(f)[0].object);
}
Value end_copy(Recording& r, ShadowFrame& f, PyObject* result) {
  Value made = r.fresh(result).self;
  copy_entries(r, arguments(f)[0], made);
  if (is_default_dict(result)) r.find(result)->function = r.default_factory(arguments(f)[0]);
  return made;
}
Value end_clear(Recording& r, ShadowFrame& f, PyObject* result) {
  Shadow& known = r.shadow(arguments(f)[0]);
  known.rekeyed++;
  known.entries.clear();
  known.inserted.clear();
  repeat_call(r, f);
  return Value::fact(result);
}

// ---- popitem, move_to_end ----

/// Which end is meant.
void read_end(Recording& r, Value& last) {
  if (!is_atom(last.object)) return r.stop(Reason::UnmodelledCall, "last=... that is an object");
  r.pin(last);
}
bool takes_first(ShadowFrame& f) { return arguments(f).size() > 1 && PyObject_IsTrue(arguments(f).back().object) == 0; }
void begin_popitem(Recording& r, ShadowFrame& f) {
  begin_places(r, f);
  if (!r.alive()) return;
  if (arguments(f).size() > 1) read_end(r, arguments(f)[1]);
  if (!r.alive()) return;
  std::vector<Value> keys = r.elements(arguments(f)[0]);
  if (keys.empty()) return;
  f.pending.in.assign(1, takes_first(f) ? keys.front() : keys.back());
  f.pending.extra = r.dict_item(arguments(f)[0], f.pending.in[0]);
}
Value end_popitem(Recording& r, ShadowFrame& f, PyObject* result) {
  Value key = f.pending.in[0];
  r.dict_delete(arguments(f)[0], key);
  return r.make_sequence(result, {key, f.pending.extra});
}
void begin_move_to_end(Recording& r, ShadowFrame& f) {
  if (!container_arguments(r, f, is_dict, 2, 3) || !r.prepare_key(arguments(f)[1])) return;
  if (arguments(f).size() > 2) read_end(r, arguments(f)[2]);
  r.know_keys(arguments(f)[0]);
  r.dict_item(arguments(f)[0], arguments(f)[1]);
}
Value end_move_to_end(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& entries = r.shadow(arguments(f)[0]).entries;
  auto at =
      std::find_if(entries.begin(), entries.end(), [&](auto& e) { return same_key(e.key, arguments(f)[1].object); });
  if (at != entries.end()) {
    bool first = arguments(f).size() > 2 && takes_first(f);
    first ? std::rotate(entries.begin(), at, at + 1) : std::rotate(at, at + 1, entries.end());
  }
  repeat_call(r, f);
  return Value::fact(result);
}

// ---- update and the constructors: from a dict, from pairs, from keywords ----

/// What is about to be read by C code; false (and stopped) where it isn't modelled.
bool readable_source(Recording& r, Value& source) {
  if (is_dict(source.object)) {
    r.know_keys(source);
    return r.alive();
  }
  bool pairs = r.iterator_of(source.object) || is_sequence(source.object);
  if (!pairs) r.stop(Reason::UnmodelledContainer, std::string("entries from a ") + Py_TYPE(source.object)->tp_name);
  return r.alive() && pairs;
}
void begin_update(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() > 2) return r.stop(Reason::UnmodelledContainer, "dict.update from this");
  if (!is_dict(in[0].object))
    return r.stop(Reason::UnmodelledContainer, std::string("a ") + Py_TYPE(in[0].object)->tp_name);
  r.know_keys(in[0]);
  if (in.size() == 2 && readable_source(r, in[1]) && !is_dict(in[1].object) && !is_sequence(in[1].object)) {
    r.stop(Reason::UnmodelledContainer, "dict.update from an iterator");
  }
}
void store_pairs(Recording& r, const std::vector<Value>& pairs, Value target) {
  for (Value pair : pairs) {
    if (!is_sequence(pair.object)) return r.stop(Reason::UnmodelledContainer, "pairs of a dict");
    std::vector<Value> two = r.items(pair);
    if (two.size() != 2 || !r.prepare_key(two[0])) return r.stop(Reason::UnmodelledContainer, "pairs of a dict");
    store_entry(r, target, two[0], two[1]);
  }
}
void store_keywords(Recording& r, ShadowFrame& f, Value target) {
  for (size_t i = 0; i < f.pending.call.keywords.size(); i++) {
    store_entry(r, target, Value::fact(f.pending.call.keywords[i]), f.pending.call.keyword_values[i]);
  }
}
Value end_update(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (in.size() == 2) is_dict(in[1].object) ? copy_entries(r, in[1], in[0]) : store_pairs(r, r.items(in[1]), in[0]);
  store_keywords(r, f, in[0]);
  return Value::fact(result);
}

void begin_new(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() > 1) return r.stop(Reason::UnmodelledContainer, "dict() of this");
  if (!in.empty()) readable_source(r, in[0]);
}
/// The pairs that a zip, an enumerate or a view gave, where each made an entry of its own in the real dict.
std::vector<Value> pairs_of(Recording& r, ShadowFrame& f, Value& source, PyObject* result) {
  Iterator& iterator = *r.iterator_of(source.object);
  size_t most = SIZE_MAX;
  auto shorter = [&](PyObject* base) {
    Value value = r.shadow(Value::fact(base)).self;
    most = std::min(most, is_sequence(base) ? r.shadow(value).items.size() : r.shadow(value).entries.size());
  };
  if (iterator.base) shorter(iterator.base);
  for (Value& child : iterator.children) {
    const Iterator* part = r.iterator_of(child.object);
    if (part && part->base && part->kind == Iterator::Sequence)
      shorter(part->base);
    else
      most = SIZE_MAX - 1;
  }
  if (most != static_cast<size_t>(PyDict_GET_SIZE(result))) {
    r.stop(Reason::UnmodelledContainer, "dict() of an iterator");
    return {};
  }
  PyObject* produced = PyList_New(0);
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(result, &position, &key, &value)) {
    PyObject* pair = PyTuple_Pack(2, key, value);
    PyList_Append(produced, pair);
    Py_DECREF(pair);
  }
  std::vector<Value> pairs = r.drain(f, source, produced);
  Py_DECREF(produced);
  return pairs;
}

Value end_new(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  Value made = r.fresh(result).self;
  if (!in.empty() && is_dict(in[0].object)) {
    copy_entries(r, in[0], made);
  } else if (!in.empty() && is_sequence(in[0].object)) {
    store_pairs(r, r.items(in[0]), made);
  } else if (!in.empty() && r.iterator_of(in[0].object)->kind == Iterator::Generator) {
    f.pending.used_returns = true;
    store_pairs(r, std::vector<Value>(f.pending.returns), made);
  } else if (!in.empty()) {
    store_pairs(r, pairs_of(r, f, in[0], result), made);
  }
  store_keywords(r, f, made);
  return made;
}

// ---- fromkeys ----

void begin_fromkeys(Recording& r, ShadowFrame& f) {
  if (!plain_arguments(r, f, 2, 3)) return;
  if (arguments(f)[0].object != reinterpret_cast<PyObject*>(&PyDict_Type))
    return r.stop(Reason::UnmodelledCall, "fromkeys() of a subclass");
  f.pending.in = keys_of(r, arguments(f)[1]);
}
Value end_fromkeys(Recording& r, ShadowFrame& f, PyObject* result) {
  Value made = r.fresh(result).self;
  for (Value& key : f.pending.in) {
    store_entry(r, made, key, arguments(f).size() > 2 ? arguments(f)[2] : Value::fact(Py_None));
  }
  return made;
}

// ---- defaultdict ----

void begin_new_default(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() > 2) return r.stop(Reason::UnmodelledContainer, "defaultdict() of this");
  if (in.size() == 2 && !is_dict(in[1].object)) return r.stop(Reason::UnmodelledContainer, "defaultdict() of pairs");
  if (in.size() == 2) r.know_keys(in[1]);
}
Value end_new_default(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  Value made = r.fresh(result).self;
  r.find(result)->function = in.empty() ? Value::fact(Py_None) : in[0];
  if (in.size() == 2) copy_entries(r, in[1], made);
  store_keywords(r, f, made);
  return made;
}

// ---- Counter ----

/// How often each element of an iterable is in it, added to what a mapping made inside has already.
void begin_count(Recording& r, ShadowFrame& f) {
  if (!plain_arguments(r, f, 2, 2)) return;
  Value& target = arguments(f)[0];
  const bool inside = is_dict(target.object) && r.find(target.object) && r.find(target.object)->fresh();
  if (!inside) return r.stop(Reason::UnmodelledCall, "counting in a mapping from outside");
  r.know_keys(target);
  for (const Value& key : r.elements(target)) {
    if (!r.dict_item(target, key).is_fact()) return r.stop(Reason::UnmodelledCall, "counting on from a number");
  }
  expose(r, arguments(f)[1]);
  if (!holds_atoms_only(arguments(f)[1].object)) r.stop(Reason::UnmodelledCall, "counting objects");
}
Value end_count(Recording& r, ShadowFrame& f, PyObject* result) {
  Value target = arguments(f)[0];
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(target.object, &position, &key, &value)) {
    Value counted = Value::fact(r.hold(key));
    if (r.prepare_key(counted)) r.dict_store(target, counted, Value::fact(r.hold(value)), true);
  }
  return Value::fact(result);
}

constexpr CallModel models[] = {
    {"_collections", "_count_elements", begin_count, end_count, kChanges},
    {"dict", "__init__", begin_update, end_update, kChanges},
    {"dict", "get", begin_get, end_get, kReads},
    {"dict", "setdefault", begin_keyed, end_setdefault, kChanges | kKeeps},
    {"dict", "pop", begin_keyed, end_pop, kChanges},
    {"dict", "__contains__", begin_keyed, end_fact},
    {"dict", "items", begin_whole, end_view<Iterator::Items>},
    {"dict", "keys", begin_whole, end_view<Iterator::Keys>},
    {"dict", "values", begin_whole, end_view<Iterator::Values>},
    {"dict", "copy", begin_whole, end_copy},
    {"dict", "clear", begin_places, end_clear, kChanges},
    {"dict", "popitem", begin_popitem, end_popitem, kChanges},
    {"dict", "update", begin_update, end_update, kChanges},
    {"dict", "fromkeys", begin_fromkeys, end_fromkeys},
    {"builtins", "dict", begin_new, end_new},
    {"_collections.OrderedDict", "setdefault", begin_keyed, end_setdefault, kChanges | kKeeps},
    {"_collections.OrderedDict", "pop", begin_keyed, end_pop, kChanges},
    {"_collections.OrderedDict", "items", begin_whole, end_view<Iterator::Items>},
    {"_collections.OrderedDict", "keys", begin_whole, end_view<Iterator::Keys>},
    {"_collections.OrderedDict", "values", begin_whole, end_view<Iterator::Values>},
    {"_collections.OrderedDict", "copy", begin_whole, end_copy},
    {"_collections.OrderedDict", "clear", begin_places, end_clear, kChanges},
    {"_collections.OrderedDict", "popitem", begin_popitem, end_popitem, kChanges},
    {"_collections.OrderedDict", "move_to_end", begin_move_to_end, end_move_to_end, kChanges | kKeeps},
    {"_collections.OrderedDict", "update", begin_update, end_update, kChanges},
    {"_collections", "OrderedDict", begin_new, end_new},
    {"_collections.defaultdict", "copy", begin_whole, end_copy},
    {"_collections", "defaultdict", begin_new_default, end_new_default},
};

}  // namespace

ModelList dict_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
