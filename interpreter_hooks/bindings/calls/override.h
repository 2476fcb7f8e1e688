// __torch_function__: how subclasses of Tensor, foreign objects and modes take over calls.
#pragma once
#include <string_view>

#include "interpreter_hooks/bindings/calls/function_modes.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {

/// Switches overriding by arguments off on this thread for a scope.
class WithoutOverrides {
 public:
  WithoutOverrides();
  ~WithoutOverrides();
  WithoutOverrides(const WithoutOverrides&) = delete;
};

/// True when `type` isn't one of the plain types and may override calls: then `overridden` has to be asked.
bool may_override(PyTypeObject* type);
/// The same of a call of which this is an argument: a mode may take it over whatever the argument is.
inline bool may_be_taken_over(Borrowed argument) { return modes_see_calls || may_override(Py_TYPE(argument)); }
/// The same of all arguments of a call. Pointer comparisons only for plain tensors and builtin objects.
bool may_be_overridden(PyObject* const* values, size_t all);

/// What __torch_function__ is told of the types of the arguments.
enum class Told : uint8_t {
  Overriding,  ///< those that override
  Tensors,     ///< those of plain tensors as well: functions that PyTorch has in Python
  Self         ///< that of the first argument in any case: methods without others
};

/// Whether this thread is asked about calls as threads are at first: no mode sees them, and every argument is asked.
bool overrides_are_usual();

/// Offers a call to the innermost mode, then to the arguments that override it, in the order of PyTorch's protocol
/// (subclasses first, then from the left). Null object: nobody does, go on. `function` is what __torch_function__ gets
/// as func; the arguments come as `_override_forms.py` says, where it has a form of the function.
Object overridden(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords,
                  Told told = Told::Overriding);

/// The same of a method of Tensor's, by name: a slot of the type has no function of its own to offer.
Object overridden_method(const char* name, PyObject* const* values, size_t count, Told told = Told::Overriding);

/// The type that results of a call with these arguments get: that of the subclasses of Tensor without an override of
/// their own which is asked first, as the default __torch_function__ does; null for plain tensors.
PyTypeObject* result_subclass(PyObject* const* values, size_t count);
/// Whether the attribute of that name is none of the tensor's own kind: its gradient, what it is a view of.
bool keeps_its_type(std::string_view attribute);
/// `result` with every tensor in it (itself, or items of a tuple or list) made an instance of `type`.
Object as_subclass(Object result, PyTypeObject* type);

extern PyMethodDef override_methods[];  ///< Tensor.__torch_function__, a class method
extern PyMethodDef override_functions[];
/// Parameters never take over calls.
void add_disabled_override(PyObject* module);

}  // namespace terra::hooks
