// The C half of terra.capture: functions that the bindings module adds to itself.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

namespace terra::capture {

/// Ends with a null row. Names begin with "capture_"; the Python half is interpreter_hooks/terra/capture.py.
extern PyMethodDef capture_methods[];

}  // namespace terra::capture
