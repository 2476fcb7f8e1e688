#include "interpreter_hooks/guards/kinds.h"

#include "interpreter_hooks/cpython/versions.h"
#include "interpreter_hooks/guards/special_names.h"

#include <algorithm>
#include <span>

namespace terra::capture {

unsigned version_of(PyTypeObject* type) {
  static PyObject* any = PyUnicode_InternFromString("__class__");
  if (!terra_class_version(type)) _PyType_Lookup(type, any);  // which gives it one
  return terra_class_version(type);
}

static unsigned long patterns_of(PyTypeObject* type) {
  return type->tp_flags & (Py_TPFLAGS_SEQUENCE | Py_TPFLAGS_MAPPING);
}

static std::span<PyObject* const> bases_of(PyTypeObject* type) {
  if (!type->tp_mro) return {};
  return {reinterpret_cast<PyTupleObject*>(type->tp_mro)->ob_item, static_cast<size_t>(PyTuple_GET_SIZE(type->tp_mro))};
}

ClassFacts::ClassFacts(PyTypeObject* of)
    : type(of),
      version(version_of(of)),
      bases(bases_of(of).begin(), bases_of(of).end()),
      patterns(patterns_of(of)),
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

void ClassFacts::note_special_methods(RegisterFile& file) {
  if (!special.empty()) return;
  for (PyObject* name : special_names()) {
    PyObject* found = _PyType_Lookup(type, name);
    special.push_back(found ? file.watch(found) : nullptr);
  }
}

bool ClassFacts::look_ups_hold() {
  const std::span<PyObject* const> now = bases_of(type);
  if (!std::equal(now.begin(), now.end(), bases.begin(), bases.end())) return false;
  for (LookUp& look_up : look_ups) {
    if (_PyType_Lookup(type, look_up.name) != look_up.found) return false;
  }
  const std::span<PyObject* const> names = special_names();
  for (size_t i = 0; i < special.size(); i++) {
    if (_PyType_Lookup(type, names[i]) != special[i]) return false;
  }
  return true;
}

bool ClassFacts::hold() {
  if (!type || patterns_of(type) != patterns) return false;
  if (version && terra_class_version(type) == version) return true;
  if (strict || type->tp_getattro != getattro || type->tp_setattro != setattro || !look_ups_hold()) return false;
  version = version_of(type);
  return true;
}

}  // namespace terra::capture
