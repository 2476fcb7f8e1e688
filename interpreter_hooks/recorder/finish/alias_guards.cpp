// What a recording relied on being different objects: guards that end an entry where two of them are one.
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/own_dicts.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/finish/finisher.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool is_in_a_run(const Shadow& shadow) {
  return shadow.outside && (shadow.self.has_register() || shadow.self.is_fact());
}

/// In itself or in a dict of its own, as instances do. Classes show theirs in no dict that can be stored to.
bool keeps_attributes(PyObject* object) { return !PyType_Check(object) && !is_tensor(object); }

/// What the recording knows of a dict would be otherwise if somebody stored under `name`. `added`: a name that may not
/// have been there before.
bool depends_on(const Shadow& dict, PyObject* name, bool added) {
  const auto is_name = [&](PyObject* key) { return same_key(key, name); };
  return dict.blurred || (added && (dict.keys_known || dict.order_lost)) ||
         std::any_of(dict.missing.begin(), dict.missing.end(), is_name) ||
         std::any_of(dict.entries.begin(), dict.entries.end(), [&](auto& entry) { return is_name(entry.key); });
}

bool all_differ(std::vector<PyObject*> objects) {
  std::sort(objects.begin(), objects.end());
  return std::adjacent_find(objects.begin(), objects.end()) == objects.end();
}

}  // namespace

bool Finisher::too_many(size_t count, const char* what) {
  if (count > 1000) r_.stop(Reason::TooLong, std::string(what) + " to tell apart");
  return !r_.alive();
}

/// By stores under keys that vary, or by a method that changes it as a whole.
bool Finisher::changes_any_key(PyObject* object, const Shadow& shadow) const {
  return shadow.blurred || (PyDict_Check(object) && std::any_of(r_.writes_.begin(), r_.writes_.end(), [&](auto& write) {
                              return write.effect == Effect::CallMethod && write.target.object == object;
                            }));
}

/// Attributes and string keys that the frame stores or deletes; null stands for any.
std::set<PyObject*> Finisher::changed_names() {
  std::set<PyObject*> names;
  for (auto& [object, shadow] : r_.shadows_) {
    if (is_in_a_run(shadow) && changes_any_key(object, shadow)) names.insert(nullptr);
  }
  for (const Write& write : r_.writes_) {
    if (!write.name || !PyUnicode_CheckExact(write.name) || write.effect == Effect::CallMethod) continue;
    if (write.target.object && keeps_attributes(write.target.object)) names.insert(r_.interned_name(write.name));
  }
  return names;
}

/// Of objects that keep attributes it is enough that those are different of which one is looked at that the frame
/// gives another value in one of them. A dict in which it is looked at could be the one where an object keeps it.
/// `name` null: all attributes, for stores under keys that vary. `whole`: objects looked at through their __dict__.
std::vector<Register> Finisher::who_relies_on(PyObject* name, const std::set<PyObject*>& whole) {
  std::vector<PyObject*> dicts, of_modules;
  std::vector<Register> registers;
  bool added = !name;
  const auto rely = [&](PyObject* object, const Shadow& shadow) {
    PyObject* own[most_own_dicts];
    const int count = own_dicts_of(object, own);
    dicts.insert(dicts.end(), own, own + count);
    if (is_module(object)) of_modules.insert(of_modules.end(), own + 1, own + count);
    registers.push_back(r_.reg_of(shadow.self));
  };
  const auto looked_at = [&](PyObject* object, const Shadow& shadow) {
    return whole.count(object) || (name ? shadow.attributes.count(name) : !shadow.attributes.empty());
  };
  for (auto& [object, shadow] : r_.shadows_) {
    if (!is_in_a_run(shadow) || !keeps_attributes(object) || !looked_at(object, shadow)) continue;
    added = added || shadow.names_changed;
    rely(object, shadow);
  }
  if (registers.empty()) return {};
  for (auto& [object, shadow] : r_.shadows_) {
    if (!is_in_a_run(shadow) || !PyDict_Check(object) || looked_at(object, shadow)) continue;
    const bool is_part = std::find(of_modules.begin(), of_modules.end(), object) != of_modules.end();
    if (!is_part && (name ? depends_on(shadow, name, added) : changes_any_key(object, shadow))) rely(object, shadow);
  }
  if (!all_differ(std::move(dicts))) r_.stop(Reason::UnmodelledAttribute, "an object and its __dict__, met separately");
  std::sort(registers.begin(), registers.end());
  return registers;
}

void Finisher::keep_attributes_apart() {
  std::set<PyObject*> whole;
  for (auto& [object, shadow] : r_.shadows_) {
    if (shadow.attributes_of) whole.insert(shadow.attributes_of);
  }
  std::set<std::vector<Register>> groups;
  for (PyObject* name : changed_names()) {
    const std::vector<Register> registers = who_relies_on(name, whole);
    if (too_many(registers.size(), "objects")) return;
    if (registers.size() > 1 && groups.insert(registers).second) r_.guard(Op::OwnDicts, no_register, pack(registers));
  }
}

/// Containers that the frame changes are different from all others of their type, as they were here.
void Finisher::keep_apart() {
  keep_attributes_apart();
  std::set<PyTypeObject*> written;
  for (auto& [object, shadow] : r_.shadows_) {
    if (shadow.outside && shadow.written && !is_plain_object(object) && !is_module(object))
      written.insert(Py_TYPE(object));
  }
  for (PyTypeObject* type : written) {
    std::vector<Register> registers;
    for (auto& [object, shadow] : r_.shadows_) {
      if (is_in_a_run(shadow) && Py_TYPE(object) == type) registers.push_back(r_.reg_of(shadow.self));
    }
    if (too_many(registers.size(), "objects")) return;
    if (registers.size() > 1) r_.guard(Op::AllDistinct, no_register, pack(registers));
  }
}

/// Keys that are compared by identity: as many different objects in a run as there were here.
void Finisher::keep_keys_apart() {
  for (auto& [object, shadow] : r_.shadows_) {
    if (shadow.compared.empty()) continue;
    std::set<Register> registers;
    auto add = [&](const Value& key) {
      Shadow* known = r_.find(key.object);
      if (key.is_fact() || (known && known->outside)) registers.insert(r_.reg_of(key));
    };
    for (const Value& key : shadow.compared) add(key);
    for (const auto& entry : shadow.entries) {
      if (entry.key_value.known()) add(entry.key_value);
    }
    if (too_many(registers.size(), "keys")) return;
    if (registers.size() > 1) r_.guard(Op::AllDistinct, no_register, pack({registers.begin(), registers.end()}));
  }
}

}  // namespace terra::capture
