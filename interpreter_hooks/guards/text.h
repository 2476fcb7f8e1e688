// Python text for reports.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include <string>

namespace terra::capture {

/// A str as UTF-8; what has no encoding (half a surrogate pair, as in a file name of undecodable bytes) is escaped.
std::string utf8_of(PyObject* text);

}  // namespace terra::capture
