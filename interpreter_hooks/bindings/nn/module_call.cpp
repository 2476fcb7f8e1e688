// Calling a module is calling its forward, unless hooks are registered.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "interpreter_hooks/bindings/nn/module_object.h"
#include "interpreter_hooks/bindings/nn/module_type.h"
#include "interpreter_hooks/cpython/versions.h"

namespace terra::hooks {
namespace {

/// The Python half runs the hooks around forward.
Object call_with_hooks(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Object positional = owned(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  Object keywords = owned(PyDict_New());
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    succeeded(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[count + i]));
  return owned(
      PyObject_CallMethodObjArgs(self, module_names().call_with_hooks, positional.get(), keywords.get(), nullptr));
}

bool global_hooks_exist() {
  if (PyDict_GET_SIZE(global_module_hooks()) == 0) return false;
  PyObject *kind, *hooks;
  for (Py_ssize_t at = 0; PyDict_Next(global_module_hooks(), &at, &kind, &hooks);)
    if (PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) > 0) return true;
  return false;
}

/// True when neither a hook nor a forward of its own is among what the module itself holds.
bool is_plain(PyObject* self) {
  ModuleObject* m = module_object(self);
  if (!m->dict) return true;
  if (m->plain == *terra_dict_version(m->dict)) return true;
  if (PyDict_GetItemWithError(m->dict, module_names().forward)) return false;
  for (PyObject* key : module_names().hooks)
    if (PyDict_GetItemWithError(m->dict, key)) return false;
  m->plain = *terra_dict_version(m->dict);
  return true;
}

/// forward as the class has it, when calling it with self in front is the same as calling the bound method; else null.
PyObject* unbound_forward(PyObject* self) {
  PyObject* found = _PyType_Lookup(Py_TYPE(self), module_names().forward);
  return found && PyType_HasFeature(Py_TYPE(found), Py_TPFLAGS_METHOD_DESCRIPTOR) ? found : nullptr;
}

Object call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
  const bool plain = is_plain(self);
  if (plain ? global_hooks_exist() : module_has_hooks(self)) [[unlikely]]
    return call_with_hooks(self, args, count, names);
  Object forward = Object::share(plain ? unbound_forward(self) : nullptr);
  if (!forward) {
    forward = owned(PyObject_GetAttr(self, module_names().forward));
    return owned(PyObject_Vectorcall(forward.get(), args, static_cast<size_t>(count), names));
  }
  if (nargsf & PY_VECTORCALL_ARGUMENTS_OFFSET) {  // the caller lends the place in front
    PyObject** with_self = const_cast<PyObject**>(args) - 1;
    PyObject* before = std::exchange(*with_self, self);
    PyObject* result = PyObject_Vectorcall(forward.get(), with_self, static_cast<size_t>(count) + 1, names);
    *with_self = before;
    return owned(result);
  }
  const size_t all = static_cast<size_t>(count) + (names ? PyTuple_GET_SIZE(names) : 0);
  std::array<PyObject*, 9> space;
  std::vector<PyObject*> more;
  PyObject** with_self = space.data();
  if (all + 1 > space.size()) {
    more.resize(all + 1);
    with_self = more.data();
  }
  with_self[0] = self;
  std::copy_n(args, all, with_self + 1);
  return owned(PyObject_Vectorcall(forward.get(), with_self, static_cast<size_t>(count) + 1, names));
}

}  // namespace

bool module_has_hooks(Borrowed module) {
  if (global_hooks_exist()) return true;
  PyObject* own = module_object(module)->dict;
  if (!own) return false;
  for (PyObject* key : module_names().hooks) {
    PyObject* hooks = PyDict_GetItemWithError(own, key);
    if (hooks && PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) > 0) return true;
  }
  return false;
}

void module_hook_words(Borrowed module, std::vector<const uint64_t*>& words) {
  const auto version = [&](PyObject* dict) { words.push_back(terra_dict_version(dict)); };
  version(global_module_hooks());
  PyObject *kind, *hooks;
  for (Py_ssize_t at = 0; PyDict_Next(global_module_hooks(), &at, &kind, &hooks);)
    if (PyDict_Check(hooks)) version(hooks);
  PyObject* own = *module_dict_place(module);
  if (!own) return;
  version(own);
  for (PyObject* key : module_names().hooks) {
    PyObject* hooks_of_kind = PyDict_GetItemWithError(own, key);
    if (hooks_of_kind && PyDict_Check(hooks_of_kind)) version(hooks_of_kind);
  }
}

PyObject* module_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  // The class may have got a __call__ of its own after this object was made.
  if (Py_TYPE(self)->tp_call != module_tp_call) [[unlikely]]
    return _PyObject_MakeTpCall(PyThreadState_Get(), self, args, PyVectorcall_NARGS(nargsf), names);
  return entry<call>(self, args, nargsf, names);
}

PyObject* module_tp_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  std::vector<PyObject*> values(reinterpret_cast<PyTupleObject*>(args)->ob_item,
                                reinterpret_cast<PyTupleObject*>(args)->ob_item + PyTuple_GET_SIZE(args));
  Object names;
  if (kwargs && PyDict_GET_SIZE(kwargs) > 0) {
    names = Object::steal(PyTuple_New(PyDict_GET_SIZE(kwargs)));
    if (!names) return nullptr;
    PyObject *key, *value;
    Py_ssize_t i = 0;
    for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &key, &value);) {
      PyTuple_SET_ITEM(names.get(), i++, Py_NewRef(key));
      values.push_back(value);
    }
  }
  return entry<call>(self, values.data(), static_cast<size_t>(PyTuple_GET_SIZE(args)), names.get());
}

}  // namespace terra::hooks
