// The C half of terra.export: functions that the bindings module adds to itself.
#pragma once
#include <Python.h>

namespace terra::capture {

/// Ends with a null row. Names begin with "program_"; the Python half is interpreter_hooks/terra/export.py.
extern PyMethodDef program_methods[];

}  // namespace terra::capture
