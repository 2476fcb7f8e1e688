#include "interpreter_hooks/bindings/nn/module_type.h"

#include <structmember.h>

#include "interpreter_hooks/bindings/nn/module_object.h"
#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {

PyTypeObject* module_base_type = nullptr;

const ModuleNames& module_names() {
  static const ModuleNames names = [] {
    const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
    return ModuleNames{
        name("_parameters"),
        name("_buffers"),
        name("_modules"),
        name("_non_persistent_buffers_set"),
        name("training"),
        name("forward"),
        name("_call_with_hooks"),
        name("register_parameter"),
        name("register_buffer"),
        name("__getattr__"),
        name("__getattribute__"),
        name("__setattr__"),
        name("__delattr__"),
        name("__call__"),
        name("call_super_init"),
        {name("_forward_hooks"), name("_forward_pre_hooks"), name("_backward_hooks"), name("_backward_pre_hooks")}};
  }();
  return names;
}

namespace {

Object module_new(PyTypeObject* type, PyObject*, PyObject*) {
  Object self = owned(type->tp_alloc(type, 0));
  module_object(self.get())->vectorcall = module_vectorcall;
  return self;
}

/// Sets the attributes that every module has; runs again without harm only as PyTorch's does, forgetting members.
int module_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  const bool hands_on = _PyType_Lookup(Py_TYPE(self), module_names().call_super_init) == Py_True;
  if (!hands_on && PyTuple_GET_SIZE(args) > 0)
    raise(PyExc_TypeError, "%s.__init__() takes 1 positional argument but %zd were given", _PyType_Name(Py_TYPE(self)),
          PyTuple_GET_SIZE(args) + 1);
  if (!hands_on && kwargs && PyDict_GET_SIZE(kwargs) > 0) {
    PyObject* key = nullptr;
    Py_ssize_t at = 0;
    PyDict_Next(kwargs, &at, &key, nullptr);
    raise(PyExc_TypeError, "%s.__init__() got an unexpected keyword argument '%U'", _PyType_Name(Py_TYPE(self)), key);
  }
  ++module_epoch();
  ModuleObject* m = module_object(self);
  if (!m->dict) m->dict = owned(PyDict_New()).release();
  const ModuleNames& names = module_names();
  succeeded(PyDict_SetItem(m->dict, names.training, Py_True));
  succeeded(PyDict_SetItem(m->dict, names.parameters, owned(PyDict_New()).get()));
  succeeded(PyDict_SetItem(m->dict, names.buffers, owned(PyDict_New()).get()));
  succeeded(PyDict_SetItem(m->dict, names.non_persistent, owned(PySet_New(nullptr)).get()));
  succeeded(PyDict_SetItem(m->dict, names.modules, owned(PyDict_New()).get()));
  if (hands_on) {
    Object next = owned(
        PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type), module_base_type, self, nullptr));
    Object init = owned(PyObject_GetAttrString(next.get(), "__init__"));
    owned(PyObject_Call(init.get(), args, kwargs));
  }
  return 0;
}

int module_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(module_object(self)->dict);
  return 0;
}
uint64_t dict_epoch = 1;

int module_clear(PyObject* self) {
  ++dict_epoch;
  Py_CLEAR(module_object(self)->dict);
  return 0;
}
void module_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (module_object(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(module_object(self)->dict);
  type->tp_free(self);
  Py_DECREF(type);
}

/// What copy and pickle keep: the dict, as for any object.
Object getstate(PyObject* self, PyObject*) {
  return module_object(self)->dict ? Object::share(module_object(self)->dict) : owned(PyDict_New());
}

/// A class that overrides nothing gets the fast slots, which CPython 3.11 does not inherit: reading attributes without
/// a detour through the methods __getattribute__ and __getattr__, and calls by vectorcall.
Object init_subclass(PyObject* cls, PyObject* args, PyObject* kwargs) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (type->tp_call == module_tp_call) {
    type->tp_vectorcall_offset = offsetof(ModuleObject, vectorcall);
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  }
  const ModuleNames& names = module_names();
  if (_PyType_Lookup(type, names.getattr) == _PyType_Lookup(module_base_type, names.getattr) &&
      _PyType_Lookup(type, names.getattribute) == _PyType_Lookup(module_base_type, names.getattribute)) {
    type->tp_getattro = module_getattro;
    PyType_Modified(type);
  }
  // On to the next class in line, as any cooperative method.
  Object super =
      owned(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type), module_base_type, cls, nullptr));
  Object next = owned(PyObject_GetAttrString(super.get(), "__init_subclass__"));
  return owned(PyObject_Call(next.get(), args, kwargs));
}

PyMethodDef methods[] = {
    {"__getstate__", method<getstate>(), METH_NOARGS, nullptr},
    {"__init_subclass__", method<init_subclass>(), METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {}};
int set_dict(PyObject* self, PyObject* dict, void* context) {
  ++dict_epoch;
  return PyObject_GenericSetDict(self, dict, context);
}
PyGetSetDef getters[] = {{"__dict__", PyObject_GenericGetDict, set_dict, nullptr, nullptr}, {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(ModuleObject, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(ModuleObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(ModuleObject, weakrefs), READONLY, nullptr},
                         {}};

bool inherits(PyTypeObject* type, PyObject* name) {
  return _PyType_Lookup(type, name) == _PyType_Lookup(module_base_type, name);
}

Object epoch(PyObject*, PyObject*) { return owned(PyLong_FromUnsignedLongLong(module_epoch())); }

}  // namespace

const uint64_t& module_dict_epoch() { return dict_epoch; }

uint64_t& module_epoch() {
  static uint64_t word = 1;
  return word;
}

PyObject* global_module_hooks() {
  static PyObject* dict = PyDict_New();
  return dict;
}

PyObject* registration_hooks() {
  static PyObject* dict = PyDict_New();
  return dict;
}

bool is_module_type(PyTypeObject* type) { return PyType_IsSubtype(type, module_base_type); }
bool is_module(Borrowed object) { return is_module_type(Py_TYPE(object)); }

PyObject* const* module_dict_place(Borrowed module) { return &module_object(module)->dict; }

PyObject* module_dict(Borrowed module, ModulePlace place) {
  PyObject* own = module_object(module)->dict;
  if (!own || place == ModulePlace::Own) return own;
  const ModuleNames& names = module_names();
  PyObject* const keys[] = {nullptr, names.parameters, names.buffers, names.modules};
  PyObject* dict = PyDict_GetItemWithError(own, keys[static_cast<size_t>(place)]);
  return dict && PyDict_Check(dict) ? dict : nullptr;
}

bool module_reads_plainly(PyTypeObject* type) {
  return inherits(type, module_names().getattr) && inherits(type, module_names().getattribute);
}
bool module_writes_plainly(PyTypeObject* type) {
  return inherits(type, module_names().setattr) && inherits(type, module_names().delattr) &&
         PyDict_GET_SIZE(registration_hooks()) == 0;
}
bool module_calls_plainly(PyTypeObject* type) { return type->tp_call == module_tp_call; }

PyMethodDef module_functions[] = {
    {"_module_epoch", method<epoch>(), METH_NOARGS, "Grows whenever an attribute of a module is set or deleted."}, {}};

void create_module_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("Keeps a module's attributes and calls its forward.")},
                         {Py_tp_new, slot<module_new>()},
                         {Py_tp_init, slot<module_init>()},
                         {Py_tp_call, reinterpret_cast<void*>(module_tp_call)},
                         {Py_tp_getattro, reinterpret_cast<void*>(module_getattro)},
                         {Py_tp_traverse, reinterpret_cast<void*>(module_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(module_clear)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(module_dealloc)},
                         {Py_tp_getset, getters},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.nn.ModuleBase", sizeof(ModuleObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                      slots};
  module_base_type = create_type(spec);
  add_methods(module_base_type, methods);
  add_methods(module_base_type, module_attribute_methods);
  add_object(module, "ModuleBase", module_base_type);
  add_object(module, "_global_module_hooks", global_module_hooks());
  add_object(module, "_registration_hooks", registration_hooks());
}

}  // namespace terra::hooks
