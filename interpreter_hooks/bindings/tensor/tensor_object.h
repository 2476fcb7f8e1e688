// The Python object of a tensor.
//
// One TensorImpl has at most one Python object at a time, and the same one for as long as that object carries state.
// Ownership has two directions, and exactly one of them holds at any time:
//   object -> impl   (the usual one) the object holds a strong reference; impl->owner is borrowed;
//   impl -> object   (impl->keeps_owner) Python has let go of an object with state (attributes, weak references, a
//                    subclass) while C++ still holds the tensor: the impl owns the object, whose `impl` is borrowed.
// The second turns into the first again when the tensor is handed to Python, and when C++ lets go of it: an object that
// Python finds by a weak reference or the collector has its tensor for as long as it lives.
#pragma once
#include "engine/tensor/tensor.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Also the layout of Parameter and of every subclass written in Python, so that __class__ may be assigned.
struct TensorObject {
  PyObject_HEAD TensorImpl* impl;  ///< see above; null only while the object dies
  PyObject* dict;                  ///< strong, null until an attribute is set
  PyObject* weakrefs;
  PyObject* hooks;  ///< strong: dict of hooks by id (`_backward_hooks`), null until one is registered
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* parameter_type;

/// Whether an attribute of some tensor object may ever have hidden one of its class: one was set under the name of a
/// method, or the program got hold of the __dict__ of a tensor. Never false again.
extern bool attributes_may_hide_methods;

inline TensorObject* tensor_object(Borrowed object) { return reinterpret_cast<TensorObject*>(object); }

/// True iff the type is Tensor or Parameter itself: what the fast paths take.
inline bool is_plain_tensor_type(const PyTypeObject* type) { return type == tensor_type || type == parameter_type; }
/// True for Tensor objects and instances of subclasses.
inline bool is_tensor(Borrowed object) {
  return is_plain_tensor_type(Py_TYPE(object)) || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
/// Borrowed; the object must be a tensor.
inline TensorImpl* impl_of(Borrowed object) { return tensor_object(object)->impl; }
inline Tensor tensor_of(Borrowed object) { return Tensor(Ref<TensorImpl>(impl_of(object))); }

/// The Python object of a tensor: new reference; None for an undefined tensor. Throws PythonError without memory.
PyObject* wrap(const Tensor& tensor);
PyObject* wrap(Tensor&& tensor);
/// The same as a fresh instance of `type`, for a tensor that has no object yet.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);
/// An instance of that type that is the tensor which `object`, of which nobody else knows, was.
Object moved_to(PyTypeObject* type, PyObject* object);

/// The attributes of a tensor object, made when it has none. For C code that adds to them what another tensor has.
Object attributes_of(Borrowed tensor);

/// Creates the types and installs the engine's owner hook.
void create_tensor_types(PyObject* module);

}  // namespace terra::hooks
