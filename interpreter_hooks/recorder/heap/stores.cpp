// Attribute writes: deferred effects on outside objects, contents of fresh ones.
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <structmember.h>

#include <algorithm>

namespace terra::capture {

namespace {

/// The module's C code just puts the value into its own dict or its buffers.
bool module_keeps_plainly(PyObject* module, PyObject* name) {
  for (uint64_t part : {module_parameters, module_children}) {
    PyObject* dict = module_part(module, part);
    if (!dict || PyDict_GetItemWithError(dict, name)) return false;
  }
  PyObject* found = _PyType_Lookup(Py_TYPE(module), name);
  return !found || !Py_TYPE(found)->tp_descr_set;
}

}  // namespace

bool is_named(PyObject* descriptor, PyObject* name) {
  return PyUnicode_Compare(reinterpret_cast<PyDescrObject*>(descriptor)->d_name, name) == 0;
}

/// Whether the store is one that the effect program can repeat. Sets no state; stops nothing.
bool Recording::can_store_attribute(PyObject* owner, PyObject* name) {
  PyTypeObject* type = Py_TYPE(owner);
  if (PyModule_CheckExact(owner)) return true;
  if (is_module(owner)) return module_writes_plainly(owner) && module_keeps_plainly(owner, name);
  if (PyType_Check(owner)) {  // special names change what C code does with instances
    return type->tp_setattro == PyType_Type.tp_setattro && !_PyType_Lookup(type, name) && utf8_of(name)[0] != '_';
  }
  if (is_tensor(owner) || type->tp_setattro != PyObject_GenericSetAttr) return false;
  PyObject* found = _PyType_Lookup(type, name);
  if (found && Py_TYPE(found)->tp_descr_set) {
    return Py_TYPE(found) == &PyMemberDescr_Type && is_named(found, name) &&
           reinterpret_cast<PyMemberDescrObject*>(found)->d_member->type == T_OBJECT_EX;
  }
  return true;
}

void Recording::about_to_store(const Value& owner, PyObject* name) {
  Shadow* known = PyType_Check(owner.object) || PyModule_Check(owner.object) ? nullptr : find(owner.object);
  if (!known || !known->outside || known->names_changed) return;
  auto& names = known->replaced;
  if (std::find(names.begin(), names.end(), name) == names.end() && terra_instance_attribute(owner.object, name))
    names.push_back(name);
}

/// The child of a module made inside, under a name that the module has for nothing else.
void Recording::store_child(Value& module, PyObject* name, Value child) {
  const auto own = shadow(module).attributes.find(name);
  bool is_taken = own != shadow(module).attributes.end() && own->second.known();
  Value children;
  for (uint64_t part = module_parameters; part < module_dict_count && alive_; part++) {
    Value holder = part_of_module(*this, module, part, module_part(module.object, part));
    if (part == module_children) {
      children = holder;
    } else {
      is_taken = is_taken || dict_item(holder, name).known();
    }
  }
  if (is_taken) return stop(Reason::UnmodelledAttribute, std::string("a module assigned to ") + utf8_of(name));
  if (alive_) dict_store(children, Value::fact(name), child, dict_item(children, name).known());
}

void Recording::store_attribute(Value& owner, PyObject* name, Value value, Effect effect) {
  if (PyModule_CheckExact(owner.object)) {
    guard_type(owner.object);
    Value dict = dict_of_module(*this, owner.object);
    return dict_store(dict, name, value, true);
  }
  bool on_class = PyType_Check(owner.object);
  if (!on_class) {
    guard_type(owner.object);
    descriptor_facts(look_up(Py_TYPE(owner.object), name));
  }
  if (is_module(owner.object)) {
    if (is_module(value.object) && shadow(owner).fresh()) return store_child(owner, name, value);
    if (is_parameter(value.object) || is_module(value.object)) {
      return stop(Reason::UnmodelledAttribute, std::string("a parameter or module assigned to ") + utf8_of(name));
    }
    for (uint64_t part : {module_parameters, module_children, module_buffers}) {
      PyObject* dict = module_part(owner.object, part);
      if (!dict) continue;
      Value holder = part_of_module(*this, owner, part, dict);
      const Value there = dict_item(holder, name);  // where it is absent, that is a fact
      if (part == module_buffers && there.known()) return dict_store(holder, name, value, true);
    }
  }
  Shadow& known = shadow(owner);
  bool was_there = known.attributes.count(name) && known.attributes[name].known();
  const bool new_name = std::find(known.replaced.begin(), known.replaced.end(), name) == known.replaced.end();
  known.names_changed = known.names_changed || (!was_there && new_name);
  const auto old = known.attributes.find(name);
  const bool drops_number = old != known.attributes.end() &&
                            (old->second.kind == Value::Null || (old->second.known() && is_atom(old->second.object)));
  known.attributes[name] = value;
  if (!was_there) known.order.push_back(name);
  if (known.fresh()) return;
  known.written = true;
  std::string path = on_class ? reinterpret_cast<PyTypeObject*>(owner.object)->tp_name : known.path;
  write({effect, known.self, name, value, {}, path + "." + utf8_of(name), {}, nullptr, was_there, drops_number});
}

void Recording::delete_attribute(Value& owner, PyObject* name) {
  guard_type(owner.object);
  descriptor_facts(look_up(Py_TYPE(owner.object), name));
  Shadow& known = shadow(owner);
  known.attributes[name] = Value::null();
  known.names_changed = true;
  std::erase(known.order, name);
  if (known.fresh()) return;
  known.written = true;
  write({Effect::DeleteAttribute, known.self, name, {}, {}, ""});
}

}  // namespace terra::capture
