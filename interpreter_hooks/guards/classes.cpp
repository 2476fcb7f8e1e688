#include "interpreter_hooks/guards/kinds.h"

namespace terra::capture {

unsigned version_of(PyTypeObject* type) {
  static PyObject* any = PyUnicode_InternFromString("__class__");
  if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) _PyType_Lookup(type, any);  // a look-up assigns the tag
  return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
}

static std::vector<PyObject*> bases_of(PyTypeObject* type) {
  if (!type->tp_mro) return {};
  PyObject** items = reinterpret_cast<PyTupleObject*>(type->tp_mro)->ob_item;
  return {items, items + PyTuple_GET_SIZE(type->tp_mro)};
}

ClassFacts::ClassFacts(PyTypeObject* of)
    : type(of), version(version_of(of)), bases(bases_of(of)), getattro(of->tp_getattro), setattro(of->tp_setattro) {}

ClassFacts::~ClassFacts() {
  for (LookUp& look_up : look_ups) Py_DECREF(look_up.name);
}

void ClassFacts::note(PyObject* name, PyObject* found) {
  for (LookUp& look_up : look_ups) {
    if (look_up.name == name) return;
  }
  look_ups.push_back({Py_NewRef(name), found});
}

bool ClassFacts::hold() {
  if (!type) return false;
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) && type->tp_version_tag == version && version) return true;
  if (strict || bases_of(type) != bases || type->tp_getattro != getattro || type->tp_setattro != setattro) return false;
  for (LookUp& look_up : look_ups) {
    if (_PyType_Lookup(type, look_up.name) != look_up.found) return false;
  }
  version = version_of(type);
  return true;
}

}  // namespace terra::capture
