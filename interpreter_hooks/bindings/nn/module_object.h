// The layout of modules and the names that their code looks up, shared by the files that implement ModuleBase.
#pragma once
#include <Python.h>

#include <cstdint>

namespace terra::hooks {

struct ModuleObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;  // strong; null until the first attribute
  PyObject* weakrefs;
  uint64_t plain;  ///< a version of `dict` that has neither hooks nor a forward of its own, or 0
};

inline ModuleObject* module_object(PyObject* self) { return reinterpret_cast<ModuleObject*>(self); }

/// Interned once, kept for ever.
struct ModuleNames {
  PyObject *parameters, *buffers, *modules, *non_persistent, *training, *forward, *call_with_hooks, *register_parameter,
      *register_buffer, *getattr, *getattribute, *setattr, *delattr, *call, *call_super_init;
  PyObject* hooks[4];  ///< keys of the dicts of hooks that calling looks at
};
const ModuleNames& module_names();

// module_attributes.cpp
PyObject* module_getattro(PyObject* self, PyObject* name);
extern PyMethodDef module_attribute_methods[];
// module_call.cpp
PyObject* module_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names);
PyObject* module_tp_call(PyObject* self, PyObject* args, PyObject* kwargs);

}  // namespace terra::hooks
