// What a store or a method lets go: effects drop it at another moment than the program does, which nobody can tell as
// long as no code runs when it goes.
#include "interpreter_hooks/bindings/tensor_object.h"
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include <structmember.h>

#include <unordered_map>
#include <vector>

namespace terra::capture {

namespace {

bool has_callbacks(PyObject* object) {
  if (Py_TYPE(object)->tp_weaklistoffset <= 0) return false;
  auto* reference = reinterpret_cast<PyWeakReference*>(*PyObject_GET_WEAKREFS_LISTPTR(object));
  while (reference && !reference->wr_callback) reference = reference->wr_next;
  return reference != nullptr;
}

/// Code runs when the object goes, whatever it holds.
bool goes_aloud(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  if (PyGen_CheckExact(object) || PyCoro_CheckExact(object) || PyAsyncGen_CheckExact(object))
    return terra_generator_ends_aloud(object) || has_callbacks(object);
  return type->tp_del || (type->tp_finalize && !is_tensor(object)) || has_callbacks(object);
}

/// Numbers, tensors that are nothing but tensors, and tuples and lists of such: most of what is dropped.
bool is_plain(PyObject* object, int depth = 0) {
  const PyTypeObject* type = Py_TYPE(object);
  if (object == Py_None || type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type) return true;
  if (hooks::is_plain_tensor_type(type)) {
    const hooks::TensorObject* tensor = hooks::tensor_object(object);
    return !tensor->dict && !tensor->hooks && !tensor->weakrefs;
  }
  if ((type != &PyTuple_Type && type != &PyList_Type) || depth > 3) return false;
  for (Py_ssize_t i = 0; i < Py_SIZE(object); i++) {
    PyObject* item = type == &PyTuple_Type ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i);
    if (item && !is_plain(item, depth + 1)) return false;
  }
  return true;
}

/// Follows what goes with an object whose last reference goes: what nothing else refers to.
class Departure {
 public:
  void drop(PyObject* object) {
    if (!quiet_ || !object || is_atom(object) || PyType_Check(object) || PyModule_Check(object)) return;
    const Py_ssize_t references = Py_REFCNT(object);
    if (references > 1 && (references > most_references || ++dropped_[object] < references)) return;
    quiet_ = !goes_aloud(object);
    left_.push_back(object);
  }
  void drop_contents(PyObject* object) {
    const traverseproc traverse = Py_TYPE(object)->tp_traverse;
    if (traverse) traverse(object, visit, this);
  }
  bool is_quiet() {
    while (quiet_ && !left_.empty()) {
      PyObject* object = left_.back();
      left_.pop_back();
      drop_contents(object);
    }
    return quiet_;
  }

 private:
  static constexpr Py_ssize_t most_references = 16;  ///< who has more is not held by what goes alone
  static int visit(PyObject* object, void* departure) {
    static_cast<Departure*>(departure)->drop(object);
    return 0;
  }

  bool quiet_ = true;
  std::vector<PyObject*> left_;
  std::unordered_map<PyObject*, Py_ssize_t> dropped_;
};

/// Borrowed, or null.
PyObject* attribute_of(PyObject* object, PyObject* name) {
  if (PyType_Check(object)) return PyDict_GetItemWithError(reinterpret_cast<PyTypeObject*>(object)->tp_dict, name);
  if (PyObject* found = terra_instance_attribute(object, name)) return found;
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (!descriptor || Py_TYPE(descriptor) != &PyMemberDescr_Type) return nullptr;
  const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
  if (member->type != T_OBJECT_EX) return nullptr;
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
}

PyObject* item_at(PyObject* sequence, Py_ssize_t index) {
  const Py_ssize_t size = Py_SIZE(sequence);
  if (index < 0) index += size;
  return index < 0 || index >= size ? nullptr : real_item(sequence, index);
}

bool is_quiet(PyObject* object) {
  if (!object || Py_REFCNT(object) > 1 || is_plain(object)) return true;
  Departure departure;
  departure.drop(object);
  return departure.is_quiet();
}

}  // namespace

bool quiet_attribute_holds(Word* at, Run& run) { return is_quiet(attribute_of(a_of(at, run), object_word(at[1]))); }
std::string quiet_attribute_text(const Word* at, const RegisterFile& file) {
  return "no code runs when " + file.name(head(at).a) + "." + PyUnicode_AsUTF8(object_word(at[1])) + " goes";
}

bool quiet_item_holds(Word* at, Run& run) {
  PyObject *container = a_of(at, run), *key = b_of(at, run);
  if (is_dict(container)) return is_quiet(item_in(container, key));
  if (!PyLong_Check(key)) return quiet_items_holds(at, run);
  const Py_ssize_t index = PyLong_AsSsize_t(key);
  PyErr_Clear();
  return is_quiet(item_at(container, index));
}
std::string quiet_item_text(const Word* at, const RegisterFile& file) {
  return "no code runs when " + file.name(head(at).a) + "[" + file.name(head(at).b) + "] goes";
}

bool quiet_items_holds(Word* at, Run& run) {
  if (is_plain(a_of(at, run))) return true;
  Departure departure;
  departure.drop_contents(a_of(at, run));
  return departure.is_quiet();
}
std::string quiet_items_text(const Word* at, const RegisterFile& file) {
  return "no code runs when what " + file.name(head(at).a) + " holds goes";
}

}  // namespace terra::capture
