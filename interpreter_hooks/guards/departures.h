// Whether anybody notices that an object goes.
#pragma once
#include <Python.h>

namespace terra::capture {

/// A weak reference to the object calls code of the program when it goes.
bool has_callbacks(PyObject* object);
/// No code of the program runs when the object's last reference goes, nor when that goes which it alone holds.
bool goes_quietly(PyObject* object);

}  // namespace terra::capture
