// Functions and attributes that aren't ops, and that subclasses of Tensor, foreign objects and modes take over all the
// same.
#pragma once
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// The function that an overridable callable runs when nobody takes the call over; null for other objects. Borrowed.
Borrowed overridable_function(Borrowed callable);

/// Adds rows of methods, and of attributes, to the type Tensor: calls, reads and writes are offered first.
void add_overridable_methods(PyTypeObject* type, const PyMethodDef* rows);
void add_overridable_getters(PyTypeObject* type, const PyGetSetDef* rows);

void create_overridable_type(PyObject* module);

extern PyMethodDef overridable_functions[];

}  // namespace terra::hooks
