#include "interpreter_hooks/guards/kinds.h"

#include <algorithm>
#include <span>

namespace terra::capture {

unsigned version_of(PyTypeObject* type) {
  static PyObject* any = PyUnicode_InternFromString("__class__");
  if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) _PyType_Lookup(type, any);  // a look-up assigns the tag
  return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
}

static std::span<PyObject* const> bases_of(PyTypeObject* type) {
  if (!type->tp_mro) return {};
  return {reinterpret_cast<PyTupleObject*>(type->tp_mro)->ob_item, static_cast<size_t>(PyTuple_GET_SIZE(type->tp_mro))};
}

ClassFacts::ClassFacts(PyTypeObject* of)
    : type(of),
      version(version_of(of)),
      bases(bases_of(of).begin(), bases_of(of).end()),
      getattro(of->tp_getattro),
      setattro(of->tp_setattro) {}

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
  if (strict || type->tp_getattro != getattro || type->tp_setattro != setattro) return false;
  const std::span<PyObject* const> now = bases_of(type);
  if (!std::equal(now.begin(), now.end(), bases.begin(), bases.end())) return false;
  for (LookUp& look_up : look_ups) {
    if (_PyType_Lookup(type, look_up.name) != look_up.found) return false;
  }
  version = version_of(type);
  return true;
}

}  // namespace terra::capture
