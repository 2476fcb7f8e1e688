// The methods that C code looks up on a class by itself: operators, protocols, conversions.
#pragma once
#include <Python.h>

#include <span>

namespace terra::capture {

/// Their names, interned: all that CPython has a slot for, those that it and its C modules ask for by name, and those
/// that the engine and numpy ask for.
std::span<PyObject* const> special_names();

}  // namespace terra::capture
