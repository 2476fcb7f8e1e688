#include "interpreter_hooks/guards/watched.h"

#include "interpreter_hooks/guards/program.h"

#include <unordered_map>
#include <unordered_set>

namespace terra::capture {

namespace {

struct Watch {
  PyObject* reference;  ///< strong: the weak reference
  std::unordered_set<RegisterFile*> files;
};

/// By object. Outlives the interpreter.
std::unordered_map<PyObject*, Watch>& watches() {
  static auto* map = new std::unordered_map<PyObject*, Watch>;
  return *map;
}

/// The objects by the weak references to them, which have forgotten them when they call back.
std::unordered_map<PyObject*, PyObject*>& watched_by() {
  static auto* map = new std::unordered_map<PyObject*, PyObject*>;
  return *map;
}

PyObject* died(PyObject*, PyObject* reference) {
  if (const auto known = watched_by().extract(reference)) {
    const auto watch = watches().extract(known.mapped());
    for (RegisterFile* file : watch.mapped().files) file->lose(known.mapped());
    Py_DECREF(reference);
  }
  Py_RETURN_NONE;
}

PyObject* callback() {
  static PyMethodDef method = {"terra_watched_died", died, METH_O, nullptr};
  static PyObject* const function = PyCFunction_New(&method, nullptr);
  return function;
}

bool can_die(PyObject* object) {
  return PyType_SUPPORTS_WEAKREFS(Py_TYPE(object)) &&
         !(PyType_Check(object) && !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE));
}

}  // namespace

bool watch(PyObject* object, RegisterFile& file) {
  if (!can_die(object)) return false;
  auto known = watches().find(object);
  if (known == watches().end()) {
    PyObject* reference = PyWeakref_NewRef(object, callback());
    if (!reference) {
      PyErr_Clear();
      return false;
    }
    known = watches().emplace(object, Watch{reference, {}}).first;
    watched_by().emplace(reference, object);
  }
  known->second.files.insert(&file);
  return true;
}

bool is_watch(const PyWeakReference* reference) { return reference->wr_callback == callback(); }

void unwatch(PyObject* object, RegisterFile& file) {
  const auto known = watches().find(object);
  if (known == watches().end()) return;
  known->second.files.erase(&file);
  if (!known->second.files.empty()) return;
  PyObject* reference = known->second.reference;
  watched_by().erase(reference);
  watches().erase(known);
  Py_DECREF(reference);
}

}  // namespace terra::capture
