// The built-in extension module `_terra_C`: everything that Python sees of the engine.
#pragma once
#include <Python.h>

PyMODINIT_FUNC PyInit__terra_C();

namespace terra::hooks {

/// Functions of `_terra_C` that folders above this one supply (terra.capture, reports). Rows end with a null name and
/// live for ever. Call it before Python imports the module, or after: then the functions are added at once.
void add_module_methods(PyMethodDef* rows);
/// One of those rows: what it does, no observer is told (calls/observer.h).
bool is_added_method(const PyMethodDef* row);

}  // namespace terra::hooks
