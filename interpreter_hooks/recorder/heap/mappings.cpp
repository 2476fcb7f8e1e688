// Dicts and sets. Keys are compared by value (then they are facts) or by identity (then which of them are the same
// object is a fact); a key that would run __hash__ or __eq__ of the program ends the recording.
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/tables.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/core/recording.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// In the place of a place of the program, for all of them.
constexpr const char* varying_keys = "keys that vary";

bool contains_key(const std::vector<PyObject*>& keys, PyObject* key) {
  return std::any_of(keys.begin(), keys.end(), [&](PyObject* k) { return same_key(k, key); });
}

std::vector<PyObject*> real_keys(PyObject* container) {
  std::vector<PyObject*> keys;
  each_key(
      container,
      [](PyObject* key, void* context) {
        static_cast<std::vector<PyObject*>*>(context)->push_back(key);
        return true;
      },
      &keys);
  return keys;
}

/// A subclass written in Python could come to override how it is accessed.
void guard_class(Recording& r, PyObject* container) {
  static PyObject* const names[] = {PyUnicode_InternFromString("values"), PyUnicode_InternFromString("items")};
  if (!is_changeable(Py_TYPE(container))) return;
  r.guard_type(container);
  for (PyObject* name : names) r.look_up(Py_TYPE(container), name);
  r.special_methods(Py_TYPE(container));
}

std::string key_text(Recording& r, const Value& key) {
  Shadow* known = is_value_key(key.object) ? nullptr : r.find(key.object);
  return known ? known->path : short_text(key.object);
}

/// A set of the keys, made anew in their order, is laid out as the real one.
bool same_order(const std::vector<PyObject*>& keys, PyObject* real) {
  PyObject* again = PySet_New(nullptr);
  for (PyObject* key : keys) PySet_Add(again, key);
  bool same = terra_set_layout(again) == terra_set_layout(real) && real_keys(again) == real_keys(real);
  Py_DECREF(again);
  PyErr_Clear();
  return same;
}

}  // namespace

bool Recording::prepare_key(Value& key) {
  pin(key);
  if (!key.known()) return false;
  if (PySlice_Check(key.object)) {
    stop(Reason::UnmodelledContainer, "a key that can't be hashed");
    return false;
  }
  if (is_atom(key.object) || (key.is_fact() && is_enum_member(key.object))) return true;
  if (is_value_member(key.object)) {  // one of a kind
    if (key.has_register()) guard(Op::Is, key.reg, {word_of(file().keep(key.object))});
    key = Value::fact(hold(key.object));
    return alive_;
  }
  if (is_value_tuple(key.object)) {
    if (!key.is_fact() && read_deep(key)) pin_deep(key);
    if (is_value_key(key.object)) {
      key = Value::fact(hold(key.object));
      return true;
    }
  } else if (compares_by_identity(key.object)) {
    if (key.kind == Value::Dynamic && !find(key.object)) key = shadow(key).self;
    return true;
  }
  stop(Reason::UnmodelledContainer, std::string("a key that is a ") + Py_TYPE(key.object)->tp_name);
  return false;
}

Shadow::Entry* Recording::entry(Shadow& container, PyObject* key) {
  for (auto& entry : container.entries) {
    if (same_key(entry.key, key)) return &entry;
  }
  return nullptr;
}

/// The keys of an instance's __dict__; the real one is up to date, in order too.
void Recording::know_attribute_names(Value& dict) {
  Shadow& known = shadow(dict);
  Value owner = shadow(Value::fact(known.attributes_of)).self;
  if (shadow(owner).names_changed)
    return stop(Reason::UnmodelledContainer, "the __dict__ of an object that was changed");
  known.keys_known = true;
  const Register self = reg_of(owner);
  const Register reg = emit_read(Op::InstanceDict, self, no_register, {}, shadow(owner).path + ".__dict__", false);
  PyObject* keys = PyDict_Keys(dict.object);
  PyObject* names = keys ? PyList_AsTuple(keys) : nullptr;
  if (names) guard(Op::Keys, reg, {word_of(file().keep(names)), 0});
  Py_XDECREF(keys);
  Py_XDECREF(names);
}

/// The keys before the frame began, in order, are a fact from here on.
void Recording::know_keys(Value& container) {
  if (shadow(container).blurred) return ask_blurred();
  if (shadow(container).keys_known) return;
  if (shadow(container).attributes_of) return know_attribute_names(container);
  guard_class(*this, container.object);
  Shadow& known = shadow(container);
  known.keys_known = true;
  if (is_set(container.object) && known.written)
    return stop(Reason::UnmodelledContainer, "the order of a set after a change");
  if (known.order_lost) return stop(Reason::UnmodelledContainer, "the keys of a dict after a deletion");
  std::vector<PyObject*> before, now = real_keys(container.object);
  for (PyObject* key : now) {
    if (!contains_key(known.inserted, key)) before.push_back(key);
  }
  Register self = reg_of(known.self);
  if (std::all_of(before.begin(), before.end(), is_value_key)) {
    PyObject* keys = PyTuple_New(static_cast<Py_ssize_t>(before.size()));
    for (size_t i = 0; i < before.size(); i++) PyTuple_SET_ITEM(keys, i, Py_NewRef(before[i]));
    Word layout = is_set(container.object) ? terra_set_layout(container.object) : 0;
    known.order_lost = is_set(container.object) && layout == 0;
    guard(Op::Keys, self, {word_of(file().keep(keys)), layout});
    Py_DECREF(keys);
  } else {
    guard(Op::Size, self, {static_cast<Word>(before.size())});
    for (size_t i = 0; i < before.size() && alive_; i++) {
      std::string path = "key " + std::to_string(i) + " of " + shadow(container).path;
      Value key = read(Op::KeyAt, self, {static_cast<Word>(i)}, before[i], path);
      if (!prepare_key(key)) return;
      Shadow& after = shadow(container);
      if (Shadow::Entry* seen = entry(after, key.object)) {
        seen->key_value = key;
      } else {
        after.entries.push_back({hold(key.object), Value(), key});
      }
    }
  }
  std::vector<Shadow::Entry> all;
  Shadow& after = shadow(container);
  for (PyObject* key : now) {
    Shadow::Entry* seen = entry(after, key);
    all.push_back(seen ? *seen : Shadow::Entry{hold(key), Value(), Value()});
    all.back().key = hold(key);  // it may have been asked for by one that is equal: 1.0, True
  }
  after.entries = std::move(all);
}

Value Recording::dict_item(Value& dict, const Value& key) {
  PyObject* name = key.object;
  bool by_value = is_value_key(name);
  guard_class(*this, dict.object);
  Shadow& known = shadow(dict);
  if (known.attributes_of) return instance_entry(known.attributes_of, name);
  if (known.blurred) {
    ask_blurred();
    return {};
  }
  Shadow::Entry* seen = entry(known, name);
  if (seen && seen->value.known()) return seen->value;
  if (!by_value) known.compared.push_back(key);
  if (known.fresh() || contains_key(known.missing, name)) return {};
  if (!by_value && key.kind == Value::Dynamic && find(name)->fresh()) return {};  // nobody outside had it yet
  PyObject* object = item_in(dict.object, name);
  if (!object) {
    known.missing.push_back(hold(name));
    if (known.keys_known) return {};
    Register self = reg_of(known.self);
    if (by_value) {
      guard(Op::NoKey, self, {word_of(file().keep(name))});
    } else {
      guard(Op::Contains, self, {0}, reg_of(key));
    }
    return {};
  }
  std::string path = known.named ? known.path + "." + utf8_of(name) : known.path + "[" + key_text(*this, key) + "]";
  Value value;
  if (by_value) {
    value = read(Op::Key, reg_of(known.self), {word_of(file().keep(name))}, object, path);
  } else {
    const Register self = reg_of(known.self), key_reg = reg_of(key);
    value = read(Op::KeyOf, self, {}, object, path, key_reg);
  }
  Shadow& after = shadow(dict);
  if (Shadow::Entry* place = entry(after, name)) {
    place->value = value;
  } else {
    after.entries.push_back({hold(name), value, by_value ? Value() : key});
  }
  return value;
}

void Recording::dict_store(Value& dict, const Value& key, Value value, bool was_there) {
  guard_class(*this, dict.object);
  Shadow& known = shadow(dict);
  PyObject* name = key.object;
  if (known.attributes_of) {
    Value owner = shadow(Value::fact(known.attributes_of)).self;
    PyObject* found = _PyType_Lookup(Py_TYPE(owner.object), name);
    // Assigned as an attribute, a module may keep the value in another of its dicts.
    if (!PyUnicode_CheckExact(name) || (found && Py_TYPE(found)->tp_descr_set) || is_module(owner.object)) {
      return stop(Reason::UnmodelledAttribute, "an item of __dict__ that is no attribute");
    }
    return store_attribute(owner, interned_name(name), value, Effect::SetPlainAttribute);
  }
  Value by_identity = is_value_key(name) ? Value() : key;
  if (!was_there) known.rekeyed++;
  const Shadow::Entry* old = known.blurred ? nullptr : entry(known, name);
  const bool drops_number = old ? old->value.known() && is_atom(old->value.object) : contains_key(known.missing, name);
  std::erase_if(known.missing, [&](PyObject* k) { return same_key(k, name); });
  if (Shadow::Entry* place = known.blurred ? nullptr : entry(known, name)) {
    place->value = value;
  } else {
    known.entries.push_back({hold(name), value, by_identity});
  }
  if (by_identity.known()) known.compared.push_back(key);
  if (known.fresh()) return;
  if (!was_there) known.inserted.push_back(hold(name));
  known.written = true;
  const std::string path = known.path + "[" + key_text(*this, key) + "]";
  write({Effect::SetItem, known.self, hold(name), value, {}, path, by_identity, nullptr, false, drops_number});
}

/// The program asks what a dict has after a store under a key that varies: such keys are facts from now on.
void Recording::ask_blurred() {
  if (!alive_) return;
  speculation_.insist(varying_keys);
  record_again();
  stop(Reason::UnmodelledContainer, "a dict that was stored to under a key that varies");
}

bool Recording::takes_varying_key(const Value& dict, const Value& key) {
  const auto hashes_in_c = [](const Value& v) {
    return v.known() && (is_number(v.object) || PyUnicode_CheckExact(v.object) || PyBool_Check(v.object));
  };
  if (!key.known() || key.is_fact() || speculation_.insisted(varying_keys)) return false;
  if (PyTuple_CheckExact(key.object)) {
    Shadow* known = find(key.object);
    if (!known || known->outside || !std::all_of(known->items.begin(), known->items.end(), hashes_in_c)) return false;
    if (std::none_of(known->items.begin(), known->items.end(), [](const Value& v) { return v.has_register(); }))
      return false;
  } else if (!key.has_register() || !hashes_in_c(key)) {
    return false;
  }
  const Shadow& target = shadow(dict);
  if (target.attributes_of || target.named || (target.outside && target.keys_known)) return false;
  return std::none_of(shadows_.begin(), shadows_.end(),
                      [&](auto& known) { return known.second.iterator && known.second.iterator->base == dict.object; });
}

void Recording::store_varying(Value& dict, const Value& key, Value value) {
  guard_class(*this, dict.object);
  Shadow& known = shadow(dict);
  known.blurred = true;
  known.rekeyed++;
  known.entries.push_back({hold(key.object), value, key});
  if (known.fresh()) return;
  known.written = true;
  write({Effect::SetItem, known.self, hold(key.object), value, {}, "", key});
}

void Recording::dict_delete(Value& dict, const Value& key) {
  Shadow& known = shadow(dict);
  if (known.blurred) return ask_blurred();
  PyObject* name = key.object;
  if (known.attributes_of) {
    Value owner = shadow(Value::fact(known.attributes_of)).self;
    if (!PyUnicode_CheckExact(name) || is_module(owner.object) ||
        !can_store_attribute(owner.object, interned_name(name))) {
      return stop(Reason::UnmodelledAttribute, "an item of __dict__ that is no attribute");
    }
    return delete_attribute(owner, interned_name(name));
  }
  known.rekeyed++;
  std::erase_if(known.entries, [&](auto& entry) { return same_key(entry.key, name); });
  std::erase_if(known.inserted, [&](PyObject* k) { return same_key(k, name); });
  if (known.fresh()) return;
  known.missing.push_back(hold(name));
  if (!known.keys_known) known.order_lost = true;
  known.written = true;
  write({Effect::DeleteItem, known.self, hold(name), {}, {}, "", is_value_key(name) ? Value() : key});
}

/// The name under which the recording keeps attributes.
PyObject* Recording::interned_name(PyObject* name) {
  PyObject* result = Py_NewRef(name);
  PyUnicode_InternInPlace(&result);
  return hold_new(result);
}

Value Recording::instance_dict(Value& owner, PyObject* dict) {
  if (Shadow* known = find(dict)) {
    if (known->attributes_of != owner.object) stop(Reason::UnmodelledAttribute, "__dict__");
    return known->self;
  }
  bool made_inside = shadow(owner).fresh();
  Shadow& made = fresh(dict);
  made.attributes_of = owner.object;
  made.keys_known = made_inside;
  return made.self;
}

Value Recording::instance_entry(PyObject* object, PyObject* key) {
  if (!PyUnicode_CheckExact(key)) return {};
  PyObject* name = interned_name(key);
  Value owner = shadow(Value::fact(object)).self;
  Shadow& known = shadow(owner);
  auto seen = known.attributes.find(name);
  if (seen != known.attributes.end()) {
    if (seen->second.known() && seen->second.kind != Value::Null) return seen->second;
    if (seen->second.kind == Value::Null) return {};
  }
  if (known.fresh()) return {};
  PyObject* real = terra_instance_attribute(object, name);
  if (real) return instance_attribute(owner, name, real);
  no_attribute(owner, name);
  return {};
}

Value Recording::default_factory(Value& dict) {
  Shadow& known = shadow(dict);
  if (known.function.known()) return known.function;
  PyObject* const held = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(dict.object) + TERRA_DEFAULT_FACTORY);
  Value factory = read(Op::Slot, reg_of(known.self), {TERRA_DEFAULT_FACTORY}, held, known.path + ".default_factory");
  return shadow(dict).function = factory;
}

bool Recording::set_has(Value& set, const Value& key) {
  Shadow& known = shadow(set);
  PyObject* name = key.object;
  bool by_value = is_value_key(name);
  if (is_hashed_in_python(name)) stop(Reason::UnmodelledContainer, "a member of an enum in a set");
  if (!alive_) return false;
  if (!by_value) known.compared.push_back(key);
  if (entry(known, name)) return true;
  if (known.keys_known || contains_key(known.missing, name)) return false;
  if (!by_value && key.kind == Value::Dynamic && find(name)->fresh()) return false;
  bool there = PySet_Contains(set.object, name) == 1;
  PyErr_Clear();
  guard(Op::Contains, reg_of(known.self), {there}, reg_of(key));
  if (there) {
    shadow(set).entries.push_back({hold(name), Value(), by_value ? Value() : key});
  } else {
    shadow(set).missing.push_back(hold(name));
  }
  return there;
}

Value Recording::make_set(PyObject* result, std::vector<Value> elements) {
  if (PyFrozenSet_CheckExact(result) && elements.empty()) return Value::fact(hold(result));
  if (Shadow* known = find(result)) return known->self;
  Shadow& made = fresh(result);
  for (Value& key : elements) {
    if (!prepare_key(key)) return {};
    if (is_hashed_in_python(key.object)) stop(Reason::UnmodelledContainer, "a member of an enum in a set");
    Shadow& now = *find(result);
    if (!is_value_key(key.object)) now.compared.push_back(key);
    if (!entry(now, key.object))
      now.entries.push_back({hold(key.object), Value(), is_value_key(key.object) ? Value() : key});
  }
  return made.self;
}

void Recording::know_layout(Value& set) {
  Shadow& known = shadow(set);
  std::vector<PyObject*> keys;
  for (auto& entry : known.entries) keys.push_back(entry.key);
  bool by_value = std::all_of(keys.begin(), keys.end(),
                              [](PyObject* key) { return is_value_key(key) && !is_hashed_in_python(key); });
  if (known.order_lost) return stop(Reason::UnmodelledContainer, "the order of a set after a change");
  if (!by_value || !same_order(keys, set.object)) stop(Reason::UnmodelledContainer, "the order of a set of objects");
}

/// Keys of a dict, elements of a set, in the order of iteration. The order of a set that was made or changed inside is
/// a fact where it follows from its elements.
std::vector<Value> Recording::elements(Value& container) {
  know_keys(container);
  Shadow& known = shadow(container);
  std::vector<Value> all;
  if (known.attributes_of) {
    for (PyObject* name : real_keys(container.object)) all.push_back(Value::fact(hold(name)));
    return all;
  }
  for (auto& entry : known.entries) all.push_back(entry.where_from());
  if (!is_set(container.object) || all.size() < 2 || (known.outside && !known.written)) return all;
  know_layout(container);
  if (!alive_) return all;
  std::vector<Value> ordered;
  for (PyObject* key : real_keys(container.object)) ordered.push_back(entry(known, key)->where_from());
  return ordered;
}

}  // namespace terra::capture
