// The C half of terra.recursive: functions that the bindings module adds to itself.
#pragma once
#include <Python.h>

namespace terra::capture {

/// Ends with a null row. Names begin with "recursive_"; the Python half is interpreter_hooks/terra/recursive.
extern PyMethodDef recursive_methods[];

}  // namespace terra::capture
