// What a store or a method lets go: effects drop it at another moment than the program does, which nobody can tell as
// long as no code runs when it goes.
#include "interpreter_hooks/guards/departures.h"

#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/guards/watched.h"

#include <structmember.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace terra::capture {

bool has_callbacks(PyObject* object) {
  if (Py_TYPE(object)->tp_weaklistoffset <= 0) return false;
  auto* reference = reinterpret_cast<PyWeakReference*>(*PyObject_GET_WEAKREFS_LISTPTR(object));
  while (reference && (!reference->wr_callback || is_watch(reference))) reference = reference->wr_next;
  return reference != nullptr;
}

namespace {

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
    if (!quiet_ || !object || is_atom(object) || PyType_Check(object)) return;
    const Py_ssize_t references = Py_REFCNT(object);
    if (references > 1 && ++dropped_[object] != references) return;
    last_of(object);
  }
  void last_of(PyObject* object) {
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
  static int visit(PyObject* object, void* departure) {
    static_cast<Departure*>(departure)->drop(object);
    return 0;
  }

  bool quiet_ = true;
  std::vector<PyObject*> left_;
  std::unordered_map<PyObject*, Py_ssize_t> dropped_;
};

}  // namespace

bool goes_quietly(PyObject* object) {
  if (is_plain(object)) return true;
  Departure departure;
  departure.last_of(object);
  return departure.is_quiet();
}

namespace {

/// Borrowed, or null.
PyObject* attribute_of(PyObject* object, PyObject* name) {
  if (PyType_Check(object))
    return PyDict_GetItemWithError(terra_class_dict(reinterpret_cast<PyTypeObject*>(object)), name);
  if (PyObject* found = terra_instance_attribute(object, name)) return found;
  for (Word part = module_parameters; is_module(object) && part < module_dict_count; part++) {
    PyObject* dict = module_part(object, part);
    if (PyObject* found = dict ? item_in(dict, name) : nullptr) return found;
  }
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

/// Of what goes by itself. What more than one place may hold, and what takes anything along, is left to
/// quiet_together, too.
bool is_quiet(PyObject* object, Run& run) {
  if (!object || is_atom(object)) return true;
  if (Py_REFCNT(object) > 1) {
    run.leaving.add(object);
    return true;
  }
  if (is_plain(object)) return true;
  run.leaving.add(object);
  return goes_quietly(object);
}

/// True: what goes is nothing but plain objects, whatever the others are that only lose references. Sorts.
bool only_plain_go(std::span<PyObject*> leaving) {
  const auto references = static_cast<Py_ssize_t>(leaving.size());
  const auto may_go = [&](PyObject* object) { return Py_REFCNT(object) <= references; };
  if (std::none_of(leaving.begin(), leaving.end(), may_go)) return true;
  std::sort(leaving.begin(), leaving.end());
  for (auto first = leaving.begin(); first != leaving.end();) {
    const auto last = std::upper_bound(first, leaving.end(), *first);
    if (Py_REFCNT(*first) <= last - first && !is_plain(*first)) return false;
    first = last;
  }
  return true;
}

}  // namespace

bool quiet_attribute_holds(Word* at, Run& run) {
  return is_quiet(attribute_of(a_of(at, run), object_word(at[1])), run);
}
std::string quiet_attribute_text(const Word* at, const RegisterFile& file) {
  return "no code runs when " + name_a(at, file) + "." + utf8_of(object_word(at[1])) + " goes";
}

bool quiet_items_holds(Word* at, Run& run) {
  PyObject* container = a_of(at, run);
  if (is_plain(container)) return true;
  if (const traverseproc traverse = Py_TYPE(container)->tp_traverse) {
    const auto note = [](PyObject* object, void* leaving) {
      if (!is_atom(object) && !PyType_Check(object)) static_cast<Leaving*>(leaving)->add(object);
      return 0;
    };
    traverse(container, note, &run.leaving);
  }
  Departure departure;
  departure.drop_contents(container);
  return departure.is_quiet();
}
std::string quiet_items_text(const Word* at, const RegisterFile& file) {
  return "no code runs when what " + name_a(at, file) + " holds goes";
}

bool quiet_item_holds(Word* at, Run& run) {
  PyObject *container = a_of(at, run), *key = b_of(at, run);
  if (is_dict(container)) return is_quiet(item_in(container, key), run) && (!at[1] || is_quiet(key, run));
  if (!PyLong_Check(key)) return quiet_items_holds(at, run);
  const Py_ssize_t index = PyLong_AsSsize_t(key);
  PyErr_Clear();
  return is_quiet(item_at(container, index), run);
}
std::string quiet_item_text(const Word* at, const RegisterFile& file) {
  return "no code runs when " + name_a(at, file) + "[" + name_b(at, file) + "] goes";
}

bool quiet_argument_holds(Word* at, Run& run) { return is_quiet(run.arguments[at[1]], run); }
std::string quiet_argument_text(const Word* at, const RegisterFile&) {
  return "no code runs when what is in slot " + std::to_string(at[1]) + " of the frame goes";
}

bool quiet_together_holds(Word*, Run& run) {
  const std::span<PyObject*> leaving = run.leaving.all();
  if (only_plain_go(leaving)) return true;
  Departure departure;
  for (PyObject* object : leaving) departure.drop(object);
  return departure.is_quiet();
}
std::string quiet_together_text(const Word*, const RegisterFile&) {
  return "no code runs when all of that goes together";
}

}  // namespace terra::capture
