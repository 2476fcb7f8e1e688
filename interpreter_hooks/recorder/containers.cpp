// Lists, tuples, dicts and cells: what was read, what the frame changed, and the guards that make it a fact.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/recording.h"

#include <algorithm>

namespace terra::capture {

namespace {

PyObject* real_item(PyObject* sequence, Py_ssize_t index) {
  return PyList_CheckExact(sequence) ? PyList_GET_ITEM(sequence, index) : PyTuple_GET_ITEM(sequence, index);
}

/// Hash and equality of the object are its address.
bool found_by_identity(PyObject* key) {
  PyTypeObject* type = Py_TYPE(key);
  return is_plain_tensor(key) ||
         (type->tp_hash == PyBaseObject_Type.tp_hash && type->tp_richcompare == PyBaseObject_Type.tp_richcompare);
}

bool contains_key(const std::vector<PyObject*>& keys, PyObject* key) {
  return std::any_of(keys.begin(), keys.end(), [&](PyObject* k) { return same_value(k, key); });
}

}  // namespace

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object) || is_size(object);
}

// ---- lists and tuples ----

/// The length before the frame began is a fact from here on. The real list may hold what the frame appended already.
void Recording::know_length(Value& sequence) {
  Shadow& known = shadow(sequence);
  if (known.length_known) return;
  known.length_known = true;
  Py_ssize_t length = Py_SIZE(sequence.object) - static_cast<Py_ssize_t>(known.appended.size());
  bool constant = known.self.is_fact() && PyTuple_Check(sequence.object);
  if (!constant) guard(Op::Length, reg_of(known.self), {static_cast<Word>(length)});
  known.items.assign(length, Value());
  known.items.insert(known.items.end(), known.appended.begin(), known.appended.end());
}

Value Recording::item(Value& sequence, Py_ssize_t index) {
  know_length(sequence);
  Shadow& known = shadow(sequence);
  Py_ssize_t length = static_cast<Py_ssize_t>(known.items.size());
  if (index < 0) index += length;
  if (index < 0 || index >= length) return {};
  if (known.items[index].known()) return known.items[index];
  if (known.fresh() || index >= Py_SIZE(sequence.object)) return {};
  PyObject* object = real_item(sequence.object, index);
  Value value;
  if (known.self.is_fact() && PyTuple_Check(sequence.object) && (is_atom(object) || PyTuple_CheckExact(object))) {
    value = Value::fact(hold(object));  // a constant tuple
  } else {
    value = read(Op::Item, reg_of(known.self), {static_cast<Word>(index)}, object,
                 known.path + "[" + std::to_string(index) + "]");
  }
  return shadow(sequence).items[index] = value;
}

Value Recording::item_of(Value& sequence, const Value& index) {
  Shadow& known = shadow(sequence);
  const bool as_it_was = known.outside && !known.written && known.appended.empty();
  if (!as_it_was || !index.has_register() || late(index.reg) || !PyLong_CheckExact(index.object)) return {};
  Py_ssize_t place = PyLong_AsSsize_t(index.object);
  if (place < 0) place += Py_SIZE(sequence.object);
  PyObject* object = real_item(sequence.object, place);
  const std::string path = known.path + "[" + file().name(index.reg) + "]";
  Register base = reg_of(known.self), reg = new_register(path, false, false);
  if (alive_) entry_->entry.emit(Op::ItemOf, reg, base, index.reg);
  return classify(reg, object, path);
}

std::vector<Value> Recording::items(Value& sequence) {
  know_length(sequence);
  std::vector<Value> values;
  for (size_t i = 0; i < shadow(sequence).items.size(); i++) {
    values.push_back(item(sequence, static_cast<Py_ssize_t>(i)));
    if (!values.back().known()) stop(Reason::UnknownOrigin, "an item of " + shadow(sequence).path);
  }
  return values;
}

/// The empty tuple is one object in the whole process: a fact, not a fresh object.
Value Recording::make_sequence(PyObject* object, std::vector<Value> items) {
  if (PyTuple_CheckExact(object) && items.empty()) return Value::fact(object);
  if (Shadow* known = find(object)) return known->self;  // CPython handed an operand through (t[:], t + ())
  Shadow& made = fresh(object);
  made.items = std::move(items);
  return made.self;
}

// ---- dicts ----

Shadow::Entry* Recording::entry(Shadow& dict, PyObject* key) {
  for (auto& entry : dict.entries) {
    if (same_value(entry.key, key)) return &entry;
  }
  return nullptr;
}

/// The keys before the frame began, in order, are a fact from here on.
void Recording::know_keys(Value& dict) {
  Shadow& known = shadow(dict);
  if (known.keys_known) return;
  known.keys_known = true;
  if (known.order_lost) return stop(Reason::UnmodelledContainer, "the keys of a dict after a deletion");
  std::vector<PyObject*> before;
  std::vector<Shadow::Entry> all;
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict.object, &position, &key, &value)) {
    if (!is_atom(key)) return stop(Reason::UnmodelledContainer, "a dict with keys that are objects");
    if (!contains_key(known.inserted, key)) before.push_back(key);
    Shadow::Entry* seen = entry(known, key);
    all.push_back({hold(key), seen ? seen->value : Value()});
  }
  PyObject* keys = PyTuple_New(before.size());
  for (size_t i = 0; i < before.size(); i++) PyTuple_SET_ITEM(keys, i, Py_NewRef(before[i]));
  guard(Op::Keys, reg_of(known.self), {word_of(file().keep(keys))});
  Py_DECREF(keys);
  known.entries = std::move(all);
}

/// The value under a key that is an object from outside; that there is none is not modelled.
Value Recording::object_item(Value& dict, PyObject* key) {
  Shadow* holder = find(key);
  PyObject* object = PyDict_GetItemWithError(dict.object, key);
  if (!holder || holder->fresh() || !object) {
    PyErr_Clear();
    stop(Reason::UnmodelledContainer, "a dict key that is an object");
    return {};
  }
  Shadow& known = shadow(dict);
  std::string path = known.path + "[" + holder->path + "]";
  Register base = reg_of(known.self), key_reg = reg_of(holder->self);
  Register reg = new_register(path, false, false);
  if (alive_) entry_->entry.emit(Op::KeyOf, reg, base, key_reg);
  Value value = classify(reg, object, path);
  shadow(dict).entries.push_back({hold(key), value});
  return value;
}

/// The value under a key that the frame sees now; Unknown when there is none (a fact as well).
Value Recording::dict_item(Value& dict, PyObject* key) {
  if (!is_atom(key) && !found_by_identity(key)) {
    stop(Reason::UnmodelledContainer, std::string("a dict key that is a ") + Py_TYPE(key)->tp_name);
    return {};
  }
  Shadow& known = shadow(dict);
  Shadow::Entry* seen = entry(known, key);
  if (seen && seen->value.known()) return seen->value;
  if (!is_atom(key)) return object_item(dict, key);
  if (known.fresh() || contains_key(known.missing, key)) return {};
  PyObject* object = PyDict_GetItemWithError(dict.object, key);
  if (!object) {
    PyErr_Clear();
    known.missing.push_back(hold(key));
    if (!known.keys_known) guard(Op::NoKey, reg_of(known.self), {word_of(file().keep(key))});
    return {};
  }
  Value value = read(Op::Key, reg_of(known.self), {word_of(file().keep(key))}, object,
                     known.named ? known.path + "." + PyUnicode_AsUTF8(key) : known.path + "[" + short_text(key) + "]");
  Shadow& after = shadow(dict);
  if (Shadow::Entry* place = entry(after, key)) {
    place->value = value;
  } else {
    after.entries.push_back({hold(key), value});
  }
  return value;
}

void Recording::dict_store(Value& dict, PyObject* key, Value value, bool was_there) {
  Shadow& known = shadow(dict);
  std::erase_if(known.missing, [&](PyObject* k) { return same_value(k, key); });
  if (Shadow::Entry* place = entry(known, key)) {
    place->value = value;
  } else {
    known.entries.push_back({hold(key), value});
  }
  if (known.fresh()) return;
  if (!was_there) known.inserted.push_back(hold(key));
  known.written = true;
  write({Effect::SetItem, known.self, hold(key), value, {}, known.path + "[" + short_text(key) + "]"});
}

void Recording::dict_delete(Value& dict, PyObject* key) {
  Shadow& known = shadow(dict);
  std::erase_if(known.entries, [&](auto& entry) { return same_value(entry.key, key); });
  std::erase_if(known.inserted, [&](PyObject* k) { return same_value(k, key); });
  if (known.fresh()) return;
  known.missing.push_back(hold(key));
  if (!known.keys_known) known.order_lost = true;
  known.written = true;
  write({Effect::DeleteItem, known.self, hold(key), {}, {}, ""});
}

// ---- cells ----

Value Recording::cell(PyObject* object) {
  Shadow* known = find(object);
  if (!known) {
    stop(Reason::UnknownOrigin, "a cell");
    return {};
  }
  if (known->content.known() || known->fresh()) return known->content;
  Value value = read(Op::Cell, reg_of(known->self), {}, PyCell_GET(object), known->path);
  return find(object)->content = value;
}

}  // namespace terra::capture
