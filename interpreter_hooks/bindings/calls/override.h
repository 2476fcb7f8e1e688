// __torch_function__: how subclasses of Tensor and foreign objects take over calls.
#pragma once
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {

/// Switches overriding off on this thread for a scope.
class WithoutOverrides {
 public:
  WithoutOverrides();
  ~WithoutOverrides();
  WithoutOverrides(const WithoutOverrides&) = delete;
};

/// True when `type` isn't one of the plain types and may override calls: then `overridden` has to be asked.
bool may_override(PyTypeObject* type);

/// Offers a call to the arguments that override it, in the order of PyTorch's protocol (subclasses first, then from the
/// left). Null object: nobody does, go on. `function` is what __torch_function__ gets as func.
Object overridden(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords);

/// The same of a method of Tensor's, by name: a slot of the type has no function of its own to offer.
Object overridden_method(const char* name, PyObject* const* values, size_t count);

/// The type that results of a call with these arguments get: the first subclass of Tensor without an override of its
/// own, as the default __torch_function__ does; null for plain tensors.
PyTypeObject* result_subclass(PyObject* const* values, size_t count);
/// `result` with every tensor in it (itself, or items of a tuple or list) made an instance of `type`.
Object as_subclass(Object result, PyTypeObject* type);

extern PyMethodDef override_methods[];  ///< Tensor.__torch_function__, a class method
extern PyMethodDef override_functions[];

}  // namespace terra::hooks
