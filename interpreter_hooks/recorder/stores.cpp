// Attribute writes: deferred effects on outside objects, contents of fresh ones.
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/recording.h"

#include <structmember.h>

#include <algorithm>

namespace terra::capture {

/// Whether the store is one that the effect program can repeat. Sets no state; stops nothing.
bool Recording::can_store_attribute(PyObject* owner, PyObject* name) {
  PyTypeObject* type = Py_TYPE(owner);
  if (PyModule_CheckExact(owner) || is_module(owner)) return true;
  if (PyType_Check(owner)) {  // special names change what C code does with instances
    const char* text = PyUnicode_AsUTF8(name);
    return type->tp_setattro == PyType_Type.tp_setattro && !_PyType_Lookup(type, name) && text[0] != '_';
  }
  if (is_tensor(owner) || type->tp_setattro != PyObject_GenericSetAttr) return false;
  PyObject* found = _PyType_Lookup(type, name);
  if (found && Py_TYPE(found)->tp_descr_set) {
    return Py_TYPE(found) == &PyMemberDescr_Type &&
           reinterpret_cast<PyMemberDescrObject*>(found)->d_member->type == T_OBJECT_EX;
  }
  return true;
}

void Recording::store_attribute(Value& owner, PyObject* name, Value value) {
  if (PyModule_CheckExact(owner.object)) {
    Value dict = Value::fact(PyModule_GetDict(owner.object));
    if (!find(dict.object)) put(dict.object, dict, true, PyModule_GetName(owner.object));
    return dict_store(dict, name, value, true);
  }
  bool on_class = PyType_Check(owner.object);
  if (!on_class) {
    guard_type(owner.object);
    look_up(Py_TYPE(owner.object), name);
  }
  Shadow& known = shadow(owner);
  bool was_there = known.attributes.count(name) && known.attributes[name].known();
  known.attributes[name] = value;
  if (!was_there) known.order.push_back(name);
  if (known.fresh()) return;
  known.written = true;
  std::string path = on_class ? reinterpret_cast<PyTypeObject*>(owner.object)->tp_name : known.path;
  write({Effect::SetAttribute, known.self, name, value, {}, path + "." + PyUnicode_AsUTF8(name)});
}

void Recording::delete_attribute(Value& owner, PyObject* name) {
  guard_type(owner.object);
  look_up(Py_TYPE(owner.object), name);
  Shadow& known = shadow(owner);
  known.attributes[name] = Value::null();
  std::erase(known.order, name);
  if (known.fresh()) return;
  known.written = true;
  write({Effect::DeleteAttribute, known.self, name, {}, {}, ""});
}

}  // namespace terra::capture
