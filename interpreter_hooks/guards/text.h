// Python text for reports.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include <string>

namespace terra::capture {

/// A str as UTF-8; what has no encoding (half a surrogate pair, as in a file name of undecodable bytes) is escaped.
std::string utf8_of(PyObject* text);

/// What a module calls itself; it need not have a name.
std::string name_of_module(PyObject* module);

}  // namespace terra::capture
