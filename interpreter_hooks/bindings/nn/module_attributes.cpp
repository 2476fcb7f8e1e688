// Attribute access of modules: what PyTorch's Module does in Python, with the same words where it refuses.
#include <algorithm>
#include <iterator>
#include <string>

#include "interpreter_hooks/bindings/nn/module_object.h"
#include "interpreter_hooks/bindings/nn/module_type.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

PyObject* lookup(PyObject* dict, PyObject* name) {
  PyObject* found = PyDict_GetItemWithError(dict, name);
  if (!found && PyErr_Occurred()) throw PythonError{};
  return found;
}

/// Removes the name from a dict or set where it is.
void forget(PyObject* container, PyObject* name) {
  if (!container) return;
  if (PySet_Check(container)) {
    succeeded(PySet_Discard(container, name));
  } else if (PyDict_Check(container) && lookup(container, name)) {
    succeeded(PyDict_DelItem(container, name));
  }
}

/// 'torch.FloatTensor' for tensors, the qualified class name for everything else.
Object type_name(PyObject* value) {
  if (is_tensor(value)) return owned(PyObject_CallMethod(value, "_type_name", nullptr));
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  Object module = owned(PyObject_GetAttrString(type, "__module__")),
         name = owned(PyObject_GetAttrString(type, "__qualname__"));
  if (PyUnicode_CompareWithASCIIString(module.get(), "builtins") == 0) return name;
  return owned(PyUnicode_FromFormat("%S.%S", module.get(), name.get()));
}

/// True for what nn.Buffer() made: a tensor that is to be a buffer of the module it is assigned to.
bool is_marked_buffer(PyObject* value) {
  static PyObject* const mark = PyUnicode_InternFromString("_is_buffer");
  if (!is_tensor(value)) return false;
  PyObject* attributes = tensor_object(value)->dict;
  return attributes && lookup(attributes, mark) == Py_True;
}

[[noreturn]] void refuse(PyObject* value, const char* what, PyObject* name, const char* wanted) {
  raise(PyExc_TypeError, "cannot assign '%U' as %s '%U' (%s expected)", type_name(value).get(), what, name, wanted);
}

void set_generic(PyObject* self, PyObject* name, PyObject* value) {
  succeeded(PyObject_GenericSetAttr(self, name, value));
}

/// The member that a module gets under the name, or what the program's hooks make of it: hook(module, name, member).
Object after_registration_hooks(const char* kind, PyObject* self, PyObject* name, PyObject* member) {
  Object result = Object::share(member);
  PyObject* hooks = PyDict_GetItemString(registration_hooks(), kind);
  if (!hooks) return result;
  Object each = owned(PyDict_Values(hooks));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(each.get()); ++i) {
    Object other =
        owned(PyObject_CallFunctionObjArgs(PyList_GET_ITEM(each.get(), i), self, name, result.get(), nullptr));
    if (other.get() != Py_None) result = std::move(other);
  }
  return result;
}

void set(PyObject* self, PyObject* name, PyObject* value) {
  const ModuleNames& names = module_names();
  PyObject* own = module_object(self)->dict;
  PyObject* parameters = own ? lookup(own, names.parameters) : nullptr;
  PyObject* modules = own ? lookup(own, names.modules) : nullptr;
  PyObject* buffers = own ? lookup(own, names.buffers) : nullptr;
  const auto member = [name](PyObject* dict) { return dict && PyDict_Check(dict) && lookup(dict, name); };

  if (PyType_IsSubtype(Py_TYPE(value), parameter_type)) {
    if (!parameters) raise(PyExc_AttributeError, "cannot assign parameters before Module.__init__() call");
    for (PyObject* other : {own, buffers, modules, lookup(own, names.non_persistent)}) forget(other, name);
    owned(PyObject_CallMethodObjArgs(self, names.register_parameter, name, value, nullptr));
  } else if (member(parameters)) {
    if (value != Py_None) refuse(value, "parameter", name, "torch.nn.Parameter or None");
    owned(PyObject_CallMethodObjArgs(self, names.register_parameter, name, value, nullptr));
  } else if (is_module(value)) {
    if (!modules) raise(PyExc_AttributeError, "cannot assign module before Module.__init__() call");
    for (PyObject* other : {own, parameters, buffers, lookup(own, names.non_persistent)}) forget(other, name);
    succeeded(PyDict_SetItem(modules, name, after_registration_hooks("module", self, name, value).get()));
  } else if (member(modules)) {
    if (value != Py_None) refuse(value, "child module", name, "torch.nn.Module or None");
    succeeded(PyDict_SetItem(modules, name, after_registration_hooks("module", self, name, value).get()));
  } else if (is_marked_buffer(value)) {
    if (!buffers) raise(PyExc_AttributeError, "cannot assign buffer before Module.__init__() call");
    Object persistent = owned(PyObject_GetAttrString(value, "persistent"));
    owned(PyObject_CallMethodObjArgs(self, names.register_buffer, name, value, persistent.get(), nullptr));
  } else if (member(buffers)) {
    if (value != Py_None && !is_tensor(value)) refuse(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None");
    succeeded(PyDict_SetItem(buffers, name, after_registration_hooks("buffer", self, name, value).get()));
  } else {
    set_generic(self, name, value);
  }
}

void remove(PyObject* self, PyObject* name) {
  const ModuleNames& names = module_names();
  ModulePlace place;
  if (module_find(self, name, &place) && place != ModulePlace::Own) {
    succeeded(PyDict_DelItem(module_dict(self, place), name));
    if (place == ModulePlace::Buffers) forget(lookup(module_object(self)->dict, names.non_persistent), name);
    return;
  }
  set_generic(self, name, nullptr);
}

void check_name(Borrowed name) {
  if (!PyUnicode_Check(name)) raise(PyExc_TypeError, "attribute name must be string, not '%s'", Py_TYPE(name)->tp_name);
}

Object setattr(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) raise(PyExc_TypeError, "__setattr__() takes a name and a value");
  check_name(args[0]);
  ++module_epoch();
  set(self, args[0], args[1]);
  return Object::share(Py_None);
}

Object delattr(PyObject* self, PyObject* name) {
  check_name(name);
  ++module_epoch();
  remove(self, name);
  return Object::share(Py_None);
}

[[noreturn]] void no_attribute(PyObject* self, PyObject* name) {
  raise(PyExc_AttributeError, "'%s' object has no attribute '%U'", _PyType_Name(Py_TYPE(self)), name);
}

/// In PyTorch every module has dicts of hooks from the start. Here it has none, so that calling it is calling its
/// forward; whoever asks for one gets it: `for handle in list(m._forward_hooks): del m._forward_hooks[handle]`.
Object hooks_or_error(PyObject* self, PyObject* name) {
  static PyObject* const kinds[] = {PyUnicode_InternFromString("_forward_hooks"),
                                    PyUnicode_InternFromString("_forward_pre_hooks"),
                                    PyUnicode_InternFromString("_backward_hooks"),
                                    PyUnicode_InternFromString("_backward_pre_hooks"),
                                    PyUnicode_InternFromString("_state_dict_hooks"),
                                    PyUnicode_InternFromString("_state_dict_pre_hooks"),
                                    PyUnicode_InternFromString("_load_state_dict_pre_hooks"),
                                    PyUnicode_InternFromString("_load_state_dict_post_hooks")};
  PyObject* own = module_object(self)->dict;
  const bool is_made = own && lookup(own, module_names().parameters);  // else Module.__init__() has not run
  const bool is_kind = std::any_of(std::begin(kinds), std::end(kinds), [name](PyObject* kind) {
    return kind == name || PyUnicode_Compare(kind, name) == 0;
  });
  if (!is_made || !is_kind) no_attribute(self, name);
  Object hooks = owned(PyDict_New());
  ++module_epoch();
  set_generic(self, name, hooks.get());
  return hooks;
}

/// For super().__getattr__ in classes that have one of their own.
Object getattr(PyObject* self, PyObject* name) {
  check_name(name);
  ModulePlace place;
  PyObject* found = module_find(self, name, &place);
  if (found && place != ModulePlace::Own) return Object::share(found);
  return hooks_or_error(self, name);
}

Object getattribute(PyObject* self, PyObject* name) {
  Object found = Object::steal(_PyObject_GenericGetAttrWithDict(self, name, nullptr, 1));
  if (found) return found;
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
    PyErr_Clear();  // a property that lacks something: the name may still be a member's
  }
  // Else a class has a __getattr__ of its own, which members go through.
  if (Py_TYPE(self)->tp_getattro == module_getattro) return getattr(self, name);
  check_name(name);
  no_attribute(self, name);
}

}  // namespace

PyObject* module_find(Borrowed module, Borrowed name, ModulePlace* place) {
  for (ModulePlace p : {ModulePlace::Own, ModulePlace::Parameters, ModulePlace::Buffers, ModulePlace::Modules}) {
    PyObject* dict = module_dict(module, p);
    PyObject* found = dict ? PyDict_GetItemWithError(dict, name) : nullptr;
    if (!found) continue;
    if (place) *place = p;
    return found;
  }
  if (place) *place = ModulePlace::None;
  return nullptr;
}

PyObject* module_getattro(PyObject* self, PyObject* name) { return entry<getattribute>(self, name); }

PyMethodDef module_attribute_methods[] = {
    {"__getattr__", method<getattr>(), METH_O, "A parameter, buffer or submodule."},
    {"__setattr__", method<setattr>(), METH_FASTCALL, "Sets an attribute; parameters and modules are registered."},
    {"__delattr__", method<delattr>(), METH_O, "Deletes an attribute, parameter, buffer or submodule."},
    {}};

}  // namespace terra::hooks
